-- lua_types.lua: make known numbers of objects of each type, in functions named after the types,
-- and also in a coroutine, whose state has the same allocator. Prints the number of each type.
local kept = {}
local function table_(n) for _ = 1, n do kept[#kept + 1] = {} end end
local function string_(n) for i = 1, n do kept[#kept + 1] = ("%060d"):format(i) end end
local function function_(n) for i = 1, n do kept[#kept + 1] = function() return i end end end
local function nothing() end
local function thread(n) for _ = 1, n do kept[#kept + 1] = coroutine.create(nothing) end end
table_(1000)
string_(2000)
coroutine.wrap(function() function_(500) end)()
thread(300)
print("table_ table 1000")
print("string_ string 2000")
print("function_ function 500")
print("thread thread 300")
