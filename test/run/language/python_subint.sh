#!/usr/bin/env bash
# python_subint.sh: a sub-interpreter of each version of Python. If it fails, the recorder makes a
# system call or sleeps for each object of a sub-interpreter, and the program becomes a hundred
# times slower.
#
# Two runs differ by 20,000 objects. The numbers of the recorder's probes of memory, and of the
# process's sleeps, may each differ by less than 2,000.
. "$SRCDIR/test/run/lib.subr"
need python3
. "$area/pythons.subr"

tried=0
what=calls # Only the first version tried is measured this way.
for python in $pythons; do
    "$python" -c 'import _xxsubinterpreters' 2>/dev/null ||
        "$python" -c 'import _interpreters' 2>/dev/null || continue
    tried=$((tried + 1))
    run_python "$area/python_subint.py" "$python" "$(label_of "$python")" $what || failures=1
    what=
done
[ $tried -gt 0 ] || skip_all "needs a CPython with sub-interpreters"
finish
