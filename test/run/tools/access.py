"""access.py: compare the numbers of `heaptap access --json` with those that access_made.py has made
up.

access.py HEAPTAP
"""
import json
import subprocess
import sys

sys.dont_write_bytecode = True
import access_made  # noqa: E402
import documents  # noqa: E402
from telling import finish, tell  # noqa: E402

SPREADS = {"accesses": ("accesses", 1), "writes": ("writes", 1), "size_bytes": ("size_bytes", 1),
           "lifetime_us": ("lifetime_ms", 1000), "utilised": ("utilisation_percent", 100),
           "density": ("access_density", 1),
           "lifetime_density": ("lifetime_access_density", 1)}
PLAIN = {"blocks": "access_blocks", "untouched_bytes": "untouched_bytes", "never": "never_blocks",
         "write_only": "write_only_blocks", "dated": "dated_blocks", "migrated": "migrated_cpu",
         "overlaps": "lifetime_overlaps", "same_alloc_cpu": "same_alloc_cpu",
         "same_dealloc_cpu": "same_dealloc_cpu"}
VERDICTS = {"make_node": "hot-small", "make_pairs": "used", "make_log": "write-only",
            "make_table": "never", "make_copy": "touched-once", "make_buffer": "mostly-unused",
            "make_cache": "used"}


def shown(heaptap, name, *options):
    done = subprocess.run([heaptap, "access", "--json", *options, name], capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"access of {name}: {done.stderr}")
    return documents.loads(done.stdout)


def by_function(document):
    return {site["stack"][0]["function"]: site for site in document["sites"]}


def differences(site, made, times):
    """Yield the values of SITE that differ from TIMES the made values."""
    for key, (name, unit) in SPREADS.items():
        total, least, most = made[key]
        wanted = {"total": times * total / unit, "min": least / unit, "max": most / unit}
        if site[name] != wanted:
            yield f"{name}: {site[name]} and {wanted}"
    for key, name in PLAIN.items():
        if site[name] != times * made.get(key, 0):
            yield f"{name}: {site[name]} and {times * made.get(key, 0)}"


def compare(name, document, times, granule=8):
    sites = by_function(document)
    for function, kind, made in access_made.sites(granule):
        wrong = list(differences(sites[function], made, times))
        if sites[function]["type"] != (kind[1] if kind else None):
            wrong.append(f"type {sites[function]['type']}")
        if granule == 8 and times == 1 and sites[function]["verdict"] != VERDICTS[function]:
            wrong.append(f"verdict {sites[function]['verdict']}")
        tell(not wrong, f"{name}: {function}", *wrong)
    total = sum(made["accesses"][0] for _, _, made in access_made.sites(granule)) * times
    tell(document["accessed"]["accesses"]["total"] == total, f"{name}: the sum",
         document["accessed"])


# Name, offset, size, accesses, writes, blocks. Members that share a word have the word's numbers.
NODE = [("key", 0, 8, 2000000, 400000, 100), ("name", 8, 56, 0, 0, 0),
        ("count", 64, 4, 1000000, 500000, 100), ("dirty", 68, 1, 1000000, 500000, 100),
        ("pinned", 68, 1, 1000000, 500000, 100), (None, 69, 3), ("never", 72, 8, 0, 0, 0),
        ("links.left", 80, 8, 400000, 50000, 20), ("links.right", 88, 8, 0, 0, 0),
        ("flag", 96, 1, 100000, 50000, 100), (None, 97, 7), ("total", 104, 8, 1500000, 0, 100)]
PAIR = [("first", 0, 8, 240, 80, 8), ("second", 8, 8, 160, 0, 8)]


def rows(structure):
    for field in structure["fields"]:
        row = [field[key] for key in ("name", "offset", "size")]
        yield tuple(row + [field[key] for key in ("accesses", "writes", "blocks") if key in field])


def fields(heaptap):
    document = shown(heaptap, "words.heaptap", "--fields")
    found = {s["name"]: s for s in document["structures"]}
    tell(list(found) == ["node", "pair"], "structures, most accesses first", list(found))
    tell(list(rows(found["node"])) == NODE, "members of a structure", list(rows(found["node"])))
    tell(list(rows(found["pair"])) == PAIR, "an array is folded", list(rows(found["pair"])))
    tell((found["pair"]["elements"], found["node"]["elements"]) == (8, 100), "elements")
    together = [f["name"] for f in found["node"]["fields"] if f.get("together")]
    tell(together == ["count", "dirty", "pinned"], "members that share a word", together)
    advice = found["node"]["advice"]
    tell((advice["untouched"], advice["untouched_field_bytes"]) ==
         (["name", "never", "links.right"], 72), "untouched fields", advice)
    tell((advice["hot"], advice["hot_lines"], advice["hot_lines_least"]) ==
         (["key", "total", "count"], 2, 1) and not advice["false_sharing"],
         "hot fields", advice)
    order = [part["name"] for part in advice["order"]]
    # The flag fits behind the bits, before the word-aligned members.
    tell(order == ["key", "total", "count", "dirty, pinned", "flag", "links", "name", "never"] and
         advice["new_lines_touched"] < advice["lines_touched"] and advice["new_size"] == 104,
         "a better order", advice)
    total = sum(made["accesses"][0] for _, _, made in access_made.sites(8))
    tell((document["known_accesses"], document["other_accesses"]) == (5000400, total - 5000400),
         "what fields are known of", document["known_accesses"], document["other_accesses"])
    coarse = shown(heaptap, "lines.heaptap", "--fields")
    tell(not coarse["structures"], "without places there are no fields", coarse["structures"])


def main(heaptap):
    words = shown(heaptap, "words.heaptap")
    compare("by words", words, 1)
    compare("by lines", shown(heaptap, "lines.heaptap"), 1, 64)
    compare("packed", shown(heaptap, "packed.heaptap"), 1)
    compare("merged", shown(heaptap, "merged.heaptap"), 2)
    tell(words["counting"]["granule_bytes"] == 8 and words["counting"]["reads_and_writes"] and
         words["counting"]["ended"] and not words["counting"]["atomic"], "how it was counted",
         words["counting"])
    mixed = shown(heaptap, "mixed.heaptap")
    tell((mixed["counting"]["granule_bytes"], mixed["counting"]["granules_max"]) == (64, 0),
         "granules of two sizes", mixed["counting"])
    names = {option: [site["stack"][0]["function"] for site in
                      shown(heaptap, "words.heaptap", option)["sites"]]
             for option in ("--hot", "--cold", "--never")}
    tell(names == {"--hot": ["make_node"], "--cold": ["make_table"],
                   "--never": ["make_table", "make_log"]}, "the three lists", names)
    node = by_function(words)["make_node"]
    tell((node["alloc_cpu"], node["dealloc_cpu"], node["dealloc_ms"]) == (1, 3, 900),
         "the block merged last", node)
    fields(heaptap)
    report = json.loads(subprocess.run([heaptap, "report", "--json", "words.heaptap"],
                                       capture_output=True, check=True).stdout)
    tell(report["counting"] == words["counting"], "report notes that accesses were counted")
    finish()


main(sys.argv[1])
