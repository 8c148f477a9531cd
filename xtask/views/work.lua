-- Work for `cargo xtask bench views`: N rounds of tables, strings and calls.
local n = tonumber(arg and arg[1] or os.getenv("ROUNDS")) or 10
local function fib(k) if k < 2 then return k end return fib(k - 1) + fib(k - 2) end
local list, words = {}, {}
for i = 1, n do
  list[i % 100 + 1] = fib(i % 12)
  words[i % 10 + 1] = string.format("%d-%s", i, string.rep("x", i % 7))
  if i % 50 == 0 then table.sort(list, function(a, b) return (a or 0) < (b or 0) end) end
end
local sum = 0
for _, v in pairs(list) do sum = sum + v end
print(sum, #table.concat(words))
