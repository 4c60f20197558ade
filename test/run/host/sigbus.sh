#!/usr/bin/env bash
# sigbus.sh: truncate a profile while it is mapped. If it fails, truncating a profile kills the
# program, or the program can observe the guard against that, or the guard changes the program's
# handling of its own SIGBUS; or no view reports that the profile was truncated, or data before the
# cut is lost.
. "$SRCDIR/test/run/lib.subr"
need python3

# left FILE BYTES: print the remaining contents of a profile cut to BYTES. The file begins with the
# texts about the process; stacks and counters follow. At the time of the cut, all of these fit into
# 100,000 bytes.
left() {
    report_json "$1" >left.json || return 1
    run_python - "$2" <<'END'
import documents, sys
with open("left.json", encoding="utf-8") as f:
    report = documents.load(f)
before = [s for s in report["sites"] if any(f["function"] == "before" for f in s["stack"])]
counts = [sum(s[k] for s in before) for k in ("allocations", "frees", "live_bytes")]
print(report["process"], report["losses"], report["notes"], counts)
assert report["losses"]["file_failed"] and report["notes"]
if int(sys.argv[1]) >= 30000:
    assert report["process"]["executable"].endswith("/sigbus")
if int(sys.argv[1]) >= 100000:
    assert counts == [20000, 0, 480000]
END
}

for bytes in 0 4096 16384 30000 100000; do
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$PWD/cut.$bytes.heaptap "$PROG/sigbus" profile $bytes \
        >cut.out 2>cut.err
    same "cut to $bytes bytes: the program continues" "7 cut 0 done" "$? $(echo $(cat cut.out))"
    same "cut to $bytes bytes: one message" 1 \
        "$(grep -c '^heaptap: another program truncated the profile' cut.err)"
    if [ $bytes -ge 16384 ]; then
        check "cut to $bytes bytes: the rest can be read" left cut.$bytes.heaptap $bytes
    else # The file is cut within the header.
        "$HEAPTAP" report cut.$bytes.heaptap >report.out 2>report.err
        same "cut to $bytes bytes: the reader" 3 $?
        check "cut to $bytes bytes: the reader gives the reason" \
            grep -q '^heaptap: .*\(empty\|short\)' report.err
    fi
done

# The program's own SIGBUS keeps its effect.
for mode in own sent ignored sigaction signal fork; do
    bash -c '"$@"; exit $?' - "$PROG/sigbus" $mode >bare.out 2>/dev/null
    bare=$?
    record $mode.heaptap "$PROG/sigbus" $mode
    same "$mode: exit status" "$bare" "$status"
    check "$mode: output" diff bare.out $mode.heaptap.out
    # A handler that may make no system call can neither take the default action nor map memory.
    HEAPTAP_RESERVE=1000000 record $mode.reserve.heaptap "$PROG/sigbus" $mode
    same "$mode, with a reserve: exit status" "$bare" "$status"
    check "$mode, with a reserve: output" diff bare.out $mode.reserve.heaptap.out
done
finish
