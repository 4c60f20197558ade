"""api_write.py: test heaptap_write and the example server from outside.

    api_write.py WRITER SERVER LIBRARY

WRITER is test/prog/own_writer, SERVER examples/server, LIBRARY the recorder. One result line for
each check. If one fails, a program cannot write its own profile to any open descriptor, or doing
so harms it."""
import fcntl
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time

WRITER, SERVER, LIBRARY = (os.path.abspath(p) for p in sys.argv[1:4])
LIMIT_S = 60
failures = 0


def check(name, good, found=""):
    global failures
    print(f"{'ok' if good else 'not ok'} - {name}")
    if not good:
        failures += 1
        print(f"#   {found!r}"[:2000])


def recorded(profile):
    for name in os.listdir("."):
        if name.startswith(profile):
            os.remove(name)
    return dict(os.environ, LD_PRELOAD=LIBRARY, HEAPTAP_OUT=os.path.abspath(f"{profile}.heaptap"))


def write(fmt, *how, env=None, **options):
    """Run WRITER, which writes to its descriptor 1 and prints the result of heaptap_write on 2."""
    env = recorded("writer") if env is None else env
    return subprocess.run([WRITER, fmt, *how], env=env, stderr=subprocess.PIPE, timeout=LIMIT_S,
                          check=False, **options)


def rows(text):
    """Return the sums over the lines of a text profile: live blocks and bytes, all blocks and
    bytes."""
    found = re.findall(r"^(\d+): (\d+) \[(\d+): (\d+)\] @( 0x[0-9a-f]{16})+$", text, re.M)
    return tuple(sum(int(row[i]) for row in found) for i in range(4))


# Expected contents: 3 blocks of malloc of 1000 bytes, the last freed, and 200 objects of 10 bytes
# on as many stacks, after 200 more that were reset.
WANTED = (202, 4000, 403, 7000)


def is_profile(text):
    head = re.match(r"heap profile: (\d+): (\d+) \[(\d+): (\d+)\] @ heapprofile\n", text)
    return head and tuple(map(int, head.groups())) == WANTED == rows(text) and \
        "\nMAPPED_LIBRARIES:\n" in text and "/own_writer\n" in text and text.endswith("\n")


def to_files():
    with open("to_file", "wb") as out:
        result = write("pprof", stdout=out)
    with open("to_file", encoding="utf-8") as f:
        text = f.read()
    check("to a file", result.returncode == 0 and result.stderr == b"0\n" and is_profile(text),
          (result, text))
    with open("/dev/full", "wb") as out:
        result = write("pprof", stdout=out)
    check("to a full device: -1, and the program continues",
          result.returncode == 0 and result.stderr == b"-1\n", result)
    result = write("nonsense", stdout=subprocess.PIPE)
    check("an unknown format: -1, and nothing is written",
          result.stderr == b"-1\n" and result.stdout == b"", result)
    result = write("pprof", env=dict(os.environ), stdout=subprocess.PIPE)
    check("without a recorder: -1, and nothing is written",
          result.stderr == b"-1\n" and result.stdout == b"", result)


def to_pipes():
    result = write("pprof", stdout=subprocess.PIPE)
    check("to a pipe", is_profile(result.stdout.decode()), result)
    read_end, write_end = os.pipe()
    os.close(read_end)
    result = write("pprof", stdout=write_end, preexec_fn=lambda: signal.signal(signal.SIGPIPE,
                                                                               signal.SIG_DFL))
    os.close(write_end)
    check("to a pipe that nobody reads: -1, and no signal",
          result.returncode == 0 and result.stderr == b"-1\n", result)


def slowly(read_end):
    """Read READ_END to its end, at first in small pieces with pauses, and close it. Return the
    bytes."""
    out = b""
    for i in range(1 << 20):
        if i < 50:
            time.sleep(0.002)
        piece = os.read(read_end, 100 if i < 50 else 65536)
        if not piece:
            break
        out += piece
    os.close(read_end)
    return out


def to_slow_readers():
    for kind in ("pipe", "socket"):
        if kind == "pipe":
            read_end, write_end = os.pipe()
            fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
        else:
            pair = socket.socketpair()
            read_end, write_end = (s.detach() for s in pair)
        os.set_blocking(write_end, False)
        with subprocess.Popen([WRITER, "pprof"], env=recorded("writer"), stdout=write_end,
                              stderr=subprocess.PIPE) as process:
            os.close(write_end)
            text = slowly(read_end).decode()
            said = process.stderr.read()
        check(f"to a {kind} that does not block and is read slowly",
              said == b"0\n" and is_profile(text), (said, text))


def signals_while_writing():
    read_end, write_end = os.pipe()
    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen([WRITER, "pprof"], env=recorded("writer"), stdout=write_end,
                          stderr=subprocess.PIPE) as process:
        os.close(write_end)
        first = os.read(read_end, 1)
        for _ in range(20):
            process.send_signal(signal.SIGUSR1)  # The program's handler allocates and frees.
            time.sleep(0.002)
        text = (first + slowly(read_end)).decode()
        said = process.stderr.read()
    check("while signals come", said == b"0\n" and rows(text)[0] == WANTED[0], (said, text))


def has_numbered_frames(profile):
    """Return true if PROFILE has frames that are not addresses (docs/format.md, 4.3)."""
    with open(profile, "rb") as f:
        return struct.unpack_from("<Q", f.read(24), 16)[0] & 4 != 0


def are_addresses(text):
    """Return true if TEXT has hexadecimal words of 16 digits, and all are addresses that may hold
    code."""
    found = [int(a, 16) for a in re.findall(r" 0x([0-9a-f]{16})", text)]
    return found and all(0x10000 <= a <= 0x7ffffffff000 for a in found)


def frames_without_addresses():
    for name, how, env in (("named frames", ["named"], {}),
                           ("a tree that is full", [], {"HEAPTAP_NODES": "512"})):
        result = write("pprof", *how, env={**recorded("writer"), **env}, stdout=subprocess.PIPE)
        text = result.stdout.decode()
        check(f"{name}: addresses, and nothing else",
              has_numbered_frames("writer.heaptap") and is_profile(text) and are_addresses(text),
              (result.stderr, text))


def whole_file():
    with open("copy.heaptap", "wb") as out:
        result = write("heaptap", stdout=out)
    check("a copy of the profile", result.stderr == b"0\n" and os.path.getsize("copy.heaptap") ==
          os.path.getsize("writer.heaptap"), result)


def talk(path, *lines):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(LIMIT_S)
        s.connect(path)
        s.sendall("".join(f"{line}\n" for line in lines).encode())
        s.shutdown(socket.SHUT_WR)
        out = b""
        while piece := s.recv(65536):
            out += piece
    return out.decode()


def start_server(env):
    path = os.path.abspath("s")
    if os.path.exists(path):
        os.remove(path)
    process = subprocess.Popen([SERVER, path], env=env)
    for _ in range(LIMIT_S * 100):
        try:
            talk(path)
            return process, path
        except OSError:
            time.sleep(0.01)
    raise SystemExit("the server does not answer")


def server():
    process, path = start_server(recorded("server"))
    answers = talk(path, *[f"acme upload {100 * i}" for i in range(1, 11)], "globex query 5")
    check("the server answers", answers == "".join(f"ok {100 * i}\n" for i in range(1, 11)) +
          "ok 5\n", answers)
    text = talk(path, "profile")
    # The text has the live blocks only. The 11 requests have ended; each allocated 2 objects.
    live, live_bytes, blocks, size = rows(text)
    check("the server's own profile", live >= 1000 and 200000 <= live_bytes < 220000 and
          blocks - live >= 22 and size - live_bytes >= 5500 + 5 + 11 * 64, text)
    check("the server ends", talk(path, "quit") == "bye\n" and process.wait(LIMIT_S) == 0)
    process, path = start_server(dict(os.environ))
    answers = talk(path, "acme upload 7", "profile")
    check("without a recorder it prints a message", answers == "ok 7\nno profile\n", answers)
    check("and ends", talk(path, "quit") == "bye\n" and process.wait(LIMIT_S) == 0)


to_files()
to_pipes()
to_slow_readers()
signals_while_writing()
frames_without_addresses()
whole_file()
server()
sys.exit(failures > 0)
