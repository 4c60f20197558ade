"""waits.py: attach to a program that waits in many system calls. None may return EINTR.

    waits.py ROUNDS"""
import os
import subprocess
import sys
import time

from attach import PROGRAM, heaptap


def main():
    rounds = int(sys.argv[1])
    program = subprocess.Popen((PROGRAM, "waits", str(1500 + 400 * rounds)),
                               stdout=subprocess.PIPE, text=True)
    time.sleep(0.5)
    for i in range(rounds):
        if os.path.exists("waits.heaptap"):
            os.unlink("waits.heaptap")
        heaptap("attach", "--detached", "-o", "waits.heaptap", program.pid)
        heaptap("detach", "--no-pack", program.pid)
    output, _ = program.communicate(timeout=60)
    if output != "ok\n":
        sys.exit(output)


if __name__ == "__main__":
    main()
