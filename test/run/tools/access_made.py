"""access_made.py: write a profile of accesses with made-up numbers. Imported, or run as

    access_made.py PROGRAM OUT.heaptap [GRANULE]

which writes the profile. Its structures are those in PROGRAM, test/prog/access_structs.c. ACCESS
and FIELDS have the recorder's data in all five parts. A reader uses only some of the parts.
"""
import struct
import sys

sys.dont_write_bytecode = True
import maker  # noqa: E402

ENDED, LIVE_0, LIVE_1, LATE_0, LATE_1 = range(5)
FIRST_ADDRESS = 0x401000
RUN_US = 1000000


def build_id_of(path):
    """Return the build id in an ELF file's notes, b"" if there is none."""
    with open(path, "rb") as f:
        data = f.read()
    (offset,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, at, _, _, length = struct.unpack_from("<IIQQQQ", data, offset + i * size)
        while kind == 4 and length >= 16:
            name, desc, note = struct.unpack_from("<III", data, at)
            body = at + 12 + (name + 3) // 4 * 4
            if note == 3 and data[at + 12:at + 16] == b"GNU\0":
                return data[body:body + desc]
            step = body + (desc + 3) // 4 * 4 - at
            at, length = at + step, length - step
    return b""


def spread(blocks, each):
    return blocks * each, each, each


def row(site, blocks, size, accesses, writes, life_us, touched, granule, **more):
    """Return a record of BLOCKS equal blocks. ACCESSES, WRITES and TOUCHED granules are per block.
    """
    granules = -(-size // granule)
    density = accesses * 100 // size
    return {
        "site": site, "blocks": blocks,
        "accesses": spread(blocks, accesses), "writes": spread(blocks, writes),
        "size_bytes": spread(blocks, size), "lifetime_us": spread(blocks, life_us),
        "utilised": spread(blocks, touched * 10000 // granules),
        "density": spread(blocks, density),
        "lifetime_density": spread(blocks, density * 1000 // max(life_us // 1000, 1)),
        "granules": blocks * granules, "touched_granules": blocks * touched,
        "untouched_bytes": blocks * max(size - touched * granule, 0),
        "never": blocks if accesses == 0 else 0,
        "write_only": blocks if accesses == writes and accesses > 0 else 0, "dated": blocks,
        "dealloc_us": life_us, **more,
    }


def sites(granule):
    """Return name, type and record of each site; ids start at 5."""
    g = granule
    return [
        # 100 nodes: hot, small, partly used.
        ("make_node", (3, "node"), row(5, 100, 112, 50000, 10000, 900000, 112 // g, g,
                                       migrated=25, overlaps=99, same_alloc_cpu=60,
                                       same_dealloc_cpu=70, alloc_cpu=1, dealloc_cpu=3,
                                       alloc_us=5)),
        # One array of 8 pairs.
        ("make_pairs", (3, "pair[]"), row(6, 1, 128, 400, 80, 1000, 128 // g, g)),
        # A log that is only written, and an untouched table.
        ("make_log", None, row(7, 4, 4096, 1024, 1024, 500000, 4096 // g, g)),
        ("make_table", None, row(8, 1, 1 << 20, 0, 0, 990000, 0, g)),
        # Blocks touched in one pass; touched in a corner only; touched rarely, but for a long time.
        ("make_copy", None, row(9, 10, 640, 80, 40, 10, 640 // g, g)),
        ("make_buffer", None, row(10, 2, 65536, 5000, 100, 2000, 1024 // g, g)),
        ("make_cache", None, row(11, 1, 65536, 20000, 10, 999000, 65536 // g, g)),
    ]


NODE_WORDS = [(2000000, 400000, 100, 100)] + [(0, 0, 0, 100)] * 7 + [
    (1000000, 500000, 100, 100), (0, 0, 0, 100), (400000, 50000, 20, 100), (0, 0, 0, 100),
    (100000, 50000, 100, 100), (1500000, 0, 100, 100)]
PAIR_WORDS = [(30, 10, 1, 1), (20, 0, 1, 1)] * 8


def made(program, granule=8, build_id=None):
    m = maker.Maker()
    rows = sites(granule)
    m.command = m.string("made by construction")
    m.executable = m.string(program)
    m.module(program, build_id_of(program) if build_id is None else build_id, 0x400000, 0x500000)
    addresses = [FIRST_ADDRESS + 16 * i for i in range(len(rows))]
    m.nodes([(0, address, 5 + i) for i, address in enumerate(addresses)])
    m.counters(4 + len(rows))
    m.symbols([(m.string(name), m.string("made.c"), 10 + i) for i, (name, _, _) in enumerate(rows)],
              [(address, i, 1) for i, address in enumerate(addresses)])
    m.site_types([(5 + i, *kind) for i, (_, kind, _) in enumerate(rows) if kind])
    m.elapsed_ns = RUN_US * 1000
    m.count_accesses(granule, merge=1)
    old = row(5, 1000, 112, 9, 9, 9, 1, granule)
    # Blocks live at merge 1 count, and so do those that ended after an even merge; the other
    # records are stale.
    live = dict(rows[6][2], part=LIVE_1, merge=1)
    m.access([r for _, _, r in rows[:6]] + [
        live, dict(old, part=LIVE_0, merge=0), dict(old, part=LIVE_1, merge=3),
        dict(old, part=LATE_1, merge=1)])
    if granule == 8:
        m.fields([(5, ENDED, 0, 0, NODE_WORDS), (6, ENDED, 0, 0, PAIR_WORDS),
                  (5, LATE_1, 1, 0, [(7, 7, 7, 7)] * 32)])
    return m


if __name__ == "__main__":
    made(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 8).write(sys.argv[2])
