"""lua_pool.py: compare a profile of lua_pool or lua_shared with the expected blocks: a hundred in
each chunk.

    lua_pool.py REPORT
"""
import collections
import sys

import documents


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        report = documents.load(file)
    found = collections.Counter()
    for site in report["sites"]:
        if site["stack"][0]["function"] in ("pool_take", "shared_take"):
            found[site["stack"][1]["file"]] += site["allocations"]
    right = {f"chunk{i}": 100 for i in range(10)}
    print(dict(found))
    sys.exit(found != right)


if __name__ == "__main__":
    main()
