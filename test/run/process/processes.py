"""processes.py: print the work of each process of a session, one line a profile, sorted.

    processes.py DIRECTORY|FILE...

A line has the program, its origin ("forked" or "image"), and the numbers of test/prog/family that
are not 0: allocations whose innermost function is parent, child, later or grow, frees of its blocks
made in parent or child, frees of inherited blocks, and lost events."""
import collections
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import documents  # noqa: E402

heaptap = os.environ["HEAPTAP"]


def report(path):
    shown = subprocess.run([heaptap, "report", "--json", "--no-fold", path],
                           capture_output=True, text=True)
    if shown.returncode != 0:
        raise SystemExit(f"{path}: {shown.stderr.strip()}")
    return documents.loads(shown.stdout)


def line(document):
    process, losses = document["process"], document["losses"]
    counts = collections.Counter()
    for site in document["sites"]:
        leaf = site["stack"][0]["function"] if site["stack"] else None
        if leaf in ("parent", "child", "later", "grow"):
            counts[leaf] += site["allocations"]
            counts["freed"] += site["frees"]
    counts["inherited"] = losses["inherited_frees"]
    counts["lost"] = losses["events"]
    counts["unknown"] = losses["unknown_frees"]
    counts["cut"] = int(losses["file_failed"])
    shown = " ".join(f"{key}={counts[key]}" for key in sorted(counts) if counts[key])
    kind = "forked" if process["forked"] else "image"
    return f"{os.path.basename(process['executable'] or '?')} {kind} {shown}".strip()


def reports(what):
    document = report(what)
    return document["profiles"] if document["format"] == "heaptap-session" else [document]


print("\n".join(sorted(line(d) for what in sys.argv[1:] for d in reports(what))))
