"""telling.py: print one line for each check of a script, and compute its exit status. Imported, not
run.

A check that fails shows its details beneath it; the script continues, so that one run shows all
failures.
"""
import sys

DETAIL_MAX = 600  # Maximum number of characters of a detail.
failures = 0


def tell(good, name, *detail):
    global failures
    print(("ok - " if good else "not ok - ") + name)
    if not good:
        failures += 1
        for line in detail:
            print("#   " + str(line)[:DETAIL_MAX])


def same(name, wanted, got):
    tell(wanted == got, name, f"wanted {wanted}, got {got}")


def finish():
    sys.exit(failures > 0)
