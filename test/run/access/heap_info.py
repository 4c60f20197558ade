"""heap_info.py: check all recorded facts about a site's blocks, for the blocks of heap_info.c.

    heap_info.py HEAPTAP COMPILER GRANULE

A time is compared with the program's clock before and after the event, so that the load of the
machine does not matter."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import documents  # noqa: E402
from telling import finish, tell  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heap_info.c")
CLOCKS_DIFFER = 0.05  # Maximum difference between the program's clock and the recorder's
ROUNDED_MS = 2        # Loss by rounding to whole milliseconds
COARSE_MS = 50        # The process's own time may be older, by a tick of the coarse clock.


def shown(heaptap, compiler, granule):
    """Return the program's output, and the document."""
    subprocess.run([heaptap, "cc", "--cc=" + compiler, f"--granule={granule}", "-O1", "-g", "-o",
                    "heap_info", SOURCE], check=True)
    if os.path.exists("info.heaptap"):
        os.remove("info.heaptap")
    done = subprocess.run(["./heap_info"], env={**os.environ, "HEAPTAP_OUT": "info.heaptap"},
                          capture_output=True, text=True, check=True)
    printed = {words[0]: [int(w) for w in words[1:]]
               for words in map(str.split, done.stdout.splitlines())}
    document = documents.loads(subprocess.run([heaptap, "access", "--json", "info.heaptap"],
                                              capture_output=True, check=True).stdout)
    return printed, document


class Judge:
    def __init__(self, what, printed, document):
        self.what, self.printed, self.elapsed_ms = what, printed, \
            document["process"]["elapsed_ns"] / 1e6
        self.sites = {}
        for site in document["sites"]:
            for frame in site["stack"]:
                self.sites.setdefault(frame["function"], site)

    def same(self, function, name, wanted):
        got = self.sites.get(function, {}).get(name)
        tell(got == wanted, f"{self.what}: {function}: {name}", f"{got}, wanted {wanted}")

    def spread(self, function, name, *each):
        self.same(function, name, {"total": sum(each), "min": min(each), "max": max(each)})

    def between(self, name, got, before, after):
        """Check that GOT ms is the time between two events, each of them between two readings of
        the clock."""
        least = (self.printed["before_" + after][0] - self.printed["after_" + before][0]) / 1e6
        most = (self.printed["after_" + after][0] - self.printed["before_" + before][0]) / 1e6
        tell(least * (1 - CLOCKS_DIFFER) - ROUNDED_MS <= got <=
             most * (1 + CLOCKS_DIFFER) + ROUNDED_MS, f"{self.what}: {name}", least, got, most)

    def records(self, granule):
        site, cpus = self.sites["new_record"], self.printed["cpus"]
        self.same("new_record", "access_blocks", 3)
        self.spread("new_record", "accesses", 10, 20, 30)
        self.spread("new_record", "size_bytes", 96, 96, 96)
        self.spread("new_record", "access_density", 10, 20, 31)
        touched = {8: (1, 1, 4), 16: (1, 1, 2), 64: (1, 1, 1)}[granule]
        part = [t * 10000 // -(-96 // granule) for t in touched]
        self.same("new_record", "utilisation_percent", {
            "total": sum(part) / 100, "min": min(part) / 100, "max": max(part) / 100})
        self.same("new_record", "type", "record")
        self.same("new_record", "dated_blocks", 3)
        self.same("new_record", "lifetime_overlaps", 1)
        if cpus[0] == cpus[1]:
            print(f"ok - {self.what}: cpus # SKIP needs two processors")
        else:
            # Processors of the three allocations: B, A, A; of the frees: A, A, B.
            self.same("new_record", "migrated_cpu", 2)
            self.same("new_record", "same_alloc_cpu", 1)
            self.same("new_record", "same_dealloc_cpu", 1)
        self.same("new_record", "alloc_cpu", cpus[0])
        self.same("new_record", "dealloc_cpu", cpus[1])
        self.between("time stamps of the block merged last", site["dealloc_ms"] - site["alloc_ms"],
                     "alloc", "free")

    def sizes(self, granule):
        site = self.sites["sizes"]
        self.same("sizes", "access_blocks", 2)
        self.spread("sizes", "accesses", 32, 128)
        self.spread("sizes", "size_bytes", 512, 1024)
        self.spread("sizes", "utilisation_percent", 50, 100)
        life = site["lifetime_ms"]
        tell(10 * (1 - CLOCKS_DIFFER) <= life["min"] and 40 * (1 - CLOCKS_DIFFER) <= life["max"] and
             abs(life["min"] + life["max"] - life["total"]) < 1e-6, f"{self.what}: lifetimes", life)
        # The block that lived longer had the smaller density, whichever block that was.
        density = {512: 32 * 100 // 512, 1024: 128 * 100 // 1024}
        self.spread("sizes", "access_density", *density.values())
        lives = (life["max"], life["min"])
        possible = [[d * 1000 // max(int(ms), 1) for d, ms in zip(density.values(), order)]
                    for order in (lives, lives[::-1])]
        tell(site["lifetime_access_density"] in
             [{"total": sum(p), "min": min(p), "max": max(p)} for p in possible],
             f"{self.what}: density over the lifetime", site["lifetime_access_density"], possible)

    def lives(self):
        site, cpus = self.sites["lives"], self.printed["cpus"]
        self.same("lives", "access_blocks", 1)
        self.spread("lives", "accesses", 7)
        self.same("lives", "alloc_cpu", cpus[0])
        self.same("lives", "dealloc_cpu", cpus[0])
        self.same("lives", "migrated_cpu", 0)
        self.between("time stamps of sites are of one clock",
                     site["alloc_ms"] - self.sites["new_record"]["dealloc_ms"], "free", "live")
        tell(site["alloc_ms"] <= site["dealloc_ms"] <= self.elapsed_ms + COARSE_MS,
             f"{self.what}: what lives ends with the process", site["dealloc_ms"], self.elapsed_ms)


def main(heaptap, compiler, granule):
    judge = Judge(f"{compiler}, granules of {granule}", *shown(heaptap, compiler, granule))
    judge.records(int(granule))
    judge.sizes(int(granule))
    judge.lives()
    finish()


main(*sys.argv[1:])
