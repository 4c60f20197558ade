"""firmware_blocks.py: check that rawdump, or a profile made by it, shows the blocks of firmware.c.

    firmware_blocks.py NAME WORD_BYTES BIG OUTERMOST ARGUMENTS...
    firmware_blocks.py NAME WORD_BYTES BIG OUTERMOST --profile FILE

The script searches the source for line numbers, so the source may change.
"""
import os
import subprocess
import sys

import documents

SOURCE = os.path.join(os.environ["SRCDIR"], "test/embedded/firmware.c")


def line_of(text):
    with open(SOURCE, encoding="utf-8") as f:
        return next(n for n, line in enumerate(f, 1) if text in line)


# By innermost function and its caller: sizes, and the line of the allocation.
WANTED = {
    ("make_sample", "start_sensors"): ([[1023, 4], [1025, 4]], "heaptap_embedded_malloc(size)"),
    ("start_log", "firmware_run"): ([[8192, 1]], "heaptap_embedded_calloc"),
    ("receive", "run_first_task"): ([[1, 64]], "messages[task][i] = "),
    ("receive", "run_second_task"): ([[1, 64]], "messages[task][i] = "),
}


def stacks_of(document):
    """Return the site by innermost function and caller."""
    return {(s["stack"][0]["function"], s["stack"][1]["function"]): s for s in document["sites"]}


def check_sites(document, outermost):
    found = stacks_of(document)
    assert set(found) == set(WANTED), sorted(found)
    for key, (sizes, text) in WANTED.items():
        site = found[key]
        names = [f["function"] for f in site["stack"]]
        assert site["stack"][0]["line"] == line_of(text), site["stack"][0]
        assert os.path.basename(site["stack"][0]["file"]) == "firmware.c", site["stack"][0]
        assert "firmware_run" in names and outermost in names, names
        assert site["live_blocks"] == sum(n for _, n in sizes), site
        assert site["live_bytes"] == sum(size * n for size, n in sizes), site


def check_memory(memory, word_bytes, big):
    assert memory["word_bytes"] == word_bytes, memory
    assert memory["big_endian"] == big, memory
    assert memory["blocks"] == 137 and memory["bytes"] == 16512, memory
    assert memory["damage"] == [] and memory["blocks_cut_off"] == 0, memory
    sizes = sorted(s["sizes"] for s in memory["sizes"])
    assert sizes == sorted(s for s, _ in WANTED.values()), sizes


def main():
    word_bytes, big, outermost = int(sys.argv[2]), sys.argv[3] == "true", sys.argv[4]
    arguments = sys.argv[5:]
    command = ["report", arguments[1]] if arguments[0] == "--profile" else ["rawdump", *arguments]
    answer = subprocess.run([os.environ["HEAPTAP"], *command, "--json"], stdout=subprocess.PIPE,
                            check=True)
    document = documents.loads(answer.stdout)
    assert document["format"] == "heaptap-report", document["format"]
    check_sites(document, outermost)
    if command[0] == "rawdump":
        check_memory(document["memory"], word_bytes, big)


main()
