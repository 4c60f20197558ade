"""api_tables.py: check the numbers of a program's heaps in a recorded profile. The script reads the
raw file by docs/format.md alone, so that a mistake of the loader cannot hide a mistake of the
recorder.

    api_tables.py PROFILE CHECK...

A CHECK is "WHAT FIELD=VALUE...", one result line each. WHAT is

    total           all counted blocks: everything except the backing of heaps
    malloc          blocks in no heap
    heap:NAME       the objects of heaps of that name
    backing:NAME    the backing of these heaps
    labels:TEXT     all under that set of labels, written k=v,k=v; empty: all without labels
    record:NAME     the heap's record: made, destroyed, resets
    snapshot:NAME   the number of snapshots with that name; the field is of_kind_N
    losses          reentrant_events, label_sets, heap_events

and FIELD one of allocations, allocated_bytes, frees, freed_bytes, live, live_bytes, peak
(blocks), peak_bytes, temporary, ended_16, ended_256, reallocations, moved, grown_bytes, nodes
(how many have counts), or, of the thread rows, "unknown" and "inherited" with WHAT "frees".
VALUE is a number or LOW..HIGH."""
import collections
import mmap
import re
import struct
import sys

STRINGS, NODES, COUNTERS, THREADS, SNAPSHOTS, HEAPS, LABELS = 1, 3, 4, 5, 13, 17, 18
TAG_LABELS, TAG_HEAP, TAG_BACKING = 0xFFFD, 0xFFFE, 0xFFFF
FIELDS = ["allocations", "allocated_bytes", "frees", "freed_bytes", "peak_epoch", "peak_bytes",
          "peak", "temporary", "reallocations", "moved", "grown_bytes", "size_min", "size_max",
          "born", "ended_16", "ended_256"]


class Profile:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        assert self.data[:8] == b"HEAPTAP\1", "not a profile"
        self.incompatible = struct.unpack_from("<Q", self.data, 16)[0]
        self.peak_epoch = struct.unpack_from("<Q", self.data, 512)[0]
        names = ["no_thread_events", "no_memory_events", "reentrant_events",
                 "frames_without_module", "history_records", "label_sets", "heap_events"]
        self.losses = dict(zip(names, struct.unpack_from("<7Q", self.data, 576)))
        self.tables = collections.defaultdict(list)
        for i in range(192):
            kind, _, off, stored, _, table_off, _, _ = struct.unpack_from(
                "<IIQQQQII", self.data, 4096 + 48 * i)
            if kind != 0:
                self.tables[kind].append((table_off, self.data[off:off + stored]))
        self.read_names()
        self.read_nodes()
        self.read_counters()
        self.snapshots = [(r[32:64].split(b"\0")[0].decode(), struct.unpack_from("<I", r, 68)[0])
                          for r in self.records(SNAPSHOTS, 80) if any(r[:8])]

    def table(self, kind):
        out = bytearray()
        for table_off, part in sorted(self.tables[kind]):
            assert table_off == len(out)
            out += part
        return bytes(out)

    def records(self, kind, size):
        table = self.table(kind)
        return [table[i:i + size] for i in range(0, len(table) - size + 1, size)]

    def read_names(self):
        strings = self.table(STRINGS)
        self.heaps, self.sets = {}, {}
        for i, r in enumerate(self.records(HEAPS, 64)):
            ident, _, off, length, _, made, destroyed, resets = struct.unpack_from("<IIIIQQQQ", r)
            if ident != 0:
                assert ident == i
                self.heaps[i] = {"name": strings[off:off + length].decode(), "made": made,
                                 "destroyed": destroyed, "resets": resets}
        for i, r in enumerate(self.records(LABELS, 32)):
            ident, _, off, length = struct.unpack_from("<IIII", r)
            if ident != 0:
                words = strings[off:off + length].split(b"\0")
                pairs = zip(words[0::2], words[1::2])
                self.sets[i] = ",".join(f"{k.decode()}={v.decode()}" for k, v in pairs)
        self.sets[1] = "other"
        self.frees = collections.Counter()
        for r in self.records(THREADS, 256):
            if struct.unpack_from("<I", r)[0] != 0:
                self.frees["unknown"] += struct.unpack_from("<Q", r, 32 + 9 * 8)[0]
                self.frees["inherited"] += struct.unpack_from("<Q", r, 32 + 10 * 8)[0]

    def read_nodes(self):
        self.nodes, self.node_of = [], {}
        for i, r in enumerate(self.records(NODES, 32)):
            frame, parent, flags, *sites = struct.unpack("<QII4I", r)
            node = {"labels": 0, "heap": 0, "backing": 0}
            if i and frame and parent < i:
                node = dict(self.nodes[parent])
            if frame and flags & 4:  # This heap or set has no frame: a jump left it incomplete.
                assert self.incompatible & 1, "a tag without the flag"
                kind = {TAG_LABELS: "labels", TAG_HEAP: "heap",
                        TAG_BACKING: "backing"}[frame >> 48]
                assert not node["heap"] and not node["backing"], "tags in the wrong order"
                node[kind] = frame & (1 << 48) - 1
            self.nodes.append(node)
            for site in sites:
                if site:
                    self.node_of[site] = i

    def read_counters(self):
        self.counters = []
        for r in self.records(COUNTERS, 2176):
            thread, first = struct.unpack_from("<II", r)
            for s in range(16):
                values = struct.unpack_from("<16Q", r, 128 + 128 * s)
                c = dict(zip(FIELDS, values))
                if not thread or not any(values[:13]):
                    continue
                c["live"] = c["allocations"] - c["frees"]
                c["live_bytes"] = c["allocated_bytes"] - c["freed_bytes"]
                if c["peak_epoch"] < self.peak_epoch:
                    c["peak"], c["peak_bytes"] = c["live"], c["live_bytes"]
                self.counters.append((self.node_of[first + s], c))

    def matches(self, what, node):
        kind, _, rest = what.partition(":")
        tags = self.nodes[node]
        if kind == "total":
            return not tags["backing"]
        if kind == "malloc":
            return not tags["backing"] and not tags["heap"]
        if kind in ("heap", "backing"):
            return tags[kind] and self.heaps[tags[kind]]["name"] == rest
        assert kind == "labels", what
        return not tags["backing"] and self.sets.get(tags["labels"], "") == rest

    def value(self, what, field):
        if what == "losses":
            return self.losses[field]
        if what == "frees":
            return self.frees[field]
        if what.startswith("snapshot:"):
            return self.snapshots.count((what[9:], int(field[-1])))
        if what.startswith("record:"):
            found = [h for h in self.heaps.values() if h["name"] == what[7:]]
            return sum(h[field] for h in found)
        chosen = [(n, c) for n, c in self.counters if self.matches(what, n)]
        if field == "nodes":
            return len({n for n, _ in chosen})
        total = sum(c[field] for _, c in chosen) & (1 << 64) - 1
        return total - (1 << 64) if total >> 63 else total


def main():
    profile = Profile(sys.argv[1])
    bad = False
    for check in sys.argv[2:]:
        what, *terms = re.split(r" (?=[\w]+=)", check)
        wrong = []
        for term in terms:
            field, wanted = term.split("=")
            low, _, high = wanted.partition("..")
            got = profile.value(what, field)
            if not int(low) <= got <= int(high or low):
                wrong.append(f"{field}: wanted {wanted}, got {got}")
        print(f"{'not ok' if wrong else 'ok'} - {check}")
        for line in wrong:
            print(f"#   {line}")
        bad |= bool(wrong)
    sys.exit(bad)


if __name__ == "__main__":
    main()
