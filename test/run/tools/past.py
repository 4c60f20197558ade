"""past.py: write profiles with a history, byte by byte, with every number known at every moment.

A Past imitates the recorder: events change counters, snapshots only increase a number, and a
counter saves its old value at its first change after a snapshot (docs/format.md 4.11 and 4.12). The
expected values at each snapshot are stored separately, as plain dictionaries.

    p = Past(); p.site(["f", "main"]); p.allocate(thread, site, blocks, size); p.snapshot("warm")
    p.write("past.heaptap"); p.truth["warm"][site]
"""
import struct

import maker

SNAPSHOTS, HISTORY = 13, 16
ASKED, TIMED, PROGRAM, PHASE = 0, 1, 2, 3
ALLOCATIONS, ALLOCATED, FREES, FREED = range(4)
maker.RECORD.update({SNAPSHOTS: 80, HISTORY: 40})


class Counter:
    def __init__(self, born):
        self.values, self.born, self.seen = [0, 0, 0, 0], born, born


class Past:
    def __init__(self, second=10 ** 9):
        self.maker = maker.Maker()
        self.second, self.now = second, 0
        self.stacks, self.counters, self.snapshots, self.history = [], {}, [], []
        self.truth = []  # By snapshot: site -> amounts.
        self.threads = 0
        self.start_unix_ns = 0  # Unknown.
        # Live bytes and blocks at the peak, by counter; None = the peak is at the end.
        self.peaks, self.peak_ns = None, 0

    def site(self, functions):
        """Add a site with FUNCTIONS, innermost first; return its number."""
        self.stacks.append(functions)
        return len(self.stacks) - 1

    def change(self, thread, site, amounts):
        self.threads = max(self.threads, thread + 1)
        latest = len(self.snapshots)
        counter = self.counters.setdefault((thread, site), Counter(latest))
        if counter.seen < latest:
            self.history.append((latest, thread, site, *counter.values))
            counter.seen = latest
        counter.values = [a + b for a, b in zip(counter.values, amounts)]

    def allocate(self, thread, site, blocks, size):
        self.change(thread, site, (blocks, blocks * size, 0, 0))

    def free(self, thread, site, blocks, size):
        self.change(thread, site, (0, 0, blocks, blocks * size))

    def wait(self, seconds):
        self.now += seconds

    def snapshot(self, name="", kind=TIMED):
        self.snapshots.append((int(self.now * self.second), name, kind))
        self.truth.append(self.sums())

    def peak(self):
        """Declare the present as the peak, unchecked. Otherwise, the peak equals the live blocks at
        the end."""
        self.peak_ns = int(self.now * self.second)
        self.peaks = {key: (c.values[ALLOCATED] - c.values[FREED],
                            c.values[ALLOCATIONS] - c.values[FREES])
                      for key, c in self.counters.items()}

    def sums(self):
        """Return the present counts: site -> amounts."""
        found = {}
        for (_, site), counter in self.counters.items():
            known = found.setdefault(site, [0, 0, 0, 0])
            found[site] = [a + b for a, b in zip(known, counter.values)]
        return found

    def blocks(self):
        """Return the table of counters, and the offset of each counter in it."""
        table, places, columns = bytearray(), {}, -(-(len(self.stacks) + 5) // 16)
        for thread in range(self.threads):
            for column in range(columns):
                table += struct.pack("<II120x", thread + 1, column * 16)
                for place in range(16):
                    site = column * 16 + place - 5
                    places[thread, site] = (len(places) // 16) * 16 + place
                    c = self.counters.get((thread, site))
                    if c is None:
                        table += bytes(128)
                        continue
                    v = c.values
                    peak = (v[1] - v[3], v[0] - v[2])
                    if self.peaks is not None:
                        peak = self.peaks.get((thread, site), (0, 0))
                    table += struct.pack("<QQQQQqqQQQQQQI20x", *v, 1, *peak, 0,
                                         0, 0, 0, v[1] // v[0] if v[0] else 0,
                                         v[1] // v[0] if v[0] else 0, c.born)
        return bytes(table), places

    def nodes(self):
        """Add the call tree, with a frame of a distinct function at each node."""
        rows, known, addresses = [], {}, {}
        for site, stack in enumerate(self.stacks):
            parent = 0
            for depth in range(1, len(stack) + 1):
                path = tuple(stack[-depth:])
                if path not in known:
                    address = addresses.setdefault(path[0], 0x401000 + 16 * len(addresses))
                    known[path] = len(rows) + 4
                    rows.append([parent, address, 0])
                parent = known[path]
            rows[parent - 4][2] = site + 5
        self.maker.nodes(rows)
        frames = [(self.maker.string(name), self.maker.string(name + ".c"), 1)
                  for name in addresses]
        self.maker.symbols(frames, [(a, i, 1) for i, a in enumerate(addresses.values())])

    def write(self, path):
        m = self.maker
        m.module("/dev/null/program")
        m.command = m.executable = m.string("/dev/null/program")
        self.nodes()
        m.segment(maker.THREADS, bytes(256) + b"".join(
            struct.pack("<IIII16s224x", i + 1, i + 1, 1, i, b"thread %d" % i)
            for i in range(self.threads)))
        table, places = self.blocks()
        m.segment(maker.COUNTERS, table)
        m.segment(SNAPSHOTS, b"".join(
            struct.pack("<QqQQ32sII8x", max(ns, 1), 0, 0, 0, name.encode(), i + 1, kind)
            for i, (ns, name, kind) in enumerate(self.snapshots)))
        m.segment(HISTORY, b"".join(
            struct.pack("<IIQQQQ", id, places[thread, site], *values)
            for id, thread, site, *values in self.history))
        data = bytearray(m.bytes())
        struct.pack_into("<Q", data, 64, self.start_unix_ns)
        struct.pack_into("<QQ", data, 512 + 24, self.peak_ns, int(self.now * self.second))
        with open(path, "wb") as f:
            f.write(data)
