"""heaptap.py: heaptap for Python programs, in three ways.

    python3 -m heaptap [OPTION... --] SCRIPT [ARGUMENT...]     as `heaptap run`, with this Python
    heaptap run -- pytest -p heaptap                           each test labels its allocations
    import heaptap; heaptap.label("tenant", "acme")            the same from a program

The first form takes the OPTIONs of `heaptap run`. SCRIPT may be anything that the interpreter
takes, such as -m MODULE. Without a recorder, label, phase, snapshot and the plug-in do nothing.
This file suffices, and needs only the standard library.
"""
import ctypes
import os
import shutil
import sys


class _Interface(ctypes.Structure):
    """The functions of a recorder, in the order of heaptap.h."""
    _fields_ = [("version", ctypes.c_uint), ("size", ctypes.c_uint)] + [
        (name, ctypes.c_void_p) for name in (
            "heap_create", "heap_destroy", "alloc", "resize", "release", "reset", "backing",
            "backing_end")] + [
        ("label", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)),
        ("labels", ctypes.c_void_p), ("set_labels", ctypes.c_void_p),
        ("phase", ctypes.CFUNCTYPE(None, ctypes.c_char_p)),
        ("snapshot", ctypes.CFUNCTYPE(None, ctypes.c_char_p))]


def _find():
    try:
        return _Interface.in_dll(ctypes.CDLL(None), "heaptap_recorder_v1")
    except ValueError:
        return None


_recorder = _find()


def is_present():
    """Return True if this process is recorded."""
    return _recorder is not None


def label(key, value):
    """Label later allocations of this thread with KEY=VALUE. None removes KEY."""
    if _recorder is not None:
        _recorder.label(key.encode(), None if value is None else value.encode())


def phase(name):
    """Begin a phase of the program. `heaptap report --between NAME` selects it."""
    if _recorder is not None:
        _recorder.phase(name.encode())


def snapshot(name):
    """Take a snapshot of all stacks, for `heaptap report --at NAME`."""
    if _recorder is not None:
        _recorder.snapshot(name.encode())


# --- A plug-in for pytest: -p heaptap -----------------------------------------------------------


def pytest_runtest_protocol(item, nextitem):
    """Label a test and its fixtures. Other allocations have no label."""
    del nextitem
    label("test", item.nodeid)


def pytest_runtest_logfinish(nodeid, location):
    del nodeid, location
    label("test", None)


# --- python3 -m heaptap -------------------------------------------------------------------------


def main(arguments):
    options = []
    if "--" in arguments:
        place = arguments.index("--")
        options, arguments = arguments[:place], arguments[place + 1:]
    if not arguments or arguments[0] in ("-h", "--help") or options[:1] == ["--help"]:
        print("usage: python3 -m heaptap [OPTION... --] SCRIPT [ARGUMENT...]\n\n"
              "Record SCRIPT with this Python, as `heaptap run OPTION... -- python3 SCRIPT` does.\n"
              "SCRIPT may be -m MODULE or -c PROGRAM. `heaptap run --help` lists the options.")
        return 0 if arguments or options else 2
    command = os.environ.get("HEAPTAP", "")
    if not os.access(command, os.X_OK):  # A program may be asked by HEAPTAP=1 to record itself.
        command = shutil.which("heaptap")
    if command is None:
        print("heaptap: the command heaptap is not in PATH; install it, or set HEAPTAP to it",
              file=sys.stderr)
        return 2
    sys.stdout.flush()
    os.execv(command, [command, "run", *options, "--", sys.executable, *arguments])
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
