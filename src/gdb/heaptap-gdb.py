"""heaptap-gdb.py: commands of gdb for the heap of a core dump or a live process.

    (gdb) source /usr/local/share/heaptap/heaptap-gdb.py
    (gdb) heaptap block p->next          the block at that address, and its allocation
    (gdb) heaptap pointers $rdi          the pointers to it
    (gdb) heaptap sites                  the stacks with the most live bytes
    (gdb) heaptap blocks                 the largest blocks
    (gdb) heaptap leaks                  blocks that nothing points to
    (gdb) heaptap retain p->next         the path of pointers that keeps the block alive

A command evaluates its address, runs `heaptap core` or `heaptap retain` on the dump or process of
the session, and prints the output. They must find the profile of the process. Their options may
follow a command: `heaptap sites --limit 3`.

While gdb stops a live process, no second tracer can attach to it. Therefore commands that need the
registers write a temporary dump to TMPDIR, and remove it. The others read the memory directly.
"""
import os
import re
import shlex
import shutil
import subprocess
import tempfile

import gdb

WIDTH = 100
HERE = os.path.dirname(os.path.abspath(__file__))  # gdb forgets it after loading.


def command_path():
    """Return the path of the heaptap command: beside this script, in the script's installation,
    or in PATH."""
    places = [os.environ.get("HEAPTAP", ""), os.path.join(HERE, "../../bin/heaptap"),
              os.path.join(HERE, "../../build/heaptap")]
    for place in places:
        if place and os.access(place, os.X_OK):
            return os.path.normpath(place)
    found = shutil.which("heaptap")
    if found is None:
        raise gdb.GdbError("the command heaptap is not to be found; set HEAPTAP to its path")
    return found


def dump_path():
    """Return the path of the core dump that gdb has open, or None."""
    text = gdb.execute("info files", to_string=True)
    found = re.search(r"Local core dump file:\s*[`'](.*)', file type", text)
    return found[1] if found else None


def run(arguments):
    environment = dict(os.environ, COLUMNS=str(gdb.parameter("width") or WIDTH))
    got = subprocess.run([command_path(), *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, universal_newlines=True, env=environment)
    gdb.write(got.stdout)
    if got.returncode != 0:
        raise gdb.GdbError(got.stderr.strip())
    gdb.write(got.stderr)


def ask(question, needs_registers):
    """Run heaptap with QUESTION for the process or dump of the session."""
    pid, dump = gdb.selected_inferior().pid, dump_path()
    if dump is not None:
        run(question + [dump])
    elif not pid:
        raise gdb.GdbError("there is neither a process nor a core dump")
    elif not needs_registers:
        run(question + ["--pid", str(pid)])
    else:
        with tempfile.TemporaryDirectory(prefix="heaptap-") as directory:
            made = os.path.join(directory, "core.%d" % pid)
            gdb.execute("generate-core-file " + made, to_string=True)
            run(question + [made])


def address_of(text):
    value = gdb.parse_and_eval(text)
    return hex(int(value) & (1 << 64) - 1)


class Heaptap(gdb.Command):
    """Look at the heap of a process that heaptap has recorded."""

    def __init__(self):
        super().__init__("heaptap", gdb.COMMAND_DATA, prefix=True)


class Question(gdb.Command):
    command, option, takes_address, needs_registers = "core", None, False, False

    def __init__(self, name):
        super().__init__("heaptap " + name, gdb.COMMAND_DATA)
        self.name = name

    def invoke(self, text, from_tty):
        address, _, more = text.partition(" --")
        question = [self.command] + ([self.option] if self.option else [])
        if self.takes_address:
            if not address.strip():
                raise gdb.GdbError("heaptap %s takes an address, or an expression" % self.name)
            question.append(address_of(address))
            options = "--" + more if more else ""
        else:
            options = text
        ask(question + shlex.split(options), self.needs_registers)


class Block(Question):
    """heaptap block EXPRESSION: the block that it points into, its allocation, its neighbours."""
    option, takes_address = "--block", True


class Pointers(Question):
    """heaptap pointers EXPRESSION: the pointers to it, or into the block that contains it."""
    option, takes_address, needs_registers = "--find-pointers", True, True


class Sites(Question):
    """heaptap sites: the stacks with the most live bytes."""


class Blocks(Question):
    """heaptap blocks: the largest blocks."""
    option = "--blocks"


class Leaks(Question):
    """heaptap leaks: blocks that nothing points to."""
    option, needs_registers = "--leaks", True


class Retain(Question):
    """heaptap retain EXPRESSION: a path from a root to the block, and the memory that it keeps."""
    command, option, takes_address, needs_registers = "retain", "--block", True, True


Heaptap()
for kind, name in ((Block, "block"), (Pointers, "pointers"), (Sites, "sites"), (Blocks, "blocks"),
                   (Leaks, "leaks"), (Retain, "retain")):
    kind(name)
