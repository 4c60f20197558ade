"""reserve.py: read profiles whose tables have room for gigabytes, as with a large --reserve.

    reserve.py HEAPTAP SMALL LARGE [BYTES]
    reserve.py HEAPTAP RECORDED COPY copy

With BYTES, LARGE is written: the recorded profile SMALL with a table of counters of BYTES that is
used only at its beginning. With "copy", COPY is written: RECORDED without holes. `report` must show
the same for both, and `pack` must make the second small, in less than LIMIT_KB of memory. Exits
with 1 if not."""
import json
import os
import struct
import subprocess
import sys

DIRECTORY_OFF, ENTRIES, ENTRY, COUNTERS = 4096, 192, struct.Struct("<IIQQQQII"), 4
LIMIT_KB = 400000


def enlarge(small, large, size):
    with open(small, "rb") as f:
        data = bytearray(f.read())
    at = next(a for a in range(DIRECTORY_OFF, DIRECTORY_OFF + ENTRIES * ENTRY.size, ENTRY.size)
              if ENTRY.unpack_from(data, a)[0] == COUNTERS)
    kind, flags, off, stored, _, _, record, zero = ENTRY.unpack_from(data, at)
    end = (len(data) + 4095) // 4096 * 4096
    ENTRY.pack_into(data, at, kind, flags, end, size, size, 0, record, zero)
    with open(large, "wb") as f:
        f.write(data)
        f.seek(end)
        f.write(data[off:off + stored])
        f.truncate(end + size)


def run(*arguments):
    """Return the command's output; it must succeed without messages, in little memory."""
    with open("reserve.out", "w+b") as out, open("reserve.err", "w+b") as err:
        child = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        said = err.read()
        if child.returncode != 0 or said or usage.ru_maxrss > LIMIT_KB:
            sys.exit(f"{arguments[1]}: status {child.returncode}, {usage.ru_maxrss} KB, {said!r}")
        return out.read()


def report(heaptap, file):
    """Return the numbers that do not depend on the run."""
    document = json.loads(run(heaptap, "report", "--json", file))
    del document["totals"]["peak_elapsed_ns"]
    return {part: document[part] for part in ("totals", "losses", "damage", "sites", "sizes")}


def main():
    heaptap, small, large = sys.argv[1:4]
    reports = [report(heaptap, small)]  # Before a copy reads the holes, which then count as data.
    if sys.argv[4:] == ["copy"]:
        subprocess.check_call(["cp", "--sparse=never", small, large])
    elif len(sys.argv) > 4:
        enlarge(small, large, int(sys.argv[4]))
    reports.append(report(heaptap, large))
    if reports[0] != reports[1] or reports[0]["totals"]["allocations"] == 0:
        sys.exit(f"{reports[1]} instead of {reports[0]}")
    run(heaptap, "pack", large)
    if os.path.getsize(large) > 1000000:
        sys.exit(f"packed it has {os.path.getsize(large)} bytes")


if __name__ == "__main__":
    main()
