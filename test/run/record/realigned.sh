#!/usr/bin/env bash
# realigned.sh: stacks through functions that realign them. If it fails, the recorder uses the
# cached stack although the callers are others, and charges blocks to wrong sites.
. "$SRCDIR/test/run/lib.subr"
need python3

record realigned.heaptap "$PROG/realigned"
same "exit status" 0 "$status"
known realigned.heaptap \
    "total allocations=7000 allocated_bytes=70000 frees=7000" \
    "whole:leaf,realigned,left,main allocations=3500 allocated_bytes=35000" \
    "whole:leaf,realigned,right,main allocations=3500 allocated_bytes=35000" \
    "losses events=0 guessed_frames=0 unwind_failures=0"
finish
