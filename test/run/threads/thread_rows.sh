#!/usr/bin/env bash
# thread_rows.sh: a program with a reserve, where the recorder cannot know which threads have ended.
# If it fails, two threads use one struct, so that blocks are charged to the stack of another
# thread, or one row of the table by thread represents two threads that existed at the same time.
. "$SRCDIR/test/run/lib.subr"
need python3

# try NAME OPTION...: record thread_rows with the options.
try() {
    local name=$1
    shift
    "$HEAPTAP" run --quiet --no-pack "$@" -o "$name.heaptap" -- "$PROG/thread_rows" 6 20000
    same "$name: exit status" 0 $?
    KNOWN_PREFIX="$name: " known "$name.heaptap" \
        "under:of_main allocations=120000 allocated_bytes=2880000 frees=60000" \
        "under:of_thread allocations=120000 allocated_bytes=4800000 frees=60000" \
        "losses events=0 unknown_frees=0"
    "$HEAPTAP" report --json "$name.heaptap" >"$name.json"
}

# rows NAME: print the number of times that each row was used, and the blocks of its threads, from
# the first on.
rows() {
    python3 - "$1.json" <<'END'
import json, sys
threads = json.load(open(sys.argv[1]))["threads"]
print(*("%dx%d" % (t["uses"], t["allocations"]) for t in threads[1:]))
END
}

try alone
try reserve --reserve 16M
same "reserve: a row for each thread, none shared" \
    "1x20000 1x20000 1x20000 1x20000 1x20000 1x20000" "$(rows reserve)"
check "reserve: ids differ" python3 - reserve.json <<'END'
import json, sys
threads = json.load(open(sys.argv[1]))["threads"]
assert len({t["tid"] for t in threads}) == len(threads), threads
END
finish
