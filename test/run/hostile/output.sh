#!/usr/bin/env bash
# output.sh: every view and every exporter on small profiles that describe very much. If it fails, a
# file of 24 KB from a stranger uses up the machine's memory or disk, or a large profile of an
# honest program cannot be read. The output amounts to gigabytes, so it is counted, not stored.
. "$SRCDIR/test/run/lib.subr"
need python3 timeout

MEMORY_KB=200000 # Limit on address space, which is less than the output.
SECONDS_MAX=100  # A view takes one or two seconds on an idle machine.
corpus=$SRCDIR/test/fuzz/corpus/views

# limited COMMAND...: run COMMAND in bounded memory and time.
limited() {
    (
        ulimit -v $MEMORY_KB
        timeout $SECONDS_MAX "$HEAPTAP" "$@"
    )
}

# written LIMIT_MB VIEW...: check that a view of $file ends properly and writes at most LIMIT_MB.
written() {
    local limit=$1 bytes
    shift
    bytes=$( (limited "$@" 2>err; echo $? >status) | wc -c)
    if [ "$(cat status)" != 0 ] || [ "$bytes" -gt $((limit << 20)) ]; then
        failed "$*: status $(cat status), $bytes bytes"
        sed 's/^/#   /' err
    fi
}

# all_views FILE LIMIT_MB: check every view, except views of data that a profile with heaps, labels,
# types and history lacks.
all_views() {
    local file=$1 limit=$2 form by before=$failures

    for form in "" --json; do
        written "$limit" report $form "$file"
        written "$limit" report --tree $form "$file"
        for by in function line file module thread size type heap label; do
            written "$limit" report --by $by $form "$file"
        done
        written "$limit" leaks $form "$file"
        written "$limit" leaks --call-sites --callers 0 $form "$file"
        written "$limit" bins --all $form "$file"
        written "$limit" callgraph $form "$file"
        written "$limit" direct $form "$file"
        written "$limit" source ab $form "$file"
        written "$limit" access $form "$file"
        written "$limit" diff $form "$file" "$file"
        written "$limit" diff --by function $form "$file" "$file"
    done
    written "$limit" report --wide --limit 100 --depth 10000 "$file"
    written "$limit" diff --flamegraph out.svg "$file" "$file"
    written "$limit" html --json "$file"
    for form in $("$HEAPTAP" export --list | sed 's/ .*//'); do
        rm -f out.*
        written "$limit" export -f $form -o out.$form "$file"
        [ "$(stat -c %s out.$form)" -le $((limit << 20)) ] || failed "$form of $file is too large"
    done
    rm -f out.*
    if [ -s "$BUILD/gen/page.html" ]; then
        written "$limit" html -o out.html "$file"
        [ "$(stat -c %s out.html)" -le $((limit << 20)) ] || failed "html of $file is too large"
    else
        echo "ok - $file: html # SKIP tools/setup build brings what the page is made of"
    fi
    rm -f out.*
    written "$limit" pack -o packed.heaptap "$file"
    written "$limit" merge -o merged.heaptap "$file"
    rm -f packed.heaptap merged.heaptap
    [ $failures -gt $before ] || passed "$file: every view, in little memory"
}

python3 "$area/hostile.py" "$HEAPTAP" make "long frames" long_frames.heaptap
all_views long_frames.heaptap 200
check "names that are not too long together are whole" bash -c \
    '"$1" report --json --limit 2 long_frames.heaptap 2>/dev/null |
        grep -q "\"\(ab<(std::\)\{111\}\""' - "$HEAPTAP"

# The names have 60,000 bytes: written in full, they would be 300 GB.
MEMORY_KB=400000
cp "$corpus/finding_long_frames" longer.heaptap
for view in "timeline" "timeline --flame out.svg" "leaks --callers 0" "diff longer.heaptap"; do
    written 1 $view longer.heaptap
done
check "a warning reports shortened names" grep -q "1 name longer than 16384 bytes" err
limited report --json longer.heaptap 2>/dev/null | head -c 100000 >longer.json
check "in JSON too" grep -q "bytes shortened" longer.json

cp "$corpus/finding_bins_negative" negative.heaptap
before=$failures
for view in bins "bins --all" "bins --classic" "bins --json" "report --by size"; do
    written 1 $view negative.heaptap
done
[ $failures -gt $before ] || passed "a negative number of bytes makes no bar"
finish
