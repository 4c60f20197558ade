-- lua_threads.lua: run two hundred coroutines in turn, twenty times.
local kept = {}
local function turn()
  for i = 1, 20 do
    kept[#kept + 1] = {("x%09d"):format(i)}
    coroutine.yield()
  end
end
local all = {}
for k = 1, 200 do all[k] = coroutine.create(turn) end
for _ = 1, 20 do
  for k = 1, 200 do assert(coroutine.resume(all[k])) end
end
