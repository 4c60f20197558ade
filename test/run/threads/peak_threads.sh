#!/usr/bin/env bash
# peak_threads.sh: the peak among threads, for programs that know it to the byte. If it fails, the
# report shows a wrong peak, the error exceeds its bound (peak_error_bytes), or the bound is too
# large. test/prog/peak_threads.c describes the programs.
. "$SRCDIR/test/run/lib.subr"
need python3

# play NAME PART PROGRAM ARGS...: record PROGRAM into NAME.heaptap. The reported peak must be at
# most peak_error_bytes below the true one, and peak_error_bytes at most the peak divided by PART.
play() {
    local name=$1 part=$2
    shift 2
    rm -f "$name.heaptap"
    LD_PRELOAD=$LIBHEAPTAP HEAPTAP_OUT=$name.heaptap "$PROG/peak_threads" "$@" >"$name.out" &&
        report_json "$name.heaptap" >"$name.json" || return 1
    run_python - "$name" "$part" <<'EOP'
import documents
import sys

name, part = sys.argv[1], int(sys.argv[2])
with open(name + ".out", encoding="ascii") as f:
    true = int(f.read().split()[1])
with open(name + ".json", encoding="utf-8") as f:
    report = documents.load(f)
# The allocations of pthread_create for the existing threads.
true += sum(s["peak_bytes"] for s in report["sites"]
            if not any(frame["function"] in ("hold", "hold_own") for frame in s["stack"]))
said, error = report["totals"]["peak_bytes"], report["totals"]["peak_error_bytes"]
if not (said <= true <= said + error and error <= true / part):
    sys.exit(f"true {true}, reported {said} and {error} more: off by {true - said}")
EOP
}

for threads in 2 4 16; do
    for bytes in 94 940 94000; do
        for kind in alone waves early; do
            check "$kind, $threads threads, blocks of $bytes" \
                play "$kind-$threads-$bytes" 512 "$kind" "$threads" "$bytes"
        done
        check "crowd, $threads threads, blocks of $bytes" \
            play "crowd-$threads-$bytes" 16 crowd "$threads" "$bytes"
    done
done
for threads in 2 4 16; do
    for seed in 1 3; do
        check "random, $threads threads, seed $seed" \
            play "random-$threads-$seed" 16 random "$threads" $((94 * seed * seed)) "$seed" 20000
    done
done

# The error is in the text only if it is not 0; a packed profile and a sum of profiles keep it.
said() {
    "$HEAPTAP" report --json "$1" | python3 -c '
import json, sys
print(json.load(sys.stdin)["totals"]["peak_error_bytes"])'
}

shown() {
    local one two
    one=$(said random-16-1.heaptap)
    two=$(said waves-4-94000.heaptap)
    [ "$one" -gt 0 ] && [ "$two" -gt 0 ] || return 1
    COLUMNS=80 "$HEAPTAP" report random-16-1.heaptap >random.txt || return 1
    grep "^  Peak " random.txt
    grep -q "^  Peak .* after .*, or up to .* more$" random.txt || return 1
    [ "$(grep "^  Peak " random.txt | wc -L)" -le 80 ] || return 1
    "$HEAPTAP" pack -o packed.heaptap random-16-1.heaptap &&
        [ "$(said packed.heaptap)" = "$one" ] &&
        "$HEAPTAP" merge -o sum.heaptap packed.heaptap waves-4-94000.heaptap &&
        [ "$(said sum.heaptap)" = $((one + two)) ]
}
check "in the report, in a packed and in a merged profile" shown

alone() {
    record article.heaptap "$PROG/article"
    [ "$(said article.heaptap)" = 0 ] && "$HEAPTAP" report article.heaptap >article.txt &&
        ! grep "or up to" article.txt
}
check "one thread: exact" alone
finish
