#!/usr/bin/env bash
# python_types.sh: the types of Python objects in report --by type. If it fails, a string is shown
# as a dictionary or as a structure of C.
. "$SRCDIR/test/run/lib.subr"
need python3
. "$area/pythons.subr"

cat >kinds.py <<'END'
kept = []
for i in range(10000):
    kept.append([None] * 50) # Two lists; the first has no new object, but contents.
    kept.append("é" * (100 + i % 5))
    kept.append({i: i, -i: i})
    kept.append(i * 1.5)
    kept.append(bytes(60))
END
# kinds FILE: print the types of 9,900 calls or more, with the calls in ten thousands, rounded:
# small integers exist before.
kinds() {
    "$HEAPTAP" report --by type --json --filter kinds.py "$1" 2>/dev/null | python3 -c '
import collections, json, sys
calls = collections.Counter()
for row in json.load(sys.stdin)["rows"]:
    calls[row["type"], row["verdict"]] += row["allocations"]
for (name, verdict), count in calls.items():
    if count >= 9900:
        print(name, verdict, (count + 500) // 10000)' |
        sort
}
wanted="bytes certain 1
dict certain 2
float certain 1
int certain 2
list certain 3
str certain 1"
for python in $pythons; do
    name=$(label_of "$python")
    # A stripped Python lacks the names of local functions, which make lists and dictionaries.
    library=$(ldd "$python" | sed -n 's/.*=> \(.*libpython[^ ]*\).*/\1/p')
    if ! grep -q list_resize "$python" $library; then
        echo "ok - $name # SKIP needs a Python with symbols"
        continue
    fi
    record "$name.heaptap" "$python" -S -E kinds.py
    same "$name: types of known objects" "$wanted" "$(kinds "$name.heaptap")"
done
finish
