//! Terms as people read them: `stdin[3] == 'a'`, `stdin[0..4] + 1 > 0`.

use crate::engine::World;
use solver::{Binary, Node, Term, Unary};

/// Deeper parts of a term are shown as dots.
const MAX_DEPTH: u32 = 12;
/// Longer texts are cut.
const MAX_LENGTH: usize = 400;

/// A term in the notation of C, over the names of input bytes. Long ones are cut.
#[must_use]
pub fn text(world: &World, term: Term) -> String {
    let mut writer = Writer { world, out: String::new() };
    writer.write(term, 0, 0, false);
    if writer.out.len() > MAX_LENGTH {
        let end = (0..=MAX_LENGTH).rev().find(|i| writer.out.is_char_boundary(*i)).unwrap_or(0);
        writer.out.truncate(end);
        writer.out.push_str(" ...");
    }
    writer.out
}

struct Writer<'w> {
    world: &'w World,
    out: String,
}

/// Binding strength of operators, as in C.
fn strength(op: Binary) -> u32 {
    match op {
        Binary::Mul | Binary::UDiv | Binary::URem | Binary::SDiv | Binary::SRem => 10,
        Binary::Add | Binary::Sub => 9,
        Binary::Shl | Binary::LShr | Binary::AShr => 8,
        Binary::Ult | Binary::Ule | Binary::Slt | Binary::Sle => 7,
        Binary::Eq => 6,
        Binary::And => 5,
        Binary::Xor => 4,
        Binary::Or => 3,
    }
}

fn symbol(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::UDiv | Binary::SDiv => "/",
        Binary::URem | Binary::SRem => "%",
        Binary::And => "&",
        Binary::Or => "|",
        Binary::Xor => "^",
        Binary::Shl => "<<",
        Binary::LShr | Binary::AShr => ">>",
        Binary::Eq => "==",
        Binary::Ult | Binary::Slt => "<",
        Binary::Ule | Binary::Sle => "<=",
    }
}

impl Writer<'_> {
    fn open(&mut self, yes: bool) {
        if yes {
            self.out.push('(');
        }
    }

    fn close(&mut self, yes: bool) {
        if yes {
            self.out.push(')');
        }
    }

    /// `signed`: constants with the highest bit set are negative.
    fn write(&mut self, term: Term, depth: u32, around: u32, signed: bool) {
        let pool = &self.world.pool;
        let width = pool.width(term);
        if depth > MAX_DEPTH || self.out.len() > MAX_LENGTH {
            self.out.push_str("...");
            return;
        }
        let depth = depth + 1;
        match pool.node(term) {
            Node::Constant(value) => self.constant(value, width, signed),
            Node::Variable(v) => self.out.push_str(&self.world.variables.name(v)),
            Node::Unary(Unary::Not, a) => self.negated(a, width, depth, around),
            Node::Unary(Unary::Neg, a) => {
                self.out.push('-');
                self.write(a, depth, 11, true);
            }
            Node::Binary(op, a, b) => self.infix(op, width, a, b, depth, around, signed),
            Node::Ite(c, a, b) => {
                self.open(around > 0);
                self.write(c, depth, 1, false);
                self.out.push_str(" ? ");
                self.write(a, depth, 1, signed);
                self.out.push_str(" : ");
                self.write(b, depth, 1, signed);
                self.close(around > 0);
            }
            Node::Extract(a, low) => {
                self.write(a, depth, 12, false);
                let text = match (low, width) {
                    (_, 1) => format!(".bit{low}"),
                    (low, 8) if low % 8 == 0 => format!(".byte{}", low / 8),
                    _ => format!(".bits{}..{}", low, low + width),
                };
                self.out.push_str(&text);
            }
            Node::Concat(..) => self.concat(term, depth),
            Node::Zext(a) => self.write(a, depth, around, false),
            Node::Sext(a) => {
                if pool.width(a) == 8 && matches!(pool.node(a), Node::Variable(_)) {
                    self.out.push_str("(char)");
                }
                self.write(a, depth, around.max(11), signed);
            }
            Node::Read(_, index) => {
                self.out.push_str("table[");
                self.write(index, depth, 0, false);
                self.out.push(']');
            }
        }
    }

    fn constant(&mut self, value: u128, width: u32, signed: bool) {
        let text = match u8::try_from(value) {
            Ok(b'\'') if width == 8 => "'\\''".to_owned(),
            Ok(b'\\') if width == 8 => "'\\\\'".to_owned(),
            Ok(b'\n') if width == 8 => "'\\n'".to_owned(),
            Ok(b'\t') if width == 8 => "'\\t'".to_owned(),
            Ok(b @ 0x20..=0x7e) if width == 8 => format!("'{}'", b as char),
            _ if signed && width > 1 && value >> (width - 1) & 1 == 1 => {
                format!(
                    "-{}",
                    (value.wrapping_neg()) & if width < 128 { (1 << width) - 1 } else { u128::MAX }
                )
            }
            _ if value > 0xffff => format!("{value:#x}"),
            _ => value.to_string(),
        };
        self.out.push_str(&text);
    }

    fn negated(&mut self, a: Term, width: u32, depth: u32, around: u32) {
        let pool = &self.world.pool;
        if width == 1
            && let Node::Binary(op, x, y) = pool.node(a)
            && op.is_comparison()
        {
            let (text, turned) = match op {
                Binary::Eq => ("!=", false),
                Binary::Ult | Binary::Slt => ("<=", true),
                _ => ("<", true),
            };
            // not (x < y) is y <= x, shown as x >= y when y is a constant.
            let (x, y, text) = match (turned, text) {
                (true, "<=") => (x, y, ">="),
                (true, _) => (x, y, ">"),
                _ => (x, y, text),
            };
            let signed = matches!(op, Binary::Slt | Binary::Sle | Binary::Eq);
            self.open(around > 6);
            self.sides(x, y, text, depth, 7, signed);
            self.close(around > 6);
            return;
        }
        self.out.push_str(if width == 1 { "!" } else { "~" });
        self.write(a, depth, 11, false);
    }

    /// A comparison, with a constant on the right.
    fn sides(&mut self, x: Term, y: Term, text: &str, depth: u32, around: u32, signed: bool) {
        let constant = self.world.pool.as_constant(x).is_some();
        let (x, y, text) = match (constant, text) {
            (true, "<") => (y, x, ">"),
            (true, "<=") => (y, x, ">="),
            (true, ">") => (y, x, "<"),
            (true, ">=") => (y, x, "<="),
            (true, same) => (y, x, same),
            _ => (x, y, text),
        };
        self.write(x, depth, around, signed);
        self.out.push(' ');
        self.out.push_str(text);
        self.out.push(' ');
        self.write(y, depth, around, signed);
    }

    #[allow(clippy::too_many_arguments)] // the parts of one expression
    fn infix(&mut self, op: Binary, width: u32, a: Term, b: Term, depth: u32, around: u32, signed: bool) {
        let strong = strength(op);
        let parenthesis = around > strong || (around == strong && around < 9);
        if op.is_comparison() {
            self.open(around > 6);
            self.sides(a, b, symbol(op), depth, 7, matches!(op, Binary::Slt | Binary::Sle | Binary::Eq));
            self.close(around > 6);
            return;
        }
        let (text, strong) = match (op, width) {
            (Binary::And, 1) => ("&&", 2),
            (Binary::Or, 1) => ("||", 1),
            (op, _) => (symbol(op), strong),
        };
        let parenthesis = if width == 1 { around > strong } else { parenthesis };
        self.open(parenthesis);
        // A sum with a negative constant is a difference.
        let (a, b) = if self.world.pool.as_constant(a).is_some() { (b, a) } else { (a, b) };
        let minus = self
            .world
            .pool
            .as_constant(b)
            .filter(|v| op == Binary::Add && width > 1 && v >> (width - 1) & 1 == 1 && width <= 64);
        if let Some(value) = minus {
            self.write(a, depth, strong, signed);
            let value = value.wrapping_neg() & ((1 << width) - 1);
            self.out.push_str(&format!(" - {value}"));
        } else {
            self.write(a, depth, strong, signed);
            self.out.push_str(&format!(" {text} "));
            self.write(b, depth, strong + u32::from(width > 1 && !op.is_commutative()), signed);
        }
        self.close(parenthesis);
    }

    /// Bytes of one origin that follow each other are one range.
    fn concat(&mut self, term: Term, depth: u32) {
        let pool = &self.world.pool;
        let mut parts = Vec::new();
        let mut rest = term;
        while let Node::Concat(high, low) = pool.node(rest) {
            // Highest first.
            parts.push(high);
            rest = low;
        }
        parts.push(rest);
        // Concatenations nest on the other side as well.
        if let Some(Node::Concat(..)) = parts.first().map(|p| pool.node(*p)) {
            let mut all = Vec::new();
            let mut first = parts[0];
            while let Node::Concat(high, low) = pool.node(first) {
                all.push(low);
                first = high;
            }
            all.push(first);
            all.reverse();
            all.extend_from_slice(&parts[1..]);
            parts = all;
        }
        let byte = |t: Term| match pool.node(t) {
            Node::Variable(v) => self.world.variables.list.get(v as usize).copied(),
            _ => None,
        };
        let bytes: Option<Vec<_>> = parts.iter().rev().map(|t| byte(*t)).collect();
        if let Some(bytes) = bytes
            && let Some(first) = bytes.first()
        {
            let run = |step: i64| {
                bytes.iter().enumerate().all(|(i, b)| {
                    b.origin == first.origin && first.offset.wrapping_add_signed(step * i as i64) == b.offset
                })
            };
            let name = self.world.variables.origins[first.origin as usize].name();
            let n = bytes.len() as u64;
            if run(1) {
                self.out.push_str(&format!("{name}[{}..{}]", first.offset, first.offset + n));
                return;
            }
            if run(-1) {
                self.out.push_str(&format!("big({name}[{}..{}])", first.offset + 1 - n, first.offset + 1));
                return;
            }
        }
        self.out.push('{');
        for (i, part) in parts.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.write(*part, depth, 0, false);
        }
        self.out.push('}');
    }
}
