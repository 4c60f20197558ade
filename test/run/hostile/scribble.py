"""scribble.py: write garbage to a live profile.

    scribble.py PROFILE KIND

KIND is "control" (only the control words, which are requests) or "all" (any byte that is not zero,
and its neighbours). The file is not truncated, so no page vanishes. The seed is fixed, so that a
failure repeats. Between two rounds, the program has time to use the garbage.
"""
import mmap
import os
import random
import sys
import time

CONTROL_OFF, CONTROL_BYTES, ROUNDS = 640, 64, 300
BEGIN_OFF = 128  # The bytes before this offset identify the file.


def garbage(draw):
    value = draw.choice((0, 1, 5, 0x7f, 0xff, 1 << 22, 0xffff, 0xffffffff, 1 << 31,
                         draw.getrandbits(32)))
    return value.to_bytes(4, "little")


def scribble(data, draw, kind):
    if kind == "control":
        for off in range(CONTROL_OFF, CONTROL_OFF + CONTROL_BYTES, 4):
            data[off:off + 4] = garbage(draw)
        return CONTROL_BYTES
    written, size = 0, len(data)
    for _ in range(2000):
        off = draw.randrange(BEGIN_OFF // 4, size // 4) * 4
        if any(data[off:off + 64]):
            data[off:off + 4] = garbage(draw)
            written += 4
    return written


def main():
    path, kind, draw, written = sys.argv[1], sys.argv[2], random.Random(7), 0
    for _ in range(ROUNDS):
        fd = os.open(path, os.O_RDWR)
        with mmap.mmap(fd, 0) as data:
            written += scribble(data, draw, kind)
        os.close(fd)
        time.sleep(0.001)
    print(f"# {written} bytes of garbage")
    sys.exit(written == 0)


main()
