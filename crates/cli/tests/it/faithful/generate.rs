//! Random C programs, a statement a line, that end by themselves and have one meaning.
//!
//! After each assignment stands `SHOW(...)`: compiled with `-DSHOWING` it prints the line
//! of the assignment, the variable and its value, as `relapse values` writes it; without,
//! it is nothing at all, so that the value printed need not be used by anything.

use std::fmt::Write as _;

/// A program of its seed.
pub fn program(seed: u64) -> String {
    let mut writer =
        Writer { random: Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1), ..Writer::default() };
    writer.run();
    writer.text
}

#[derive(Default)]
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// Types of variables, with what prints them.
const TYPES: [(&str, &str); 5] =
    [("int", "%d"), ("unsigned", "%u"), ("long", "%ld"), ("short", "%d"), ("unsigned short", "%d")];

/// Few, so that names hide one another and come again in the next block.
const NAMES: [&str; 5] = ["a", "b", "c", "n", "t"];

const HEAD: &str = r#"#include <stdio.h>
#include <string.h>
#ifdef SHOWING
#define SHOW(...) printf(__VA_ARGS__)
#else
#define SHOW(...)
#endif
struct s { int a; short b; unsigned f : 3; int g : 5; unsigned h : 11; long c; };
#define S "{a = %d, b = %d, f = %u, g = %d, h = %u, c = %ld}"
#define OF(x) x.a, x.b, x.f, x.g, x.h, x.c
static int total;
static unsigned table[8];
"#;

#[derive(Clone, Copy)]
struct Variable {
    name: &'static str,
    ty: usize,
}

#[derive(Default)]
struct Writer {
    random: Random,
    text: String,
    line: u32,
    depth: usize,
    /// The variables of each block around, outermost first.
    blocks: Vec<Vec<Variable>>,
    functions: u64,
    loops: usize,
}

impl Writer {
    fn run(&mut self) {
        self.text.push_str(HEAD);
        self.line = HEAD.lines().count() as u32;
        for number in 0..3 {
            self.put(&format!("static int f{number}(int a, unsigned b) {{"));
            self.blocks.push(vec![Variable { name: "a", ty: 0 }, Variable { name: "b", ty: 1 }]);
            self.body(4);
            self.put("struct s x = {0}, y = {0};");
            self.structs();
            let result = self.value();
            self.put(&format!("return {result} + x.a + y.f;"));
            self.end("}");
            self.functions += 1;
        }
        self.put("int main(void) {");
        self.put("for (int i = 0; i < 3; i++)");
        self.put("total += f2(i, 7u * i);");
        self.put("printf(\"%d\\n\", total);");
        self.put("return 0;");
        self.put("}");
    }

    fn put(&mut self, line: &str) {
        self.line += 1;
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    fn end(&mut self, line: &str) {
        self.depth -= 1;
        self.blocks.pop();
        self.put(line);
    }

    /// What prints a variable's value after the line before.
    fn show(&mut self, name: &str, format: &str, value: &str) {
        let line = self.line;
        self.put(&format!("SHOW(\"{line} {name} \" {format} \"\\n\", {value});"));
    }

    fn body(&mut self, statements: u64) {
        self.depth += 1;
        self.declare();
        for _ in 0..statements {
            self.statement();
        }
    }

    fn block(&mut self, head: &str, tail: &str) {
        self.put(head);
        self.blocks.push(Vec::new());
        let statements = 1 + self.random.below(3);
        self.body(statements);
        self.end(tail);
    }

    fn visible(&self) -> Vec<Variable> {
        let mut found: Vec<Variable> = Vec::new();
        for v in self.blocks.iter().rev().flatten() {
            if found.iter().all(|f| f.name != v.name) {
                found.push(*v);
            }
        }
        found
    }

    fn value(&mut self) -> String {
        let all = self.visible();
        match self.random.below(7) {
            0 => self.random.below(40).to_string(),
            1 => "total".to_owned(),
            2 => format!("(int)table[{} & 7]", self.random.pick(&all).name),
            _ => self.random.pick(&all).name.to_owned(),
        }
    }

    fn expression(&mut self) -> String {
        let (a, b) = (self.value(), self.value());
        match self.random.below(9) {
            0 => a,
            1 => self.random.below(100).to_string(),
            2 => format!("({a} & 1) | 2"),
            3 => format!("{a} > {b} ? {a} : {b}"),
            4 => format!("{a} * 3 + {b}"),
            5 => format!("({a} > 4 && {b} < 9) + {a}"),
            6 if self.functions > 0 => format!("f{}({a} & 15, {b})", self.random.below(self.functions)),
            7 => format!("{a} ^ {b} >> 2"),
            _ => format!("{a} - {b}"),
        }
    }

    fn shown(&mut self, v: Variable) {
        self.show(v.name, &format!("\"{}\"", TYPES[v.ty].1), v.name);
    }

    fn declare(&mut self) {
        let Some(block) = self.blocks.last() else { return };
        let free: Vec<&'static str> =
            NAMES.into_iter().filter(|n| block.iter().all(|v| v.name != *n)).collect();
        if free.is_empty() {
            return;
        }
        let name = self.random.pick(&free);
        let ty = self.random.below(TYPES.len() as u64) as usize;
        // In its own initial value the name would be the new variable's.
        let mut value = self.expression();
        if value.split(|c: char| !c.is_alphanumeric()).any(|word| word == name) {
            value = self.random.below(50).to_string();
        }
        if self.random.below(3) == 0 {
            self.put(&format!("{} {name};", TYPES[ty].0));
            self.put(&format!("{name} = {value};"));
        } else {
            self.put(&format!("{} {name} = {value};", TYPES[ty].0));
        }
        let v = Variable { name, ty };
        if let Some(block) = self.blocks.last_mut() {
            block.push(v);
        }
        self.shown(v);
    }

    fn statement(&mut self) {
        let deep = self.blocks.len() > 3;
        match self.random.below(if deep { 6 } else { 12 }) {
            0 => self.declare(),
            1 => {
                let (at, value) = (self.value(), self.expression());
                self.put(&format!("table[{at} & 7] = {value};"));
            }
            2 => {
                let all = self.visible();
                let name = self.random.pick(&all).name;
                self.put(&format!("(void){name};"));
            }
            3 => {
                let value = self.expression();
                self.put(&format!("total += {value};"));
                self.show("total", "\"%d\"", "total");
            }
            4 | 5 => self.assign(),
            6 | 7 => self.choice(),
            8 => self.block("{", "}"),
            9 => self.switch(),
            _ => self.repeat(),
        }
    }

    fn assign(&mut self) {
        let all = self.visible();
        let v = self.random.pick(&all);
        let value = self.expression();
        let op = self.random.pick(&["=", "=", "=", "+=", "^=", "|="]);
        self.put(&format!("{} {op} {value};", v.name));
        self.shown(v);
    }

    fn choice(&mut self) {
        let (a, b) = (self.value(), self.value());
        let op = self.random.pick(&["<", ">", "==", "!="]);
        let other = self.random.below(2) == 0;
        self.block(&format!("if ({a} {op} {b}) {{"), if other { "} else {" } else { "}" });
        if other {
            self.blocks.push(Vec::new());
            self.body(2);
            self.end("}");
        }
    }

    fn switch(&mut self) {
        let value = self.value();
        self.put(&format!("switch ({value} & 3) {{"));
        self.depth += 1;
        for case in ["case 0: {", "case 1: {", "default: {"] {
            self.block(case, "}");
            if self.random.below(3) > 0 {
                self.put("break;");
            }
        }
        self.depth -= 1;
        self.put("}");
    }

    /// A loop with a counter that nothing else assigns to.
    fn repeat(&mut self) {
        let counter = ["i", "j", "k", "l", "m"][self.loops.min(4)];
        let times = 1 + self.random.below(3);
        self.loops += 1;
        let endless = self.random.below(3) == 0;
        if endless {
            self.put("{");
            self.depth += 1;
            self.put(&format!("int {counter} = 0;"));
            self.put("for (;;) {");
        } else {
            self.put(&format!("for (int {counter} = 0; {counter} < {times}; {counter}++) {{"));
        }
        self.blocks.push(Vec::new());
        self.body(2);
        if endless {
            self.put(&format!("if (++{counter} > {times})"));
            self.put("break;");
        } else if self.random.below(2) == 0 {
            let value = self.value();
            self.put(&format!("if ({value} > 9)"));
            let way = self.random.pick(&["continue;", "break;"]);
            self.put(way);
            self.assign();
        }
        self.end("}");
        if endless {
            self.depth -= 1;
            self.put("}");
        }
        self.loops -= 1;
    }

    /// Copies, fills and members of two structures.
    fn structs(&mut self) {
        for _ in 0..6 {
            let (to, from) = self.random.pick(&[("x", "y"), ("y", "x")]);
            match self.random.below(5) {
                0 => self.put(&format!("{to} = {from};")),
                1 => self.put(&format!("memset(&{to}, 0, sizeof {to});")),
                2 => self.put(&format!("memcpy(&{to}, &{from}, sizeof {to});")),
                _ => {
                    let member = self.random.pick(&["a", "b", "f", "g", "h", "c", "f", "g"]);
                    let value = self.expression();
                    self.put(&format!("{to}.{member} = {value};"));
                }
            }
            self.show(to, "S", &format!("OF({to})"));
        }
    }
}
