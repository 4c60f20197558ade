"""history.py: compare a profile's data for each moment with the program's.

    history.py PROFILE OUTPUT [child|storm]     each counter's value at each snapshot
    history.py PROFILE OUTPUT until PROFILE OUTPUT      two runs; one ended earlier
    history.py PROFILE growth BYTES SLACK       snapshots by growth are so far apart
    history.py PROFILE long SECONDS ALLOCATIONS         the timeline of a long run is bounded
    history.py PROFILE kinds KIND=COUNT...      the number of snapshots of each kind
    history.py PROFILE full                     some values found no room, and that is noted

The script reads the tables of a recorded file (format.md 4.2 to 4.12) without heaptap's code, and
computes each counter at each snapshot that a signal requested. It compares the sums for each
function of test/prog/history_known.c, and the shares of the peak, with the lines that the program
printed to OUTPUT; with "child", with the lines of the forked child. The time of other snapshots
cannot be predicted, but no counter may fall from one snapshot to the next. In a "storm", each
thread has exact values at its own snapshots. A run's counts until a snapshot must equal those of
the same run if it ends there, also if both are estimates. The script prints any difference, and
then exits with 1."""
import bisect
import collections
import struct
import sys

DIRECTORY, SEGMENTS, SEGMENT = 4096, 192, struct.Struct("<IIQQQQII")
NODES, COUNTERS, SNAPSHOTS, HISTORY = 3, 4, 13, 16
TIMED, GROWTH, SIGNAL = 1, 4, 5
BLOCK, COUNTER = 2176, 128
SITES = 12
ADDRESS = (1 << 48) - 1
VALUES = 4
Snapshot = collections.namedtuple("Snapshot", "ns live name id kind")
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
    """By site id: the index in STARTS of the innermost function on its stack."""
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
        self.past = []  # List of (id, values), in the order of writing.

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
    """Return the lines of the requested process, as (word, numbers)."""
    with open(path, encoding="ascii") as f:
        lines = [line.split() for line in f]
    own = [i for i, words in enumerate(lines) if words[0] == "child"]
    sites = next(words for words in lines if words[0] == "site")
    if own:
        end = next(i for i in range(own[0], len(lines)) if lines[i][0] == "peak") + 1
        lines = lines[own[0]:end] if child else lines[:own[0]] + lines[end:]
    return sites[1:], [(words[0], [int(word) for word in words[1:]]) for words in lines]


class Profile:
    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        self.tables = tables_of(self.data)
        self.counters = counters_of(self.tables)
        self.snapshots = [Snapshot(*s[:2], s[4].rstrip(b"\0").decode(), *s[5:7])
                          for s in records(self.tables[SNAPSHOTS], "<QqQQ32sIIQ") if s[0]]
        self.losses = struct.unpack_from("<8Q", self.data, 576)
        self.peak_epoch, = struct.unpack_from("<Q", self.data, 512)

    def functions(self, sites):
        *starts, end = map(int, sites)
        return function_of_site(self.tables[NODES], starts, end)

    def of_kind(self, kind):
        return [s for s in self.snapshots if s.kind == kind]


def check_order(profile):
    if any(a.ns > b.ns for a, b in zip(profile.snapshots, profile.snapshots[1:])):
        problem("snapshots are not in the order of time")


def check_sound(profile, alone):
    if any(profile.losses):
        problem(f"losses {profile.losses}")
    if sorted(s.id for s in profile.snapshots) != list(range(1, len(profile.snapshots) + 1)):
        problem("ids are not dense")
    if alone:
        check_order(profile)
    check_rising(profile.counters, len(profile.snapshots))


def check_known(profile, sites, lines):
    asked = profile.of_kind(SIGNAL)
    wanted = [numbers for word, numbers in lines if word == "snap"]
    function = profile.functions(sites)
    check_sound(profile, True)
    if [s.name for s in asked] != [f"signal {i + 1}" for i in range(len(wanted))]:
        problem(f"wanted {len(wanted)} snapshots by a signal, got {len(asked)}")
    for numbers, snapshot in zip(wanted, asked):
        got = summed(profile.counters, function, snapshot.id)
        if got != numbers:
            problem(f"snapshot {snapshot.id}: wanted {numbers},\ngot {got}")
    for word, numbers in lines:
        if word == "peak":
            check_once(profile.counters)
            check_peak(profile.counters, function, profile.peak_epoch, numbers)


def check_storm(profile, sites, lines):
    """Each thread has a separate site, and recorded its values at each of its snapshots."""
    function = profile.functions(sites)
    each, = (numbers[0] for word, numbers in lines if word == "storm")
    sums = [summed(profile.counters, function, s.id) for s in profile.of_kind(SIGNAL)]
    end = summed(profile.counters, function, len(profile.snapshots) + 1)
    threads = sum(end[VALUES * site] > 0 for site in range(SITES))
    check_sound(profile, False)
    if len(sums) != threads * each:
        problem(f"wanted {threads * each} snapshots, got {len(sums)}")
    for site in range(threads):
        seen = {s[VALUES * site] for s in sums}
        allocations = end[VALUES * site]
        for turn in range(1, each + 1):
            if allocations // each * turn not in seen:
                problem(f"thread {site}: no snapshot after {allocations // each * turn} blocks")


def check_until(short, short_sites, long, long_sites):
    name = short.of_kind(SIGNAL)[-1].name
    moment = next(s.id for s in long.of_kind(SIGNAL) if s.name == name)
    wanted = summed(short.counters, short.functions(short_sites), len(short.snapshots) + 1)
    got = summed(long.counters, long.functions(long_sites), moment)
    if not any(wanted) or got != wanted:
        problem(f"{name}: wanted {wanted},\ngot {got}")
    if got == summed(long.counters, long.functions(long_sites), len(long.snapshots) + 1):
        problem("the longer run did no more than the shorter")


def check_growth(profile, growth_bytes, slack_bytes):
    taken = profile.of_kind(GROWTH)
    if len(taken) < 3 or [s.name for s in taken] != [f"growth {i + 1}" for i in range(len(taken))]:
        problem(f"snapshots by growth: {[s.name for s in taken]}")
    for before, after in zip([0] + [s.live for s in taken], [s.live for s in taken]):
        if abs(after - before - growth_bytes) > slack_bytes:
            problem(f"a snapshot at {after} live bytes after one at {before}")


def check_long(profile, seconds, allocations):
    timed = profile.of_kind(TIMED)
    gaps = [(b.ns - a.ns) / 1e9 for a, b in zip(timed, timed[1:])]
    check_sound(profile, True)
    total = sum(c.now[0] for c in profile.counters.values())
    if total < allocations:
        problem(f"wanted {allocations} allocations and those of the start, got {total}")
    if not 64 <= len(timed) <= 7168:
        problem(f"{len(timed)} snapshots in the timeline")
    past = sum(len(c.past) for c in profile.counters.values())
    if len(profile.data) > 64 << 20 or past > 3 << 18:
        problem(f"too large: {len(profile.data)} bytes")
    if timed[-1].ns < seconds * 1e9 / 2 or gaps[0] > 0.05 or max(gaps) > seconds / 2:
        problem(f"the last at {timed[-1].ns / 1e9} s, gaps from {gaps[0]} to {max(gaps)} s")


def check_kinds(profile, terms):
    for kind, count in (term.split("=") for term in terms):
        got = len(profile.of_kind(int(kind)))
        low, _, high = count.partition("..")
        if not int(low) <= got <= int(high or low):
            problem(f"wanted {count} of kind {kind}, got {got}")


def check_full(profile):
    if profile.losses[4] == 0 or any(profile.losses[:4]):
        problem(f"losses {profile.losses}")


def main():
    profile, what, rest = Profile(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if what == "growth":
        check_growth(profile, *map(int, rest))
    elif what == "long":
        check_long(profile, *map(int, rest))
    elif what == "kinds":
        check_kinds(profile, rest)
    elif what == "order":
        check_order(profile)
    elif what == "full":
        check_full(profile)
    elif rest[:1] == ["until"]:
        check_until(profile, said(what, False)[0], Profile(rest[1]), said(rest[2], False)[0])
    elif rest == ["storm"]:
        check_storm(profile, *said(what, False))
    else:
        check_known(profile, *said(what, rest == ["child"]))
    print(f"{len(profile.snapshots)} snapshots, "
          f"{sum(len(c.past) for c in profile.counters.values())} records of history")
    sys.exit(problems > 0)


main()
