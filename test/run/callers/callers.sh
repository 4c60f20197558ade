#!/usr/bin/env bash
# callers.sh: exact sites with sampled callers. If it fails, a site's numbers are not exact, a
# caller's range promises too much, or a view hides that it is an estimate.
. "$SRCDIR/test/run/lib.subr"
need python3 setarch
called=$PROG/called
py() {
    python3 "$area/callers.py" "$@" || failures=$((failures + 1))
}

py totals "$HEAPTAP" "$called" 1/8
py totals "$HEAPTAP" "$called" 1/64
py totals "$HEAPTAP" "$called" 1/1000000
py same "$HEAPTAP" "$called" totals
py same "$HEAPTAP" "$called" shares
py same "$HEAPTAP" --no-language python3 -S -c \
    'import json; print(len(json.dumps({str(i): [i] * 3 for i in range(3000)})))'
# Python's functions are callers, and its objects belong to a heap, whose stacks are all whole.
py sums "$HEAPTAP" python3 -S -c 'print(len({str(i): [i] * 3 for i in range(3000)}))'
seq 3000 | tac >lines
py same "$HEAPTAP" sort lines
py coverage "$HEAPTAP" "$called" 42

# Views and files.
HEAPTAP_SEED=1 "$HEAPTAP" run --quiet --callers 1/16 -o shares.heaptap -- "$called" shares \
    >/dev/null
HEAPTAP_SEED=2 "$HEAPTAP" run --quiet --callers 1/16 --no-pack -o raw.heaptap -- "$called" shares \
    >/dev/null
"$HEAPTAP" report shares.heaptap >out 2>&1
check "the header names the share" grep -q 'exact sites, callers of one call in 16' out
"$HEAPTAP" report --by function --metric count shares.heaptap >out 2>&1
check "a site has no error" grep -qE '^ *20,000 +[0-9.]+ % +20,000 +make_block' out
check "a caller has one" grep -qE ' [89],[0-9]+ +± [0-9.]+ % .*caller_0 ' out
report_json raw.heaptap | sed '/"profile"/d; /"file_bytes"/d; /"memory_bytes"/d' >raw.json
check "pack" "$HEAPTAP" pack -o packed.heaptap raw.heaptap
report_json packed.heaptap | sed '/"profile"/d; /"file_bytes"/d; /"memory_bytes"/d' >packed.json
check "a packed profile shows the same" cmp raw.json packed.json
check "merge" "$HEAPTAP" merge -o merged.heaptap shares.heaptap raw.heaptap
"$HEAPTAP" run --quiet -o whole.heaptap -- "$called" shares >/dev/null
"$HEAPTAP" merge -o mixed.heaptap shares.heaptap whole.heaptap >out 2>&1
same "merge: takes recordings with and without --callers" 0 $?
py mixed "$HEAPTAP" mixed.heaptap
check "tree" "$HEAPTAP" report --tree shares.heaptap
check "diff" "$HEAPTAP" diff shares.heaptap raw.heaptap
"$HEAPTAP" leaks shares.heaptap >out
check "leaks" grep -qE 'blocks ± [0-9.]+ %' out
py merged "$HEAPTAP" merged.heaptap
for bad in 64 0/1 2/64 1/0 1/ 1/x 1/64x 1/99999999999 -1/2; do
    "$HEAPTAP" run --callers "$bad" -- true >out 2>&1
    same "run: refuses --callers $bad" 2 $?
done
"$HEAPTAP" record shares.heaptap --callers 64 >out 2>&1
same "record: refuses --callers 64" 2 $?
"$HEAPTAP" record shares.heaptap --callers 1/64 --exact >out 2>&1
same "record: refuses --callers with --exact" 2 $?
"$HEAPTAP" run --callers 1/8 --sample 4K -- true >out 2>&1
same "run: refuses --callers with --sample" 2 $?
"$HEAPTAP" run --quiet --force --callers 1/1 -o whole.heaptap -- "$called" shares >/dev/null
"$HEAPTAP" report whole.heaptap >out 2>&1
check "1/1 is exact recording" grep -q '· exact$' out
