"""lasting.py: kill lasting.c after MERGES merges of live blocks, and check the profile.

    lasting.py PROGRAM BLOCKS THREADS MERGES [PRELOADED]

PRELOADED is a recorder, as `heaptap run` preloads it. It leaves the recording to the program's."""
import os
import struct
import subprocess
import sys
import time

import counters
from telling import finish, tell

MERGE_OFF = counters.HEADER + 16
WAIT_S = 50


def merges(profile):
    try:
        with open(profile, "rb") as f:
            data = f.read(MERGE_OFF + 8)
        return struct.unpack_from("<Q", data, MERGE_OFF)[0]
    except (OSError, struct.error):
        return 0


def main():
    program, blocks, threads, wanted = sys.argv[1], *map(int, sys.argv[2:5])
    preloaded = sys.argv[5] if len(sys.argv) > 5 else ""
    profile = f"lasting.{blocks}.{threads}.heaptap"
    what = f"{blocks} blocks, {threads} threads" + (", preloaded" if preloaded else "")
    end = time.monotonic() + WAIT_S
    if os.path.exists(profile):
        os.remove(profile)
    with subprocess.Popen([program, str(blocks), str(threads)],
                          env={**os.environ, "HEAPTAP_OUT": profile, "LD_PRELOAD": preloaded}) as p:
        while merges(profile) < wanted and time.monotonic() < end and p.poll() is None:
            time.sleep(0.01)
        p.kill()
    counting, sites = counters.read(profile)
    s = counters.of_size(sites, 48)
    tell(counting["merge"] >= wanted and not counting["flags"] & 8,
         f"{what}: merged while it runs", counting)
    tell(s.get("blocks") == blocks, f"{what}: each block once", s)
    total, least, most = s.get("accesses", (0, 0, 0))
    tell(least == 3 and most in (3, 4) and 3 * blocks <= total < 4 * blocks,
         f"{what}: with its accesses", s)
    tell(s.get("dated") == blocks and s.get("granules") == 3 * blocks, f"{what}: and its times", s)
    finish()


main()
