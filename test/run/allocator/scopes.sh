#!/usr/bin/env bash
# scopes.sh: calls of operator new, delete and malloc in programs and plug-ins that have several
# definitions in their scope; see scopes.py. If it fails, a recorded program calls another
# definition than a bare one (it crashes, or waits forever), or blocks are missing from the profile
# without a message.
#
# The script runs on the glibc of the system, and on each that `make scopes` has put into
# build/glibc.
. "$SRCDIR/test/run/lib.subr"
need python3 g++

rm -f "$BUILD"/scopes-*.txt
cases=("$area/scopes.py" --table "$BUILD/scopes-system.txt")
python3 "${cases[@]}" "$@" || failures=1
others=no
for root in "$BUILD"/glibc/*/; do
    case $root in *'*/' | *.part/) continue ;; esac
    others=yes
    cases[2]=$BUILD/scopes-$(basename "$root").txt
    python3 "${cases[@]}" --root "$root" "$@" || failures=1
done
[ $others = yes ] || echo "ok - on another glibc # SKIP none is there; make scopes gets one"
finish
