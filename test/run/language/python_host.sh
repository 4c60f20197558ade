#!/usr/bin/env bash
# python_host.sh: a C program with CPython inside, which restarts the interpreter after its end,
# with each version whose library is installed. If it fails, embedding programs are recorded without
# their Python functions, or only until the interpreter has ended once.
. "$SRCDIR/test/run/lib.subr"
need python3

found=0
for python in python3 /usr/bin/python3 python3.9 python3.10 python3.11 python3.12 python3.13; do
    described=$("$python" -c '
import os, sys, sysconfig
library = os.path.join(sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME"))
sys.exit(not (3, 9) <= sys.version_info < (3, 14) or not os.path.exists(library)
         or ".so" not in library or print(library, sys.base_prefix))' 2>/dev/null) || continue
    read -r library home <<<"$described"
    found=$((found + 1))
    ${CC:-gcc} -o host "$area/python_host.c" "$library" "-Wl,-rpath,${library%/*}"
    same "$python: compiled" 0 $?
    PYTHONHOME=$home ./host >bare.out 2>&1
    rm -f it.heaptap
    PYTHONHOME=$home "$HEAPTAP" run -q -o it.heaptap -- ./host >it.out 2>&1
    same "$python: status" 0 $?
    check "$python: output" cmp bare.out it.out
    "$HEAPTAP" report --json --no-fold it.heaptap >it.json 2>/dev/null
    check "$python: objects of all four" run_python - it.json <<'END'
import sys

import documents

with open(sys.argv[1], encoding="utf-8") as file:
    report = documents.load(file)
made = [sum(site["allocations"] for site in report["sites"]
            if any(frame["function"] == name for frame in site["stack"]))
        for name in ("inside", "second")]
lost = {key: n for key, n in report["losses"].items() if n}
print(made, lost)
# A number as text, and a repetition of it, are two objects; small numbers need no new objects.
sys.exit(not (239_000 < made[0] < 241_000 and 79_500 < made[1] < 80_500) or lost != {})
END
done
[ $found -gt 0 ] || skip_all "no shared library of CPython 3.9 to 3.13 (libpython3-dev)"
finish
