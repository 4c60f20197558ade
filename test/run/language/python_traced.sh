#!/usr/bin/env bash
# python_traced.sh: five programs of the standard library's tests, recorded and traced by
# tracemalloc in one run. At three moments, heaptap and tracemalloc must have the same live blocks:
# bytes, counts and stacks of 25 frames; and their number must equal the interpreter's count. If it
# fails, a line of a Python program is charged with another line's allocations.
#
# One difference is by design. tracemalloc charges an object from the interpreter's free lists to
# the code that took it, heaptap to the code that allocated its memory. The test makes tracemalloc
# behave like heaptap, through a word of the interpreter's configuration (libtraced.c). One run
# leaves that word as it is, and does not compare stacks.
#
# PYTHON_TRACED="test_heapq ..." selects other programs. Some have so many stacks that the call tree
# becomes full, which is reported; then the blocks in "other stacks" are missing in the comparison.
. "$SRCDIR/test/run/lib.subr"
need python3
adapter=${LIBHEAPTAP%/*}/libheaptap_python.so
for python in /usr/bin/python3 python3; do
    "$python" -c '
import sys, test.support, ctypes
sys.exit(not (3, 9) <= sys.version_info < (3, 12) or
         not hasattr(ctypes.pythonapi, "_Py_tracemalloc_config"))' 2>/dev/null && break
    python=
done
[ -n "$python" ] || skip_all "needs python3 up to 3.11 with its tests (libpython3-testsuite)"
export PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1

# traced MODULE REUSE
traced() {
    LD_PRELOAD="$LIBHEAPTAP $adapter" HEAPTAP_OUT=$PWD/$1.%n.heaptap \
        "$python" "$area/python_traced.py" "$1" "$PROG/libtraced.so" "$1.truth" "$2" >"$1.out" 2>&1
    same "$1: exit status" 0 $?
    run_python "$area/python_compare.py" "$HEAPTAP" "$1.1.heaptap" "$1.truth" ${3:-} >"$1.same" 2>&1
    same "$1${3:+, $3}: live blocks" 0 $?
    sed 's/^/#   /' "$1.same"
    rm -f "$1".*.heaptap
}

# cost MODULE: print the processor time of a bare, a traced and a recorded run. Nothing is checked.
cost() {
    python3 - "$LIBHEAPTAP $adapter" "$python" "$area/python_traced.py" "$1" <<'END'
import os
import resource
import subprocess
import sys

preload, python, *command = sys.argv[1:]


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def seconds(options, **variables):
    before = used()
    subprocess.run([python, *options, *command], env={**os.environ, **variables}, check=True,
                   stdout=subprocess.DEVNULL)
    return used() - before


bare, traced = seconds([]), seconds(["-X", "tracemalloc=25"])
recorded = seconds([], LD_PRELOAD=preload, HEAPTAP_OUT="cost.heaptap")
print(f"#   {command[1]}: processor time {bare:.2f} s, traced {traced:.2f} s, "
      f"recorded {recorded:.2f} s, which adds {(recorded - bare) / max(traced - bare, 0.01):.2f} "
      f"times what tracing adds")
END
    rm -f cost.heaptap
}

modules=${PYTHON_TRACED:-test_fractions test_pprint test_graphlib test_copy test_bisect}
for module in $modules; do
    traced $module 0
    cost $module
done
traced test_textwrap 1 reused
finish
