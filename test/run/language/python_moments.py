"""python_moments.py: a program that does at random what Python programs do, and knows its stacks.

    python_moments.py SEED MOMENTS TRUTH [THREADS]

At each moment it takes a block that is larger than all others and gives it back, on the line where
it has just asked the interpreter for the stack. TRUTH gets a line for each different stack: how
often, then function, line and file of each frame from the innermost on.
"""
import asyncio
import collections
import contextlib
import ctypes
import functools
import random
import re
import sys
import threading
import traceback
import weakref

SIZE = 400_000
truth = collections.Counter()
local = threading.local()
lock = threading.Lock()


def now():
    """The stack of the caller, by its frames, and that the traceback module says the same."""
    frame, frames = sys._getframe(1), []
    summary = traceback.extract_stack(frame) if local.left % 10 == 0 else None
    while frame is not None:
        code = frame.f_code
        frames.append((getattr(code, "co_qualname", code.co_name), frame.f_lineno,
                       code.co_filename, code.co_name))
        frame = frame.f_back
    if summary is not None:
        said = [(f.name, f.lineno, f.filename) for f in reversed(summary)]
        if said != [(name, line, file) for _, line, file, name in frames]:
            raise SystemExit("the interpreter contradicts itself")
    with lock:
        truth["\t".join(f"{function}:{line}:{file}" for function, line, file, _ in frames)] += 1
    local.left -= 1


def go_on(depth):
    if depth < 10 and local.left > 0:
        local.random.choice(WAYS)(depth + 1)
    if local.left > 0:
        now(); bytes(SIZE)


def recursion(depth, again=0):
    if again < local.random.randrange(6):
        return recursion(depth, again + 1)
    now(); bytes(SIZE)
    return go_on(depth)


def generator(depth):
    def inner():
        for i in range(3):
            now(); bytes(SIZE)
            yield i
        go_on(depth)

    def outer():
        yield from inner()
        yield (now(), bytes(SIZE))[0]

    for _ in outer():
        if local.random.randrange(4) == 0:
            break
    return [x for x in (generated(depth) for _ in range(2))]


def generated(depth):
    now(); bytes(SIZE)
    return depth


def exceptions(depth):
    def thrower(n):
        if n > 0:
            thrower(n - 1)
        now(); bytes(SIZE)
        raise KeyError(n)

    try:
        try:
            thrower(local.random.randrange(4))
        finally:
            now(); bytes(SIZE)
    except KeyError as error:
        now(); bytes(SIZE)
        try:
            raise ValueError from error
        except ValueError:
            go_on(depth)


class Managed:
    def __init__(self, depth):
        self.depth = depth

    def __enter__(self):
        now(); bytes(SIZE)
        return self

    def __exit__(self, *_):
        now(); bytes(SIZE)
        return True

    def __getattr__(self, name):
        now(); bytes(SIZE)
        return name

    @property
    def value(self):
        go_on(self.depth)
        return 1

    def __del__(self):
        if local.left > 0:
            now(); bytes(SIZE)

    def __eq__(self, other):
        now(); bytes(SIZE)
        return False

    def __hash__(self):
        now(); bytes(SIZE)
        return 1


def objects(depth):
    with Managed(depth) as managed:
        managed.missing
        managed.value
        {managed: 1, Managed(depth): 2}
        raise IndexError


def through_c(depth):
    def key(x):
        now(); bytes(SIZE)
        return -x

    list(map(key, (1, 2)))
    sorted((2, 1), key=key)
    functools.reduce(lambda a, b: (now(), bytes(SIZE), a)[2], (1, 2, 3))
    re.sub("a", lambda m: (now(), bytes(SIZE), "b")[2], "banana")
    min((1, 2), key=lambda x: go_on(depth) or x)


COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
QSORT = ctypes.CDLL(None).qsort


def through_ctypes(depth):
    def compare(_a, _b):
        now(); bytes(SIZE)
        go_on(depth + 4)
        return 0

    array = (ctypes.c_int * 2)(2, 1)
    QSORT(array, 2, 4, COMPARE(compare))


def coroutines(depth):
    async def leaf(n):
        now(); bytes(SIZE)
        await asyncio.sleep(0)
        now(); bytes(SIZE)
        return n

    async def both():
        async with manager():
            return [await leaf(i) for i in range(2)]

    @contextlib.asynccontextmanager
    async def manager():
        now(); bytes(SIZE)
        yield
        now(); bytes(SIZE)

    def drive(c):
        try:
            while True:
                c.send(None)
        except StopIteration:
            go_on(depth)

    drive(both())


def fresh_code(depth):
    """Code objects that come and go, all of one name, file and first line."""
    lines = local.random.randrange(1, 9)
    space = {"now": now, "SIZE": SIZE, "go_on": go_on, "depth": depth}
    name = local.random.choice(("made", "done"))
    exec(compile(f"def {name}():\n" + "    pass\n" * lines + "    now(); bytes(SIZE)\n" +
                 f"{name}()", "<made>", "exec"), space)
    exec(compile("\n" * lines + "now(); bytes(SIZE)", "<made>", "exec"), space)


def closures(depth):
    value = depth

    def adder(x, *, y=1):
        return [value + x + y + z for z in (1, 2) if not now() and bytes(SIZE)]

    class Made:
        now(); bytes(SIZE)
        attribute = adder(1)

    weak = Made()
    reference = weakref.ref(weak, lambda _: (now(), bytes(SIZE)))
    del weak, reference
    functools.partial(adder, 2)()
    go_on(depth)


def naïve_名前(depth):
    now(); bytes(SIZE)
    go_on(depth)


def over_lines(depth):
    return max(
        depth,
        len((now(), bytes(SIZE))[1:]) and
        1,
        go_on(
            depth
        ) or 0,
    )


WAYS = (recursion, generator, exceptions, objects, through_c, through_ctypes, coroutines,
        fresh_code, closures, naïve_名前, over_lines)


def run(seed, moments):
    local.random = random.Random(seed)
    local.left = moments
    while local.left > 0:
        go_on(0)


def main():
    seed, moments, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    threads = [threading.Thread(target=run, args=(seed + i, moments))
               for i in range(int(sys.argv[4]) if len(sys.argv) > 4 else 0)]
    for thread in threads:
        thread.start()
    if not threads:
        run(seed, moments)
    for thread in threads:
        thread.join()
    with open(name, "w", encoding="utf-8") as file:
        for stack, count in truth.items():
            file.write(f"{count}\t{stack}\n")


if __name__ == "__main__":
    main()
