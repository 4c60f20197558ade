"""type_oracle.py: find the structures, unions and classes in a file's debug information, by
readelf.

    type_oracle.py TOOL FILE

The script compares them with the output of TOOL (test/oracle/tool_types.c) for FILE. The rules are
the same as in type_index.c, implemented a second time for readelf's text: complete types only,
names with scopes except in C, typedefs of structures unless they are members, nameless types by
their typedef or their place. If it fails, `heaptap sizes` misses types, or invents some.
"""

import re
import subprocess
import sys

DIE = re.compile(r"^ <([0-9a-f]+)><([0-9a-f]+)>: Abbrev Number: (\d+)(?: \((DW_TAG_\w+)\))?")
ATTRIBUTE = re.compile(r"^    <[0-9a-f]+>   (DW_AT_\w+) *: (.*)")
AGGREGATES = {"DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_class_type"}
QUALIFIERS = {"DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type",
              "DW_TAG_atomic_type"}
C_LANGUAGES = re.compile(r"\((?:ANSI )?C(?:11|99|89)?\)|non-ANSI C|ANSI C$|ANSI C99|\(ANSI C\)")


def value(text):
    """Return an attribute's value without readelf's text about its form."""
    text = re.sub(r"^\((?:indirect|alt indirect|indexed|strx\d?)[^)]*\): ", "", text)
    return re.sub(r"^\(indexed string: [^)]*\): ", "", text).strip()


def read(path):
    """Return all DIEs in order: dicts with offset, depth, tag and attributes."""
    text = subprocess.run(["readelf", "--debug-dump=info", path], capture_output=True,
                          check=True, text=True, errors="replace").stdout
    dies, die = [], None
    for line in text.split("\n"):
        match = DIE.match(line)
        if match:
            die = {"depth": int(match[1], 16), "offset": int(match[2], 16), "tag": match[4]}
            dies.append(die)
            continue
        match = ATTRIBUTE.match(line)
        if match and die is not None:
            die[match[1]] = value(match[2])
    return dies


def number(text):
    return int(text.split()[0], 0) if text else 0


def reference(text):
    match = re.search(r"<0x([0-9a-f]+)>", text or "")
    return int(match[1], 16) if match else None


def peel(die, by_offset):
    """Return the type that DIE's type is, behind qualifiers and typedefs."""
    for _ in range(32):
        die = by_offset.get(reference(die.get("DW_AT_type")))
        if die is None or (die["tag"] not in QUALIFIERS and die["tag"] != "DW_TAG_typedef"):
            return die
    return None


def size_of(die):
    return 0 if "DW_AT_declaration" in die else number(die.get("DW_AT_byte_size"))


def scope_name(die, by_offset):
    if die["tag"] in AGGREGATES:
        return die.get("DW_AT_name", "{unnamed}")
    if die["tag"] == "DW_TAG_namespace":
        return die.get("DW_AT_name", "(anonymous namespace)")
    for _ in range(8):
        if die is None or die["tag"] != "DW_TAG_subprogram" or "DW_AT_name" in die:
            break
        die = by_offset.get(reference(die.get("DW_AT_abstract_origin",
                                              die.get("DW_AT_specification"))))
    return die.get("DW_AT_name") if die and die["tag"] == "DW_TAG_subprogram" else None


def types(path):
    dies = read(path)
    by_offset = {die["offset"]: die for die in dies}
    entered = AGGREGATES | {"DW_TAG_namespace", "DW_TAG_subprogram", "DW_TAG_lexical_block"}
    found, scopes, has_scopes = set(), [], True
    nameless, named = [], set()
    for die in dies:
        if die["tag"] is None:
            continue
        del scopes[die["depth"]:]
        scopes.append(die)
        if die["depth"] == 0:
            has_scopes = not C_LANGUAGES.search(die.get("DW_AT_language", ""))
            continue
        if any(s["tag"] not in entered for s in scopes[1:-1]):
            continue
        prefix = "".join(f"{scope_name(s, by_offset)}::" for s in scopes[1:-1]
                         if has_scopes and scope_name(s, by_offset) is not None)
        if die["tag"] in AGGREGATES and size_of(die):
            if "DW_AT_name" in die:
                found.add((size_of(die), prefix + die["DW_AT_name"]))
            else:
                nameless.append((die["offset"], size_of(die)))
        elif die["tag"] == "DW_TAG_typedef" and "DW_AT_name" in die:
            target = peel(die, by_offset)
            if target is None or target["tag"] not in AGGREGATES or not size_of(target):
                continue
            if "DW_AT_name" not in target:
                named.add(target["offset"])
            elif scopes[-2]["tag"] in AGGREGATES:
                continue
            found.add((size_of(target), prefix + die["DW_AT_name"]))
    anonymous = {size for offset, size in nameless if offset not in named}
    return found, anonymous


def main():
    tool, path = sys.argv[1:3]
    found, anonymous = types(path)
    out = subprocess.run([tool, path], capture_output=True, text=True, check=True).stdout
    lines = [line.split(" ", 1) for line in out.splitlines()]
    ours = {(int(size), name) for size, name in lines if "(anonymous, " not in name}
    ours_anonymous = {int(size) for size, name in lines if "(anonymous, " in name}
    bad = 0
    for what, some in (("missed", found - ours), ("invented", ours - found),
                       ("missed, anonymous", anonymous - ours_anonymous),
                       ("invented, anonymous", ours_anonymous - anonymous)):
        for entry in sorted(some)[:10]:
            print(f"{what}: {entry}")
        bad += len(some)
    print(f"{len(found)} types, {len(anonymous)} sizes of nameless ones")
    return 1 if bad or not found else 0


if __name__ == "__main__":
    sys.exit(main())
