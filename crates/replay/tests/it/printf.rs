//! Compares formatting with the C library's own `snprintf`.

use replay::format::{Arguments, format};
use replay::memory::Memory;
use std::fmt::Write as _;
use std::process::Command;

/// xorshift, so that the cases are always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

#[derive(Clone, Copy)]
enum Value {
    Int(u64),
    Double(u64),
    Long(u128),
    Text(usize),
}

struct Given(Vec<Value>);

const TEXTS: [&str; 5] = ["", "x", "hello", "some longer text, with spaces", "tab\there"];
const TEXT_AT: u64 = 0x10_0000;

impl Arguments for Given {
    fn int(&mut self, n: u32) -> u64 {
        match self.0[n as usize] {
            Value::Int(v) => v,
            Value::Text(usize::MAX) => 0,
            Value::Text(i) => TEXT_AT + 0x100 * i as u64,
            _ => panic!("an integer was asked for"),
        }
    }
    fn double(&mut self, n: u32) -> u64 {
        match self.0[n as usize] {
            Value::Double(v) => v,
            _ => panic!("a double was asked for"),
        }
    }
    fn long_double(&mut self, n: u32) -> u128 {
        match self.0[n as usize] {
            Value::Long(v) => v,
            _ => panic!("a long double was asked for"),
        }
    }
}

fn some_int(r: &mut Random) -> u64 {
    let v = r.next();
    match r.below(6) {
        0 => 0,
        1 => v % 10,
        2 => v % 1000,
        3 => (v % 1000).wrapping_neg(),
        4 => u64::MAX << r.below(64),
        _ => v,
    }
}

fn some_double(r: &mut Random) -> u64 {
    match r.below(10) {
        0 => 0,
        1 => 1 << 63,
        2 => f64::INFINITY.to_bits(),
        3 => f64::NAN.to_bits() | (r.below(2) << 63),
        4 => r.next(),
        5 => r.below(100) | (r.below(2) << 63),
        6 => (r.below(2000) as f64 / 8.0).to_bits(),
        7 => (r.below(1_000_000) as f64 / 1000.0).to_bits(),
        8 => (10f64.powi(r.below(40) as i32 - 20)).to_bits(),
        _ => (r.next().cast_signed() as f64 / 65536.0).to_bits(),
    }
}

fn some_long_double(r: &mut Random) -> u128 {
    let wide = replay::f80::from_f64(some_double(r));
    if r.below(2) == 0 || wide >> 64 & 0x7fff == 0x7fff || wide as u64 == 0 {
        return wide;
    }
    // Bits that no double has.
    wide | u128::from(r.next() >> 1)
}

fn case(r: &mut Random) -> (String, Vec<Value>) {
    let mut text = String::new();
    let mut args = Vec::new();
    for _ in 0..1 + r.below(3) {
        text.push_str(r.pick(&["", "a", "100%% ", " x=", "[", "]"]));
        text.push('%');
        let kind = r.pick(b"diuoxXcspeEfFgGaA");
        let flags: &[u8] = match kind {
            b'd' | b'i' => b"-+ 0",
            b'u' => b"-0",
            b'c' | b's' | b'p' => b"-",
            b'o' | b'x' | b'X' => b"-#0",
            _ => b"-+ #0",
        };
        for f in flags {
            if r.below(4) == 0 {
                text.push(*f as char);
            }
        }
        match r.below(4) {
            0 => {
                let _ = write!(text, "{}", 1 + r.below(25));
            }
            1 => {
                text.push('*');
                args.push(Value::Int(u64::from((r.below(40) as i32 - 20).cast_unsigned())));
            }
            _ => {}
        }
        if !matches!(kind, b'c' | b'p') {
            match r.below(4) {
                0 => {
                    let _ = write!(text, ".{}", r.below(22));
                }
                1 => {
                    text.push_str(".*");
                    args.push(Value::Int(u64::from((r.below(12) as i32 - 2).cast_unsigned())));
                }
                2 if r.below(3) == 0 => text.push('.'),
                _ => {}
            }
        }
        match kind {
            b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => {
                text.push_str(r.pick(&["", "hh", "h", "l", "ll", "j", "z", "t"]));
                args.push(Value::Int(some_int(r)));
            }
            b'c' => args.push(Value::Int(32 + r.below(90))),
            b'p' => args.push(Value::Int(some_int(r))),
            b's' => {
                let i = r.below(TEXTS.len() as u64 + 1) as usize;
                args.push(Value::Text(if i == TEXTS.len() { usize::MAX } else { i }));
            }
            _ if r.below(3) == 0 => {
                text.push('L');
                args.push(Value::Long(some_long_double(r)));
            }
            _ => args.push(Value::Double(some_double(r))),
        }
        text.push(kind as char);
    }
    (text, args)
}

#[test]
fn agrees_with_the_c_library() {
    let mut r = Random(0x1234_5678_9abc_def1);
    let mut cases: Vec<(String, Vec<Value>)> = (0..1500).map(|_| case(&mut r)).collect();
    let int = Value::Int;
    cases.push(("%2$d %1$s %2$x".to_owned(), vec![Value::Text(2), int(77)]));
    cases.push(("%3$*1$.*2$f|".to_owned(), vec![int(12), int(3), Value::Double(2.5f64.to_bits())]));
    cases.push(("%d%%%5c%-5d|".to_owned(), vec![int(1), int(65), int(9)]));
    let mut source = String::from(
        "#include <stdio.h>\n#include <string.h>\n\
         static double D(unsigned long long v) { double d; memcpy(&d, &v, 8); return d; }\n\
         static long double L(unsigned long long m, unsigned short s) {\n\
           long double l = 0; memcpy(&l, &m, 8); memcpy((char *)&l + 8, &s, 2); return l; }\n\
         static char b[1 << 16];\n#define P(...) fwrite(b, 1, snprintf(b, sizeof b, __VA_ARGS__), stdout); putchar(1);\n",
    );
    for (i, (text, args)) in cases.iter().enumerate() {
        if i % 100 == 0 {
            let _ = writeln!(source, "{}static void f{}(void) {{", if i > 0 { "}\n" } else { "" }, i / 100);
        }
        let _ = write!(source, "P({text:?}");
        for a in args {
            let _ = match a {
                Value::Int(v) => write!(source, ", {v:#x}ULL"),
                Value::Double(v) => write!(source, ", D({v:#x}ULL)"),
                Value::Long(v) => write!(source, ", L({:#x}ULL, {:#x})", *v as u64, v >> 64),
                Value::Text(usize::MAX) => write!(source, ", (char *)0"),
                Value::Text(t) => write!(source, ", {:?}", TEXTS[*t]),
            };
        }
        source.push_str(")\n");
    }
    source.push_str("}\nint main(void) {");
    for i in 0..cases.len().div_ceil(100) {
        let _ = write!(source, "f{i}();");
    }
    source.push_str("}\n");

    let directory = tempfile::tempdir().unwrap();
    let (file, program) = (directory.path().join("cases.c"), directory.path().join("cases"));
    std::fs::write(&file, source).unwrap();
    let built = Command::new("cc").arg("-w").arg("-o").arg(&program).arg(&file).status().unwrap();
    assert!(built.success());
    let output = Command::new(&program).output().unwrap().stdout;
    let wanted: Vec<&[u8]> = output.split(|b| *b == 1).collect();
    assert_eq!(wanted.len(), cases.len() + 1);

    let mut memory = Memory::default();
    for (i, t) in TEXTS.iter().enumerate() {
        memory.write(TEXT_AT + 0x100 * i as u64, t.as_bytes());
    }
    let mut wrong = Vec::new();
    for ((text, args), wanted) in cases.iter().zip(wanted) {
        let got = format(text.as_bytes(), &mut Given(args.clone()), &memory);
        assert!(!got.uncertain);
        if got.bytes != wanted {
            wrong.push(format!(
                "{text:?}: {:?}, want {:?}",
                String::from_utf8_lossy(&got.bytes),
                String::from_utf8_lossy(wanted)
            ));
        }
        let mut at = 0;
        for p in &got.parts {
            assert_eq!(p.output.start, at);
            at = p.output.end;
        }
        assert_eq!(at, got.bytes.len());
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
}

#[test]
fn bytes_know_their_argument() {
    let mut memory = Memory::default();
    memory.write(TEXT_AT, b"abc");
    let got = format(b"<%5d> %s!", &mut Given(vec![Value::Int(42), Value::Text(0)]), &memory);
    assert_eq!(got.bytes, b"<   42> abc!");
    let map: Vec<_> = got.parts.iter().map(|p| (p.output.clone(), p.arg)).collect();
    assert_eq!(map, [(0..1, None), (1..6, Some(0)), (6..8, None), (8..11, Some(1)), (11..12, None)]);
}
