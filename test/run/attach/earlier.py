"""earlier.py: the blocks that a process has before an attach. Their number and their usable bytes
are in the profile, and their frees change no live number."""
import subprocess
import sys

from attach import HEAPTAP, PROGRAM, Program, heaptap, report

BLOCKS = 100


def usable(size):
    """Return the usable bytes of a block of glibc."""
    return max(24, (size + 8 + 15) // 16 * 16 - 8)


BYTES = sum(usable(10 + i) for i in range(BLOCKS))


def check(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: wanted {wanted}, got {got}")


def attached(program, name, letters):
    """Let PROGRAM do LETTERS while it is recorded. Return the report."""
    heaptap("attach", "--detached", "-o", name, program.pid)
    program.tell(letters)
    heaptap("detach", program.pid)
    return report(name)


def numbers(document):
    return document["process"]["earlier_blocks"], document["process"]["earlier_bytes"]


def main():
    program = Program()
    program.tell("act")
    first = numbers(attached(program, "earlier1.heaptap", "x"))
    program.tell("a")
    document = attached(program, "earlier2.heaptap", "af")
    second = numbers(document)
    check("blocks", first[0] + BLOCKS, second[0])
    check("bytes", first[1] + BYTES, second[1])
    check("frees of them", 2 * BLOCKS, document["losses"]["unrecorded_frees"])
    check("live blocks", 0, document["totals"]["live_blocks"])
    check("live bytes", 0, document["totals"]["live_bytes"])
    third = numbers(attached(program, "earlier3.heaptap", "x"))
    check("blocks after their frees", second[0] - 2 * BLOCKS, third[0])
    check("bytes after their frees", second[1] - 2 * BYTES, third[1])
    text = subprocess.run((HEAPTAP, "report", "earlier2.heaptap"), capture_output=True, text=True,
                          check=True).stdout
    if f"from before the attach: {second[0]} blocks with " not in text or \
            f"{2 * BLOCKS} freed since" not in text:
        sys.exit(text)
    check("the program", ("ok\n", 0), program.end())

    # A heap that changes all the time: no impossible number, and the process continues.
    busy = subprocess.Popen((PROGRAM, "churn", "3", "0"), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    heaptap("attach", "--detached", "-o", "earlier_busy.heaptap", busy.pid)
    heaptap("detach", busy.pid)
    blocks = report("earlier_busy.heaptap")["process"].get("earlier_blocks", 0)
    if blocks > 10000:
        sys.exit(f"{blocks} blocks in a busy process")
    print(f"# a busy process: {blocks} blocks")
    busy.communicate()
    check("status of the busy process", 0, busy.returncode)


if __name__ == "__main__":
    main()
