"""maker.py: write profiles byte by byte, as a stranger could, and run commands on them. Imported,
not run.

Tables and segments follow docs/format.md, or deviate from it as the test requests. Neither the
recorder nor a library is needed, even for compressed segments: a zstd frame of run-length blocks is
a few bytes. Runs are bounded by SECONDS and MEMORY_BYTES. These are generous, because the failures
to exclude take minutes and gigabytes.
"""
import os
import re
import signal
import struct
import subprocess
import threading

SECONDS, MEMORY_BYTES = 60, 1 << 30
SHOWN = 1 << 22  # Maximum length of shown output. A child's peak memory starts at this process's.
STRINGS, MODULES, NODES, COUNTERS, THREADS, BINS, TIMELINE, FRAMES, LOCATIONS = range(1, 10)
SITE_TYPES, HEAPS, LABELS, ACCESS, FIELDS = 15, 17, 18, 21, 22
# Id of the node for all stacks that found no room, and of its first site.
NODE_OTHER = SITE_OTHER = 1
RECORD = {STRINGS: 1, MODULES: 120, NODES: 32, COUNTERS: 17 * 128, THREADS: 256,
          BINS: 16 * 1025 + 32 * 40, TIMELINE: 24, FRAMES: 32, LOCATIONS: 24,
          SITE_TYPES: 16, HEAPS: 64, LABELS: 32, ACCESS: 336, FIELDS: 1048}
NEVER = (1 << 64) - 1  # The minimum if there are no blocks.
PACKED, GONE, ZSTD = 3, 4, 1
DATA_OFF = 16384
EVIL = [b"\x1b]0;owned\x07\x1b[31m", b"\xc2\x9b31m", b"\x9b31m", b"\xe2\x80\xae drowssap",
        b"\xe2\x81\xa6x\xe2\x81\xa9", b"\xed\xa0\x80", b"\xf0\x80\x80\xaf", b"\xf5\x80\x80\x80",
        b"\xff\xfe", b"\r\nforged;line 99", b"a;b", b"\x7f\x08\x08", b"\xe2\x80\xa8next",
        b"</script><script>document.title='owned'</script>",
        b"\"><img src=x onerror=\"document.title='owned'\">", b"]]><svg onload=alert(1)>",
        b"'-alert(1)-'", b"${alert(1)}", b"&lt;&#x3c;script"]
# Characters that must not reach a terminal: C0 except for line ends, DEL, C1, directions, line
# separators.
DRIVES = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e"
                    "\u2060-\u206f\ufeff]")


def zstd_of_zeros(size):
    """Return a zstd frame that expands to SIZE zeros, 128 KiB for each 4 bytes."""
    out, left = struct.pack("<IBQ", 0xfd2fb528, 0xe0, size), size
    while left > 0:
        block = min(left, 1 << 17)
        left -= block
        out += struct.pack("<I", block << 3 | 1 << 1 | (left == 0))[:3] + b"\0"
    return out


class Maker:
    """Builds a profile: add tables and segments, then write it."""

    def __init__(self, packed=True):
        self.packed, self.strings, self.segments = packed, bytearray(b"\0"), []
        self.command = self.executable = (0, 0)
        self.incompatible = 0
        self.counting = b""
        self.sites = set()
        self.elapsed_ns = 0

    def string(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.strings += data
        return len(self.strings) - len(data), len(data)

    def segment(self, kind, data, table_off=0, claimed=None, flags=0):
        self.segments.append((kind, data, table_off, claimed, flags))

    def module(self, path, build_id=b"", start=0x400000, end=0x7fffffff0000):
        """Module 1."""
        off, size = self.string(path)
        self.segment(MODULES, bytes(120) + struct.pack(
            "<IIQQQIIII32s40x", 1, len(build_id), start, end, 0, off, size, 0, 0,
            build_id))

    def nodes(self, rows, other=0):
        """Add nodes, from id 4 on: ROWS of (parent, address, first of four sites or 0). OTHER is a
        site of the stacks that found no room in the tree; 0 = none."""
        table = bytearray(4 * 32)
        if other:
            self.sites.add(other)
            struct.pack_into("<I", table, NODE_OTHER * 32 + 16, other)
        for parent, address, site in rows:
            sites = [site, 0, 0, 0]
            self.sites.add(site)
            table += struct.pack("<QII4I", 1 << 48 | address, parent, 0, *sites)
        self.segment(NODES, bytes(table))

    def counters(self, sites, name=b"main"):
        """Add one thread with one live block of 32 bytes at each site up to SITES that a node has.
        """
        self.segment(THREADS, bytes(256) + struct.pack("<IIII16s224x", 1, 1, 1, 0, name))
        row = struct.pack("<QQQQQqqQQQQQQ24x", 1, 32, 0, 0, 1, 32, 1, 0, 0, 0, 0, 32, 32)
        table = bytearray()
        for first in range(0, sites + 1, 16):
            table += struct.pack("<II120x", 1, first)
            for site in range(first, first + 16):
                table += row if site in self.sites else bytes(len(row))
        self.segment(COUNTERS, bytes(table))

    def symbols(self, frames, locations):
        """Add FRAMES of (function, file, line), and LOCATIONS of (address, first frame, count)."""
        table = b"".join(struct.pack("<8I", *f, *f, *file, line, 0) for f, file, line in frames)
        self.segment(FRAMES, table)
        self.segment(LOCATIONS, b"".join(
            struct.pack("<QIIII", 1 << 48 | a, 0, first, count, 0)
            for a, first, count in locations))

    def count_accesses(self, granule, flags=1 | 2 | 8 | 16, words_max=512, merge=1, losses=()):
        """Mark accesses as counted, in the header (format.md 2.7)."""
        losses = (list(losses) + [0] * 5)[:5]
        self.counting = struct.pack("<IIII2Q5Q7Q", flags, granule, words_max, 0, merge, 0, *losses,
                                    *[0] * 7)

    def access(self, rows):
        """Add ROWS of dictionaries with the members of an ACCESS record; a spread is three numbers.
        """
        out = b""
        for row in rows:
            spreads = b"".join(
                struct.pack("<3Q", *row.get(name, (0, NEVER, 0)))
                for name in ("accesses", "writes", "size_bytes", "lifetime_us", "utilised",
                             "density", "lifetime_density"))
            out += struct.pack("<IIQQ", row["site"], row.get("part", 0), row.get("merge", 0),
                               row["blocks"]) + spreads
            out += struct.pack("<12Q2I5Q", *[row.get(name, 0) for name in (
                "granules", "touched_granules", "untouched_bytes", "never", "write_only", "dated",
                "migrated", "overlaps", "same_alloc_cpu", "same_dealloc_cpu", "alloc_us",
                "dealloc_us", "alloc_cpu", "dealloc_cpu")], *[0] * 5)
        self.segment(ACCESS, out)

    def fields(self, rows):
        """Add ROWS of (site, part, merge, first, list of (accesses, writes, blocks, reached))."""
        out = b""
        for site, part, merge, first, words in rows:
            words = (list(words) + [(0, 0, 0, 0)] * 32)[:32]
            out += struct.pack("<IIQII", site, part, merge, first, 0)
            out += b"".join(struct.pack("<4Q", *w) for w in words)
        self.segment(FIELDS, out)

    def site_types(self, rows):
        """Add ROWS of (site, verdict, name)."""
        self.segment(SITE_TYPES, b"".join(
            struct.pack("<4I", site, verdict, *self.string(name)) for site, verdict, name in rows))

    def bytes(self):
        self.segment(STRINGS, bytes(self.strings))
        header = struct.pack("<QIIQQ", 0x0150415450414548, 1, 4096, self.incompatible, 0)
        header += struct.pack("<IIII", PACKED if self.packed else 2, GONE, 0, 0)
        header = header.ljust(136, b"\0") + struct.pack("<4I", *self.command, *self.executable)
        header = header.ljust(512, b"\0") + struct.pack("<QqqQQ", 1, 0, 0, 0, self.elapsed_ns)
        header = header.ljust(728, b"\0") + self.counting
        out, directory = bytearray(header.ljust(DATA_OFF, b"\0")), b""
        for kind, data, table_off, claimed, flags in self.segments:
            out += bytes(-len(out) % 8)
            directory += struct.pack("<IIQQQQII", kind, flags, len(out), len(data),
                                     len(data) if claimed is None else claimed, table_off,
                                     RECORD[kind], 0)
            out += data
        out[4096:4096 + len(directory)] = directory
        return bytes(out)

    def write(self, path):
        with open(path, "wb") as f:
            f.write(self.bytes())


def one_stack(m, address=0x401000):
    m.nodes([(0, address, 5)])
    m.counters(5)


def run(heaptap, arguments):
    """Return exit status, stdout, stderr and peak memory of the command."""
    with open("run.out", "wb") as out, open("run.err", "wb") as err:
        child = subprocess.Popen([heaptap, *arguments], stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err)
        timer = threading.Timer(SECONDS, os.kill, (child.pid, signal.SIGKILL))
        timer.start()
        _, status, usage = os.wait4(child.pid, 0)
        timer.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    with open("run.out", "rb") as out, open("run.err", "rb") as err:
        return child.returncode, out.read(SHOWN), err.read(SHOWN), usage.ru_maxrss * 1024


class Checks:
    def __init__(self):
        self.failed = 0

    def say(self, name, good, why=""):
        print(f"{'ok' if good else 'not ok'} - {name}")
        if not good:
            self.failed += 1
            print(f"#   {why}")


def is_clean(data):
    try:
        return DRIVES.search(data.decode("utf-8")) is None
    except UnicodeDecodeError:
        return False
