"""type_tables.py: check heaptap's types for the blocks of test/prog/typed.c, typed_classes.cc and
typed_rust.rs.

    type_tables.py HEAPTAP DIRECTORY HOW

DIRECTORY has the profile p.heaptap; its name begins with gcc or clang for C, gxx or clangxx for
C++, rust for Rust. HOW is source (the program's text is there), bare (it is not) or packed (only
the profile is there, which was packed when all was).

The tables below list the type that each function allocates. A type called "certain" must always be
right. With source text, the types of all functions known_… must be certain; without, the types of
those that need no text.
"""

import json
import re
import subprocess
import sys

HEAPTAP, DIRECTORY, HOW = sys.argv[1:]

# Function: right types.
C = {
    "known_result": ["gadget"],
    "known_typedef": ["widget"],
    "known_union": ["value"],
    "known_sizeof_only": ["lonely"],
    "known_cast": ["gadget"],
    "known_wrapped": ["gadget"],
    "known_given": ["gadget"],
    "known_wrapped_twice": ["widget"],
    "known_macro": ["gadget"],
    "known_array": ["item[]"],
    "known_member": ["item[]"],
    "known_tail": ["text"],
    "known_pointers": ["item *[]"],
    "known_integers": ["int[]"],
    "known_text": ["char[]"],
    "known_grown": ["item", "item[]"],
    "known_derived": ["derived"],
    "likely_headed": ["gadget"],
    "hidden_raw": [],
    "hidden_trap": [],
}
TREE_NODE = re.compile(r"std::_Rb_tree_node<std::pair<(int const|const int), shop::Box> ?>")
HIDDEN = "(anonymous namespace)::Hidden"
CXX = {
    "known_new": ["shop::Circle"],
    "known_new_base": ["shop::Box"],
    "known_new_template": ["shop::Pair<double [5]>", "shop::Pair<double[5]>"],
    "known_new_hidden": [HIDDEN],
    "known_new_array": [HIDDEN + "[]"],
    "known_vector": [f"std::vector<{HIDDEN}, std::allocator<{HIDDEN}> >", HIDDEN + "[]"],
    "known_map": [TREE_NODE],
    "known_shared": [re.compile(r"std::_Sp_counted_ptr_inplace<.*::Hidden, .*>"),
                     f"std::shared_ptr<{HIDDEN}>[]"],
    "known_unique": [HIDDEN],
    "known_string": ["char[]"],
}
RUST = {
    "known_box": ["typed_rust::Widget"],
    "known_vector": ["typed_rust::Small[]"],
    "known_string": ["u8[]"],
    "known_rc": [re.compile(r"alloc::rc::Rc(Box|Inner)<typed_rust::Widget>")],
    "known_enum": ["typed_rust::Shape"],
}
# Functions for which the debug information of optimised code alone is enough.
BARE_O2 = {
    "gcc": ["known_result", "known_typedef", "known_union", "known_wrapped", "known_wrapped_twice",
            "known_macro", "known_tail", "known_text", "known_derived"],
    "gxx": ["known_new", "known_new_base", "known_new_template", "known_new_hidden",
            "known_vector", "known_map", "known_shared", "known_string"],
    "rust": list(RUST),
}

failures = 0


def check(name, good, detail):
    global failures
    print(f"{'ok' if good else 'not ok'} - {DIRECTORY}, {HOW}: {name}")
    if not good:
        failures += 1
        print(f"#   {detail}")


def rows(function):
    command = [HEAPTAP, "report", "--json", "--no-fold", "--by", "type", "--alloc", "--filter",
               rf"(^|::){function}(\(|\.|$)", f"{DIRECTORY}/p.heaptap"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    document = json.loads(out)
    found = [(r["verdict"], r["type"]) for r in document["rows"] if r["allocated_bytes"]]
    sums = document["verdicts"]
    whole = document["totals"]["allocated_bytes"]
    assert sum(sums.values()) == whole, (sums, whole)
    return found


def is_right(name, types):
    return any(t.fullmatch(name or "") if isinstance(t, re.Pattern) else t == name for t in types)


def main():
    kind = DIRECTORY.split("-")[0]
    table = RUST if kind == "rust" else CXX if "xx" in kind else C
    needed = []
    if HOW in ("source", "packed"):
        needed = [name for name in table if name.startswith("known_")]
    elif DIRECTORY.endswith("-O2"):
        needed = BARE_O2.get(kind, [])
    for function, types in table.items():
        found = rows(function)
        wrong = [row for row in found if row[0] == "certain" and not is_right(row[1], types)]
        check(f"{function}: nothing wrong is certain", found and not wrong, found)
        if function in needed:
            check(f"{function}: certain", all(row[0] == "certain" for row in found), found)
    if table is C and HOW == "source":
        found = rows("likely_headed")
        check("likely_headed: likely, behind the wrapper's word",
              all(row == ("likely", "gadget") for row in found), found)
    if table is C:
        found = rows("hidden_raw")
        check("hidden_raw: at most of the same size",
              all(row[0] in ("same size", "unknown") for row in found), found)


main()
sys.exit(failures > 0)
