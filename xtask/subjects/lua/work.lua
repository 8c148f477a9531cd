-- A mixed load: calls, tables, strings, closures, sorting, coroutines, floats.
local scale = tonumber(arg[1])

local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end

local function sieve(n)
  local composite, count = {}, 0
  for i = 2, n do
    if not composite[i] then
      count = count + 1
      for j = i * i, n, i do composite[j] = true end
    end
  end
  return count
end

local seed = 42
local function random(limit)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed % limit
end

local function words(n)
  local parts = {}
  for i = 1, n do
    parts[i] = string.format("w%d-%x", random(500), random(65536))
  end
  local text = table.concat(parts, " ")
  local counts = {}
  for word in text:gmatch("%w+") do counts[word] = (counts[word] or 0) + 1 end
  local keys = {}
  for word in pairs(counts) do keys[#keys + 1] = word end
  table.sort(keys, function(a, b)
    if counts[a] ~= counts[b] then return counts[a] > counts[b] end
    return a < b
  end)
  local upper = text:gsub("w(%d+)", function(d) return "W" .. (#d) end)
  return #keys, keys[1], counts[keys[1]], #upper
end

local function bodies(steps)
  local b = { { 0, 0, 0, 0, 10 }, { 5, 1, 0, 1.2, 1 }, { -3, 4, -1, 0, 0.5 } }
  for _ = 1, steps do
    for i = 1, #b do
      local p = b[i]
      for j = i + 1, #b do
        local q = b[j]
        local dx, dy = p[1] - q[1], p[2] - q[2]
        local d2 = dx * dx + dy * dy + 0.01
        local mag = 0.001 / (d2 * math.sqrt(d2))
        p[3], p[4] = p[3] - dx * q[5] * mag, p[4] - dy * q[5] * mag
        q[3], q[4] = q[3] + dx * p[5] * mag, q[4] + dy * p[5] * mag
      end
    end
    for i = 1, #b do
      local p = b[i]
      p[1], p[2] = p[1] + 0.001 * p[3], p[2] + 0.001 * p[4]
    end
  end
  return b[1][1], b[2][2]
end

local function produce(n)
  return coroutine.wrap(function() for i = 1, n do coroutine.yield(i * i % 97) end end)
end

local object = setmetatable({}, { __index = function(_, k) return #k end, __call = function(_, x) return x + 1 end })

for round = 1, scale do
  print(round, fib(16 + round % 3), sieve(2000 + round))
  print(words(300))
  print(string.format("%.9f %.9f", bodies(400)))
  local sum = 0
  for value in produce(300) do sum = sum + value end
  print(sum, object.field .. object.longer, object(round))
  print(select("#", pcall(error, { code = round })), (pcall(function() return nil + 1 end)))
end
