"""terminal.py: test `heaptap run` on a terminal, as a shell's job.

    terminal.py FAMILY

Each case has a separate pseudo-terminal. A bash with job control runs there and gets commands;
its messages about the job are compared with those for the bare program."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

heaptap = os.environ["HEAPTAP"]
RUN = f"{heaptap} run -q --no-pack -o profiles/ --"
failures = 0


class Terminal:
    """A shell on a terminal."""

    def __init__(self, *command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            # A shell starts background programs with these signals ignored, and all programs below
            # would inherit that.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.signal(signal.SIGQUIT, signal.SIG_DFL)
            os.environ.update(PS1="READY> ", TERM="dumb", HISTFILE="")
            os.execvp(command[0], command)
        self.seen = ""

    def send(self, text):
        os.write(self.fd, text.encode())

    def read(self, seconds):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.seen += data.decode(errors="replace").replace("\r", "")
        return bool(data)

    def expect(self, pattern, seconds=60):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.seen):
            if time.monotonic() > end or not self.read(1) and not self.lives():
                raise RuntimeError(f"no {pattern!r} in {self.seen[-300:]!r}")
        match = re.search(pattern, self.seen)
        self.seen = self.seen[match.end():]
        return match

    def lives(self):
        return os.path.exists(f"/proc/{self.pid}")

    def close(self):
        try:
            os.close(self.fd)
        except OSError:
            pass
        try:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def shell():
    t = Terminal("bash", "--norc", "--noprofile", "-i")
    t.expect("READY> ")
    return t


def status(t):
    t.send("echo status=$?\n")
    return int(t.expect(r"\nstatus=(\d+)")[1])


def python(code):
    return f"{sys.executable} -c '{code}'"


# The terminal echoes the input as well, so the input must not look like the program's output.
READY = 'print("be" + "gun", flush=True)'
GOES_ON = 'import os, signal; ' \
    'signal.signal(signal.SIGCONT, lambda *a: os.write(1, b"re" b"sumed")); '
# If a signal arrives just before Python waits in a call, Python handles it only after that call. So
# no call below waits longer than 50 ms, and a line is read when it is there.
WAITS = 'import time; [time.sleep(0.05) for _ in range(2000)]'
READS = 'import select; ' \
    '[0 for _ in iter(lambda: bool(select.select([0], [], [], 0.05)[0]), True)]'
# Wait until the file `go` exists.
STAYS = 'import time; [time.sleep(0.05) for _ in iter(lambda: os.path.exists("go"), True)]'


def interrupt(t, prefix):
    t.send(f"{prefix} {python(READY + '; ' + WAITS)} 2>/dev/null\n")
    t.expect("begun")
    t.send("\x03")
    return status(t)


def interrupt_ignored(t, prefix):
    code = "import signal, sys; signal.signal(2, signal.SIG_IGN); " + READY + \
        "; sys.stdin.readline(); sys.exit(5)"
    t.send(f"{prefix} {python(code)}\n")
    t.expect("begun")
    t.send("\x03")
    t.send("\n")
    return status(t)


def interrupt_handled(t, prefix):
    code = "import signal, sys, time; n = []; signal.signal(2, lambda *a: n.append(1)); " + \
        READY + "; time.sleep(1); sys.stdin.readline(); sys.exit(10 + len(n))"
    t.send(f"{prefix} {python(code)}\n")
    t.expect("begun")
    t.send("\x03")
    time.sleep(1.5)
    t.send("\n")
    return status(t)


def quit_key(t, prefix):
    t.send(f"ulimit -c 0; {prefix} {python(READY + '; ' + WAITS)}\n")
    t.expect("begun")
    t.send("\x1c")
    return status(t)


def stop_and_go(t, prefix):
    code = GOES_ON + "import sys; " + READY + "; " + READS + \
        "; print(\"got\", sys.stdin.readline().strip()); sys.exit(4)"
    t.send(f"{prefix} {python(code)}\n")
    t.expect("begun")
    t.send("\x1a")
    t.expect("Stopped")
    t.send("jobs\n")
    t.expect(r"Stopped")
    t.send("fg\n")
    t.expect("resumed")
    t.send("hello\n")
    t.expect("got hello")
    return status(t)


def stop_twice_then_background(t, prefix):
    t.send(f"rm -f go; {prefix} {python(GOES_ON + READY + '; ' + STAYS)}\n")
    t.expect("begun")
    for _ in range(2):
        t.send("\x1a")
        t.expect("Stopped")
        t.send("fg\n")
        t.expect("resumed")
        time.sleep(0.5)  # heaptap checks after 20 ms whether it has to continue the program.
    t.send("\x1a")
    t.expect("Stopped")
    t.send("bg\n")
    t.expect("resumed")
    # The job must not end before bash waits: bash may have dropped its status by then.
    t.send('echo wai""ting; wait $!; echo waited=$?\n')
    t.expect("waiting")
    time.sleep(0.3)
    with open("go", "w", encoding="ascii"):
        pass
    return int(t.expect(r"\nwaited=(\d+)")[1])


def background_reader(t, prefix):
    t.send(f"{prefix} {python(GOES_ON + 'import sys; print(sys.stdin.readline())')} &\n")
    t.expect(r"\[1\]")
    for _ in range(240):
        t.send("jobs\n")
        time.sleep(0.25)
        t.read(0)
        if "Stopped" in t.seen:
            break
    t.expect("Stopped")
    t.send("fg\n")
    t.expect("resumed")
    t.send("text\n")
    t.expect("text\n+text")
    return status(t)


def stop_ignored(t, prefix):
    code = "import signal, sys; signal.signal(signal.SIGTSTP, signal.SIG_IGN); " + READY + \
        "; sys.stdin.readline(); sys.exit(6)"
    t.send(f"{prefix} {python(code)}\n")
    t.expect("begun")
    t.send("\x1a")
    t.send("\n")
    return status(t)


def inner_shell(t, prefix):
    t.send(f"PS1='INNER> ' {prefix} bash --norc --noprofile -i\n")
    t.expect("INNER> ")
    t.send(python(GOES_ON + READY + "; " + WAITS) + " 2>/dev/null\n")
    t.expect("begun")
    t.send("\x1a")
    t.expect("Stopped")
    t.expect("INNER> ")
    t.send("fg\n")
    t.expect("resumed")
    t.send("\x03")
    t.expect("INNER> ")
    t.send("exit 9\n")
    t.expect("READY> ")
    return status(t)


def resize(t, prefix):
    code = "import os, signal, time; seen = []; signal.signal(signal.SIGWINCH, " \
        "lambda *a: seen.append(1)); " + READY + "; " \
        "[time.sleep(0.05) for _ in iter(lambda: bool(seen), True)]; time.sleep(0.5); " \
        "print(len(seen), os.get_terminal_size().columns)"
    t.send(f"{prefix} {python(code)}\n")
    t.expect("begun")
    fcntl.ioctl(t.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 91, 0, 0))
    return t.expect(r"(\d+) 91")[1]


def shown(function, prefix):
    t = shell()
    try:
        return function(t, prefix)
    except RuntimeError as error:
        return error  # The process id differs each time.
    finally:
        t.close()


def result(name, wanted, got):
    global failures
    print(f"{'ok' if wanted == got else 'not ok'} - {name}")
    if wanted != got:
        print(f"#   bare:     {wanted}\n#   recorded: {got}")
        failures += 1


def hang_up():
    """The terminal closes, and the kernel signals the program once."""
    for name in ("hup.bare", "hup.run"):
        code = "import signal, sys, time; n = []; signal.signal(1, lambda *a: n.append(1)); " \
            "signal.signal(18, lambda *a: None); " + READY + \
            "\nfor _ in range(600):\n    time.sleep(0.1)\n    if n: break\ntime.sleep(1)\n" \
            f"open(\"{name}\", \"w\").write(str(len(n)))"
        prefix = RUN if name == "hup.run" else ""
        # The program is alone on its terminal: no shell signals it a second time.
        t = Terminal("sh", "-c", f"exec {prefix} {python(code)}")
        t.expect("begun\n")  # The end of the line may be written separately.
        os.close(t.fd)
        for _ in range(700):
            if os.path.exists(name) and os.path.getsize(name):
                break
            time.sleep(0.1)
        t.close()
    return [open(n).read() if os.path.exists(n) else RuntimeError(f"no {n}")
            for n in ("hup.bare", "hup.run")]


def sent(number):
    """A signal to `heaptap run` alone reaches the program once."""
    code = "import signal, sys, time; n = []\n" \
        f"signal.signal({number}, lambda *a: n.append(1))\n" \
        "print('begun', flush=True)\n" \
        "for _ in range(500):\n    time.sleep(0.1)\n    if n: break\n" \
        "time.sleep(0.3)\nsys.exit(20 + len(n))"
    with subprocess.Popen([*RUN.split(), sys.executable, "-c", code], stdout=subprocess.PIPE) as p:
        p.stdout.readline()
        p.send_signal(number)
        return p.wait(60)


def summary_in_background(t):
    """If a terminal refuses output of background jobs, heaptap's messages stop heaptap."""
    t.send(f"stty tostop; {heaptap} run -o summary.heaptap -- ls -d / >/dev/null &\n")
    t.expect(r"\[1\]")
    t.send("wait\n")
    t.expect("Stopped")
    t.send("fg\n")
    t.expect("heaptap: profile")
    return status(t)


def main():
    os.makedirs("profiles", exist_ok=True)
    for function in (interrupt, interrupt_ignored, interrupt_handled, quit_key, stop_and_go,
                     stop_twice_then_background, background_reader, stop_ignored, inner_shell,
                     resize):
        result(function.__name__.replace("_", " "), shown(function, ""), shown(function, RUN))
    t = shell()
    try:
        result("the summary in the background", 0, summary_in_background(t))
    finally:
        t.close()
    result("hang up", *hang_up())
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT,
                   signal.SIGQUIT, signal.SIGALRM, signal.SIGWINCH, signal.SIGIO,
                   signal.SIGRTMIN + 3):
        result(f"signal {number} sent to heaptap is passed on once", 21, sent(number))
    sys.exit(failures > 0)


main()
