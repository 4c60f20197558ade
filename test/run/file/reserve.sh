#!/usr/bin/env bash
# reserve.sh: profiles with room for gigabytes of counters. If it fails, a program that was given
# such a reserve is recorded for nothing, since its profile reads as empty, or reading it takes as
# much memory and time as the reserve is large. The files are sparse: to let the recorder fill 8 GiB
# takes half a minute.
. "$SRCDIR/test/run/lib.subr"
need python3

case $(stat -f -c %T .) in
ext2/ext3 | xfs | tmpfs) ;;
*) skip_all "needs a file system on which holes are known (ext4, xfs, tmpfs)" ;;
esac
"$HEAPTAP" run --quiet --no-pack -o small.heaptap -- "$PROG/article" >out 2>err
# What --reserve 8G gives to the counters, and the most that the recorder ever has.
for bytes in 5100273664 8589934592; do
    check "counters of $bytes bytes" python3 "$area/reserve.py" "$HEAPTAP" \
        small.heaptap large.heaptap $bytes
    rm -f large.heaptap
done
finish
