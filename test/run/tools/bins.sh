#!/usr/bin/env bash
# bins.sh: the allocation bins of programs whose sizes are known. If it fails, `heaptap sizes`
# counts wrongly, shows wrong rows, or differs between text and JSON.
. "$SRCDIR/test/run/lib.subr"
need python3 jq

record bins.heaptap "$PROG/binned"
same "exit status" 0 "$status"
python3 "$area/bins.py" "$HEAPTAP" bins.heaptap || failures=$((failures + 1))

# The program of the paper on mprof, and its figure 3. A library with debug information may have
# another type of that size; the program's own type comes first.
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

# The program has blocks of 48 bytes without a type, and 70 types of that size.
{
    echo '#include <stdlib.h>'
    for i in $(seq -w 70); do
        echo "struct fits_$i { char bytes[48]; } variable_$i;"
    done
    echo 'void *volatile kept; volatile unsigned long size = 48;'
    echo 'int main(void) { for (int i = 0; i < 9; i++) kept = malloc(size); return 0; }'
} >fits.c
cc -g -O1 -o fits fits.c
record fits.heaptap ./fits
"$HEAPTAP" bins --json fits.heaptap >fits.json
check "70 types of a size: JSON has all" python3 - <<'END'
import json
row = next(b for b in json.load(open("fits.json"))["bins"] if b["size"] == 48)
assert [t for t in row["types"] if t.startswith("fits_")] == \
    [f"fits_{i:02}" for i in range(1, 71)], row["types"]
END
"$HEAPTAP" bins --wide fits.heaptap | grep '^ *48 ' >row
check "70 types of a size: a row names a dozen and counts the rest" \
    grep -Eq 'fits_01, fits_02, .*, fits_12 and [0-9]+ more$' row
check "70 types of a size: the row is no longer" test "$(wc -c <row)" -lt 200
"$HEAPTAP" report --by type --wide fits.heaptap >rows
check "70 types of a size: report --by type counts the rest" \
    grep -Eq 'fits_06 and [0-9]+ more$' rows

# The program frees every block: 34 of 1 byte, 33 of 101 and 33 of 201.
cat >freed.c <<'END'
#include <stdlib.h>
void *volatile block;
int main(void) {
    for (int i = 0; i < 100; i++) { block = malloc((size_t)(i % 3 * 100 + 1)); free(block); }
    return 0;
}
END
cc -g -O1 -o freed freed.c
record freed.heaptap ./freed
"$HEAPTAP" report --by size freed.heaptap >rows
check "by size: without live blocks, rows are sorted by the allocated bytes" grep -Pzq \
    'allocated +% +calls  size\n +6\.5 KiB +66\.3 % +33  201 B\n +3\.3 KiB .*101 B\n +34 B ' rows
check "by size: --inuse shows live bytes nevertheless" sh -c \
    '"$1" report --by size --inuse freed.heaptap | grep -Eq "^ *live +% +calls  size"' - "$HEAPTAP"

# A library with the recorder's name is on the stack of a block, which has the size of the library's
# type.
cat >library.c <<'END'
#include <stdlib.h>
struct of_recorder { char bytes[48]; } variable;
void *give(size_t size) { void *p = malloc(size); __asm__ volatile("" ::: "memory"); return p; }
END
cat >caller.c <<'END'
void *give(unsigned long);
struct of_program { char bytes[48]; } variable;
void *volatile kept;
volatile unsigned long size = 48;
int main(void) { kept = give(size); return 0; }
END
cc -g -O1 -shared -fPIC -o libheaptap_made.so library.c
cc -g -O1 -o caller caller.c ./libheaptap_made.so
record caller.heaptap ./caller
check "types of the recorder's libraries are no candidates" python3 - "$HEAPTAP" <<'END'
import json, subprocess, sys
out = subprocess.run([sys.argv[1], "bins", "--json", "caller.heaptap"], capture_output=True,
                     check=True).stdout
types = next(b for b in json.loads(out)["bins"] if b["size"] == 48)["types"]
assert "of_program" in types and "of_recorder" not in types, types
END

# A part of the run: the blocks after the snapshot "warm" are 7 of 24 bytes, 5 of them freed, 3 of
# 5000 bytes, and one each of 17, 18 and 19 bytes at one place. There are 10 of 24 bytes before it.
cat >parts.c <<'END'
#include <stdlib.h>
#include "heaptap/heaptap.h"
static void *volatile kept[8];
__attribute__((noinline)) static void *make(size_t size)
{
    void *p = malloc(size);
    return p;
}
int main(void) {
    for (int i = 0; i < 10; i++) kept[0] = malloc(24);
    heaptap_snapshot("warm");
    for (int i = 0; i < 7; i++) { kept[0] = malloc(24); if (i < 5) free(kept[0]); }
    for (int i = 0; i < 3; i++) kept[i] = malloc(5000);
    for (size_t i = 17; i < 20; i++) kept[i - 17] = make(i);
    return 0;
}
END
gcc -w -g -O0 -I "$SRCDIR/include" -o parts parts.c
record parts.heaptap ./parts
# part OPTIONS...: print the rows and the ranges as "sizes allocs bytes frees kept".
part() {
    "$HEAPTAP" sizes --json "$@" parts.heaptap 2>err | jq -r \
        '(.bins[] | select(.allocs != 0) | [.size // "more", .allocs, .bytes, .frees, .kept_bytes]),
         (.ranges[] | ["\(.size_min)-\(.size_max)", .allocs, .bytes, .frees, .kept_bytes])
         | join(" ")'
}
same "the whole run: each size" "17 1 17 0 17
18 1 18 0 18
19 1 19 0 19
24 17 408 5 288
more 3 15000 0 15000" "$(part)"
same "since a snapshot" "24 7 168 5 48
more 3 15000 0 15000
17-19 3 54 0 54" "$(part --between warm..end)"
same "at a snapshot" "24 10 240 0 240" "$(part --at warm)"
same "at the peak, only live blocks" "24 12 288 0 288
more 3 15000 0 15000
17-19 3 54 0 54" "$(part --at peak)"
"$HEAPTAP" sizes --between warm..end parts.heaptap >rows 2>err
same "since a snapshot, as text: a range" 1 \
    "$(grep -c '^17 to 19  *3  *54 B  *0\.4  *0  *54 B  *0\.4$' rows)"
same "since a snapshot, as text: the total" 1 \
    "$(grep -c '^total  *13  *14\.9 KiB  *100\.0  *5  *14\.7 KiB  *100\.0$' rows)"
same "since a snapshot, as mprof printed it" "17 to 19 3 54 0 54" \
    "$("$HEAPTAP" sizes --classic --between warm..end parts.heaptap |
        sed -n 's| ([ 0-9]*)||g; s|  *| |g; s|^ ||; s| $||; / to /p')"
# With --callers, rows may be coarser, but no sum depends on callers.
sum_of_parts() {
    "$HEAPTAP" sizes --json "$@" | jq -c '[.bins[], .ranges[]] |
        [([.[].allocs] | add), ([.[].bytes] | add), ([.[].frees] | add), ([.[].kept_bytes] | add)]'
}
"$HEAPTAP" run --quiet --callers 1/8 -o callers.heaptap -- ./parts
for part in "--at warm" "--at peak" "--between warm..end" "--between start..warm"; do
    # shellcheck disable=SC2086 # The option and its value.
    same "with --callers, $part" "$(sum_of_parts $part parts.heaptap)" \
        "$(sum_of_parts $part callers.heaptap)"
done
same "with --callers, as text: nothing is marked with ~" "" \
    "$("$HEAPTAP" sizes --at peak callers.heaptap | grep 'depends on callers')"
"$HEAPTAP" report --by size --at warm parts.heaptap >rows 2>err
same "report --by size names the command with parts of a run" 1 "$(grep -c 'heaptap sizes' err)"
finish
