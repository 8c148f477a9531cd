//! Random C programs that end, do nothing undefined, and use what a slicer must
//! get right: arrays, structs, small ones in registers, bit-fields, packed words, pointers, loops, calls, recursion, globals,
//! copies, switches, variadic functions, functions of the C library.

use std::fmt::Write as _;

/// A small generator of pseudo-random numbers (xorshift), so that a seed is a
/// program for ever.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

pub struct Program {
    random: Random,
    text: String,
    /// Loop counters in use, and how deep blocks are.
    depth: u32,
    functions: u64,
    /// Number of the function being written.
    current: u64,
}

const HEAD: &str = "\
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point { int x; long y; char name[12]; };
struct big { int head; int body[20]; };
struct pair { int first; short second; signed char third; };
struct flags { unsigned low : 3; int middle : 7; unsigned high : 9; signed char whole; unsigned far : 20; };
int g0 = 3, g1, g2 = -7;
long wide = 12;
int table[8] = { 1, 2, 3, 4, 5 };
struct point places[3];
struct big large;
struct flags shared = { 1, -2, 3, 4, 5 };
struct pair both = { 7, -3, 2 };
unsigned packed = 0x1234567;
int *link = &g1;

static struct pair turned(struct pair p, short by)
{
    struct pair q = { p.second, (short)p.first, (signed char)(p.third + by) };
    return q;
}

static struct flags shown(struct flags f, int low)
{
    f.low = (unsigned)low;
    return f;
}

static int mix(int n, ...)
{
    va_list list;
    int sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum += i % 2 ? (int)va_arg(list, long) : va_arg(list, int);
    va_end(list);
    return sum;
}

static int deep(int n, int seed)
{
    if (n <= 0)
        return seed;
    return deep(n - 1, seed + n) ^ (n & 1);
}

static struct point moved(struct point p, int by)
{
    p.x += by;
    p.y = p.x * 2L;
    return p;
}

static int weigh(struct big b, int i)
{
    b.body[i & 15] += b.head;
    return b.body[i & 15];
}

static void spread(int *to, int n, int v)
{
    for (int i = 0; i < n; i++)
        to[i] = v + i;
}
";

impl Program {
    /// The program of a seed.
    pub fn write(seed: u64) -> String {
        let mut p = Program {
            random: Random::new(seed),
            text: HEAD.to_owned(),
            depth: 0,
            functions: 2 + seed % 3,
            current: 0,
        };
        for f in 0..p.functions {
            p.current = f;
            let _ = writeln!(p.text, "\nstatic int f{f}(int a, int b, int *out)\n{{");
            p.body(6);
            p.text += "    *out = l1;\n    return l0;\n}\n";
        }
        p.current = p.functions;
        p.text += "\nint main(void)\n{\n    int a = 5, b = 2, slot = 0, *out = &slot;\n";
        p.body(12);
        p.text += "    int total = l0 + l1 + l2 + g0 + g1 + g2 + slot;\n";
        p.text += "    for (int i = 0; i < 8; i++)\n        total += table[i] ^ arr[i];\n";
        p.text += "    printf(\"%d %ld %d\\n\", total, wide, places[1].x + both.second + (int)(packed >> 9));\n    return total & 63;\n}\n";
        p.text
    }

    fn body(&mut self, n: u64) {
        self.text += "    int l0 = a, l1 = 1, l2 = b - 1, arr[8] = { 0 };\n    struct point here = { 1, 2, \"abc\" };\n";
        self.text += "    struct flags own = { 0 };\n";
        self.text += "    (void)out, (void)here, (void)own;\n";
        for _ in 0..n {
            self.statement();
        }
    }

    fn indent(&mut self) {
        for _ in 0..=self.depth {
            self.text += "    ";
        }
    }

    fn variable(&mut self) -> String {
        match self.random.below(21) {
            0 => "g0".into(),
            1 => "g1".into(),
            2 => "g2".into(),
            3 => "l1".into(),
            4 => "l2".into(),
            5 => format!("table[{} & 7]", self.simple()),
            6 => format!("arr[{} & 7]", self.simple()),
            7 => "here.x".into(),
            8 => format!("places[{}].x", self.random.below(3)),
            9 => "*link".into(),
            10 => format!("large.body[{}]", self.random.below(16)),
            11 => "large.head".into(),
            12 | 13 => format!("shared.{}", self.member()),
            14 | 15 => format!("own.{}", self.member()),
            16 | 17 => format!("both.{}", ["first", "second", "third"][self.random.below(3) as usize]),
            18 => "packed".into(),
            _ => "l0".into(),
        }
    }

    fn member(&mut self) -> &'static str {
        ["low", "middle", "high", "whole", "far"][self.random.below(5) as usize]
    }

    /// What a function of the library makes of text.
    fn of_text(&mut self) -> String {
        let n = self.random.below(3);
        match self.random.below(5) {
            0 => "atoi(here.name)".into(),
            1 => format!("(int)strtol(places[{n}].name, NULL, 10)"),
            2 => format!("strcmp(here.name, places[{n}].name) > 0"),
            3 => "(int)strlen(here.name)".into(),
            _ => format!("strchr(places[{n}].name, '1') != NULL"),
        }
    }

    fn simple(&mut self) -> String {
        match self.random.below(7) {
            0 => format!("{}", self.random.below(20)),
            1 => "l0".into(),
            2 => "l1".into(),
            3 => "g0".into(),
            4 => "a".into(),
            5 => "here.x".into(),
            _ => "l2".into(),
        }
    }

    fn expression(&mut self) -> String {
        let (a, b) = (self.variable(), self.variable());
        match self.random.below(18) {
            0 => format!("(int)((unsigned){a} + {b})"),
            1 => format!("(int)((unsigned){a} - {b})"),
            2 => format!("({a} & 255) * ({b} & 63)"),
            3 => format!("{a} / (({b} & 7) + 1)"),
            4 => format!("{a} ^ {b}"),
            5 => format!("({a} & 1) ? {b} : {}", self.simple()),
            6 => format!("({a} > {b}) && ({} < 9)", self.simple()),
            7 => format!("deep(({a}) & 3, ({b}) & 1023)"),
            8 => format!("mix(3, ({a}) & 4095, (long)(({b}) & 4095), {})", self.random.below(9)),
            9 => format!("weigh(large, {a})"),
            10 => format!("(int)(wide & 1023) + (({a}) >> 3)"),
            11 | 12 => self.of_text(),
            13 => format!("(int)((unsigned){a} << {} | ({b} & 255))", self.random.below(24)),
            14 => format!("(int)(packed >> {} & {})", self.random.below(31), 1 + self.random.below(300)),
            15 => format!("(int)__builtin_bswap32((unsigned){a})"),
            16 => format!("(short)({a}) + (signed char)({b})"),
            _ => a,
        }
    }

    fn statement(&mut self) {
        self.indent();
        let kinds = if self.depth < 2 { 14 } else { 8 };
        match self.random.below(kinds) {
            0..=3 => {
                let (v, e) = (self.variable(), self.expression());
                let _ = writeln!(self.text, "{v} = {e};");
            }
            4 => {
                let n = self.random.below(3);
                let line = match self.random.below(14) {
                    0 => format!("memcpy(&places[{n}], &here, sizeof here);"),
                    1 => format!("memcpy(arr, table + {n}, ((unsigned)l1 & 3) * sizeof *arr);"),
                    2 => format!("memmove(table + {n}, table, 4 * sizeof *table);"),
                    3 => format!("here = moved(places[{n}], l0 & 15);"),
                    4 => format!("memset(arr + {n}, (int)strlen(here.name), 8);"),
                    5 => format!("sprintf(here.name, \"%d\", {} & 1023);", self.simple()),
                    6 => format!("snprintf(places[{n}].name, 12, \"%s-%d\", here.name, l1 & 7);"),
                    7 => format!("strncpy(places[{n}].name, here.name, {});", 4 + n),
                    8 => "own = shared;".into(),
                    9 => format!("both = turned(both, (short){});", self.simple()),
                    10 => format!("own = shown(shared, {} & 7);", self.simple()),
                    11 => format!("packed |= 1u << {};", self.random.below(32)),
                    12 => format!("packed &= ~({}u << {});", self.random.below(99), self.random.below(26)),
                    _ => format!("strcpy(places[{n}].name, here.name);"),
                };
                self.text += &line;
                self.text += "\n";
            }
            5 => {
                let v = self.simple();
                let _ = writeln!(self.text, "link = ({v}) & 1 ? &g0 : &table[{}];", self.random.below(8));
            }
            6 if self.current > 0 => {
                let (f, e) = (self.random.below(self.current), self.simple());
                let v = self.variable();
                let _ = writeln!(self.text, "{v} = f{f}(({e}) & 255, l1 & 15, &l2);");
            }
            6 | 7 => {
                let e = self.simple();
                let _ = writeln!(
                    self.text,
                    "spread(arr + {}, {}, {e});",
                    self.random.below(4),
                    self.random.below(5)
                );
            }
            8 | 9 => {
                let e = self.expression();
                let _ = writeln!(self.text, "if (({e}) & {}) {{", 1 + self.random.below(3));
                self.nested(2);
                if self.random.below(2) == 0 {
                    self.indent();
                    self.text += "} else {\n";
                    self.nested(1);
                }
                self.indent();
                self.text += "}\n";
            }
            10 | 11 => {
                let d = self.depth;
                let _ =
                    writeln!(self.text, "for (int i{d} = 0; i{d} < {}; i{d}++) {{", 1 + self.random.below(4));
                self.nested(2);
                if self.random.below(3) == 0 {
                    let e = self.simple();
                    self.indent();
                    let _ = writeln!(self.text, "    if (({e}) == {}) break;", self.random.below(6));
                }
                self.indent();
                self.text += "}\n";
            }
            12 => {
                let e = self.simple();
                let _ = writeln!(self.text, "switch (({e}) & 3) {{");
                for case in 0..3 {
                    self.indent();
                    let _ = writeln!(self.text, "case {case}:");
                    self.nested(1);
                    if self.random.below(3) > 0 {
                        self.indent();
                        self.text += "    break;\n";
                    }
                }
                self.indent();
                self.text += "default:\n";
                self.nested(1);
                self.indent();
                self.text += "}\n";
            }
            _ => {
                let _ = writeln!(self.text, "wide = wide * 3 + {};", self.random.below(100));
            }
        }
    }

    fn nested(&mut self, n: u64) {
        self.depth += 1;
        for _ in 0..n {
            self.statement();
        }
        self.depth -= 1;
    }
}
