"""python_moments.py: call functions at random in every way that Python programs do, and record the
stacks.

    python_moments.py SEED MOMENTS TRUTH [THREADS]

At each moment, the program allocates and frees a block that is larger than all others, on the line
where it has just queried the interpreter's stack. TRUTH gets a line for each different stack: its
count, then function, line and file of each frame from the innermost on.

SEED selects some of the WAYS; greenlets are another way if they are installed. After EPISODES
different descents, the descents repeat, because the recorder has room for only a million nodes. For
the same reason, a module is imported only where it is used: imports alone have tens of thousands of
stacks.
"""
import collections
import contextlib
import ctypes
import functools
import gc
import importlib
import itertools
import os
import random
import re
import signal
import sys
import tempfile
import threading
import traceback
import types
import weakref

# -S skips the directory of Debian's packages.
sys.path.append(os.path.join(sys.prefix, "lib", "python3", "dist-packages"))
try:
    import greenlet
except ImportError:
    greenlet = None
sys.path.pop()
try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        interpreters = None

SIZE = 400_000
EPISODES = 12
DEPTH = 6  # Maximum nesting of WAYS.
CHOSEN = 9  # Number of WAYS that a program uses.
DEEP = 60  # Maximum number of calls, so that a stack with the C frames of 3.9 fits into a profile.
TALL = 300 if sys.version_info >= (3, 11) else DEEP
truth = collections.Counter()
local = threading.local()
lock = threading.Lock()


def now():
    """Return the stack of the caller, by its frames, and check that the traceback module agrees."""
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
    if depth < DEPTH and local.left > 0:
        local.random.choice(chosen)(depth + 1)
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


@types.coroutine
def pause():
    yield (now(), bytes(SIZE))[0]


def coroutines(depth):
    async def leaf(n):
        now(); bytes(SIZE)
        await pause()
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
    """Run code objects that are created and freed, all with one name, file and first line."""
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

async def awaited(depth):
    now(); bytes(SIZE)
    await asyncio.sleep(0)
    now(); bytes(SIZE)
    return depth


def event_loop(depth):
    """Run tasks of asyncio, which its C code steps, and asynchronous generators."""
    async def ticks():
        try:
            for i in range(2):
                now(); bytes(SIZE)
                yield i
                await asyncio.sleep(0)
        finally:
            now(); bytes(SIZE)

    async def main():
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: (now(), bytes(SIZE)))
        task = asyncio.ensure_future(awaited(depth))
        task.add_done_callback(lambda _: (now(), bytes(SIZE)))
        await asyncio.gather(awaited(1), awaited(2))
        async for i in ticks():
            now(); bytes(SIZE)
        return [i async for i in ticks() if not now() and bytes(SIZE)]

    if asyncio._get_running_loop() is None:
        asyncio.run(main())
    go_on(depth)


def thrown_into(depth):
    """Pass values and exceptions to generators, and end them."""
    def inner():
        try:
            while True:
                got = yield (now(), bytes(SIZE))[0]
                go_on(got)
        except KeyError:
            now(); bytes(SIZE)
            yield
        finally:
            now(); bytes(SIZE)

    def outer():
        yield from inner()

    one = outer()
    next(one)
    one.send(depth + 5)
    one.throw(KeyError("now"))
    one.close()
    left = outer()
    next(left)
    del left


def through_more_c(depth):
    """Run methods and callbacks that C modules call."""
    class Ordered:
        def __init__(self, n):
            self.n = n

        def __lt__(self, other):
            now(); bytes(SIZE)
            return self.n < other.n

        def __reduce__(self):
            now(); bytes(SIZE)
            return int, (self.n,)

        def __str__(self):
            now(); bytes(SIZE)
            return "ordered"

        def __format__(self, _):
            now(); bytes(SIZE)
            return "formatted"

        def __index__(self):
            now(); bytes(SIZE)
            return 1

    def start(*_):
        now(); bytes(SIZE)
        go_on(depth + 6)

    def bad(error):
        now(); bytes(SIZE)
        return "?", error.end

    heapq.heapify([Ordered(2), Ordered(1)])
    sorted([Ordered(1), Ordered(2)])
    pickle.dumps([Ordered(1)])
    copy.deepcopy([Ordered(1)])
    json.dumps([Ordered(1)], default=lambda o: (now(), bytes(SIZE), 1)[2])
    json.loads('{"a": 1}', object_hook=lambda o: (now(), bytes(SIZE))[0])
    "%s" % Ordered(1), f"{Ordered(1)} {Ordered(2)!s}", [1, 2][Ordered(1)]
    list(itertools.accumulate((1, 2), lambda a, b: (now(), bytes(SIZE), a)[2]))
    list(filter(lambda a: (now(), bytes(SIZE)), (1, 2)))
    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler = start
    parser.Parse("<a><b/></a>", True)
    codecs.register_error("moments", bad)
    "\xe4".encode("ascii", "moments")
    contextvars.copy_context().run(start)
    collections.defaultdict(lambda: (now(), bytes(SIZE)))[1]
    functools.lru_cache(lambda x: start(x))(1)


def signals(depth):
    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGUSR1, lambda *_: (now(), bytes(SIZE)))
        signal.raise_signal(signal.SIGUSR1)
        os.kill(os.getpid(), signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, before)
    go_on(depth)


class Circle:
    def __init__(self):
        self.me = self
        weakref.finalize(self, finalized)

    def __del__(self):
        if local.left > 0:
            now(); bytes(SIZE)


def finalized():
    if local.left > 0:
        now(); bytes(SIZE)


def collected(depth):
    """Let objects end in a collection; make some while others are being collected."""
    for _ in range(30):
        Circle()
    gc.collect()
    go_on(depth)


def decorated(function):
    now(); bytes(SIZE)

    @functools.wraps(function)
    def wrapper(*arguments, **named):
        now(); bytes(SIZE)
        return function(*arguments, **named)

    return wrapper


class Meta(type):
    @classmethod
    def __prepare__(mcs, name, bases):
        now(); bytes(SIZE)
        return {}

    def __new__(mcs, *arguments):
        now(); bytes(SIZE)
        return super().__new__(mcs, *arguments)

    def __call__(cls, *arguments):
        now(); bytes(SIZE)
        return super().__call__(*arguments)


class Described:
    def __set_name__(self, owner, name):
        now(); bytes(SIZE)

    def __get__(self, instance, owner):
        now(); bytes(SIZE)
        return 1


def classes(depth):
    class Base:
        def __init_subclass__(cls):
            now(); bytes(SIZE)

        def method(self):
            go_on(depth)

    class Made(Base, metaclass=Meta):
        described = Described()
        rows = [(now(), bytes(SIZE))[0] for _ in range(2)]
        made = {x: (now(), bytes(SIZE))[0] for x in range(2)}

        @functools.cached_property
        def cached(self):
            now(); bytes(SIZE)
            return self.described

        @decorated
        def method(self):
            now(); bytes(SIZE)
            super().method()

    made = Made()
    made.cached
    made.method()


def generated_methods(depth):
    @dataclasses.dataclass(order=True)
    class Point:
        x: int
        y: list = dataclasses.field(default_factory=lambda: (now(), bytes(SIZE), [])[2])

    class Color(enum.Enum):
        RED = 1

        @classmethod
        def _missing_(cls, value):
            now(); bytes(SIZE)
            return cls.RED

    Point(1) < Point(2)
    Color(go_on(depth))


def evaluated(depth):
    """Run expressions and modules compiled from text."""
    space = {"now": now, "SIZE": SIZE, "go_on": go_on, "depth": depth}
    eval("[(now(), bytes(SIZE)) for _ in (1, 2)]", space)
    eval("(lambda: (\n\n now(), bytes(SIZE)))()", space)
    module = types.ModuleType("made")
    module.__dict__.update(space)
    exec("class A:\n def f(self):\n  now(); bytes(SIZE)\n  go_on(depth)\nA().f()",
         module.__dict__)


def imported(depth):
    """Run a module inside the import machinery, which is frozen into the interpreter."""
    if threading.current_thread() is threading.main_thread():
        try:
            __import__("moments_module")
        finally:
            del sys.modules["moments_module"]


def deep(depth):
    def down(n):
        if n > 0:
            return down(n - 1) + 1
        now(); bytes(SIZE)
        return 0

    down(DEEP + local.random.randrange(3))


def turns(depth):
    """Return from part of a deep recursion and call again, so that frames end and begin in the
    interpreter's chunks of memory."""
    left = [local.random.randrange(4)]
    at = [local.random.randrange(TALL)]

    def down(n):
        if n == 0:
            now(); bytes(SIZE)
            return 0
        total = down(n - 1)
        while left[0] > 0 and n == at[0]:
            left[0] -= 1
            at[0] = n + local.random.randrange(TALL - n + 1)
            total += down(n - 1)
        return total

    down(TALL)
    go_on(depth)


def profiled(depth):
    """Run a debugger's or profiler's hooks, which are called at each event."""
    def on_event(frame, event, _argument):
        if frame.f_code is target.__code__ and local.left > 0:
            sys.setprofile(None)
            now(); bytes(SIZE)
            sys.setprofile(on_event)

    def on_line(frame, event, _argument):
        if frame.f_code is target.__code__:
            now(); bytes(SIZE)
            return on_line

    def target():
        a = 1
        return a

    sys.setprofile(on_event)
    target()
    sys.setprofile(None)
    sys.settrace(on_line)
    target()
    sys.settrace(None)
    go_on(depth)


MODULE = """
import python_moments as m
m.now(); bytes(m.SIZE)
class A:
    m.now(); bytes(m.SIZE)
"""

INNER = """
import json, sys
SIZE = {size}
counts = {{}}

def now():
    frame, frames = sys._getframe(1), []
    while frame is not None:
        code = frame.f_code
        frames.append("%s:%d:%s" % (getattr(code, "co_qualname", code.co_name), frame.f_lineno,
                                    code.co_filename))
        frame = frame.f_back
    stack = "\\t".join(frames)
    counts[stack] = counts.get(stack, 0) + 1

def inside(n):
    now(); bytes(SIZE)
    return n and inside(n - 1)

def rows():
    yield (now(), bytes(SIZE))[0]
    yield inside(1)

inside(2)
list(rows())
list(map(inside, (0, 1)))
with open({path!r}, "w") as file:
    json.dump(counts, file)
"""


def another_interpreter(depth):
    """Python's list of frames has the functions that run in a sub-interpreter, but not their
    callers outside."""
    if interpreter is None or threading.current_thread() is not threading.main_thread():
        return go_on(depth)
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "counts")
        interpreters.run_string(interpreter, INNER.format(size=SIZE, path=path))
        with open(path, encoding="utf-8") as file:
            inner = json.load(file)
    with lock:
        truth.update(inner)


def written_out(depth):
    class File(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            now(); bytes(SIZE)
            return len(data)

    with io.BufferedWriter(File()) as file:
        print("text", file=io.TextIOWrapper(file, write_through=True))
    go_on(depth)


def databases(depth):
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        database.create_function("moment", 1, lambda x: (now(), bytes(SIZE), x)[2])
        database.create_collation("backwards", lambda a, b: (now(), bytes(SIZE), 1)[2])
        database.execute("select moment(1)").fetchall()
        database.execute("create table t (a text)")
        database.executemany("insert into t values (?)", (generated_row(x) for x in "ab"))
        database.execute("select a from t order by a collate backwards").fetchall()
    go_on(depth)


def generated_row(x):
    now(); bytes(SIZE)
    return (x,)


def greenlets(depth):
    """Run greenlets. Each has a separate C stack, which the library copies to and from the place
    where it last ran. When a greenlet begins another one, the rest of its own stack is saved
    elsewhere."""
    made = []

    def key(number):
        now(); bytes(SIZE)
        if number == 1:
            greenlet.getcurrent().parent.switch()
        return number

    def body(again=0):
        if again < local.random.randrange(5):
            return body(again + 1)
        for _ in range(2):
            now(); bytes(SIZE)
            other = local.random.choice(made)
            if not other.dead and other is not greenlet.getcurrent():
                other.switch()
            sorted([2, 1], key=key)
        return None

    made += [greenlet.greenlet(body) for _ in range(4)]
    for one in made * 3:
        if not one.dead:
            one.switch()
        now(); bytes(SIZE)
    go_on(depth)


WAYS = (recursion, generator, exceptions, objects, through_c, through_ctypes, coroutines,
        fresh_code, closures, naïve_名前, over_lines, event_loop, thrown_into, through_more_c,
        signals, collected, classes, generated_methods, evaluated, imported, deep,
        turns, profiled, another_interpreter, written_out, databases)
NEEDED = {
    event_loop: ("asyncio",),
    through_more_c: ("codecs", "contextvars", "copy", "heapq", "json", "pickle",
                     "xml.parsers.expat"),
    generated_methods: ("dataclasses", "enum"),
    another_interpreter: ("json",),
    written_out: ("io",),
    databases: ("sqlite3",),
}


def run(seed, moments):
    local.left = moments
    for episode in itertools.count():
        if local.left <= 0:
            break
        local.random = random.Random(f"{seed} {episode % EPISODES}")
        go_on(0)


def choose(seed):
    """Return the ways that this program uses, with their requirements."""
    global chosen
    chosen = random.Random(seed).sample(WAYS, CHOSEN) + [greenlets] * (greenlet is not None)
    for module in [module for way in chosen for module in NEEDED.get(way, ())]:
        importlib.import_module(module)
        name = module.partition(".")[0]
        globals()[name] = sys.modules[name]


def in_order(seed, moments, threads):
    if not threads:
        return run(seed, moments)
    threads = [threading.Thread(target=run, args=(seed + i, moments)) for i in range(threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    global interpreter
    seed, moments, name = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    choose(seed)
    interpreter = None
    if interpreters is not None and another_interpreter in chosen:
        interpreter = interpreters.create()
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "moments_module.py"), "w", encoding="utf-8") as file:
            file.write(MODULE)
        sys.path.insert(0, directory)
        sys.dont_write_bytecode = True
        sys.modules["python_moments"] = sys.modules["__main__"]
        in_order(seed, moments, int(sys.argv[4]) if len(sys.argv) > 4 else 0)
    if interpreter is not None:
        interpreters.destroy(interpreter)
    with open(name, "w", encoding="utf-8") as file:
        for stack, count in truth.items():
            file.write(f"{count}\t{stack}\n")


if __name__ == "__main__":
    main()
