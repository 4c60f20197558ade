local ffi = require "ffi"
ffi.cdef [[
void *malloc(size_t);
void free(void *);
void qsort(void *, size_t, size_t, int (*)(const int *, const int *));
]]
local sum = 0
for i = 1, 200000 do
    local p = ffi.C.malloc(i % 300 + 1)
    if p ~= nil then sum = sum + 1 end
    ffi.C.free(p)
end
print(sum)
local a = ffi.new("int[500]")
for i = 0, 499 do a[i] = i * 7919 % 1009 end
ffi.C.qsort(a, 500, 4, function(x, y)
    ffi.C.free(ffi.C.malloc(7))
    return x[0] - y[0]
end)
print(a[0], a[499])
