"""floats.py: check that no function of the recorder computes in the program's floating-point state.

A function with arithmetic on doubles must set the recorder's state (ldmxcsr, by arch_floats_begin),
or be called only by functions that do. x87 instructions use a state that the recorder never sets:
only moves are permitted, in the wrapper of strtold, which returns a long double.
"""
import re
import subprocess
import sys

from telling import finish, same

LABEL = re.compile(r"^[0-9a-f]+ <(.*)>:$")
# Comparisons raise exceptions as well; moves and bitwise operations do not.
ARITHMETIC = re.compile(r"v?(cvt\w+|u?comis[sd]|(add|sub|mul|div|sqrt|min|max|round|rcp|rsqrt|"
                        r"cmp\w*|hadd|hsub|addsub|dp|f[n]?m\w+)[sp][sd])$")
X87 = re.compile(r"f[a-z]\w*$")
X87_MOVES = {"fldt", "fstpt"}
CALLED = re.compile(r"<([\w.]+?)(\+0x[0-9a-f]+)?>")
PREFIXES = {"rep", "repz", "repnz", "lock", "bnd", "notrack", "data16", "cs"}
SETS_STATE = "ldmxcsr"


def functions(product):
    """Return {name: (instructions, names that it refers to)} for all functions in PRODUCT."""
    text = subprocess.run(["objdump", "-dr", "--no-show-raw-insn", product], check=True,
                          capture_output=True, text=True).stdout
    found, now = {}, None
    for line in text.splitlines():
        label = LABEL.match(line)
        if label:
            now = found.setdefault(label.group(1).split(".")[0], (set(), set()))
            continue
        fields = line.split("\t")
        if now is None or len(fields) < 2:
            continue
        if "R_X86_64" in line:
            now[1].add(re.split(r"[-+]", line.split()[-1])[0].split(".")[0])
        else:
            words = [w for w in fields[1].split() if w not in PREFIXES]
            now[0].update(words[:1])
            now[1].update(name.split(".")[0] for name, _ in CALLED.findall(line))
    return found


def exposed(found):
    """Return the functions of FOUND that compute in the program's state, or call such functions;
    all functions with arithmetic; and those that set a state.
    """
    computing = {name for name, (code, _) in found.items() if any(map(ARITHMETIC.match, code))}
    guarded = {name for name, (code, _) in found.items() if SETS_STATE in code}
    bare, new = set(), computing - guarded
    while new:
        bare |= new
        new = {name for name, (_, names) in found.items() if names & bare} - guarded - bare
    called = {name for caller, (_, names) in found.items() for name in names if name != caller}
    return sorted(bare - called), computing, guarded


for product in sys.argv[1:]:
    name = product.split("/build/")[-1]
    found = functions(product)
    bare, computing, guarded = exposed(found)
    same(f"{name}: functions that compute in the program's state", [], bare)
    same(f"{name}: functions with x87 instructions", [],
         sorted(f for f, (code, _) in found.items()
                if {c for c in code if X87.match(c)} - X87_MOVES))
    if "_" not in name or "static" in name:  # Adapters for languages compute nothing.
        same(f"{name}: the arithmetic of sampling was found, and its guards", (True, True),
             ("draw_weight" in computing, "sampled_alloc" in guarded))
finish()
