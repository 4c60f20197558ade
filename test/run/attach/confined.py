"""confined.py: attach to processes in odd situations: with a seccomp filter that kills, stopped by
a signal, in another root directory, in other namespaces, with a limit on descriptors or files.

Situations that need rights are skipped without them."""
import os
import resource
import shutil
import signal
import subprocess
import sys
import time

from attach import PROGRAM, Program, heaptap, report, state, compare

FILTERED = """
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define ALLOW(n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, n, 0, 1), \\
                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
int main(void)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_read), ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_brk),
        ALLOW(SYS_getrandom),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog p = {sizeof f / sizeof *f, f};
    char c;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
        return 1;
    while (read(0, &c, 1) == 1) {
        for (int i = 0; c == 'a' && i < 100; i++) {
            void *volatile q = malloc(10 + i);
            (void)q;
        }
        if (write(1, &c, 1) != 1)
            return 2;
    }
    if (write(1, "ok\\n", 3) != 3)
        return 2;
    _exit(0);
}
"""


def expect(what, program, profile="odd.heaptap"):
    """Attach, let the program allocate 100 blocks, detach."""
    if os.path.exists(profile):
        os.unlink(profile)
    program.tell("a")  # The heap grows before the comparison.
    before = state(program.pid)
    heaptap("attach", "--detached", "-o", profile, program.pid)
    program.tell("a")
    heaptap("detach", "--no-pack", program.pid)
    compare(before, state(program.pid))
    program.tell("a")
    live = report(profile)["totals"]["live_blocks"]
    if live != 100:
        sys.exit(f"{what}: {live} live blocks")
    if program.end() != ("ok\n", 0):
        sys.exit(f"{what}: the program fails")


def stopped():
    program = Program()
    os.kill(program.pid, signal.SIGSTOP)
    time.sleep(0.1)
    heaptap("attach", "--detached", "-o", "stopped.heaptap", program.pid)
    with open(f"/proc/{program.pid}/stat") as f:
        if f.read().rsplit(")", 1)[1].split()[0] not in "Tt":
            sys.exit("it is not stopped any more")
    os.kill(program.pid, signal.SIGCONT)
    program.tell("a")
    heaptap("detach", program.pid)
    if report("stopped.heaptap")["totals"]["live_blocks"] != 100 or program.end() != ("ok\n", 0):
        sys.exit("stopped by a signal")


def with_files(what, directory, *command):
    """Run the test program from a copy in DIRECTORY, by COMMAND."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    subprocess.check_call(f"""cp {PROGRAM} {directory}/attached
        for f in $(ldd {PROGRAM} | grep -o '/[^ ]*'); do
            mkdir -p {directory}$(dirname $f) && cp -L $f {directory}$f
        done""", shell=True)
    expect(what, Program(*command))


def thread_state(pid):
    """Return the letters of the states of all threads."""
    letters = ""
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/stat") as f:
            letters += f.read().rsplit(")", 1)[1].split()[0]
    return letters


def waits_in_vfork():
    """A thread that waits for the child of a vfork cannot be stopped."""
    program = Program()
    program.tell("atv")
    while "D" not in thread_state(program.pid):
        time.sleep(0.01)
    before = state(program.pid)
    message = heaptap("attach", "--detached", "-o", "vfork.heaptap", program.pid, status=3)
    compare(before, state(program.pid))
    if "does not stop" not in message or "stays" in message or os.path.exists("vfork.heaptap"):
        sys.exit(f"vfork: {message}")
    program.tell("V")
    heaptap("attach", "--detached", "-o", "vfork.heaptap", program.pid)
    program.tell("a")
    heaptap("detach", program.pid)
    if program.end() != ("ok\n", 0):
        sys.exit("vfork: the program fails")


def limited(what, number, value, words):
    """Attach to a program with a limit that is too low. It must be as before, without a profile."""
    with open("errors", "wb") as errors:
        program = Program(stderr=errors)
    program.tell("a")
    resource.prlimit(program.pid, number, (value, value))  # The start itself needs more.
    before = state(program.pid)
    message = heaptap("attach", "--detached", "-o", "limited.heaptap", program.pid, status=3)
    compare(before, state(program.pid))
    if words not in message or message.count("\n") > 1:
        sys.exit(f"{what}: {message}")
    program.tell("a")
    if program.end() != ("ok\n", 0) or os.path.getsize("errors") != 0:
        sys.exit(f"{what}: the program fails, or prints a message")
    if os.path.exists("limited.heaptap"):
        sys.exit(f"{what}: a profile is left")


def main():
    expect("alone", Program())
    stopped()
    waits_in_vfork()
    expect("a limit on files", Program(preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_NOFILE, (8, 8))))
    # The kernel sends SIGXFSZ for a file that exceeds the limit.
    limited("a limit on the size of files", resource.RLIMIT_FSIZE, 1 << 20, "(ulimit -f)")
    limited("no free descriptor", resource.RLIMIT_NOFILE, 3, "(socketpair): Too many open files")
    limited("one free descriptor", resource.RLIMIT_NOFILE, 4, "(socketpair): Too many open files")
    limited("no address space for the region", resource.RLIMIT_AS, 3 << 20,
            "(mmap): Cannot allocate memory")
    limited("no address space for the recorder", resource.RLIMIT_AS, 16 << 20,
            "Cannot allocate memory; its limits on memory (ulimit -v, -d) are too low")
    if os.geteuid() != 0:
        print("skip - as root: a filter, another root, namespaces")
        return
    with open("filtered.c", "w") as f:
        f.write(FILTERED)
    subprocess.check_call(("gcc", "-o", "filtered", "filtered.c"))
    expect("a seccomp filter", Program("./filtered"))
    with_files("another root", "root", "chroot", "root", "/attached", "commands")
    if shutil.which("unshare"):
        expect("namespaces", Program("unshare", "--mount", "--net", "--uts", "--ipc",
                                     PROGRAM, "commands"))


if __name__ == "__main__":
    main()
