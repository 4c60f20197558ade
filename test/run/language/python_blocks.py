"""python_blocks.py: take snapshots at which the interpreter reports its blocks in use.

    python_blocks.py LIBRARY

LIBRARY is libblocks.so, which writes this report to stderr.
"""
import ctypes
import json
import sys

blocks_now = ctypes.PyDLL(sys.argv[1]).blocks_now


class Point:
    def __init__(self, x):
        self.x, self.y = x, str(x)


def grow(kept):
    kept.append([Point(i) for i in range(20_000)])


def shrink(kept):
    del kept[0][::2]


def change(kept):
    for size in list(range(400, 600)) * 5:
        block = bytearray(10)
        block.extend(bytes(size))
        del block[size // 3:]
        kept.append(block)
    kept.append(json.loads(json.dumps({str(i): [i, 1.5 * i] for i in range(2000)})))


def main():
    kept = []
    blocks_now(b"begin")
    for step in grow, shrink, change, list.clear:
        step(kept)
        blocks_now(step.__name__.encode())


main()
