local function tree(n) if n == 0 then return {} end return {tree(n - 1), tree(n - 1)} end
local function count(t) if not t[1] then return 1 end return 1 + count(t[1]) + count(t[2]) end
print(count(tree(14)))
local co = coroutine.wrap(function()
    for i = 1, 5000 do coroutine.yield(string.rep("x", i % 100)) end
end)
local n = 0
for s in co do n = n + #s end
print(n)
local t = {}
for i = 1, 50000 do t["k" .. i % 997] = tostring(i) .. i end
print(#t, t.k5)
local function deep() return 1 + deep() end
print(pcall(string.rep, "x", -1), pcall(error, "mine"), select("#", pcall(deep)))
table.sort(t)
print(string.format("%q", ("a,b,c"):gsub(",", ";")))
collectgarbage()
