"""python_subint.py: measure the cost of 20,000 more objects in a sub-interpreter. See
python_subint.sh.

    python_subint.py PYTHON LABEL [calls]

Counts system calls only with `calls`: each one stops the process.
"""
import os
import resource
import subprocess
import sys

from telling import finish, tell

PROGRAM = """
import sys
try:
    import _xxsubinterpreters as interpreters
    run = interpreters.run_string
except ImportError:
    import _interpreters as interpreters
    run = interpreters.exec
inner = interpreters.create()
run(inner, "kept = [[i] * 3 for i in range(%s)]" % sys.argv[1])
interpreters.destroy(inner)
"""
FEW, MORE = 100, 20_000
OPTIONS = ["-I", "-S", "-c", PROGRAM]
LIBRARIES = [os.environ["LIBHEAPTAP"],
             os.path.dirname(os.environ["LIBHEAPTAP"]) + "/libheaptap_python.so"]
INJECT = os.environ["BUILD"] + "/test/fault/inject"


def sleeps(python, count):
    """Return the voluntary context switches of the recorded process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw
    subprocess.run([python, *OPTIONS, str(count)], check=True,
                   env={**os.environ, "LD_PRELOAD": " ".join(LIBRARIES),
                        "HEAPTAP_OUT": os.path.abspath("it.heaptap")})
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw - before


def looks(python, count):
    """Return the number of the recorder's system calls that probe memory, or None if tracing is
    forbidden."""
    done = subprocess.run([INJECT, "--call", "rt_sigprocmask", "--errno", "EPERM", "--n", "0",
                           "--count", "calls", "--preload", ":".join(LIBRARIES), "--", python,
                           *OPTIONS, str(count)],
                          env={**os.environ, "HEAPTAP_OUT": os.path.abspath("it.heaptap")})
    if done.returncode == 77:
        return None
    done.check_returncode()
    with open("calls", encoding="ascii") as file:
        return int(file.read())


def main(python, label, calls=None):
    slept = [sleeps(python, n) for n in (FEW, FEW + MORE)]
    tell(slept[1] - slept[0] < MORE // 10, f"{label}: no sleep for each object", slept)
    if calls is None:
        return
    looked = [looks(python, n) for n in (FEW, FEW + MORE)]
    if None in looked:
        print(f"ok - {label}: no system call for each object # SKIP needs ptrace")
    else:
        tell(looked[1] - looked[0] < MORE // 10, f"{label}: no system call for each object", looked)


main(*sys.argv[1:])
finish()
