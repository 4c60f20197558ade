#!/usr/bin/env bash
# bench_server.sh: the server of the bench, and its client with a constant rate of requests
# (bench/kv_server.cc, bench/open_loop.c, bench/server_load.py). If it fails, the latencies that
# `make bench` prints omit unanswered requests, or come from a broken server.
. "$SRCDIR/test/run/lib.subr"
need python3
run_python - "$SRCDIR/bench" "$BUILD/bench/bin" <<'END' || failures=1
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, sys.argv[1])
import server_load
from telling import finish, same

binaries = sys.argv[2]


def numbers(text):
    return {name: float(value) for name, value in map(str.split, text.splitlines())}


def replayed(text, times):
    with tempfile.NamedTemporaryFile("w", newline="") as f:
        f.write(text)
        f.flush()
        done = subprocess.run([f"{binaries}/kv_server", "replay", f.name, str(times)],
                              capture_output=True, text=True, check=True)
    return numbers(done.stdout)


class Server:
    def __init__(self):
        self.socket = os.path.abspath("s")
        self.process = subprocess.Popen([f"{binaries}/kv_server", "listen", self.socket, "2"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        while not os.path.exists(self.socket) and self.process.poll() is None:
            time.sleep(0.01)

    def ask(self, *words):
        done = subprocess.run([f"{binaries}/open_loop", self.socket, *words], capture_output=True,
                              text=True, check=True)
        return numbers(done.stdout)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        return numbers(self.process.stdout.read())


# Each request counts as the sum of the lengths of verb and key and of the numbers of headers and
# fields: 3 + 4 + 1 + 2, and 4 + 4 + 1 + 0.
TEXT = ("POST /set/key1 HTTP/1.1\r\nContent-Length: 11\r\n\r\nab=c d&ef=g"
        "POST /list/key1 HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
read = replayed(TEXT, 3)
same("requests of a file are all understood, in each round", (6, 57),
     (read["requests"], read["sum"]))
read = replayed(TEXT + TEXT[:30], 1)
same("half a request is no request", (2, 19),
     (read["requests"], read["sum"]))

server = Server()
got = server.ask("3", "0.4", "500")
same("at a constant rate so many are asked and answered", (200, 200),
     (got["asked"], got["answered"]))
same("the quantiles are in order", True,
     0 < got["p50_ns"] <= got["p99_ns"] <= got["p999_ns"] <= got["max_ns"])
more = server.ask("3", "0.2", "0")
same("as fast as it can, what was asked is answered", (True, True),
     (more["asked"] > 0, more["asked"] == more["answered"]))
same("the server has counted the same", 200 + more["asked"], server.end()["requests"])

# The server stalls: a client that waits for answers would make only three slow requests.
server = Server()
server.process.send_signal(signal.SIGSTOP)
got = server.ask("3", "0.4", "500")
server.process.send_signal(signal.SIGCONT)
server.end()
same("all are asked though none is answered", (200, 0), (got["asked"], got["answered"]))
same("and half of them have waited for more than three seconds", True, got["p50_ns"] > 3e9)

run = dict.fromkeys((column for column, _, _ in server_load.COLUMNS), 10.0)
slow = [{**run, "p99_ns": 30.0}, {**run, "p99_ns": 20.0}, {**run, "p99_ns": 40.0}]
native = [{**run, "p99_ns": 10.0}, {**run, "p99_ns": 20.0}, {**run, "p99_ns": 10.0}]
found = server_load.over_native(slow, native)
same("a ratio is the median of those of each round", (3, 1, 4),
     (found["p99_ns"].median, found["p99_ns"].low, found["p99_ns"].high))
same("no line is wider than a terminal", True,
     all(len(line) <= 80 for line in [server_load.heading(), server_load.value_line("x", slow),
                                      *server_load.ratio_lines(slow, native)]))
same("requests without an answer are told", (None, True),
     (server_load.unanswered([{"asked": 2, "answered": 2}]),
      "1 of 4" in server_load.unanswered([{"asked": 2, "answered": 2},
                                          {"asked": 2, "answered": 1}])))
finish()
END
finish
