-- lua_host.lua: the script that lua_host runs in each state: tables, strings, closures,
-- userdata, a thousand coroutines that take turns, and a function that C calls.
local kept = {}
local function fill()
  for i = 1, 500 do
    kept[i] = {i, name = "n" .. i, f = function() return i end}
  end
end

local function turn(k)
  local sum = 0
  for i = 1, 5 do
    local s = (what .. "%09d"):format(k * 10 + i) -- All these strings differ.
    sum = sum + #string.rep(s, 20)
    coroutine.yield(sum)
  end
end

local function many()
  local all = {}
  for k = 1, 1000 do all[k] = coroutine.create(turn) end
  for _ = 1, 5 do
    for k = 1, 1000 do assert(coroutine.resume(all[k], k)) end
  end
end

local function buffers()
  local text = string.rep(what, 5000) .. debug.traceback(what)
  return text
end

fill()
many()
buffers()
kept.big = spawn(function() return string.rep("b", 100000) end)
kept = nil
collectgarbage()
if inner then inner(script) end

-- C calls this function, and then Lua does, with no allocation in between.
local function make() return {} end
local function call() local made = make() return made end
local function by_c() pcall(make) end
local function by_lua() call() end
for _ = 1, 100 do
  spawn(by_c)
  spawn(by_lua)
end
