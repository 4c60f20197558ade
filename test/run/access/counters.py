"""counters.py: read a profile's access counters without heaptap. Imported, not run.

docs/format.md, 2.7, 4.16 and 4.17, has the layout. The profile must be as the recorder wrote it,
not a packed one."""
import struct

HEADER = 728
DIRECTORY, SEGMENTS, SEGMENT = 4096, 192, struct.Struct("<IIQQQQII")
ACCESS, FIELDS = 21, 22
COUNTING = ("flags", "granule_bytes", "words_max", "reserved0", "merge", "merge_ns",
            "unmerged_blocks", "undated_blocks", "unaligned_blocks", "unfielded_blocks",
            "outside_blocks", "resets", "reset_ns")
SPREADS = ("accesses", "writes", "size_bytes", "lifetime_us", "utilised", "density",
           "lifetime_density")
WORDS = ("granules", "touched_granules", "untouched_bytes", "never", "write_only", "dated",
         "migrated", "overlaps", "same_alloc_cpu", "same_dealloc_cpu")
REGROWN = 304  # Offset of the word "regrown" in a record of ACCESS.
ENDED, LIVE, LATE = 0, 1, 3
NONE = 2 ** 64 - 1


def records(data, kind):
    """Yield the records of a table, whose segments are pieces of one byte sequence: a record may
    begin in one segment and end in the next."""
    pieces, each = {}, 0
    for i in range(SEGMENTS):
        k, _, off, _, size, first, record, _ = SEGMENT.unpack_from(data,
                                                                   DIRECTORY + i * SEGMENT.size)
        if k == kind:
            pieces[first], each = data[off:off + size], record
    table = b"".join(pieces[first] for first in sorted(pieces))
    for at in range(0, len(table) - each + 1, each or 1):
        if struct.unpack_from("<I", table, at)[0] != 0:
            yield table[at:at + each]


def is_shown(part, merge, of):
    """Return true if a record of PART, made at MERGE, belongs to the sum of all blocks at the merge
    OF."""
    if part == ENDED:
        return True
    if part < LATE:
        return merge == of and of != 0
    return (part - LATE) % 2 != of % 2


def add_site(into, r):
    numbers = struct.unpack_from(f"<{1 + 3 * len(SPREADS) + len(WORDS)}Q", r, 16)
    into["blocks"] = into.get("blocks", 0) + numbers[0]
    for i, name in enumerate(SPREADS):
        total, least, most = numbers[1 + 3 * i:4 + 3 * i]
        there = into.get(name, (0, NONE, 0))
        into[name] = (there[0] + total, min(there[1], least), max(there[2], most))
    for i, name in enumerate(WORDS):
        into[name] = into.get(name, 0) + numbers[1 + 3 * len(SPREADS) + i]
    into["regrown"] = into.get("regrown", 0) + struct.unpack_from("<Q", r, REGROWN)[0]


def add_fields(fields, r, first):
    for i in range(32):
        numbers = struct.unpack_from("<4Q", r, 24 + 32 * i)
        if numbers[3]:
            fields[first + i] = tuple(map(sum, zip(fields.get(first + i, (0, 0, 0, 0)), numbers)))


def read(path):
    """Return the counting mode, and the sites as dictionaries; fields are (accesses, writes,
    blocks, reached) by number."""
    with open(path, "rb") as f:
        data = f.read()
    counting = dict(zip(COUNTING, struct.unpack_from("<4I9Q", data, HEADER)))
    sites = {}
    for r in records(data, ACCESS):
        site, part, merge = struct.unpack_from("<IIQ", r)
        if is_shown(part, merge, counting["merge"]):
            add_site(sites.setdefault(site, {"fields": {}}), r)
    for r in records(data, FIELDS):
        site, part, merge, first = struct.unpack_from("<IIQI", r)
        if is_shown(part, merge, counting["merge"]):
            add_fields(sites.setdefault(site, {"fields": {}})["fields"], r, first)
    return counting, [s for s in sites.values() if s.get("blocks")]


def of_size(sites, size_bytes):
    """Return the sum of all sites with blocks of that size, which is empty if there is none."""
    into = {}
    for s in sites:
        if s["size_bytes"][1:] != (size_bytes, size_bytes):
            continue
        for name, value in s.items():
            there = into.get(name)
            if name == "fields":
                into[name] = {i: tuple(map(sum, zip(f, (there or {}).get(i, (0, 0, 0, 0)))))
                              for i, f in value.items()}
            elif isinstance(value, tuple) and there:
                into[name] = (there[0] + value[0], min(there[1], value[1]),
                              max(there[2], value[2]))
            else:
                into[name] = value if there is None else there + value
    return into
