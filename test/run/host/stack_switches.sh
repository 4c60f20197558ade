#!/usr/bin/env bash
# stack_switches.sh: random programs that switch stacks, unmap them and map other stacks in their
# place. Their unwind tables are right, missing or wrong. If it fails, the recorder kills a program
# with coroutines by reading a stack that was unmapped, or loses its events.
#
# STACK_SWITCHES is the number of programs; 2,000 take some minutes.
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/stack_switches.py" 1 "${STACK_SWITCHES:-48}"
