"""long_path.py: run a command in a working directory whose path has exactly BYTES bytes.

    long_path.py BYTES COMMAND...

Prints the names of the files that the command leaves there, and removes them."""
import os
import shutil
import subprocess
import sys

wanted = int(sys.argv[1])
length = len(os.getcwd())
while length < wanted:
    # A component has at least one byte beside its slash, so never leave one byte for the last one.
    step = min(200, wanted - length - 1)
    if wanted - length - 1 - step == 1:
        step -= 1
    os.makedirs("d" * step, exist_ok=True)
    os.chdir("d" * step)
    length += 1 + step
assert length == wanted
status = subprocess.run(sys.argv[2:], check=False).returncode
for name in sorted(os.listdir(".")):
    if name.strip("d") == "":
        continue
    print(name)
    if os.path.isdir(name):
        shutil.rmtree(name)
    else:
        os.unlink(name)
sys.exit(status)
