"""known.py: check the numbers of a report against a program whose numbers are known by
construction.

    known.py REPORT.json PREFIX CHECK...

A CHECK is "WHAT FIELD=VALUE...", one result line each. WHAT is

    total            the totals
    losses           the losses
    under:NAME       the sum over all sites with function NAME anywhere on the stack
    leaf:NAME        ... with NAME innermost
    stack:A,B,C      ... whose innermost functions are A, B, C
    whole:A,B,C      ... that consist of A, B, C and then only the start of the process
    module:PATH,NAME ... with NAME innermost, in the module whose file is called PATH
    free:KIND,A,B    frees of pointers that are not live, by A innermost, of blocks of B (B may be
                     empty); the only field is count

FIELD is a counter of the report, or "sites" for the number of sites, "depth" for the maximum depth
of their stacks, or "doubtful" for the number of stacks marked as truncated, guessed or broken.
VALUE is a number or LOW..HIGH; FIELD>=LOW is also possible. The comparison of names ignores a
function's parameters and namespaces."""
import os
import re
import sys

sys.dont_write_bytecode = True
import documents  # noqa: E402

# Local functions of a C library have no names without its debug package.
START = {"?libc.so.6", "__libc_start_call_main", "__libc_start_main", "__libc_start_main_impl",
         "_start", "start_thread", "clone", "clone3", "__clone3", "__GI___clone3", "_dl_start_user"}


def plain(frame):
    if frame["function"] is None:
        return "?" + os.path.basename(frame["module"] or "")
    return re.sub(r"\(.*", "", frame["function"]).split("::")[-1]


def names(site):
    return [plain(frame) for frame in site["stack"]]


def chosen(report, what):
    kind, _, rest = what.partition(":")
    wanted = rest.split(",")
    for site in report["sites"]:
        have = names(site)
        if kind == "under" and rest in have:
            yield site
        elif kind == "leaf" and have[:1] == [rest]:
            yield site
        elif kind == "stack" and have[:len(wanted)] == wanted:
            yield site
        elif kind == "whole" and have[:len(wanted)] == wanted and set(have[len(wanted):]) <= START:
            yield site
        elif kind == "module" and have[:1] == [wanted[1]] and \
                os.path.basename(site["stack"][0]["module"] or "") == wanted[0]:
            yield site


def unknown_frees(report, what):
    kind, leaf, maker = what.split(",")
    return sum(free["count"] for free in report["unknown_frees"]
               if free["kind"] == kind and names(free)[:1] == [leaf] and
               (plain(free["allocated"][0]) if free["allocated"] else "") == maker)


def value(report, what, field):
    if what.startswith("free:"):
        return {"count": unknown_frees(report, what[5:])}[field]
    if what in ("total", "losses"):
        return report["totals" if what == "total" else what][field]
    sites = list(chosen(report, what))
    if field == "sites":
        return len(sites)
    if field == "depth":
        return max((len(site["stack"]) for site in sites), default=0)
    if field == "doubtful":
        return sum(site["truncated"] or site["guessed"] or site["broken"] for site in sites)
    return sum(site[field] for site in sites)


def mismatch(report, what, term):
    field, operator, wanted = re.fullmatch(r"(\w+)(>=|=)(.+)", term).groups()
    got = value(report, what, field)
    low, _, high = wanted.partition("..")
    good = got >= int(low) and (operator == ">=" or got <= int(high or low))
    return None if good else f"{field}: wanted {operator.strip('=')}{wanted}, got {got}"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        report = documents.load(f)
    bad = False
    for check in sys.argv[3:]:
        what, *terms = check.split()
        wrong = [w for w in (mismatch(report, what, term) for term in terms) if w]
        print(f"{'not ok' if wrong else 'ok'} - {sys.argv[2]}{check}")
        for line in wrong:
            print(f"#   {line}")
        bad |= bool(wrong)
    sys.exit(bad)


if __name__ == "__main__":
    main()
