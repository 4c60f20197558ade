"""children.py: forked children of a recorded process. The detach of the process must leave them
without the recorder too."""
import sys

from attach import Program, compare, heaptap, report, state


def check(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: wanted {wanted}, got {got}")


def waiting(program):
    """Let PROGRAM fork a child that waits. Return its id."""
    before = set(children(program.pid))
    program.tell("w")
    new = set(children(program.pid)) - before
    check("new children", 1, len(new))
    return new.pop()


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(word) for word in f.read().split()]


def unrecorded():
    """The children are not recorded, and the detach removes the recorder from them."""
    program = Program()
    program.tell("a")
    earlier = waiting(program)
    before = state(earlier)
    heaptap("attach", "--detached", "-o", "children_parent.heaptap", program.pid)
    pid = waiting(program)
    program.tell("ak")
    check("jumps in the child", False, state(pid)["code"] == before["code"])
    # It can be recorded beside its parent, which forks another child.
    heaptap("attach", "--detached", "-o", "children_own.heaptap", pid)
    other = waiting(program)
    heaptap("detach", program.pid)
    for part in "code", "maps":
        compare({part: state(program.pid)[part]}, state(other))
    heaptap("detach", pid)
    check("blocks of the child", 0, report("children_own.heaptap")["totals"]["live_blocks"])
    compare(before, state(earlier))
    # It has the memory of its parent, and everything else like the child from before.
    compare(before | {"maps": state(program.pid)["maps"]}, state(pid))
    check("blocks of the parent", 100, report("children_parent.heaptap")["totals"]["live_blocks"])
    heaptap("attach", "--detached", "-o", "children_child.heaptap", pid)  # As any other process.
    heaptap("detach", "--no-pack", pid)
    check("the program", ("ok\n", 0), program.end())


def executed():
    """The parent has executed another program: a detach with its id cleans its children."""
    program = Program()
    before = state(waiting(program))
    heaptap("attach", "--detached", "-o", "children_executed.heaptap", program.pid)
    pid = waiting(program)
    program.tell("ex")
    heaptap("detach", program.pid)
    compare(before, state(pid))
    check("the program", ("ok\n", 0), program.end())


def main():
    unrecorded()
    executed()


if __name__ == "__main__":
    main()
