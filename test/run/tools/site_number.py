"""site_number.py: compare the first stacks of `report OPTIONS` with `report --site N OPTIONS`, for
the number N of each.

    site_number.py HEAPTAP PROFILE OPTIONS...

site_number.sh runs it. If it fails, the number of a stack leads to another stack.
The stack has to have the same amount, percentage and frames. Two stacks may share a number if
OPTIONS split a stack; --site then shows both, and their sum."""
import re
import subprocess
import sys

heaptap, profile, options = sys.argv[1], sys.argv[2], sys.argv[3:]
METRIC = "--inuse" if options[:2] == ["--at", "peak"] else "--alloc"
HEAD = re.compile(r"#(\d+) +(\S+ \S+) +(\S+ %)?.*")
ROW = "Live then" if METRIC == "--inuse" else "Allocated"
AMOUNT = re.compile(rf"  {ROW} +(?:\S+)  +(\S+ \S+)  +(\S+ %)")


def report(*arguments):
    done = subprocess.run([heaptap, "report", "--wide", *options, *arguments, profile],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.splitlines()


def frames(lines):
    """Return the lines of stacks, without the modules that only --site prints."""
    return [line for line in lines
            if line.startswith("      ") and line[6] != " " and not line.startswith("      in ")]


def sections(lines):
    """Yield the lines of each numbered stack."""
    part = None
    for line in lines:
        if HEAD.fullmatch(line):
            part = [line]
        elif part is not None and line.startswith("      ") and line[6] != " ":
            part.append(line)
        elif part is not None:
            yield part
            part = None
    if part is not None:
        yield part


by_number = {}
for head, *stack in sections(report(METRIC, "--limit", "12", "--depth", "2"
                                    if "--depth" in options else "9999")):
    by_number.setdefault(int(HEAD.fullmatch(head)[1]), []).append((head, stack))
assert len(by_number) > 0, "no stack has a number"
for number, members in by_number.items():
    lines = report("--site", str(number))
    title = next(i for i, line in enumerate(lines) if line.startswith(f"Stack #{number}  of "))
    shown = frames(lines[title:])
    for head, stack in members:
        missing = [line for line in frames(stack) if line not in shown]
        assert not missing, (number, missing, shown)
    if len(members) > 1 or "split it into" in "\n".join(lines[title:title + 3]):
        continue
    amount = next(found for found in map(AMOUNT.match, lines[title:]) if found)
    head = HEAD.fullmatch(members[0][0])
    assert (head[2], head[3]) == (amount[1], amount[2]), (number, members[0][0], amount[0])
    last = max(i for i, line in enumerate(lines) if line == "")
    assert frames(members[0][1]) == frames(lines[last:]), (number, members[0][1], lines[last:])
print(len(by_number), "numbers")
