-- A function without debug information has no active lines, but has a table for them.
local plain = load(string.dump(function(a, b) return a + b end, true))
local variadic = load(string.dump(function(...) return select("#", ...) end, true))
print(plain(2, 3), variadic(1, 2, 3))
for _, f in ipairs { plain, plain } do
    local lines = debug.getinfo(f, "L").activelines
    print(type(lines), lines and next(lines))
end
