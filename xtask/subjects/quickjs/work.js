// A mixed load: calls, objects, arrays, strings, regular expressions, big integers,
// closures, generators, promises, typed arrays.
const scale = parseInt(args[0]);
let seed = 42;
const random = limit => (seed = (seed * 16807) % 2147483647) % limit;

function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

class Vector {
  constructor(x, y) { this.x = x; this.y = y; }
  add(other) { return new Vector(this.x + other.x, this.y + other.y); }
  get length() { return Math.hypot(this.x, this.y); }
}

function words(n) {
  const list = [];
  for (let i = 0; i < n; i++) list.push("w" + random(200) + "-" + random(65536).toString(16));
  const text = list.join(" ");
  const counts = new Map();
  for (const word of text.split(/[\s-]+/)) counts.set(word, (counts.get(word) || 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return [sorted.length, sorted[0], text.replace(/w(\d+)/g, (_, d) => "W" + d.length).length];
}

function* squares(n) { for (let i = 0; i < n; i++) yield i * i % 97; }

function sieve(n) {
  const composite = new Uint8Array(n + 1);
  let count = 0;
  for (let i = 2; i <= n; i++) {
    if (composite[i]) continue;
    count++;
    for (let j = i * i; j <= n; j += i) composite[j] = 1;
  }
  return count;
}

for (let round = 1; round <= scale; round++) {
  print(round, fib(15 + round % 3), sieve(4000 + round));
  print(words(200));
  let sum = new Vector(0, 0);
  for (let i = 0; i < 500; i++) sum = sum.add(new Vector(i / 7, -i / 3));
  print(sum.length.toFixed(6), [...squares(300)].reduce((a, b) => a + b));
  let big = 1n;
  for (let i = 1n; i <= 60n; i++) big *= i + BigInt(round);
  print(big % 1000000007n, big.toString(36).slice(0, 20));
  print(JSON.stringify(JSON.parse('{"a":[1,2,{"b":null}],"c":"\\u00e9"}'), null, 1).length);
  try { null.field; } catch (error) { print(error.name); }
  Promise.resolve(round).then(value => print("then", value));
}
