#!/usr/bin/env bash
# heap_info.sh: every member of the Heap Info Block in LLVM's proposal, as `access --json` shows it.
# The program forces a value of each member: it moves between cpus, lets lives overlap, and reads
# the clock. If it fails, reports are wrong about migration, overlap or lifetime of blocks.
. "$SRCDIR/test/run/lib.subr"
. "$SRCDIR/test/run/access/compilers.subr"
need python3

for granule in 8 16 64; do
    with_each_compiler heap_info.py $granule
done
finish
