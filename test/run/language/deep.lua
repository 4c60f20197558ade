-- deep.lua: a chain of three thousand functions that were never called before, each with many
-- values. Lua's stack becomes so large that it is mapped separately, and moves while functions are
-- called whose names the recorder does not know yet.
local names = {}
for i = 1, 150 do names[i] = "v" .. i end
local values = "local " .. table.concat(names, ",") .. " = 1\n"
local compile = loadstring or load
local f = function() return 1 end
for i = 1, 3000 do
  local text = "local f = ...\nreturn function()\n" .. values .. string.rep("\n", i % 7) ..
    "local r = f()\nreturn r + 1 end"
  f = assert(compile(text, "=f" .. i))(f)
end
print(f())
