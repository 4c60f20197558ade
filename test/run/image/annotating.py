"""annotating.py: the checks of annotating.sh. If one fails, annotated programs behave differently
from bare ones, or the annotations of their blocks are wrong.
"""
import json
import os
import shutil
import subprocess
import sys
import time

import documents
import dumps
from telling import finish, tell

heaptap, programs, library, part = sys.argv[1:5]
CALLS = os.path.join(programs, "annotated_calls")
OPERATORS = os.path.join(programs, "annotated_operators")
DOUBLE_FREE = os.path.join(programs, "double_free")
ALLOCATORS = ["libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc.so.4",
              "libtcmalloc_minimal.so.4"]
SQL = ("create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c "
       "where x<5000) insert into t select x, hex(x*x) from c; select count(*), max(b) from t;")
SOURCE = os.path.join(os.environ["SRCDIR"], "test/prog/annotated_operators.cc")
ANNOTATED = {"HEAPTAP_ANNOTATE": "15", "HEAPTAP_GUARD": "8"}


def run(command, before=(), **environment):
    got = subprocess.run([*before, *command], capture_output=True, text=True,
                         env=dict(os.environ, **environment))
    return got.returncode, got.stdout, got.stderr


def recorded(name, *options):
    return [heaptap, "run", "-q", "--no-pack", "-o", name + ".heaptap", *options, "--"]


def as_alone(name, command, *options, **environment):
    bare = run(command, **environment)
    got = run(command, recorded(name, *options), **environment)
    tell(bare == got, "as alone: " + name, bare, got)


def find_allocator(name):
    for where in ("/usr/lib/x86_64-linux-gnu/", "/usr/lib64/", "/usr/lib/"):
        if os.path.exists(where + name):
            return where + name
    return None


def ends_alike(alignment, size_bytes):
    command = [DOUBLE_FREE, str(alignment), str(size_bytes)]
    name = "freed twice: alignment %s, %s bytes" % (alignment, size_bytes)
    bare, got = run(command), run(command, recorded(name, "--annotate"))
    # The message depends on the list to which glibc frees the block, and on its version. 2.41 finds
    # large ones by the size in front of the next chunk.
    tell(bare[:2] == got[:2] == (-6, "") and
         all("double free" in r[2] or "corrupted size" in r[2] for r in (bare, got)),
         name + ": glibc finds the double free", bare, got)
    said = subprocess.run([heaptap, "report", name + ".heaptap"], capture_output=True, text=True)
    tell("1 of them freed twice" in said.stdout, name + ": the profile has it", said.stdout)


def resized_alike(alignment, size_bytes, new_bytes):
    """Reallocates a freed block: the allocator behaves as it does without annotations."""
    command = [DOUBLE_FREE, str(alignment), str(size_bytes), str(new_bytes)]
    name = "reallocated after free: alignment %s, %s to %s bytes" % tuple(command[1:])
    bare, got = run(command), run(command, recorded(name, "--annotate"))
    # Only the message of glibc depends on the list to which the block was freed.
    tell(bare[:2] == got[:2] and (bare[2] == "") == (got[2] == ""), name, bare, got)
    said = subprocess.run([heaptap, "report", name + ".heaptap"], capture_output=True, text=True)
    tell("1 of them freed twice" in said.stdout, name + ": the profile has it", said.stdout)


def same():
    for alignment in (0, 16, 64):
        for new_bytes in (0, 24, 100, 400):
            resized_alike(alignment, 100, new_bytes)
    for alignment in (0, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
        for size_bytes in (24, 100, 5000):
            ends_alike(alignment, size_bytes)
    for options in (["--annotate"], ["--annotate=1", "--guard", "0"],
                    ["--annotate=255", "--guard", "255"], ["--check-every", "3"]):
        as_alone("calls " + " ".join(options), [CALLS, "5"], *options)
        as_alone("operators " + " ".join(options), [OPERATORS], *options)
    for name in ALLOCATORS:
        path = find_allocator(name)
        if path is None:
            print("ok - as alone with %s # SKIP it is not installed" % name)
            continue
        as_alone("operators with " + name, [OPERATORS], "--annotate", LD_PRELOAD=path)
        code, out, error = run([CALLS], recorded("calls with " + name, "--check-every", "5"),
                               LD_PRELOAD=path)
        good = run([CALLS], LD_PRELOAD=path)
        tell((code, out) == (good[0], good[1]) or (code, out) == (0, "ok\n"),
             "as alone: calls with " + name, error)
    script = "import json, threading, re, ctypes; print(len(json.dumps(list(range(1000)))))"
    for name, command in (
            ("shell", ["sh", "-c", "echo x | cat | sort; ls / >/dev/null; exit 3"]),
            ("python", ["python3", "-c", script]),
            ("sqlite", ["sqlite3", ":memory:", SQL]),
            ("compiler", ["g++", "-std=c++17", "-O1", "-S", "-o", "-", SOURCE]),
            ("perl", ["perl", "-e", "print join q(,), sort map { $_ x 9 } 1 .. 99"]),
            ("threads", [os.path.join(programs, "manythreads"), "8"])):
        if shutil.which(command[0]) is None:
            print("ok - as alone: %s # SKIP it is not installed" % name)
        else:
            as_alone(name, command, "--check-every", "100")


def place(frame):
    """Return the key of a frame: calls in one line have the same key, at any address."""
    return (frame["function"], frame["file"], frame.get("line")) if frame.get("line") else (
        frame["function"] or frame["address"])


def by_stack(document, frames):
    """Return {the innermost FRAMES of a stack in C: (blocks, bytes)}."""
    got = {}
    for site in document["sites"]:
        key = tuple(place(f) for f in site["stack"]
                    if not f.get("inlined") and f["address"] is not None)[:frames]
        blocks, bytes_ = got.get(key, (0, 0))
        got[key] = (blocks + site["live_blocks"], bytes_ + site["live_bytes"])
    return got


def both_tell_the_same(name, command, **environment):
    """Compare rawdump, which reads only the memory, with core, which also reads the ledger, with
    the profile and without it."""
    dump = dumps.crash(library, name, name + ".heaptap", command, {**ANNOTATED, **environment})
    if dump is None:
        tell(False, name + " leaves a dump")
        return
    agree(name + ": the memory matches the ledger",
          *(stacks_of(dump, view) for view in (["rawdump"], ["core", "--native"])))
    os.remove(name + ".heaptap")
    said = subprocess.run([heaptap, "core", "--json", dump], capture_output=True, text=True)
    warnings = [line for line in said.stderr.splitlines() if not line.startswith("hint: ")]
    tell(said.returncode == 0 and len(warnings) == 1 and
         "is gone; stacks are those that the annotated blocks carry" in said.stderr,
         name + ": the profile is gone, and one line reports it", said.returncode, said.stderr)
    if said.returncode == 0:
        agree(name + ": core shows the same without the profile",
              *(stacks_of(dump, [view]) for view in ("rawdump", "core")))
    os.remove(dump)


def stacks_of(dump, view):
    got = subprocess.run([heaptap, *view, "--json", "--no-fold", dump], capture_output=True,
                         text=True)
    stacks = by_stack(documents.loads(got.stdout), 15)
    print("# %s: %s: %d stacks, blocks and bytes %s" % (dump, view[0], len(stacks),
                                                        tuple(map(sum, zip(*stacks.values())))))
    return stacks


def agree(what, one, two):
    differ = [(key, one.get(key), two.get(key)) for key in {*one, *two}
              if one.get(key) != two.get(key)]
    tell(not differ and len(one) > 1, what, *differ[:3])


def annotated_beyond_a_full_tree():
    """The stack in a block does not depend on the room in the profile."""
    stacks = []
    for name, nodes in (("roomy", ""), ("cramped", "9000")):
        dump = dumps.crash(library, name, name + ".heaptap",
                           [os.path.join(programs, "filling"), "3000", "0", "crash"],
                           {**ANNOTATED, **({"HEAPTAP_NODES": nodes} if nodes else {})})
        if dump is None:
            tell(False, name + " leaves a dump")
            return
        stacks.append(stacks_of(dump, ["rawdump"]))
        os.remove(dump)
    losses = documents.loads(subprocess.run([heaptap, "report", "--json", "cramped.heaptap"],
                                            capture_output=True, text=True).stdout)["losses"]
    tell(losses["shortened_stacks"] > 1000, "a full tree has shortened stacks", losses)
    agree("blocks carry whole stacks where the tree is full", *stacks)


def dumped():
    if not dumps.kernel_dumps():
        print("ok - dumps # SKIP the kernel puts cores elsewhere")
        return
    both_tell_the_same("dump-calls", [CALLS, "500", "crash"])
    annotated_beyond_a_full_tree()
    toy = os.path.join(programs, "toy")
    both_tell_the_same("dump-toy", [toy, "1", "3000", "0", "chains", "crash"])
    both_tell_the_same("dump-toys", [toy, "2", "3000", "4", "chains", "crash"])
    python = run(["python3", "-c", "import sys; print(sys.executable)"])[1].strip()
    script = ("import ctypes, json, os, signal\n"
              "kept = [ctypes.create_string_buffer(5000) for i in range(100)]\n"
              "os.kill(os.getpid(), signal.SIGSEGV)")
    both_tell_the_same("dump-python", [python, "-c", script])
    path = find_allocator("libjemalloc.so.2")
    if path is not None:
        both_tell_the_same("dump-jemalloc", [python, "-c", script],
                           LD_PRELOAD=library + " " + path)


def refused():
    for options, words in (
            (["--annotate", "--reserve", "64M"], "--annotate and --reserve exclude each other"),
            (["--annotate", "--sample", "64K"], "--annotate and --sample exclude each other"),
            (["--annotate=256"], "at most 255"), (["--guard", "300", "--annotate"], "at most 255"),
            (["--guard", "8"], "--guard needs --annotate")):
        code, out, error = run(["true"], recorded("refused", *options))
        tell(code == 2 and words in error, "refused: " + " ".join(options), code, error)


def damages(name, *arguments, **environment):
    profile = name + ".heaptap"
    got = run([heaptap, "run", "-q", "-o", profile, *arguments], **environment)
    with open(profile + ".json", "w") as to:
        subprocess.run([heaptap, "report", "--json", "--no-fold", profile], stdout=to, check=True)
    document = documents.load(open(profile + ".json"))
    return got, document, document["damaged"]


def owner(stack):
    names = [f["function"] or "" for f in stack]
    return next((name for name in names if name.startswith("owner_")), None)


def odd_alignments():
    """Blocks with an alignment that is not a power of two are annotated and aligned. An allocator
    that refuses such an alignment refuses it when it is recorded as well. tcmalloc aligns its
    blocks to such a value only by chance."""
    program = os.path.join(programs, "odd_alignments")
    for path in [""] + [p for p in map(find_allocator, ALLOCATORS) if p]:
        name = "odd alignments" + (" with " + os.path.basename(path) if path else "")
        bare = run([program], LD_PRELOAD=path)
        got, document, _ = damages(name.replace(" ", "-"), "--annotate", "--", program,
                                   LD_PRELOAD=path)
        aligned = bare[1].replace("not aligned", "aligned")
        blocks = aligned.count(": aligned")
        tell(bare[0] == 0 and got[:2] == (0, aligned), name + ": as alone, and aligned", bare, got)
        tell(document["losses"]["damaged_blocks"] == blocks,
             "%s: all %d blocks are annotated" % (name, blocks), document["losses"])


def found():
    """Check damage that the program itself detects, and the findings of `heaptap check` in it."""
    program = os.path.join(programs, "overflows")
    for how, kind, size in (("free", "end", "1"), ("realloc", "end", "8"),
                            ("free", "start", "4")):
        got, document, seen = damages("found-%s-%s" % (how, kind), "--annotate", "--", program, "7",
                                      kind, size, how)
        name = "found by %s: %s" % (how, kind)
        tell(got[0] == 0 and len(seen) == 1 and document["losses"]["damaged_blocks"] == 1, name,
             got, seen)
        if len(seen) != 1:
            continue
        d = seen[0]
        tell(owner(d["allocated"]) == got[1].strip() and d["found_by"] == how and
             d["written"] == "41" * int(size) and
             d["kind"] == ("past_end" if kind == "end" else "before_start"),
             name + ": the culprit, the kind and the bytes", d)
        tell(any(f["function"] == "main" for f in d["stack"]),
             name + ": and the stack of the " + how)
    got, document, seen = damages("whole", "--check-every", "1", "--", program, "7", "end", "0",
                                  "free")
    tell(got[0] == 0 and not seen, "a program without damage", seen)

    waiting = subprocess.Popen([heaptap, "run", "-q", "-o", "look.heaptap", "--check-every", "2",
                                "--", program, "7", "end", "8", "wait"], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    culprit = waiting.stdout.readline().strip()
    # The program has replaced heaptap's child by exec; the profile identifies the process.
    pid = None
    for _ in range(200):
        header = run([heaptap, "report", "--json", "look.heaptap"])
        pid = json.loads(header[1])["process"]["pid"] if header[0] == 0 else None
        if pid and json.loads(header[1])["damaged"]:
            break
        time.sleep(0.05)
    code, out, error = run([heaptap, "check", str(pid)])
    tell(code == 1 and culprit in out and "41 41 41 41 41 41 41 41  AAAAAAAA" in out,
         "heaptap check shows it in the running program", code, out, error)
    waiting.communicate("\n")
    document = documents.loads(run([heaptap, "report", "--json", "look.heaptap"])[1])
    tell([(d["found_by"], owner(d["allocated"])) for d in document["damaged"]] ==
         [("check", culprit)], "a look at all blocks has found it", document["damaged"])
    odd_alignments()
    code, out, error = run([heaptap, "check", "0"])
    tell(code == 2 and "no process id" in error, "heaptap check of no process", error)


{"same": same, "dumps": dumped, "found": found, "refused": refused}[part]()
finish()
