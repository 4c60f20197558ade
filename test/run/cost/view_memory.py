#!/usr/bin/env python3
"""view_memory.py: compare the peak memory of views with limits in bytes per stack.

view_memory.py HEAPTAP SMALL.heaptap LARGE.heaptap STACKS

LARGE has STACKS more stacks than SMALL. A mapping of the file, with 306 bytes for each stack,
counts as memory too.
"""
import os
import subprocess
import sys

import telling

heaptap, small, large, stacks = sys.argv[1:4] + [int(sys.argv[4])]

# The arguments of a view, and its limit: about 1.5 times the value when this was written.
VIEWS = (
    (("report",), 900),
    (("report", "--by", "site"), 1100),
    (("leaks",), 1100),
    (("diff", small), 1300),
    (("export", "-f", "collapsed", "-o", "/dev/null"), 1100),
    (("html", "-o", "/dev/null"), 2300),
)


def peak_bytes(arguments):
    with subprocess.Popen([heaptap, *arguments], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_maxrss * 1024


# Without a registry of npm, the command is built without the page.
html = subprocess.run([heaptap, "html", "-o", "/dev/null", small], stderr=subprocess.PIPE,
                      text=True)
has_page = "built without the page" not in html.stderr
for view, limit in VIEWS:
    if view[0] == "html" and not has_page:
        print("ok - html: memory for each stack # SKIP this heaptap has no page")
        continue
    runs = [peak_bytes([*view, profile]) for profile in (small, large)]
    each = (runs[1][1] - runs[0][1]) / stacks
    telling.tell([status for status, _ in runs] == [0, 0] and each <= limit,
                 f"{' '.join(view)}: at most {limit} bytes for each stack",
                 f"{each:.0f} bytes; status and peak of both: {runs}")
telling.finish()
