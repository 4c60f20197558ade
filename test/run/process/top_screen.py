"""top_screen.py: drive the screen of `heaptap top` by keys, and compare it with reports."""
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
import telling  # noqa: E402
from live_program import Program, heaptap, report, until  # noqa: E402

servers = 0  # A new one for each screen, because a server ends late.


def tmux(*arguments):
    server = f"heaptap-{os.getpid()}-{servers}"
    return subprocess.run(["tmux", "-L", server, "-f", "/dev/null", *map(str, arguments)],
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True, timeout=30).stdout


class Screen:
    """`heaptap top ARGUMENTS` in a terminal of WIDTH columns and HEIGHT lines."""

    def __init__(self, width, height, *arguments, ascii_only=False):
        locale = "LC_ALL=C" if ascii_only else "LC_ALL=C.UTF-8"
        words = " ".join(f"'{a}'" for a in arguments)
        global servers
        tmux("kill-server")
        servers += 1
        tmux("new-session", "-d", "-x", width, "-y", height,
             f"stty -g >before; env {locale} '{heaptap}' top {words}; echo \"status $?\" >status; "
             "stty -g >after; sleep 60")

    def text(self):
        return tmux("capture-pane", "-p")

    def shows(self, pattern):
        return until(lambda: re.search(pattern, self.text()) is not None)

    def keys(self, *keys):
        for key in keys:
            tmux("send-keys", key)

    def literal(self, text):
        tmux("send-keys", "-l", text)

    def process(self):
        """Return the id of the command."""
        shell = int(tmux("display-message", "-p", "#{pane_pid}"))
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as f:
            return int(f.read().split()[0])

    def ended(self):
        """Return the exit status and whether the terminal is as it was."""
        until(lambda: os.path.exists("after") and os.path.getsize("after") > 0)
        with open("before", encoding="utf-8") as b, open("after", encoding="utf-8") as a:
            same = b.read() == a.read()
        with open("status", encoding="utf-8") as f:
            status = f.read().strip()
        for name in ("before", "after", "status"):
            os.unlink(name)
        return status, same


def bytes_text(value):
    return f"{value} B" if value < 1024 else f"{value / 1024:.1f} KiB"


def rows_of(text):
    """Return the live bytes of each row, by name: lines after the titles."""
    lines = text.splitlines()
    titles = [i for i, line in enumerate(lines) if "change" in line and "live" in line]
    found = {}
    for line in lines[titles[0] + 1:] if titles else []:
        match = re.match(r" *([\d.]+ (?:B|KiB|MiB)) .* (\w+)(?: +live_rows\.c)?$", line)
        if match:
            found[match[2]] = match[1]
    return found


def compare(program, screen, size):
    program.stop()
    wanted = {r["function"]: bytes_text(r["live_bytes"])
              for r in report("--by", "function", program.pid)["rows"]
              if r["function"] in ("main", "grows", "holds", "churns")}
    same = until(lambda: rows_of(screen.text()) == wanted)
    telling.tell(same, f"{size}: the rows of the report", wanted, rows_of(screen.text()))
    program.resume()


def sizes(program):
    for width, height in ((60, 10), (80, 24), (250, 80)):
        screen = Screen(width, height, program.pid)
        screen.shows("grows")
        compare(program, screen, f"{width}x{height}")
        widest = max(len(line) for line in screen.text().splitlines())
        telling.tell(widest <= width, f"{width}x{height}: the width", widest)
        screen.keys("q")
        telling.same(f"{width}x{height}: q ends", ("status 0", True), screen.ended())
    screen = Screen(80, 24, program.pid, ascii_only=True)
    telling.tell(screen.shows("grows") and screen.text().isascii(), "ASCII in the C locale",
                 screen.text())
    tmux("resize-window", "-x", 50, "-y", 8)
    telling.tell(screen.shows("needs 60 columns"), "a screen that is too small says so")
    tmux("resize-window", "-x", 120, "-y", 40)
    telling.tell(screen.shows("live.*self.*change"), "and comes back", screen.text())
    screen.keys("F10")
    telling.same("F10 ends", ("status 0", True), screen.ended())


def all_keys(program):
    screen = Screen(120, 40, program.pid)
    screen.shows("grows")
    # Press a key and check the screen; Escape goes back from pages.
    for key, pattern in (("?", "Keys of heaptap top"), ("h", "Keys of heaptap top"),
                         ("F1", "Keys of heaptap top"), ("t", "Tree of calls"),
                         ("F5", "Tree of calls"), ("i", "Tree of callers"),
                         ("e", "The process and its recording"), ("Enter", "Stack;")):
        screen.keys(key)
        telling.tell(screen.shows(pattern), f"key {key}", screen.text())
        screen.keys("Escape")
        screen.shows(r"live.*change")
    for key, pattern in (("p", "at peak↓"), ("a", "allocated↓"), ("c", "calls↓"), ("m", "change↓"),
                         ("l", "live↓"), ("I", "live↑"), ("I", "live↓"), (">", "self↓"),
                         ("<", "live↓"), ("F6", "self↓"), ("l", "live↓"), ("f", "frozen"),
                         ("Space", "paused")):
        screen.keys(key)
        telling.tell(screen.shows(pattern), f"key {key} shows {pattern}", screen.text())
    screen.keys("Space", "f")
    for by in ("site", "line", "module", "thread", "heap", "label", "type", "function"):
        screen.keys("b")
        telling.tell(screen.shows(rf"live↓.* {by}( |$)|live↓.* {by}\n"), f"key b: by {by}",
                     screen.text())
    screen.shows("holds")
    screen.keys("/")
    screen.literal("hold")
    screen.keys("Enter", "s")
    telling.tell(screen.shows(r"Source;[^\0]*live_rows\.c[^\0]*malloc\(HELD_BYTES\)"),
                 "keys / and s: the source of the row found", screen.text())
    screen.keys("Escape", "n", "\\")
    screen.literal("holds")
    screen.keys("Enter")
    telling.tell(screen.shows("only stacks that match holds") and
                 until(lambda: "grows" not in rows_of(screen.text())), "key \\ filters",
                 screen.text())
    screen.keys("F4", "BSpace", "BSpace", "BSpace", "BSpace", "BSpace", "Enter")
    telling.tell(until(lambda: "grows" in rows_of(screen.text())), "an empty filter ends it",
                 screen.text())
    marks(program, screen)
    requests(program, screen)
    screen.keys("q")
    telling.same("q ends", ("status 0", True), screen.ended())


def marks(program, screen):
    screen.keys("z")
    telling.tell(screen.shows("changes count from now on"), "key z", screen.text())
    program.ask("grow 10")
    telling.tell(screen.shows(r"\+1000 B .* grows"), "a change since the mark", screen.text())
    screen.keys("d")
    telling.tell(until(lambda: "holds" not in rows_of(screen.text())),
                 "key d: only rows that have changed", screen.text())
    screen.keys("d")
    until(lambda: "holds" in rows_of(screen.text()))


def snapshots(program):
    return [s["name"] for s in report(program.pid)["snapshots"] if s["name"]]


def requests(program, screen):
    screen.keys("S")
    screen.literal("warm")
    screen.keys("Enter")
    telling.tell(screen.shows("Take the snapshot 'warm'"), "key S asks first", screen.text())
    screen.keys("n")
    telling.tell(screen.shows("nothing was done") and not snapshots(program),
                 "no snapshot without a yes")
    screen.keys("S")
    screen.literal("warm")
    screen.keys("Enter", "y")
    time.sleep(0.3)
    program.ask("churn 1000")
    telling.tell(screen.shows("took the snapshot 'warm'"), "the answer", screen.text())
    telling.same("the snapshot is in the profile", ["warm"], snapshots(program))
    screen.keys("R")
    screen.literal("many")
    screen.keys("Enter")
    telling.tell(screen.shows("'many' must be exact, off or a size"), "key R checks its answer")
    screen.keys("R")
    screen.literal("512K")
    screen.keys("Enter", "y")
    time.sleep(0.3)
    program.ask("churn 1000")
    telling.tell(screen.shows("now records: 512K"), "key R changes the recording", screen.text())
    screen.keys("o")
    screen.literal("saved.heaptap")
    screen.keys("Enter")
    telling.tell(screen.shows("saved as saved.heaptap"), "key o saves", screen.text())
    telling.same("the saved profile", report(program.pid)["totals"]["live_bytes"],
                 report("saved.heaptap")["totals"]["live_bytes"])
    screen.keys("N")
    telling.tell(screen.shows("with the interpreter's functions"), "key N", screen.text())


def ends(program):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT):
        screen = Screen(80, 24, program.pid)
        screen.shows("grows")
        os.kill(screen.process(), number)
        telling.same(f"{number.name}: the terminal is as before",
                     (f"status {128 + number}", True), screen.ended())
        telling.tell(until(lambda: "live" not in screen.text()),
                     f"{number.name}: the screen is gone", screen.text())


def lists():
    one, two = Program("set/one.heaptap"), Program("set/two.heaptap")
    one.ask("grow 50")
    two.ask("grow 20")
    screen = Screen(100, 20, "set")
    telling.tell(screen.shows(f"{one.pid} +4.9 KiB") and screen.shows(f"{two.pid} +2.0 KiB"),
                 "a list of processes", screen.text())
    screen.keys("Enter")
    telling.tell(screen.shows("grows"), "Enter opens one", screen.text())
    screen.keys("Escape")
    two.end()
    telling.tell(screen.shows(r"ended +\S*live_rows"), "an ended process stays", screen.text())
    one.end()
    screen.keys("q")
    telling.same("q ends the list", ("status 0", True), screen.ended())


def gone(program):
    screen = Screen(100, 20, program.pid)
    screen.shows("grows")
    os.rename("top.heaptap", "moved.heaptap")
    os.unlink("moved.heaptap")
    program.end()
    telling.tell(screen.shows("as it was at .*No such file|cannot open"),
                 "a deleted profile is explained", screen.text())
    telling.tell("grows" in rows_of(screen.text()), "its last picture stays", screen.text())
    screen.keys("q")
    telling.same("q ends after that", ("status 0", True), screen.ended())


def main():
    os.makedirs("set", exist_ok=True)
    program = Program("top.heaptap")
    program.ask("grow 100")
    program.ask("hold")
    try:
        sizes(program)
        all_keys(program)
        ends(program)
        lists()
        gone(program)
    finally:
        tmux("kill-server")
    telling.finish()


main()
