#!/usr/bin/env bash
# stopped.sh: the result of a system call that `heaptap check` or `heaptap core --leaks --pid`
# interrupts, and the commands' output when another process traces the program, when a signal has
# stopped it, and when its first thread has ended. If it fails, examining a program changes the
# results of the program's system calls, or a living program cannot be examined.
. "$SRCDIR/test/run/lib.subr"
need python3

run_python "$area/stopped.py" "$HEAPTAP" "$PROG" "$LIBHEAPTAP" || failures=$((failures + 1))
finish
