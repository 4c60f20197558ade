#!/usr/bin/env bash
# stopped.sh: what a process gets from the system call in which `heaptap check` or `heaptap core
# --leaks --pid` finds it, and what these print when another process traces it. If it fails, looking
# at a program changes the results of its system calls.
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/stopped.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" || failures=$((failures + 1))
finish
