"""serve.py: requests to `heaptap serve`, compared with known numbers and with `heaptap report`.

    serve.py HEAPTAP PROGRAM     in an empty directory; PROGRAM is test/prog/serve_steps.c

If it fails, a monitoring system stores wrong numbers, or strangers can read profiles.
"""
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(__file__), ".."))
from telling import finish, tell  # noqa: E402

HEAPTAP, PROGRAM = sys.argv[1:]
TOKEN = "0123456789abcdef0123456789abcdef"


class Server:
    """A server, until the end of the block."""

    def __init__(self, *options, listen="127.0.0.1:0"):
        self.listen = listen
        self.process = subprocess.Popen([HEAPTAP, "serve", "--listen", listen, *options],
                                        stderr=subprocess.PIPE, text=True)
        self.url = self.process.stderr.readline().split(" at ")[-1].strip()
        self.port = int(self.url.rsplit(":", 1)[1]) if self.url.startswith("http") else 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.status = self.process.wait(20)
        self.process.stderr.close()

    def get(self, target, *options):
        """Return status, headers and body of the answer."""
        where = ["--unix-socket", self.listen[5:], "http://localhost"] \
            if self.listen.startswith("unix:") else [self.url]
        command = ["curl", "-sS", "-g", "--path-as-is", "-m", "60", "-D", "headers", "-o", "body",
                   *options, *where[:-1], where[-1] + target]
        subprocess.run(command, check=True)
        with open("headers", encoding="latin-1") as f:
            head = f.read()
        with open("body", "rb") as f:
            body = f.read()
        os.remove("body")
        open("body", "wb").close()
        return int(head.split()[1]), head.lower(), body


class Program:
    """The recorded program, between two steps."""

    def __init__(self, profile):
        self.process = subprocess.Popen([HEAPTAP, "run", "--quiet", "-o", profile, "--", PROGRAM],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def step(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


def varints(data):
    at = 0
    while at < len(data):
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        yield at, value


def fields(data):
    """Return the fields of a protocol buffer message as (number, value)."""
    at = 0
    while at < len(data):
        step, key = next(varints(data[at:]))
        at += step
        step, value = next(varints(data[at:]))
        at += step
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        yield key >> 3, value


def sums(body):
    """Return the sums of a profile by sample type, and its number of samples."""
    message = list(fields(gzip.decompress(body)))
    texts = [value.decode() for number, value in message if number == 6]
    types = [texts[dict(fields(value))[1]] for number, value in message if number == 1]
    totals, count = [0] * len(types), 0
    for number, value in message:
        if number != 2:
            continue
        count += 1
        for i, v in enumerate(v for _, v in varints(dict(fields(value))[2])):
            totals[i] += v - (1 << 64 if v >> 63 else 0)
    return dict(zip(types, totals)), count, texts


def metrics(body):
    return {name: float(value) for name, value in
            re.findall(r"^(heaptap_[^ ]*(?:\{.*\})?) (\S+)$", body.decode(), re.M)}


def report(*what):
    done = subprocess.run([HEAPTAP, "report", "--json", *what], capture_output=True, check=True)
    return json.loads(done.stdout)


def check_numbers(server, program):
    status, head, body = server.get("/metrics")
    tell(status == 200 and "content-type: text/plain; version=0.0.4" in head,
         "/metrics has the content type that Prometheus 3 requires", head)
    totals = report("p.heaptap")["totals"]
    got = metrics(body)
    pairs = {"live_bytes": "live_bytes", "live_blocks": "live_blocks", "peak_bytes": "peak_bytes",
             "allocations_total": "allocations", "allocated_bytes_total": "allocated_bytes",
             "frees_total": "frees", "freed_bytes_total": "freed_bytes"}
    wrong = [(name, got.get(f'heaptap_{name}{{program="{program}"}}'), totals[key])
             for name, key in pairs.items()
             if got.get(f'heaptap_{name}{{program="{program}"}}') != totals[key]]
    tell(not wrong, "/metrics equals report --json", wrong)
    tell(got[f'heaptap_site_live_bytes{{program="{program}",function="hold"}}'] == 5000,
         "the bytes of a function", got)
    by_function = sum(v for k, v in got.items() if k.startswith("heaptap_site_live_bytes"))
    tell(by_function == totals["live_bytes"], "functions and other add up", by_function)
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True,
                              check=False)
        tell(done.returncode == 0 and not done.stdout + done.stderr, "promtool check metrics",
             done.stderr)
    else:
        print("ok - promtool check metrics # SKIP needs promtool (prometheus)")


def check_profiles(server, program):
    status, _, body = server.get("/debug/pprof/heap?gc=1")
    totals = report("p.heaptap")["totals"]
    got, count, texts = sums(body)
    keys = {"alloc_objects": "allocations", "alloc_space": "allocated_bytes",
            "inuse_objects": "live_blocks", "inuse_space": "live_bytes",
            "peak_objects": "peak_blocks", "peak_space": "peak_bytes"}
    wrong = [(k, got[k], totals[v]) for k, v in keys.items() if got[k] != totals[v]]
    tell(status == 200 and not wrong, "/debug/pprof/heap equals report --json", wrong)
    tell(count > 1 and "hold" in texts, "the profile has stacks with names", texts)
    text = server.get("/debug/pprof/allocs?debug=1")[2].decode()
    tell(text.startswith(f"heap profile: {totals['live_blocks']}: {totals['live_bytes']} ["),
         "debug=1 is text with the same totals", text[:200])
    tell(server.get("/debug/pprof/cmdline")[2].decode() == program,
         "cmdline has no arguments", "")
    if shutil.which("go"):
        done = subprocess.run(["go", "tool", "pprof", "-top", "-sample_index=inuse_space",
                               server.url + "/debug/pprof/heap"], capture_output=True, text=True,
                              check=False, env={**os.environ, "PPROF_TMPDIR": os.getcwd()})
        tell("hold" in done.stdout, "go tool pprof reads the server", done.stdout + done.stderr)
    else:
        print("ok - go tool pprof reads the server # SKIP needs go")


def check_difference(server, program, growth, allocated):
    """The program makes a step between the two readings."""
    curl = subprocess.Popen(["curl", "-sS", "-m", "60", "-o", "delta",
                             server.url + "/debug/pprof/heap?seconds=4"])
    time.sleep(2)
    program.step()
    curl.wait()
    with open("delta", "rb") as f:
        got = sums(f.read())[0]
    tell(got.get("inuse_space") == growth and got.get("alloc_space") == allocated,
         f"a difference has the growth of {growth} bytes", got)


def check_refusals(server):
    wanted = {"?seconds=0": 400, "?seconds=-1": 400, "?seconds=x": 400, "?seconds=3601": 400,
              "?pid=1": 404, "?profile=../p.heaptap": 404, "?profile=/etc/passwd": 404}
    got = {query: server.get("/debug/pprof/heap" + query)[0] for query in wanted}
    tell(got == wanted, "wrong parameters are refused", got)
    status, head, _ = server.get("/debug/pprof/goroutine")
    tell(status == 404 and "x-go-pprof: 1" in head, "other profiles of Go are 404", head)
    tell(server.get("/metrics", "-X", "POST", "-d", "a=b")[0] == 405, "POST is refused")
    tell(server.get("/metrics", "-H", "Host: evil.example")[0] == 421, "a foreign Host is refused")
    tell("access-control" not in server.get("/metrics", "-H", "Origin: http://a.example")[1],
         "no other site may read an answer")


def check_connections(server):
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(32)]
    time.sleep(1)
    tell(server.get("/healthz")[0] == 503, "the 33rd connection is refused")
    for one in idle:
        one.close()
    time.sleep(1)
    tell(server.get("/healthz")[0] == 200, "the next one is served")


def check_damage(server):
    with open("bad.heaptap", "wb") as f:
        f.write(b"no profile")
    tell(server.get("/debug/pprof/heap?profile=bad.heaptap")[0] == 500, "a damaged profile is 500")
    body = server.get("/metrics")[2]
    tell(metrics(body)["heaptap_unreadable_profiles"] == 1, "it is counted", body)
    tell(server.get("/debug/pprof/heap?profile=p.heaptap")[0] == 200, "the others are served")
    os.remove("bad.heaptap")


def check_targets(server, pid):
    status, head, body = server.get("/sd")
    targets = json.loads(body)
    tell(status == 200 and "application/json" in head and len(targets) == 1 and
         targets[0]["targets"] == [f"127.0.0.1:{server.port}"] and
         targets[0]["labels"]["__param_pid"] == str(pid), "/sd lists the process", targets)
    tell(server.get(f"/debug/pprof/heap?pid={pid}")[0] == 200, "its pid selects it")


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def running():
    program = Program("p.heaptap")
    name = os.path.basename(PROGRAM)
    pid = report("p.heaptap")["process"]["pid"]
    with Server("--dir", ".") as server:
        before = digest("p.heaptap")
        check_numbers(server, name)
        check_profiles(server, name)
        check_targets(server, pid)
        check_refusals(server)
        check_connections(server)
        check_damage(server)
        tell(digest("p.heaptap") == before, "no byte of the profile has changed")
        check_difference(server, program, 1000000, 1000000)
        check_difference(server, program, -500000, 0)
        program.step()
        program.process.wait()
        got = metrics(server.get("/metrics")[2])
        totals = report("p.heaptap")["totals"]
        tell(got[f'heaptap_allocations_total{{program="{name}"}}'] == totals["allocations"] and
             got[f'heaptap_processes{{program="{name}"}}'] == 0 and
             got[f'heaptap_live_bytes{{program="{name}"}}'] == 0,
             "an ended process stays in the counters", got)
        tell(json.loads(server.get("/sd")[2]) == [], "and is no target")
        tell(server.get("/debug/pprof/heap?profile=p.heaptap")[0] == 200, "its profile is served")
    tell(server.status == 0, "SIGTERM ends the server with 0", server.status)


def cut():
    """A profile cut to few samples has the totals of the whole."""
    with Server("--dir", ".", "--max-samples", "2") as server:
        got, count, texts = sums(server.get("/debug/pprof/heap?profile=p.heaptap")[2])
        totals = report("p.heaptap")["totals"]
        tell(count == 2 and "[other stacks]" in texts and
             got["alloc_space"] == totals["allocated_bytes"] and
             got["peak_space"] == totals["peak_bytes"], "--max-samples keeps the totals",
             (got, count))


def unix_socket():
    with Server("--dir", ".", listen="unix:s.sock") as server:
        tell(stat.S_IMODE(os.stat("s.sock").st_mode) == 0o600, "a Unix socket is its user's")
        tell(server.get("/healthz")[2] == b"ok\n", "a Unix socket is served")
    tell(not os.path.exists("s.sock"), "the Unix socket is removed")


def token():
    with open("token", "w", encoding="ascii") as f:
        f.write(TOKEN + "\n")
    with Server("--dir", ".", "--token-file", "token") as server:
        got = [server.get("/metrics")[0],
               server.get("/metrics", "-H", "Authorization: Bearer x")[0],
               server.get("/metrics", "-H", f"Authorization: Bearer {TOKEN}")[0],
               server.get("/healthz")[0]]
        tell(got == [401, 401, 200, 200], "requests need the token, except for /healthz", got)
    for options, word in ([["--listen", "0.0.0.0:0"], "--token-file"],
                          [["--listen", "nowhere"], "HOST:PORT"],
                          [["--listen", "unix:" + "a" * 200], "bytes"],
                          [["--dir", "missing"], "no directory"],
                          [["--token-file", PROGRAM], "printable"]):
        done = subprocess.run([HEAPTAP, "serve", *options], capture_output=True, text=True,
                              timeout=20, check=False)
        tell(done.returncode in (2, 3) and word in done.stderr, f"refused: {options[0]} {word}",
             done.stderr)


os.mkdir("served")
os.chdir("served")
running()
cut()
unix_socket()
token()
finish()
