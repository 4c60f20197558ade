#!/usr/bin/env bash
# sigbus.sh: the profile is cut while it is mapped. If it fails, somebody who truncates a profile
# kills the program, or the guard against that can be seen by the program or changes how it deals
# with a SIGBUS of its own.
. "$SRCDIR/test/run/lib.subr"
need python3

for bytes in 0 4096 16384 30000 100000; do
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/cut.$bytes.heaptap "$PROG/sigbus" profile $bytes \
        >cut.out 2>cut.err
    same "cut to $bytes bytes: the program goes on" "7 cut 0 done" "$? $(echo $(cat cut.out))"
    same "cut to $bytes bytes: one message" 1 \
        "$(grep -c '^heaptap: the profile was cut short' cut.err)"
    "$HEAPTAP" report cut.$bytes.heaptap >report.out 2>report.err
    case $? in
    0) passed "cut to $bytes bytes: what is left can be read" ;;
    3) check "cut to $bytes bytes: the reader says why not" \
        grep -q '^heaptap: .*\(empty\|short\)' report.err ;;
    *) failed "cut to $bytes bytes: the reader" ;;
    esac
done

# The program's own SIGBUS is its own.
for mode in own sent sigaction signal fork; do
    bash -c '"$@"; exit $?' - "$PROG/sigbus" $mode >bare.out 2>/dev/null
    bare=$?
    record $mode.heaptap "$PROG/sigbus" $mode
    same "$mode: exit status" "$bare" "$status"
    check "$mode: output" diff bare.out $mode.heaptap.out
done
finish
