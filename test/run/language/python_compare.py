"""python_compare.py: compare live blocks at snapshots, by stack, with tracemalloc's traces.

    python_compare.py HEAPTAP PROFILE TRUTH [REUSED]

TRUTH is the output of python_traced.py. tracemalloc traces objects in arenas, and malloc's blocks
that came through the adapter (larger objects) or through raw_traced of libtraced.so (raw memory).
malloc's other blocks, for C code and for tracemalloc's tables, belong to no domain of the
interpreter. With REUSED, tracemalloc has charged objects from free lists to the code that took
them: then only sums must be equal.
"""
import collections
import subprocess
import sys

import documents

FRAMES = 25
SHOWN = 10
# Number of blocks that allocated_blocks counts in addition: the int object of the count; the table
# of arenas; and the two levels of the map of arenas, which has more parts if arenas are on both
# sides of a gibibyte.
ARENAS_AND_COUNT = range(4, 7)


def read(path):
    """Return for each stretch the interpreter's count of blocks, and (bytes, blocks) by stack."""
    stretches = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            name, *words = line.rstrip("\n").split("\t")
            if len(words) == 1:
                stretches[name] = int(words[0]), {}
            else:
                stretches[name][1][tuple(words[2:])] = int(words[0]), int(words[1])
    return stretches


def report_at(heaptap, profile, name):
    return documents.loads(subprocess.run(
        [heaptap, "report", "--json", "--no-fold", "--native", "--at", name, profile], check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def is_traced(site):
    """Return true if the site's memory comes from a domain of the interpreter."""
    if site["heap"] == "Python objects":
        return True
    for frame in site["stack"]:
        if frame.get("language"):
            break
        if frame["function"] == "raw_traced" or \
                (frame["module"] or "").endswith("/libheaptap_python.so"):
            return True
    return False


def living(report, name):
    found = {}
    for site in report["sites"]:
        if not site["live_blocks"] or site["labels"] != {"traced": name} or not is_traced(site):
            continue
        stack = tuple(f"{frame['file']}:{frame['line']}" for frame in site["stack"]
                      if frame.get("language") == "Python")[:FRAMES]
        if stack:
            size, blocks = found.get(stack, (0, 0))
            found[stack] = size + site["live_bytes"], blocks + site["live_blocks"]
    return found


def allocated_blocks(report):
    """Return the number of blocks in sys.getallocatedblocks, and ARENAS_AND_COUNT more."""
    return sum(site["live_blocks"] for site in report["sites"]
               if site["heap"] == "Python objects" or
               any((frame["module"] or "").endswith("/libheaptap_python.so")
                   for frame in site["stack"]))


def by_line(stacks):
    lines = collections.Counter()
    for stack, (size, _) in stacks.items():
        lines[stack[0]] += size
    return lines


def sums(stacks):
    return tuple(sum(column) for column in zip(*stacks.values()))


def differing(found, right):
    return [key for key in found.keys() | right.keys() if found.get(key) != right.get(key)]


def main():
    heaptap, profile, truth = sys.argv[1:4]
    is_reused = len(sys.argv) > 4
    wrong, stretches = 0, read(truth)
    for name, (blocks, right) in stretches.items():
        report = report_at(heaptap, profile, name)
        found = living(report, name)
        stacks = differing(found, right)
        lines = differing(by_line(found), by_line(right))
        counted = allocated_blocks(report)
        print(f"{name}: {len(by_line(right))} lines, {len(lines)} differ; "
              f"{len(right)} stacks, {len(stacks)} differ; bytes and blocks {sums(found)}, "
              f"by tracemalloc {sums(right)}; in all {counted} blocks, by the interpreter {blocks}")
        for stack in sorted(stacks)[:0 if is_reused else SHOWN]:
            print(f"    {found.get(stack)} instead of {right.get(stack)}: {' '.join(stack[:5])}")
        if report["losses"]["other_site_events"]:
            print("    the call tree was full")
        wrong += sums(found) != sums(right) or counted - blocks not in ARENAS_AND_COUNT or \
            not is_reused and bool(stacks)
    sys.exit(wrong != 0 or len(stretches) != 3)


if __name__ == "__main__":
    main()
