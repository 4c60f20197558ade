"""python_traced.py: run tests of the standard library while tracemalloc traces them.

    python_traced.py MODULE [LIBRARY TRUTH REUSE]

MODULE is a test module, such as test_json. With no further argument, the script only runs it,
traced if -X tracemalloc is given. LIBRARY is libtraced.so. The run has three stretches; each ends
with a snapshot, whose name is also the label of the stretch's allocations. TRUTH gets two kinds of
lines, with tabs between the fields: name and sys.getallocatedblocks(); and, for each stack that
tracemalloc has traced, name, bytes, blocks, and file and line of up to 25 frames, innermost first.
REUSE is 1 if tracemalloc should charge objects from free lists to the line that took them, its
default, and 0 if not.
"""
import ctypes
import functools
import gc
import io
import random
import sys
import tracemalloc
import unittest

import _tracemalloc

FRAMES = 25


class Truth:
    def __init__(self, library, path, reuse):
        library, self.reuse = ctypes.PyDLL(library), int(reuse)
        self.file = open(path, "w", encoding="utf-8")
        self.start = functools.partial(tracemalloc.start, FRAMES)
        self.traced_begin, self.traced_now = library.traced_begin, library.traced_now
        self.traced_begin.argtypes = ctypes.c_char_p, ctypes.py_object, ctypes.c_int
        self.traced_now.restype = ctypes.py_object
        self.traced_now.argtypes = (ctypes.c_char_p, ctypes.py_object, ctypes.py_object,
                                    ctypes.POINTER(ctypes.py_object))
        library.raw_inner()

    def begin(self, name):
        self.traced_begin(name.encode(), self.start, self.reuse)

    def end(self, name):
        blocks = ctypes.py_object()
        traces = self.traced_now(name.encode(), _tracemalloc._get_traces, sys.getallocatedblocks,
                                 ctypes.byref(blocks))
        of_traces = _tracemalloc._get_object_traceback(traces)
        tracemalloc.stop()
        self.file.write(f"{name}\t{blocks.value}\n")
        for frames, (size, count) in add_up(traces, of_traces).items():
            self.file.write("\t".join([name, str(size), str(count)] +
                                      [f"{file}:{line}" for file, line in frames]) + "\n")
        self.file.flush()


class Nothing:
    def begin(self, name):
        pass

    end = begin


def add_up(traces, of_traces):
    """Return (bytes, blocks) by stack, except for the list TRACES itself, which is traced as well.
    """
    stacks = {of_traces: [-sys.getsizeof([]), -1]}
    for _domain, size, frames, _count in traces:
        row = stacks.setdefault(frames, [0, 0])
        row[0] += max(size, 1)  # The size that the interpreter requests from malloc.
        row[1] += 1
    return stacks


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


def main():
    module, truth = sys.argv[1], Truth(*sys.argv[2:]) if len(sys.argv) > 2 else Nothing()
    random.seed(1)
    gc.disable()  # Objects in cycles live to the end, so there is more to compare.
    truth.begin("load")
    tests = list(tests_of(unittest.defaultTestLoader.loadTestsFromName(f"test.{module}")))
    truth.end("load")
    result = unittest.TextTestResult(unittest.runner._WritelnDecorator(io.StringIO()), False, 0)
    half = len(tests) // 2
    for name, some in ("first", tests[:half]), ("second", tests[half:]):
        truth.begin(name)
        for test in some:
            test(result)
        truth.end(name)
    print(f"{result.testsRun} tests, {len(result.failures) + len(result.errors)} failed")


main()
