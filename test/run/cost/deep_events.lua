-- deep_events.lua: make ARG 1 nested calls, and ARG 2 tables in the innermost.
local depth, events = tonumber(arg[1]), tonumber(arg[2])
local function f(n)
  if n > 0 then return 1 + f(n - 1) end
  for _ = 1, events do local t = {} end
  return 0
end
f(depth)
