#!/usr/bin/env bash
# mappings.sh: how many mappings recording adds to a process. Each is made by some system calls,
# copied by every fork and undone at every exit, which is most of what a short process pays. If it
# fails, something that every start takes has got a mapping of its own again: it belongs into the
# pool (platform/mem.c), or it is one that a process can do without until it needs it.
. "$SRCDIR/test/run/lib.subr"

lines() { # lines FILE [VARIABLE…]: the mappings of a process with these variables, into FILE
    env "${@:2}" cat /proc/self/maps >"$1"
}

lines bare
lines recorded LD_PRELOAD="$LIBHEAPTAP" HEAPTAP_OUT="$PWD/cat.heaptap"
added=$(($(wc -l <recorded) - $(wc -l <bare)))
echo "recording adds $added mappings to $(wc -l <bare)"
check "it was recorded" test -s cat.heaptap
check "some, as the library is one" test "$added" -gt 5
check "no more than 44, of which 37 when this was written" test "$added" -le 44
finish
