#!/usr/bin/env bash
# python_suite.sh: test files of Python's standard library, alone and recorded. If it fails, a
# Python program behaves or prints differently when it is recorded.
#
# PYTHON_SUITE=all runs 30 files instead of a few; PYTHON_SUITE="test_re ..." selects files.
. "$SRCDIR/test/run/lib.subr"
need python3
few="test_sys test_gc test_coroutines test_heapq"
all="$few test_json test_re test_csv test_struct test_string test_operator test_textwrap test_copy
    test_bisect test_fractions test_weakref test_list test_contextlib test_ctypes test_array
    test_functools test_dataclasses test_enum test_set test_dict test_zlib test_exceptions
    test_sys_settrace test_tracemalloc test_atexit test_subprocess"

for python in /usr/bin/python3 python3; do
    "$python" -c 'import sys, test.test_sys; sys.exit(not (3, 9) <= sys.version_info < (3, 14))' \
        2>/dev/null && break
    python=
done
[ -n "$python" ] || skip_all "needs python3 with its tests (libpython3-testsuite)"
modules=${PYTHON_SUITE:-$few}
[ "$modules" != all ] || modules=$all
run_python "$SRCDIR/test/run/language/python_suite.py" "$HEAPTAP" \
    "$("$python" -c 'import sys; print(sys.executable)')" $modules
