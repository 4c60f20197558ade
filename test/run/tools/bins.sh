#!/usr/bin/env bash
# bins.sh: the allocation bins of programs whose sizes are known. If it fails, `heaptap sizes`
# counts wrongly, shows rows that it should not, or says other things in text than in JSON.
. "$SRCDIR/test/run/lib.subr"
need python3

record bins.heaptap "$PROG/binned"
same "exit status" 0 "$status"
python3 "$area/bins.py" "$HEAPTAP" bins.heaptap || failures=$((failures + 1))

# The program of the paper on mprof: its figure 3. A library with debug information may have another
# type of that size; the program's own comes first.
record widgets.heaptap "$PROG/widgets"
same "widgets: the paper's figure 3" \
    "size: allocs bytes (%) frees kept (%) types
204 10000 2040000 (99) 4981 1023876 (99) widget
> 1024 0 0 0 0
<TOTAL> 10000 2040000 4981 1023876" \
    "$("$HEAPTAP" bins --classic widgets.heaptap | sed 's/^ *//; s/  */ /g; s/ *$//; s/,.*//')"
check "widgets: the profile is below 30 KB, with symbols and types" \
    test "$(stat -c %s widgets.heaptap)" -lt 30000
check "widgets: certainly widgets" python3 - "$HEAPTAP" <<'END'
import json, subprocess, sys
out = subprocess.run([sys.argv[1], "bins", "--json", "widgets.heaptap"], capture_output=True,
                     check=True).stdout
row = json.loads(out)["bins"][0]
assert row.pop("types")[0] == "widget", row
assert row == {"size": 204, "allocs": 10000, "bytes": 2040000, "frees": 4981,
               "kept_bytes": 1023876,
               "known": [{"type": "widget", "verdict": "certain", "allocs": 10000,
                          "bytes": 2040000, "kept_bytes": 1023876}]}, row
END
finish
