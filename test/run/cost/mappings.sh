#!/usr/bin/env bash
# mappings.sh: the number of mappings that recording adds to a process. Each mapping costs some
# system calls; every fork copies it and every exit removes it, which is most of the cost for a
# short process. If it fails, memory that every start needs has a separate mapping: it belongs into
# the pool (platform/mem.c), or should be mapped at its first use.
. "$SRCDIR/test/run/lib.subr"

lines() { # lines FILE [VARIABLE…]: write the mappings of a process with these variables to FILE
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
