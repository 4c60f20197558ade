"""pairs.py: compare every profile in a directory with the oracle's file of the same process image.

    pairs.py COMPARE DIRECTORY FLAGS...

Process id and executable identify the image. If a process replaced itself by the same executable,
there are two files on each side, which are paired in the order of their creation. Children made by
fork without exec are not in the oracle's records, and are left out. Exits with 1 if a pair differs
or lacks a file."""
import glob
import os
import struct
import subprocess
import sys

HEADER = struct.Struct("<4Q112s40s512s")
FORKED = 1


def oracle_image(path):
    with open(path, "rb") as f:
        fields = HEADER.unpack(f.read(HEADER.size))
    return fields[1], fields[6].split(b"\0")[0].decode()


def profile_image(heaptap, path):
    text = subprocess.run([heaptap, "report", "--json", "--limit", "1", path], capture_output=True,
                          check=True, text=True).stdout
    process = __import__("json").loads(text)["process"]
    return process["pid"], process["executable"], process["forked"]


def by_image(pairs):
    found = {}
    for image, path in pairs:
        found.setdefault(image, []).append(path)
    return found


def main():
    compare, directory, flags = sys.argv[1], sys.argv[2], sys.argv[3:]
    age = os.path.getmtime
    oracles = by_image((oracle_image(p), p) for p in sorted(glob.glob(f"{directory}/o.*"), key=age))
    profiles = []
    for path in sorted(glob.glob(f"{directory}/*.heaptap"), key=age):
        pid, executable, forked = profile_image(os.environ["HEAPTAP"], path)
        if not forked:
            profiles.append(((pid, executable), path))
    profiles = by_image(profiles)
    bad = not profiles
    for image in sorted(set(oracles) ^ set(profiles)):
        print(f"only one of the two has process {image}")
        bad = True
    for image in sorted(set(oracles) & set(profiles)):
        if len(profiles[image]) != len(oracles[image]):
            print(f"{image}: {len(profiles[image])} profiles, {len(oracles[image])} of the oracle")
            bad = True
        for profile, oracle in zip(profiles[image], oracles[image]):
            print(f"{image}:", flush=True)
            bad |= subprocess.run([compare, *flags, profile, oracle]).returncode != 0
    sys.exit(bad)


main()
