# lua.sh: lua with coroutines and the collector, and luajit, whose code made at run time calls the
# allocator (its own, and malloc through FFI) without unwind tables of its own.
#
# needs: lua5.4 luajit
# oracle: yes
# broken: code made by luajit has no unwind tables
# hide: 0x[0-9a-f]+

prepare() {
    cat >work.lua <<'END'
local function tree(n) if n == 0 then return {} end return {tree(n - 1), tree(n - 1)} end
local function count(t) if not t[1] then return 1 end return 1 + count(t[1]) + count(t[2]) end
print(count(tree(14)))
local co = coroutine.wrap(function() for i = 1, 5000 do coroutine.yield(string.rep("x", i % 100)) end end)
local n = 0
for s in co do n = n + #s end
print(n)
local t = {}
for i = 1, 50000 do t["k" .. i % 997] = tostring(i) .. i end
print(#t, t.k5)
print(pcall(string.rep, "x", -1), pcall(error, "mine"), select("#", pcall(function() local function f() return 1 + f() end f() end)))
table.sort(t); print(string.format("%q", ("a,b,c"):gsub(",", ";")))
collectgarbage()
END
    cat >ffi.lua <<'END'
local ffi = require "ffi"
ffi.cdef "void *malloc(size_t); void free(void *); void qsort(void *, size_t, size_t, int (*)(const int *, const int *));"
local sum = 0
for i = 1, 200000 do
    local p = ffi.C.malloc(i % 300 + 1)
    if p ~= nil then sum = sum + 1 end
    ffi.C.free(p)
end
print(sum)
local a = ffi.new("int[500]")
for i = 0, 499 do a[i] = i * 7919 % 1009 end
ffi.C.qsort(a, 500, 4, function(x, y) ffi.C.free(ffi.C.malloc(7)); return x[0] - y[0] end)
print(a[0], a[499])
END
}

run() {
    lua5.4 work.lua
    luajit work.lua
    luajit ffi.lua
    luajit -joff ffi.lua
}

"$@"
