#!/usr/bin/env bash
# flat.sh: check that memory and file stay small for runs of any length. If it fails, the recorder
# grows with events, or a bounded structure (the call tree, the table of modules) is not bounded, or
# data that does not fit is lost instead of shortened or charged to "other".
#
# FLAT_PAIRS=1000000000 makes the first check arbitrarily long.
. "$SRCDIR/test/run/lib.subr"
need python3
pairs=${FLAT_PAIRS:-1000000}

# resident FILE PERCENT: print the resident memory that the program had after PERCENT of the run.
resident() {
    sed -n "s/^ *$2 % resident_kib //p" "$1.out"
}

# grown FILE: print the growth in KiB in the second half.
grown() {
    local half whole
    half=$(resident "$1" 50) whole=$(resident "$1" 100)
    if [ -n "$half" ] && [ -n "$whole" ]; then
        echo $((whole - half))
    else
        echo 999999999
    fi
}

# below NAME LIMIT VALUE: check that VALUE is below LIMIT
below() {
    if [ "$3" -le "$2" ]; then
        passed "$1: $3 of at most $2"
    else
        failed "$1: $3, more than $2"
    fi
}

# After half of the run, all blocks of the program exist, so nothing may grow: full pages of the
# history are released. 128 KiB are for stdio, for the kernel's rounding, and for pages that are not
# full; a slow machine has more of these, because it takes more snapshots. One byte a pair would be
# 500 KB.
record events.heaptap "$PROG/flat" events "$pairs"
same "events: exit status" 0 "$status"
below "events: KiB grown in the second half" 128 "$(grown events.heaptap)"
# On an idle machine, the file has 260 KB; a slow one takes more snapshots and has a larger file.
below "events: bytes of the packed profile" 400000 "$(stat -c %s events.heaptap)"
known events.heaptap "under:descend allocations=$pairs frees=$pairs live_blocks=0" "losses events=0"

# Stacks that alternate with the cached one are verified as well, and counted so.
check "events: nearly all frames were verified, not unwound" python3 - "$HEAPTAP" <<'EOP'
import json, subprocess, sys
report = subprocess.run([sys.argv[1], "report", "--json", "events.heaptap"], capture_output=True)
recorder = json.loads(report.stdout)["recorder"]
assert recorder["frames_reused"] > 10 * recorder["frames_unwound"], recorder
EOP

# The frames of every event count as verified or unwound, except for those after the last tick.
record moves.heaptap "$PROG/flat" moves 20000
same "moves: exit status" 0 "$status"
check "moves: each event's frames are counted" run_python - "$HEAPTAP" <<'EOP'
import json, subprocess, sys
import documents
report = subprocess.run([sys.argv[1], "report", "--json", "--no-fold", "moves.heaptap"],
                        capture_output=True, text=True)
report = documents.nested(json.loads(report.stdout))
recorder = report["recorder"]
frames = sum(site["allocations"] * len(site["stack"]) for site in report["sites"])
counted = recorder["frames_reused"] + recorder["frames_unwound"]
assert 0.95 * frames < counted <= frames + 100, (counted, frames)
EOP

# The limit is reached long before the end; after that, only counters change.
"$HEAPTAP" run --quiet --max-memory 64M -o stacks.heaptap -- "$PROG/flat" stacks 1000000 \
    >stacks.heaptap.out 2>stacks.heaptap.err
same "stacks: exit status" 0 $?
below "stacks: KiB grown in the second half" 512 "$(grown stacks.heaptap)"
below "stacks: resident KiB" 72000 "$(resident stacks.heaptap 100)"
known stacks.heaptap "total allocations>=1000000" \
    "losses events=0 other_site_events=0 shortened_stacks>=900000"

for library in libplugin_one.so libplugin_two.so; do
    record modules.heaptap "$PROG/flat" modules 2000 "$PROG/$library"
    same "modules, $library: exit status" 0 "$status"
    below "modules, $library: KiB grown in the second half" 64 "$(grown modules.heaptap)"
    known modules.heaptap "under:plugin allocations=2000 frees=2000" "losses events=0"
done

# More libraries are loaded than the table of modules holds: frames stay, but later ones have no
# module.
record places.heaptap "$PROG/flat" places 9000 "$PROG/libplugin_one.so"
same "places: exit status" 0 "$status"
known places.heaptap "under:modules allocations>=9000" "losses events=0"
finish
