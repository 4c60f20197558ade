#!/usr/bin/env bash
# caller_scripts.sh: sampled callers in an interpreter. If it fails, a row is shown as exact
# although it depends on the functions of the script, which are callers.
. "$SRCDIR/test/run/lib.subr"
need python3 setarch lua5.4
cat >script.lua <<'END'
local keep = {}
local function small(i) return {i} end
local function long(i) return ("x"):rep(40) .. i end
local function one(i) keep[i] = small(i) end
local function five(i)
    local t = {}
    for k = 1, 5 do t[k] = long(i * 10 + k) end
    if i % 3 == 0 then keep[-i] = t end
end
for i = 1, 3000 do
    one(i)
    if i % 4 == 0 then five(i) end
end
END
python3 "$area/caller_views.py" script "$HEAPTAP" "$PWD/script.lua" || failures=$((failures + 1))
finish
