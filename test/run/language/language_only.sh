#!/usr/bin/env bash
# language_only.sh: stacks of the program's language alone. Sums by function of --language-only must
# equal those that another program computes from stacks with C functions. If it fails, a Python or
# Lua function shows memory of another function, or memory is missing.
. "$SRCDIR/test/run/lib.subr"
need python3
. "$SRCDIR/test/run/language/pythons.subr"

# compare NAME PROFILE: compare the sums of PROFILE's views.
compare() {
    "$HEAPTAP" report --json --no-fold "$2" >"$1.mixed" 2>/dev/null
    "$HEAPTAP" report --json --no-fold --native "$2" >"$1.native" 2>/dev/null
    "$HEAPTAP" report --json --no-fold --language-only "$2" >"$1.only" 2>/dev/null
    "$HEAPTAP" report --json --no-fold --language-only --by function --alloc "$2" \
        >"$1.functions" 2>/dev/null
    "$HEAPTAP" report --language-only --wide --by function --alloc --no-fold -n 100000 "$2" \
        >"$1.text" 2>/dev/null
    check "$1: sums" run_python "$area/language_only.py" sums "$1"
}

# The native thread runs malloc itself, so its stack has no Python function.
mkdir package
cat >package/__init__.py <<'END'
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.argtypes = [ctypes.c_size_t]
libc.malloc.restype = ctypes.c_void_p
libc.malloc(1000003)
END
cat >made.py <<'END'
import package
def fill(n):
    package.libc.malloc(2000003 + n)
def twice():
    fill(0)
    fill(1)
def native():
    thread = package.ctypes.c_ulong()
    code = package.ctypes.cast(package.libc.malloc, package.ctypes.c_void_p)
    package.libc.pthread_create.argtypes = [package.ctypes.c_void_p] * 4
    package.libc.pthread_join.argtypes = [package.ctypes.c_ulong, package.ctypes.c_void_p]
    assert package.libc.pthread_create(package.ctypes.byref(thread), None, code, 5000003) == 0
    package.libc.pthread_join(thread, None)
twice()
package.libc.malloc(3000003)
native()
END
for python in $pythons; do
    name=$(label_of "$python")
    record "$name.heaptap" "$HEAPTAP" run -q -o "$name" -- "$python" -B made.py
    compare "$name" "$name"
    check "$name: known sums" run_python "$area/language_only.py" known "$name" "$PWD"
    "$HEAPTAP" report --wide "$name" >"$name.screen" 2>/dev/null
    check "$name: the default is Python only" grep -q 'native (no Python frame)' "$name.screen"
    same "$name: no frame of importlib" 0 \
        "$(grep -c '_find_and_load\|frozen importlib' "$name.screen")"
    check "$name: a section on live blocks" \
        grep -q '^Still live at end .*, which Python did not free at exit$' "$name.screen"
    check "$name: one screen" test "$(wc -l <"$name.screen")" -le 30
    "$HEAPTAP" source libc_start.c "$name" >"$name.source" 2>&1
    same "$name: source of a C function" \
        "3 only Python functions were searched; --no-language-only adds those in C" \
        "$? $(sed -n 's/^hint: //p' "$name.source")"
    "$HEAPTAP" report --wide --no-language-only "$name" >"$name.screen" 2>/dev/null
    same "$name: --no-language-only has no such row" 0 \
        "$(grep -c 'no Python frame' "$name.screen")"
done

"$HEAPTAP" export -f collapsed "$name" >"$name.collapsed" 2>/dev/null
same "an export has C functions" 0 "$(grep -c 'no Python frame' "$name.collapsed")"
"$HEAPTAP" export -f collapsed --language-only "$name" >"$name.collapsed" 2>/dev/null
check "an export of Python alone" grep -q '^native (no Python frame) ' "$name.collapsed"
"$HEAPTAP" export -f flamegraph -o "$name.svg" "$name" 2>/dev/null
check "a picture has Python alone" grep -q 'native (no Python frame)' "$name.svg"
"$HEAPTAP" export -f flamegraph --native -o "$name.svg" "$name" 2>/dev/null
same "a picture with --native" 0 "$(grep -c 'no Python frame' "$name.svg")"
"$HEAPTAP" html -o "$name.html" "$name" 2>/dev/null
"$HEAPTAP" html --json "$name" >"$name.json" 2>/dev/null
"$HEAPTAP" html --json --language-only "$name" >"$name.only.json" 2>/dev/null
same "JSON has C functions" 0 "$(grep -c 'no Python frame' "$name.json")"
check "JSON of Python alone" grep -q 'no Python frame' "$name.only.json"
"$HEAPTAP" report --language-only --native "$name" >excluded 2>&1
same "--language-only and --native" 2 $?

if command -v lua5.4 >/dev/null; then
    cat >made.lua <<'END'
local function fill(n) return string.rep("x", n) end
kept = {fill(1000000), fill(2000000)}
END
    record lua.record "$HEAPTAP" run -q -o lua -- lua5.4 made.lua
    compare lua lua
    "$HEAPTAP" report --wide lua >lua.screen 2>/dev/null
    check "Lua: the default is Lua only" grep -q '^Only Lua functions' lua.screen
else
    echo "ok - Lua # SKIP needs lua5.4"
fi
finish
