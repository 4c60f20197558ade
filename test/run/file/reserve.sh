#!/usr/bin/env bash
# reserve.sh: profiles with room for gigabytes of counters. If it fails, the profile of a program
# with such a reserve reads as empty, or reading it takes memory and time in proportion to the
# reserve. The script writes sparse files, because the recorder would take half a minute to fill 8
# GiB.
. "$SRCDIR/test/run/lib.subr"
need python3

case $(stat -f -c %T .) in
ext2/ext3 | xfs | tmpfs) ;;
*) skip_all "needs a file system on which holes are known (ext4, xfs, tmpfs)" ;;
esac
"$HEAPTAP" run --quiet --no-pack -o small.heaptap -- "$PROG/article" >out 2>err
# The counters' share of --reserve 8G, which is also the recorder's maximum.
for bytes in 5100273664 8589934592; do
    check "counters of $bytes bytes" python3 "$area/reserve.py" "$HEAPTAP" \
        small.heaptap large.heaptap $bytes
    rm -f large.heaptap
done

# The recorder has the file system reserve all blocks, so the size on disk does not show holes.
"$HEAPTAP" run --quiet --no-pack --reserve 1G -o recorded.heaptap -- "$PROG/article" >out 2>err
check "a recorded reserve of 1 GiB" python3 "$area/reserve.py" "$HEAPTAP" \
    small.heaptap recorded.heaptap
rm -f recorded.heaptap
# heaptap reads each record of a copy without holes, which shows the records it leaves unread.
"$HEAPTAP" run --quiet --no-pack --reserve 100M -o recorded.heaptap -- "$PROG/article" >out 2>err
check "a reserve and its copy without holes" python3 "$area/reserve.py" "$HEAPTAP" \
    recorded.heaptap copy.heaptap copy
rm -f recorded.heaptap copy.heaptap
# Records lie across the pages where the data ends. If this fails, the last sites are lost.
for count in 8 11 15 24 30 100; do
    {
        echo '#include <stdlib.h>'
        for i in $(seq $count); do
            echo "__attribute__((noinline)) void f$i(void) { void *volatile p = malloc($i); }"
        done
        echo 'int main(void) {'
        seq -f 'f%g();' 1 $count
        echo 'return 0; }'
    } >sites.c
    gcc -O0 -w -o sites sites.c
    "$HEAPTAP" run --quiet --force --reserve 64M -o sites.heaptap -- ./sites >out 2>err
    known sites.heaptap "total allocations=$count allocated_bytes=$((count * (count + 1) / 2))"
done

# The reserve exceeds what the recorder can reserve. If this fails, it is reduced without a message.
for size in 8589934593 100T 16777215T 18446744073709551615; do
    "$HEAPTAP" run --quiet --reserve $size -o huge.heaptap -- touch ran >out 2>err
    same "--reserve $size: refused, and nothing was run" "2 no" \
        "$? $([ -e ran ] && echo yes || echo no)"
    same "--reserve $size: the limit is stated" 1 "$(grep -c "at most 8G" err)"
done

# A limit below the reserve: the file takes half of it, and stacks have room.
for limit in 2M 16M 64M; do
    "$HEAPTAP" run --quiet --force --max-memory $limit --reserve 64M -o limited.heaptap -- \
        "$PROG/article" >out 2>err
    check "$limit and a reserve: as recorded without both" python3 - small.heaptap \
        limited.heaptap "$HEAPTAP" <<'END'
import json, subprocess, sys
def report(path):
    return json.loads(subprocess.check_output([sys.argv[3], "report", "--json", path]))
plain, limited = map(report, sys.argv[1:3])
for document in plain, limited:  # The clock is coarse.
    del document["totals"]["peak_elapsed_ns"]
assert limited["damage"] is None, limited["damage"]
assert limited["totals"] == plain["totals"] and not any(limited["losses"].values()), limited
assert len(limited["sites"]) == len(plain["sites"]), limited["sites"]
END
done
cat >lowers.c <<'C'
#include <stdlib.h>
#include "heaptap/heaptap.h"
int main(void)
{
    heaptap_max_memory(2 << 20);
    free(malloc(100));
    return 0;
}
C
gcc -I "$SRCDIR/include" -o lowers lowers.c
"$HEAPTAP" run --quiet --reserve 64M -o lowered.heaptap -- ./lowers >out 2>err
same "a limit that the reserve exceeds is no damage" 0 \
    "$("$HEAPTAP" report lowered.heaptap 2>&1 | grep -c Damaged)"
finish
