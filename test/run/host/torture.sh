#!/usr/bin/env bash
# torture.sh: the short form of `make torture`: a shell, perl, python, a database, a long session
# with git and a parallel compile, bare and recorded. If it fails, heaptap changes their behaviour,
# loses events, or gets stacks wrong; test/torture/torture.py explains the table.
. "$SRCDIR/test/run/lib.subr"
need python3
python3 "$SRCDIR/test/torture/torture.py" --out "$(dirname "$HEAPTAP")" --build "$BUILD" --short
