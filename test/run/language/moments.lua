-- moments.lua SEED MOMENTS FILE: make calls, errors, coroutines, callbacks and tail calls at
-- random. At MOMENTS of them, allocate a block of known size, and count the chain of calls that
-- debug.getinfo returns then in FILE. The innermost function is always string.rep. The chain of a
-- resumed state continues with the chain of the state that resumed it.
local seed, moments, file = tonumber(arg[1]), tonumber(arg[2]), arg[3]
local BYTES = 5000
local getinfo, rep, format = debug.getinfo, string.rep, string.format
local counts, parents, depth = {}, {}, 0
local unpack = table.unpack or unpack

local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % n
end

-- Return the chain of calls of the function that calls this, from LEVEL on.
local function chain(level)
  local parts = {}
  while true do
    local i = getinfo(level + 1, "Sl")
    if not i then break end
    if i.what ~= "tail" then -- 5.1 has an empty level for each tail call.
      parts[#parts + 1] = i.what == "C" and "[C]" or i.short_src .. ":" .. i.currentline
    end
    level = level + 1
  end
  local co, main = coroutine.running()
  if co and not main and parents[co] then
    return table.concat(parts, " ") .. " [C] " .. parents[co]
  end
  parts[#parts] = nil -- Drop the outermost frame, which is the program's own.
  return table.concat(parts, " ")
end

local function count(text)
  moments = moments - 1
  counts[text] = (counts[text] or 0) + 1
end

local function moment()
  local one = format("%08d", moments) -- 5.1 stores equal strings once.
  count("[C] " .. chain(1)) local x = rep(one, BYTES / #one)
  return #x
end

local act

local function plain()
  act()
  return 1
end

local function tail()
  return act()
end

local function fails()
  act()
  error("expected")
end

local function catches()
  pcall(fails)
  xpcall(fails, function(e) moment() return e end)
end

local meta = setmetatable({}, {
  __index = function(_, k) act() return k end,
  __add = function(a) act() return a end,
  __call = function() act() end,
})

local function through_meta()
  local a = meta.some
  local b = meta + 1
  meta()
  return a, b
end

local function through_c()
  table.sort({2, 1}, function(a, b) act() return a < b end)
  local s = string.gsub("a", "a", function() act() return "b" end)
  return s
end

local function variadic(...)
  if select("#", ...) > 0 then act() end
  return ...
end

local function step(co) parents[co] = chain(1) local ok = coroutine.resume(co)
  return ok
end

local function inside()
  local co = coroutine.create(function()
    act()
    coroutine.yield()
    moment()
    act()
  end)
  step(co)
  plain()
  while coroutine.status(co) == "suspended" do step(co) end
end

local function recursive(n)
  if n == 0 then return act() end
  local r = recursive(n - 1)
  return r
end

local ways = {plain, tail, catches, through_meta, through_c, inside, moment, moment,
  function() variadic(1, 2) end, function() recursive(random(5)) end, fails}

act = function()
  if moments <= 0 then return end
  depth = depth + 1
  local d = depth
  if depth < 9 then
    for _ = 1, 1 + random(2) do
      ways[1 + random(#ways)]()
    end
  else
    moment()
  end
  depth = d - 1
end

-- The first buffer that leaves the C stack allocates further blocks.
local words = {}
for i = 1, 2000 do words[i] = "word" end
words = table.concat(words)

-- 5.1 keeps all strings in one table, which grows at some moment. The table must have room for the
-- strings of many moments, and be full enough not to shrink.
local strings = {}
for i = 1, 140000 do strings[i] = "string " .. i end
for i = 70001, 140000 do strings[i] = nil end

-- The collector's own memory is allocated between moments. A full collection restarts the collector
-- in 5.1, so it must be stopped each time. Otherwise it shrinks stacks of coroutines inside
-- string.rep, at a time that depends on addresses, which order tables, and on the length of this
-- file's name.
local function collect()
  collectgarbage()
  collectgarbage("stop")
end

-- Resume a thousand coroutines in turn.
local many = {}
for i = 1, 1000 do
  many[i] = coroutine.create(function()
    while true do
      plain()
      coroutine.yield()
    end
  end)
end
while moments > 0 do
  depth = 0
  for i = 1, 1000 do
    if moments <= 0 then break end
    if i % 100 == 1 then collect() end
    depth = 6
    if coroutine.status(many[i]) == "suspended" then step(many[i]) end
  end
  for i = 1, 50 do
    if i % 10 == 1 then collect() end
    depth = 0
    pcall(act)
  end
end

-- States that have resumed one another, up to the recorded number.
local function nested(n)
  if n == 0 then moment() return end
  step(coroutine.create(function() nested(n - 1) end))
end
for n = 1, 15 do nested(n) end

assert(#strings == 70000)
local out = io.open(file, "w")
for text, n in pairs(counts) do out:write(n, " ", text, "\n") end
out:close()
