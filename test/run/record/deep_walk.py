"""deep_walk.py: compare the stacks of a report with those that the program deep_walk printed.

    deep_walk.py NAME PATHS REPORT
"""
import json
import sys

from telling import finish, tell

LEAST = 1024
LETTERS = {"even": "e", "odd": "o"}

name, paths, report = sys.argv[1:4]
expected = {}  # By size: the active calls, "e" or "o" for each, from the innermost out.
for line in open(paths):
    size, path = line.split()
    expected[int(size)] = path

report = json.load(open(report))
tables, columns = report["tables"], report["sites"]
names = tables["functions"]["name"]
function_of = tables["frames"]["function"]


def functions_of(node):
    """Return the names of the functions of a stack, from the innermost out."""
    functions = []
    while node is not None:
        frame = tables["stacks"]["frame"][node]
        if frame is not None:
            function = function_of[frame]
            functions.append(names[function] if function is not None else None)
        node = tables["stacks"]["parent"][node]
    return functions


blocks = size_sum = whole = cut = 0
wrong, short = [], []
for row in range(len(columns["stack"])):
    site = {key: column[row] for key, column in columns.items()}
    functions = functions_of(site["stack"])
    if functions[0] != "bottom":
        continue
    path = "".join(LETTERS[f] for f in functions if f in LETTERS)
    blocks += site["allocations"]
    size_sum += site["allocated_bytes"]
    if site["truncated"]:
        cut += 1
        good = "_start" not in functions
        if len(functions) < LEAST:
            short.append(len(functions))
    else:
        whole += 1
        good = "main" in functions
    for size in (site["size_min"], site["size_max"]):
        real = expected[size]
        if not good or not (real.startswith(path) if site["truncated"] else real == path):
            wrong.append((size, len(real), len(path), site["truncated"]))

print("# %s: %d whole stacks, %d cut" % (name, whole, cut))
tell(not short, name + ": no stack has fewer frames than promised", sorted(short)[:10], len(short))
tell(not wrong, name + ": each stack is the one of its block", wrong[:10], len(wrong))
tell((blocks, size_sum) == (len(expected), sum(expected)), name + ": all blocks count",
     (blocks, size_sum), (len(expected), sum(expected)))
tell(whole + cut > 300, name + ": many stacks", whole, cut)
finish()
