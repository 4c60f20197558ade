"""counted.py: compare the recorder's sums with the sums of the counter (test/counter) behind it.

Both see the calls of the same process, so for every process image

    allocations recorded                             = calls that returned a block
    frees recorded, of blocks known or unknown       = blocks handed back
        (except frees that nobody called: the allocator returned a block that was still live)

Process id and executable identify an image. A process that replaced itself by the same executable
has several images, matched in the order of their creation. If only one side has an image, the other
side's sums are 0. When a process ends, its other threads may be between the counter and the
recorder: then the counter has counted an allocation that the recorder has not, or the recorder has
counted a free that the counter has not. So each thread except the last may add a difference of one,
in that direction. No other difference is permitted.
"""
import glob
import itertools
import os
import struct

FILE = struct.Struct("<5Q512s")  # struct counter_file of test/counter/counter.h
MAGIC = 0x3174636E756F4348


class Image:
    """Sums of one process image; `order` is its rank among images of the same process."""

    def __init__(self, pid, executable, order, allocations, frees, threads=1):
        self.key, self.order, self.threads = (pid, executable), order, threads
        self.allocations, self.frees = allocations, frees

    def events(self):
        return self.allocations + self.frees


def recorded_image(report):
    process, totals, losses = report["process"], report["totals"], report["losses"]
    frees = (totals["frees"] + losses["unknown_frees"] + losses["inherited_frees"]
             - losses["overwritten_blocks"])
    return Image(process["pid"], process["executable"], process["start_unix_ns"],
                 totals["allocations"], frees, len(report["threads"]))


def counted_images(directory):
    for path in glob.glob(f"{glob.escape(directory)}/c.*"):
        with open(path, "rb") as f:
            data = f.read(FILE.size)
        if len(data) < FILE.size:
            continue
        magic, pid, allocations, frees, _, executable = FILE.unpack(data)
        if magic == MAGIC:
            yield Image(pid, os.fsdecode(executable.split(b"\0")[0]),
                        int(path.rsplit(".", 1)[1]), allocations, frees)


def by_key(images):
    found = {}
    for image in sorted(images, key=lambda image: image.order):
        found.setdefault(image.key, []).append(image)
    return found


class Comparison:
    """Return the events of both, the number of events that only one side has, and a line for each
    image with such events."""

    def __init__(self, recorded, counted):
        recorded, counted = list(recorded), list(counted)
        self.recorded = sum(image.events() for image in recorded)
        self.counted = sum(image.events() for image in counted)
        self.differences, self.lines = 0, []
        recorded, counted = by_key(recorded), by_key(counted)
        for key in sorted(recorded.keys() | counted.keys()):
            nothing = Image(*key, 0, 0, 0)
            for pair in itertools.zip_longest(recorded.get(key, ()), counted.get(key, ()),
                                              fillvalue=nothing):
                self.compare(key, *pair)

    def compare(self, key, recorded, counted):
        unfinished = (counted.allocations - recorded.allocations, recorded.frees - counted.frees)
        off = sum(map(abs, unfinished))
        if off and (min(unfinished) < 0 or off >= recorded.threads):
            self.differences += off
            self.lines.append(
                f"{os.path.basename(key[1])} ({key[0]}): allocations {recorded.allocations:,} "
                f"recorded, {counted.allocations:,} counted; frees {recorded.frees:,} and "
                f"{counted.frees:,}")
