"""python_scribble.py: allocate while Python's frames are damaged.

    python_scribble.py LIBRARY

LIBRARY is libscribble.so. Links, code objects, instructions and marks in frames of functions, of
generators, and in C frames are overwritten with values that garbage may have. Prints the number of
blocks of 300,000 bytes.
"""
import ctypes
import sys

# By minor version: the offsets of a frame's link, its code, and its position; the bytes of marks;
# and the offset of the innermost frame, or cframe, in a thread's state.
PLACES = {
    9: (24, 32, 104, (), 24),
    10: (24, 32, 96, (), 24),
    11: (48, 32, 56, (68, 69), 56),
    12: (8, 0, 56, (70,), 56),
    13: (8, 0, 56, (70,), 72),
}
TIMES = 3
library = ctypes.PyDLL(sys.argv[1])
library.scribble.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_uint64, ctypes.c_int)
library.edge.restype = ctypes.c_void_p
minor = sys.version_info[1]
link, code, instruction, marks, top = PLACES[minor]
count = 0


def word(at):
    return ctypes.c_uint64.from_address(at).value


def garbage(at):
    """Return values that a word at AT may have."""
    edge = library.edge()
    return [0, 1, 8, 4095, 4096, 4104, 1 << 46, (1 << 47) - 8, 1 << 47, (1 << 64) - 8,
            0xdeadbeefdeadbeef, at, at & -16, edge, edge - 8, edge - 64, edge - 128, edge - 4096,
            id(None), id(int), id("text"), id(garbage), id(garbage.__code__),
            id(bytes(1 << 20)), ctypes.addressof(ctypes.c_int())]


def damage(at, size=8, values=None):
    global count
    for value in garbage(at) if values is None else values:
        count += library.scribble(at, size, value, TIMES)


def frame_at(frame):
    """Return the address of the interpreter's frame."""
    return id(frame) if minor < 11 else word(id(frame) + 24)


def damage_frame(frame):
    at = frame_at(frame)
    for place in (link, code, instruction):
        damage(at + place)
    for place in marks:
        damage(at + place, 1, (0, 1, 2, 3, 4, 255))
    # This makes a circle of links.
    damage(at + link, 8, [frame_at(frame), frame_at(sys._getframe())])


def function(depth):
    if depth > 0:
        return function(depth - 1)
    damage_frame(sys._getframe())
    return damage_frame(sys._getframe(2))


def generator():
    many = [0]
    yield many
    damage_frame(sys._getframe())
    yield many


# With 100 variables, the function's frame is too large for the interpreter's data stack chunk.
exec("def wide():\n" + "".join(f"    v{i} = {i}\n" for i in range(100)) +
     "    damage_frame(sys._getframe())\n    yield v0\n")


def thread_state():
    get = ctypes.pythonapi.PyThreadState_Get
    get.restype = ctypes.c_void_p
    at = get() + top
    damage(at)
    if minor in (11, 12):
        for place in (0, 8, 16)[:4 - minor % 10]:
            damage(word(at) + place)


function(5)
list(generator())
list(wide())  # noqa: F821
thread_state()
print(count)
