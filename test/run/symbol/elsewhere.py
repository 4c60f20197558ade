"""elsewhere.py: record prog.c in a directory that is then removed; see elsewhere.sh."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.environ["SRCDIR"] + "/test/run")
from telling import finish, tell  # noqa: E402

HEAPTAP = os.environ["HEAPTAP"]


def sh(command):
    subprocess.run(command, shell=True, check=True)


def heaptap(*arguments):
    done = subprocess.run([HEAPTAP, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def names(what, named, *arguments):
    """Check that `report` with ARGUMENTS finds the function and its line if NAMED."""
    status, out, err = heaptap("report", "--by", "line", *arguments)
    tell(status == 0 and ("prog.c:6" in out) == named,
         what + (": has names" if named else ": has none"), out, err)


def build(options, there="there"):
    """Build prog.c with OPTIONS as THERE/bin/prog, stripped, and its debug file as debug."""
    os.makedirs(there + "/bin", exist_ok=True)
    sh(f"gcc -g -O1 {options} -o whole prog.c && cp whole {there}/bin/prog && "
       f"strip {there}/bin/prog && objcopy --only-keep-debug whole debug")


build("-Wl,--build-id=0x0123456789abcdef")
status, _, err = heaptap("run", "--quiet", "--no-pack", "-o", "raw.heaptap", "there/bin/prog")
tell(status == 0, "recorded", err)
shutil.copy("raw.heaptap", "packed.heaptap")
tell(heaptap("pack", "packed.heaptap")[0] == 0, "packed")
os.makedirs("image")
sh("mv there image/inner && mkdir by_id by_id/.build-id by_id/.build-id/01 plain wrong empty && "
   "cp debug by_id/.build-id/01/23456789abcdef.debug && cp debug plain/any_name && "
   "cp whole wrong/prog && gcc -g -Wl,--build-id=0xfedcba9876543210 -o wrong/prog.debug prog.c && "
   "rm wrong/prog && cp prog.c plain/not_elf && mkfifo plain/fifo")

for profile in ("raw.heaptap", "packed.heaptap"):
    names(profile, False, profile)
    names(f"{profile}, a directory by build id", True, "--debug-dir", "by_id", profile)
    names(f"{profile}, a directory of files", True, "--debug-dir", "plain", profile)
    names(f"{profile}, the wrong file", False, "--debug-dir", "wrong", profile)
    names(f"{profile}, one of several", True, "--debug-dir", "empty", "--debug-dir", "wrong",
          "--debug-dir=plain", profile)
    names(f"{profile}, nothing of that is remembered", False, profile)

# The recorded path exists below the new root, where the program is still without its debug file.
root = "root" + os.getcwd()
os.makedirs(root)
sh(f"mv image/inner {root}/there")
names("a root with the stripped program", False, "--sysroot", "root", "raw.heaptap")
names("a root and a directory", True, "--sysroot", "root", "--debug-dir", "plain", "raw.heaptap")
os.makedirs("root/usr/lib/debug/.build-id/01")
shutil.copy("debug", "root/usr/lib/debug/.build-id/01/23456789abcdef.debug")
names("a root with its own debug files", True, "--sysroot", "root", "raw.heaptap")
names("the same, packed", True, "--sysroot=root", "packed.heaptap")
shutil.copy("whole", root + "/there/bin/prog")
shutil.rmtree("root/usr")
names("a root with the whole program", True, "--sysroot", "root", "packed.heaptap")

# The sources are below the new root as well.
shutil.copy("prog.c", root)
os.rename("prog.c", "away.c")
status, out, err = heaptap("source", "--sysroot", "root", "make_point", "packed.heaptap")
tell(status == 0 and "point = malloc(" in out, "source: reads it below the root", out,
     err)
os.rename("away.c", "prog.c")

# These are all commands that show or keep names.
COMMANDS = [["report"], ["report", "--by", "type"], ["leaks"], ["leaks", "--paths"], ["callgraph"],
            ["direct"], ["bins"], ["export", "--format", "collapsed"]]
for command in COMMANDS:
    status, out, err = heaptap(*command, "--debug-dir", "plain", "packed.heaptap")
    expected = "point" if command[0] == "bins" or "type" in command else "make_point"
    tell(status in (0, 1) and expected in out, f"{' '.join(command)}: takes --debug-dir", status,
         out, err)
status, out, err = heaptap("diff", "--debug-dir", "plain", "raw.heaptap", "packed.heaptap")
tell(status == 0, "diff: takes --debug-dir", status, out, err)
tell(heaptap("pack", "--debug-dir", "plain", "-o", "named.heaptap", "packed.heaptap")[0] == 0,
     "pack: takes --debug-dir")
names("its packed profile", True, "named.heaptap")
tell(heaptap("merge", "--sysroot", "root", "-o", "sum.heaptap", "packed.heaptap",
             "raw.heaptap")[0] == 0, "merge: takes --sysroot")
names("its merged profile", True, "sum.heaptap")

# Without a build id, the name decides, but only if the user permits it.
build("-Wl,--build-id=none", "anonymous")
heaptap("run", "--quiet", "--no-pack", "-o", "none.heaptap", "anonymous/bin/prog")
os.makedirs("named_so")
sh(f"mv anonymous {root}/ && cp whole named_so/prog")
names("no build id, nothing there", False, "none.heaptap")
names("no build id, a file of that name", True, "--debug-dir", "named_so", "none.heaptap")
sh(f"mkdir -p anonymous/bin && cp whole anonymous/bin/prog && rm {root}/anonymous/bin/prog")
names("no build id, another system's file", False, "--sysroot", "root", "none.heaptap")

# A file without a build id must be older than the recording, and a source is compared with it.
sh("cp prog.c late.c && gcc -g -O1 -Wl,--build-id=none -o late late.c")
tell(heaptap("run", "--quiet", "--no-pack", "-o", "late.heaptap", "./late")[0] == 0, "recorded")
status, out, err = heaptap("report", "--by", "function", "late.heaptap")
tell("make_point" in out and "has changed" not in err, "no build id, unchanged: has names", out,
     err)
status, out, err = heaptap("source", "late.c", "late.heaptap")
tell(status == 0 and "has changed" not in err, "unchanged source: no warning", err)
sh("touch late.c && gcc -g -O1 -Wl,--build-id=none -o late late.c")
status, out, err = heaptap("report", "--by", "function", "late.heaptap")
tell("make_point" not in out and "late has changed" in err, "no build id, rebuilt: has none", out,
     err)
status, out, err = heaptap("source", "late.c", "late.heaptap")
tell(status == 3, "no build id, rebuilt: no function for a source", err)
sh("gcc -g -O1 -o late late.c")
tell(heaptap("run", "--quiet", "-o", "kept.heaptap", "./late")[0] == 0, "recorded")
sh("touch late.c")
status, out, err = heaptap("source", "late.c", "kept.heaptap")
tell(status == 0 and "late.c has changed since the recording" in err, "changed source: a warning",
     err)

for option in ("--debug-dir", "--sysroot"):
    for command in (["report", "raw.heaptap"], ["pack", "-o", "no.heaptap", "raw.heaptap"],
                    ["merge", "-o", "no.heaptap", "raw.heaptap"]):
        status, out, err = heaptap(command[0], option, "prog.c", *command[1:])
        tell(status == 2 and f"option '{option}': prog.c is no directory" in err and
             not os.path.exists("no.heaptap"), f"{command[0]}: {option} wants a directory", err)
finish()
