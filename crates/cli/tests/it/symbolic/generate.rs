//! Random C programs over four input bytes that print the way they took.
//!
//! Run plainly, a program reads its input and prints one way. With an argument
//! it tries all values of one byte and prints a way for each: what a path
//! condition must agree with.

use std::fmt::Write as _;

/// A small generator of pseudo-random numbers (xorshift), so that a seed is a
/// program for ever.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        // The first numbers of neighbouring seeds are alike.
        for _ in 0..8 {
            random.below(2);
        }
        random
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

/// How many input bytes there are.
pub const BYTES: usize = 4;

const HEAD: &str = r#"#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char way[100000];
static int steps;
static void t(char c) { if (steps < 99999) way[steps++] = c; }

struct pair { int x; short y; unsigned char z[3]; };
static const unsigned char bytes[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static int numbers[8] = { 100, -7, 0, 65, 66, 1 << 20, 48, 3 };
static long kept;

static int add(int n, ...)
{
    va_list list;
    va_start(list, n);
    int sum = 0;
    while (n-- > 0)
        sum += va_arg(list, int);
    va_end(list);
    return sum;
}
static int twice(int x) { if (x > 40) { t('>'); return x * 2; } t('<'); return x + 2; }

/* What a library function found is part of the way. */
static int length(const char *s) { int n = (int)strlen(s); t((char)('0' + n)); return n; }
static int has(const char *s, int c)
{
    const char *p = strchr(s, c);
    t(p ? (char)('a' + (p - s)) : '-');
    if (!p)
        length(s);
    return p != 0;
}
static int shown(int c) { t(c ? 'y' : 'n'); return c; }
static int number(const char *s)
{
    int n = atoi(s);
    while (shown((s[0] == ' ') | ((unsigned)(s[0] - 9) <= 4)))
        s++;
    if (shown(s[0] == '-'))
        s++;
    else if (shown(s[0] == '+'))
        s++;
    while (shown((unsigned)(s[0] - '0') <= 9))
        s++;
    return n;
}
static struct pair swapped(struct pair p) { struct pair q = p; q.x = p.y; q.y = (short)p.x; return q; }

static void f(const unsigned char *in)
{
    int a = in[0], b = in[1], c = 7;
    unsigned d = in[2];
    long e = in[3];
    unsigned char buffer[8] = { 1, 2, 3, 4 };
    char text[8];
    struct pair p = { in[1], (short)in[3], { 1, 2, 3 } };
    memcpy(text, in, 4);
    text[4] = 0;
"#;

const TAIL: &str = r#"    kept += a + b + c + (int)d + e + buffer[0] + p.x + text[0];
}

int main(int argc, char **argv)
{
    unsigned char in[4] = { 0 };
    for (int i = 0; i < 4; i++)
        in[i] = (unsigned char)getchar();
    if (argc < 2) {
        f(in);
        puts(way);
        return 0;
    }
    int place = argv[1][0] - '0';
    int start[8];
    memcpy(start, numbers, sizeof start);
    for (int v = 0; v < 256; v++) {
        memcpy(numbers, start, sizeof start);
        memset(way, 0, sizeof way);
        steps = 0;
        kept = 0;
        in[place] = (unsigned char)v;
        f(in);
        puts(way);
    }
    return 0;
}
"#;

struct Writer {
    random: Random,
    text: String,
    loops: u32,
}

/// The program of a seed.
pub fn program(seed: u64) -> String {
    let mut writer = Writer { random: Random::new(seed), text: HEAD.to_owned(), loops: 0 };
    for _ in 0..7 {
        writer.statement(2, 1);
    }
    writer.text.push_str(TAIL);
    writer.text
}

impl Writer {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.random.below(of.len() as u64) as usize]
    }

    fn variable(&mut self) -> &'static str {
        self.one(&["a", "b", "c", "d", "e", "p.x", "p.y", "p.z[1]"])
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.random.below(4) {
                0 => self.random.below(300).to_string(),
                1 => format!("in[{}]", self.random.below(BYTES as u64)),
                _ => self.variable().to_owned(),
            };
        }
        let x = self.expression(depth - 1);
        let y = self.expression(depth - 1);
        match self.random.below(25) {
            0 => format!("({x} + {y})"),
            1 => format!("({x} - {y})"),
            2 => format!("({x} * {y})"),
            3 => format!("({x} & {y})"),
            4 => format!("({x} | {y})"),
            5 => format!("({x} ^ {y})"),
            6 => format!("({x} << ({y} & 7))"),
            7 => format!("({x} >> ({y} & 7))"),
            8 => format!("({x} / (({y} & 15) + 1))"),
            9 => format!("({x} % (({y} & 31) + 1))"),
            10 => format!("(int)(signed char)({x})"),
            11 => format!("(({x}) > ({y}) ? (t('?'), ({x})) : (t(':'), 5))"),
            12 => format!("bytes[({x}) & 7]"),
            13 => format!("numbers[({x}) & 7]"),
            14 => format!("buffer[({x}) & 7]"),
            15 => format!("(int)(unsigned short)({x})"),
            16 => format!("-({x})"),
            17 => format!("abs((int)({x}))"),
            18 => format!("toupper(({x}) & 127)"),
            19 => format!("(int)((double)(int)({x}) * 0.75)"),
            20 => format!("(int)((float)(({x}) & 1023) / (float)((({y}) & 7) + 1))"),
            21 => format!("(int)floor((int)({x}) * 0.1 - ((int)({y}) & 255))"),
            22 => format!("(int)sqrt((double)(({x}) & 4095))"),
            23 => format!("(unsigned char)(unsigned)(fabs((double)(signed char)({x})) + 0.5f)"),
            _ => format!("(int)({x})"),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let x = self.expression(depth);
        let y = self.expression(1);
        match self.random.below(15) {
            0 => format!("({x}) == ({y} & 63)"),
            1 => format!("({x}) < ({y})"),
            2 => format!("({x}) >= ({y})"),
            3 => format!("(({x}) & 5) != 0"),
            4 => format!("isdigit(({x}) & 127)"),
            5 => format!("isalpha(({x}) & 255)"),
            6 => format!("strcmp(text, \"{}\") > 0", self.one(&["a", "Q7", "zz", "0"])),
            7 => format!("length(text) > (({x}) & 3)"),
            8 => format!("has(text, 'a' + (({x}) & 3))"),
            9 => format!("number(text) > {}", self.random.below(20)),
            12 => format!("(double)(int)({x}) / 3 > (int)({y})"),
            13 => format!("(float)(({x}) & 255) * 0.1f == (float)(({y}) & 255) * 0.1f"),
            14 => format!("!((({x}) & 31) / ((({y}) & 3) * 1.0) <= 2.5)"),
            10 => format!("memcmp(text, in, 2 + (({}) & 1)) == 0", self.random.below(2)),
            _ => format!("({x}) > 0 && (t('&'), 1) && ({y}) < 100"),
        }
    }

    fn statement(&mut self, depth: u32, indent: usize) {
        let pad = "    ".repeat(indent);
        let choice = if depth == 0 { 4 + self.random.below(8) } else { self.random.below(12) };
        match choice {
            0..=2 => {
                let c = self.condition(2);
                let _ = writeln!(self.text, "{pad}if ({c}) {{\n{pad}    t('T');");
                self.statement(depth - 1, indent + 1);
                let _ = writeln!(self.text, "{pad}}} else {{\n{pad}    t('F');");
                self.statement(depth - 1, indent + 1);
                let _ = writeln!(self.text, "{pad}}}");
            }
            3 => {
                let e = self.expression(2);
                let _ = writeln!(self.text, "{pad}switch (({e}) & 7) {{");
                for case in [1, 2, 5] {
                    let _ = writeln!(self.text, "{pad}case {case}:\n{pad}    t('{case}');");
                    self.statement(depth - 1, indent + 1);
                    let _ = writeln!(self.text, "{pad}    break;");
                }
                let _ = writeln!(self.text, "{pad}default:\n{pad}    t('d');\n{pad}}}");
            }
            4 => {
                let (e, i) = (self.expression(1), self.loops);
                self.loops += 1;
                let v = self.variable();
                let _ = writeln!(
                    self.text,
                    "{pad}for (int i{i} = 0; i{i} < (({e}) & 3); i{i}++) {{ t('L'); {v} += i{i} + 1; }}\n{pad}t('.');"
                );
            }
            5 => {
                let (i, e) = (self.expression(1), self.expression(2));
                let _ = writeln!(self.text, "{pad}buffer[({i}) & 7] = (unsigned char)({e});");
            }
            6 => {
                let (i, e) = (self.expression(1), self.expression(1));
                let _ = writeln!(self.text, "{pad}numbers[({i}) & 7] = (int)({e});");
            }
            7 => {
                let (x, y) = (self.expression(1), self.expression(1));
                let _ = writeln!(self.text, "{pad}a = add(3, (int)({x}), (int)({y}), b);");
            }
            8 => {
                let x = self.expression(1);
                let _ = writeln!(self.text, "{pad}b = twice((int)({x}));");
            }
            9 => {
                let x = self.expression(1);
                let _ = writeln!(self.text, "{pad}p = swapped(p);\n{pad}p.z[2] = (unsigned char)({x});");
            }
            10 => {
                let x = self.expression(1);
                let n = self.random.below(4);
                let _ =
                    writeln!(self.text, "{pad}text[{n}] = (char)({x});\n{pad}memmove(buffer + 1, text, 4);");
            }
            _ => {
                let (v, e) = (self.variable(), self.expression(3));
                let _ = writeln!(self.text, "{pad}{v} = ({e});");
            }
        }
    }
}
