"""history.py: what a profile says of each moment, against what the program says it was.

    history.py PROFILE OUTPUT [child]

Reads the tables of a recorded file (format.md 4.2 to 4.12) without any of our own code, works out
what each counter was at each snapshot by a signal, and compares the sums for each function of
test/prog/history_known.c with the lines it printed to OUTPUT; with "child", those of the forked
child. The peak's shares likewise. Snapshots of other kinds cannot be foreseen, but nothing may fall
from one snapshot to the next. Any difference is printed, and the exit status is 1. """
import bisect
import collections
import struct
import sys

DIRECTORY, SEGMENTS, SEGMENT = 4096, 192, struct.Struct("<IIQQQQII")
NODES, COUNTERS, SNAPSHOTS, HISTORY = 3, 4, 13, 16
SIGNAL = 5
BLOCK, COUNTER = 2176, 128
SITES = 12
ADDRESS = (1 << 48) - 1
VALUES = 4
problems = 0


def problem(text):
    global problems
    problems += 1
    if problems <= 4:
        print(text)


def tables_of(data):
    parts = collections.defaultdict(list)
    for i in range(SEGMENTS):
        kind, flags, off, _, size, table_off, _, _ = \
            SEGMENT.unpack_from(data, DIRECTORY + i * SEGMENT.size)
        if kind:
            assert flags == 0, "the profile is packed"
            parts[kind].append((table_off, data[off:off + size]))
    tables = {}
    for kind, pieces in parts.items():
        table = b""
        for off, piece in sorted(pieces):
            assert off == len(table), f"table {kind} has a gap"
            table += piece
        tables[kind] = table
    return tables


def records(table, form):
    return list(struct.Struct(form).iter_unpack(table[:len(table) // struct.calcsize(form)
                                                      * struct.calcsize(form)]))


def function_of_site(nodes, starts, end):
    """By site id, the index in STARTS of the function that is innermost on its stack."""
    functions = sorted((start, i) for i, start in enumerate(starts))
    found = {}
    for frame, _, _, *sites in records(nodes, "<QII4I"):
        place = bisect.bisect_right(functions, (frame & ADDRESS, SITES)) - 1
        for site in sites:
            if site and place >= 0 and frame & ADDRESS < end:
                found[site] = functions[place][1]
    return found


class Counter:
    def __init__(self, raw):
        words = struct.unpack("<13QII2Q", raw)
        self.now = words[:VALUES]
        self.peak_epoch = words[4]
        self.peak = struct.unpack("<qq", raw[40:56])
        self.born = words[13]
        self.past = []  # Of (id, values), in the order in which they were written.

    def at(self, snapshot):
        if snapshot <= self.born:
            return (0,) * VALUES
        for known, values in self.past:
            if known >= snapshot:
                return values
        return self.now

    def share(self, epoch):
        if self.peak_epoch >= epoch:
            return self.peak
        return (self.now[1] - self.now[3], self.now[0] - self.now[2])


def counters_of(tables):
    counters = {}
    for block in range(len(tables[COUNTERS]) // BLOCK):
        thread, first = struct.unpack_from("<II", tables[COUNTERS], block * BLOCK)
        for place in range(16) if thread else ():
            at = block * BLOCK + (1 + place) * COUNTER
            counter = Counter(tables[COUNTERS][at:at + COUNTER])
            counter.site = first + place
            counters[block * 16 + place] = counter
    for snapshot, index, *values in records(tables[HISTORY], "<II4Q"):
        if snapshot:
            past = counters[index].past
            if past and snapshot < past[-1][0]:
                problem(f"counter {index}: snapshot {snapshot} after {past[-1][0]}")
            past.append((snapshot, tuple(values)))
    return counters


def summed(counters, function, snapshot):
    sums = [[0] * VALUES for _ in range(SITES)]
    for counter in counters.values():
        if counter.site in function:
            for i, value in enumerate(counter.at(snapshot)):
                sums[function[counter.site]][i] += value
    return [value for site in sums for value in site]


def check_rising(counters, count):
    for index, counter in counters.items():
        before = (0,) * VALUES
        for snapshot in range(1, count + 2):
            values = counter.at(snapshot)
            if any(a > b for a, b in zip(before, values)):
                problem(f"counter {index}: falls before snapshot {snapshot}")
            before = values


def check_once(counters):
    """One thread writes the values of a counter once for a snapshot."""
    for index, counter in counters.items():
        if len({known for known, _ in counter.past}) != len(counter.past):
            problem(f"counter {index}: several records for one snapshot")


def check_peak(counters, function, epoch, wanted):
    shares = [[0, 0] for _ in range(SITES)]
    for counter in counters.values():
        if counter.site in function:
            for i, value in enumerate(counter.share(epoch)):
                shares[function[counter.site]][i] += value
    got = [value for share in shares for value in share]
    if [sum(got[0::2]), *got] != wanted:
        problem(f"peak: wanted {wanted},\ngot {[sum(got[0::2]), *got]}")


def said(path, child):
    """The lines of the process that is asked for, as (word, numbers)."""
    with open(path, encoding="ascii") as f:
        lines = [line.split() for line in f]
    own = [i for i, words in enumerate(lines) if words[0] == "child"]
    sites = next(words for words in lines if words[0] == "site")
    if own:
        end = next(i for i in range(own[0], len(lines)) if lines[i][0] == "peak") + 1
        lines = lines[own[0]:end] if child else lines[:own[0]] + lines[end:]
    return sites[1:], [(words[0], [int(word) for word in words[1:]]) for words in lines]


def main():
    with open(sys.argv[1], "rb") as f:
        data = f.read()
    sites, lines = said(sys.argv[2], sys.argv[3:] == ["child"])
    tables = tables_of(data)
    counters = counters_of(tables)
    snapshots = [s for s in records(tables[SNAPSHOTS], "<QqQQ32sIIQ") if s[0]]
    asked = [s for s in snapshots if s[6] == SIGNAL]
    wanted = [numbers for word, numbers in lines if word == "snap"]
    *starts, end = map(int, sites)
    function = function_of_site(tables[NODES], starts, end)
    losses = struct.unpack_from("<8Q", data, 576)
    if any(losses):
        problem(f"losses {losses}")
    if [s[5] for s in snapshots] != list(range(1, len(snapshots) + 1)):
        problem("ids are not dense")
    if any(a[0] > b[0] for a, b in zip(snapshots, snapshots[1:])):
        problem("snapshots are not in the order of time")
    if [s[4].rstrip(b"\0").decode() for s in asked] != \
            [f"signal {i + 1}" for i in range(len(wanted))]:
        problem(f"wanted {len(wanted)} snapshots by a signal, got {len(asked)}")
    for numbers, snapshot in zip(wanted, asked):
        got = summed(counters, function, snapshot[5])
        if got != numbers:
            problem(f"snapshot {snapshot[5]}: wanted {numbers},\ngot {got}")
    check_rising(counters, len(snapshots))
    peak_epoch, = struct.unpack_from("<Q", data, 512)
    for word, numbers in lines:
        if word == "peak":
            check_once(counters)
            check_peak(counters, function, peak_epoch, numbers)
    print(f"{len(asked)} of {len(snapshots)} snapshots by a signal, "
          f"{sum(len(c.past) for c in counters.values())} records of history")
    sys.exit(problems > 0)


main()
