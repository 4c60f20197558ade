"""exports_golden.py: make a small profile with every kind of data, and convert exports to text.

    exports_golden.py HEAPTAP small              make profile.heaptap and accesses.heaptap
    exports_golden.py HEAPTAP text FORMAT        stdin, an export, as text that can be compared

pprof's messages are printed field by field, memprof's records number by number. A flame graph is
printed without its script and style, which have separate tests. If it fails, no format can be
compared.
"""
import gzip
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import access_made  # noqa: E402
import past  # noqa: E402

# Fields of profile.proto that are messages, and the same for those messages.
PROFILE = {1: {}, 2: {3: {}}, 3: {}, 4: {4: {}}, 5: {}, 11: {}}
TEXTS = 6  # The string table.


def small():
    p = past.Past()
    make = p.site(["make", "work", "main"])
    odd = p.site(['a "b"; c<d>&\n\u00fc', "work", "main"])
    again = p.site(["walk", "walk", "main"])
    p.allocate(0, make, 3, 100)
    p.allocate(0, odd, 1, 4000)
    p.wait(1)
    p.snapshot("loaded")
    p.allocate(1, again, 10, 16)
    p.allocate(0, make, 5, 100)
    p.wait(0.5)
    p.peak()
    p.free(0, odd, 1, 4000)
    p.free(1, again, 8, 16)
    p.wait(0.5)
    p.snapshot()
    p.free(0, make, 4, 100)
    p.allocate(1, again, 2, 16)
    p.wait(1)
    p.start_unix_ns = 1700000000 * 10 ** 9
    p.write("profile.heaptap")
    access_made.made("/nowhere/prog", build_id=bytes(range(20))).write("accesses.heaptap")


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte, at = data[at], at + 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def message(data, nested, indent=""):
    """Yield a line for each field: its number, and its value, values or fields."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
            yield f"{indent}{tag >> 3}: {value}"
            continue
        assert tag & 7 == 2, tag
        size, at = varint(data, at)
        part, at = data[at:at + size], at + size
        if tag >> 3 in nested:
            yield f"{indent}{tag >> 3} {{"
            yield from message(part, nested[tag >> 3], indent + "  ")
            yield indent + "}"
        elif not indent and tag >> 3 == TEXTS:
            yield f"{tag >> 3}: {part.decode()!r}"
        else:
            values, k = [], 0
            while k < len(part):
                value, k = varint(part, k)
                values.append(str(value))
            yield f"{indent}{tag >> 3}: [{' '.join(values)}]"


RECORD = struct.Struct("<QI3QQII2IQII6IQQIIQII")


def memprof(data):
    """Yield a line for each number, segment, record or stack of version 3."""
    header = struct.unpack_from("<6Q", data)
    yield f"header {header[0]:#x} {header[1:]}"
    at = header[3]
    (count,) = struct.unpack_from("<Q", data, at)
    for i in range(count):
        *numbers, build_id = struct.unpack_from("<4Q32s", data, at + 8 + 64 * i)
        yield f"segment {[hex(n) for n in numbers]} {build_id.hex()}"
    at = header[4]
    (count,) = struct.unpack_from("<Q", data, at)
    for i in range(count):
        yield f"record {RECORD.unpack_from(data, at + 8 + RECORD.size * i)}"
    at = header[5]
    (count,) = struct.unpack_from("<Q", data, at)
    at += 8
    for _ in range(count):
        number, depth = struct.unpack_from("<2Q", data, at)
        yield f"stack {number} {[hex(a) for a in struct.unpack_from(f'<{depth}Q', data, at + 16)]}"
        at += 16 + 8 * depth
    yield f"bytes {at} of {len(data)}"


def main():
    if sys.argv[2] == "small":
        small()
        return
    data = sys.stdin.buffer.read()
    if sys.argv[3] == "pprof":
        text = "\n".join(message(gzip.decompress(data), PROFILE)) + "\n"
    elif sys.argv[3] == "memprof":
        text = "\n".join(memprof(data)) + "\n"
    else:
        text = data.decode()
    if sys.argv[3] == "flamegraph":
        text = re.sub(r"(<style>).*?(</style>)", r"\1\2", text, flags=re.S)
        text = re.sub(r"\n/\* flame_page\.js.*?(\]\]></script>)", r"\1", text, flags=re.S)
    sys.stdout.buffer.write(text.encode())


main()
