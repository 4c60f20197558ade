#!/usr/bin/env bash
# python_module.sh: heaptap.py: python3 -m heaptap, labels and snapshots from a program, and the
# plug-in for pytest, which labels each test. If it fails, recording without the heaptap command is
# broken, or a test is charged with another test's allocations.
. "$SRCDIR/test/run/lib.subr"
need python3
export PYTHONPATH=$SRCDIR/src/python PYTHONDONTWRITEBYTECODE=1 HEAPTAP

cat >program.py <<'END'
import sys
import heaptap
heaptap.label("tenant", "acme")
kept = bytes(1_000_000)
heaptap.label("tenant", None)
heaptap.snapshot("middle")
del kept
print(heaptap.is_present(), sys.argv[1:])
sys.exit(3)
END
same "without a recorder" "False ['a', '--']" "$(python3 program.py a --)"
python3 -m heaptap -o "$PWD/module.heaptap" -- program.py a --b >module.out 2>module.err
same "status under it" 3 $?
same "output under it" "True ['a', '--b']" "$(cat module.out)"
"$HEAPTAP" report --json --at middle --label tenant=acme module.heaptap >module.json 2>/dev/null
check "a label, a snapshot and a line" \
    env PYTHONPATH="$SRCDIR/test/run" python3 "$area/python_held.py" module.json \
    "$PWD/program.py" 4 1000000
HEAPTAP='' PATH=/nowhere "$(command -v env)" "$(python3 -c 'import sys; print(sys.executable)')" \
    -m heaptap program.py 2>none.err
same "without the command: status" 2 $?
check "and the remedy" grep -q 'is not in PATH' none.err

pytest=$(for python in python3 /usr/bin/python3; do
    "$python" -c 'import pytest, sys; print(sys.executable)' 2>/dev/null && break
done)
if [ -z "$pytest" ]; then
    echo "ok - pytest # SKIP needs pytest"
    finish
fi
cat >test_two.py <<'END'
import pytest
kept = []

@pytest.fixture
def fixed():
    kept.append(bytes(3_000_000))

def test_one():
    kept.append(bytes(1_000_000))

def test_two(fixed):
    kept.append(bytes(2_000_000))
END
"$HEAPTAP" run -q --frames 12 -o tests.heaptap -- "$pytest" -m pytest -q -p heaptap \
    -p no:cacheprovider test_two.py >tests.out 2>&1
same "pytest: status" 0 $?
"$HEAPTAP" report --json --by label=test tests.heaptap >tests.json 2>tests.err
check "pytest: a label for each test, with its fixtures" python3 - tests.json <<'END'
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    rows = {row["value"]: row["allocated_bytes"] for row in json.load(file)["rows"]}
print(rows)
one, two = rows["test_two.py::test_one"], rows["test_two.py::test_two"]
sys.exit(not (1_000_000 < one < 1_500_000 and 5_000_000 < two < 5_500_000))
END
finish
