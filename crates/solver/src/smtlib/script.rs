//! A complete script for a file, acceptable to any solver.

use std::collections::HashSet;
use std::fmt::Write;

use crate::node::Term;
use crate::pool::Pool;

use super::Emitter;

/// A condition to assert, with its name in a core.
#[derive(Clone, Debug)]
pub struct Assertion {
    /// A truth value.
    pub condition: Term,
    /// Its name, for `get-unsat-core`; `None`: it has none and is in no core.
    pub name: Option<String>,
    /// Lines written above it as comments.
    pub comment: String,
}

impl Assertion {
    /// An assertion without name and comment.
    pub fn new(condition: Term) -> Assertion {
        Assertion { condition, name: None, comment: String::new() }
    }

    /// An assertion with this name.
    pub fn named(condition: Term, name: impl Into<String>) -> Assertion {
        Assertion { condition, name: Some(name.into()), comment: String::new() }
    }

    /// The assertion with this comment.
    pub fn with_comment(self, comment: impl Into<String>) -> Assertion {
        Assertion { comment: comment.into(), ..self }
    }
}

/// The commands of a script in addition to `check-sat`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Script {
    /// `get-value` for all variables.
    pub values: bool,
    /// `get-unsat-core` over the named assertions.
    pub core: bool,
}

impl Script {
    /// The script that asserts these conditions; `name` returns the variables' names.
    ///
    /// ```
    /// use solver::{Assertion, Binary, Pool, Script};
    ///
    /// let mut pool = Pool::new();
    /// let byte = pool.variable(0, 8);
    /// let letter = pool.constant(8, 97);
    /// let same = pool.binary(Binary::Eq, byte, letter);
    /// let text = Script::default().text(&pool, &[Assertion::new(same)], &|_| "stdin[0]".into());
    /// assert_eq!(text, "\
    /// (set-logic QF_BV)
    /// (declare-const |stdin[0]| (_ BitVec 8))
    /// (assert (= |stdin[0]| #x61))
    /// (check-sat)
    /// ");
    /// ```
    pub fn text(self, pool: &Pool, assertions: &[Assertion], name: &dyn Fn(u32) -> String) -> String {
        let mut variables: Vec<u32> = Vec::new();
        for assertion in assertions {
            variables.extend(pool.variables(assertion.condition).iter());
        }
        variables.sort_unstable();
        variables.dedup();
        let mut names = HashSet::new();
        let symbols = Symbols::new(&variables, name, &mut names);
        let mut emitter = Emitter::new(|index| symbols.of(index));
        let mut body = String::new();
        for assertion in assertions {
            for line in assertion.comment.lines() {
                let _ = writeln!(body, "; {line}");
            }
            let condition = emitter.condition(pool, assertion.condition, &mut body);
            let _ = match &assertion.name {
                Some(name) => {
                    let name = unique(quoted(name), &mut names);
                    writeln!(body, "(assert (! {condition} :named {name}))")
                }
                None => writeln!(body, "(assert {condition})"),
            };
        }
        let mut text = String::new();
        if self.values {
            text.push_str("(set-option :produce-models true)\n");
        }
        if self.core {
            text.push_str("(set-option :produce-unsat-cores true)\n");
        }
        let arrays = if emitter.arrays.is_empty() { "" } else { "A" };
        let floats = if emitter.has_floats() { "FP" } else { "" };
        let _ = writeln!(text, "(set-logic QF_{arrays}BV{floats})");
        text.push_str(&body);
        text.push_str("(check-sat)\n");
        if self.values && !variables.is_empty() {
            let all: Vec<String> = variables.iter().map(|&index| symbols.of(index)).collect();
            let _ = writeln!(text, "(get-value ({}))", all.join(" "));
        }
        if self.core {
            text.push_str("(get-unsat-core)\n");
        }
        text
    }
}

/// Names as symbols, distinct for distinct variables.
struct Symbols {
    known: std::collections::HashMap<u32, String>,
}

impl Symbols {
    fn new(variables: &[u32], name: &dyn Fn(u32) -> String, taken: &mut HashSet<String>) -> Symbols {
        let known = variables.iter().map(|&index| (index, unique(quoted(&name(index)), taken))).collect();
        Symbols { known }
    }

    fn of(&self, index: u32) -> String {
        self.known.get(&index).cloned().unwrap_or_else(|| format!("|variable {index}|"))
    }
}

fn unique(symbol: String, taken: &mut HashSet<String>) -> String {
    let mut candidate = symbol.clone();
    let mut number = 2;
    while !taken.insert(candidate.clone()) {
        candidate = format!("|{} #{number}|", &symbol[1..symbol.len() - 1]);
        number += 1;
    }
    candidate
}

/// Any text as a quoted symbol, in which bars and backslashes are not allowed. `|x|` is the same symbol as
/// `x`, so reserved words, and the names of our definitions, get a mark.
fn quoted(name: &str) -> String {
    let clean = |c: char| if matches!(c, '|' | '\\') || c.is_control() || !c.is_ascii() { '_' } else { c };
    let mark = if has_meaning(name) { "'" } else { "" };
    format!("|{}{mark}|", name.chars().map(clean).collect::<String>())
}

fn has_meaning(name: &str) -> bool {
    const WORDS: [&str; 24] = [
        "true", "false", "not", "and", "or", "xor", "ite", "let", "forall", "exists", "select", "store",
        "concat", "extract", "distinct", "as", "par", "match", "const", "Bool", "Array", "BitVec", "_", "!",
    ];
    let ours =
        name.strip_prefix(['t', 'a']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    // The standard's symbols that are not words consist of these; no input has such a name.
    let signs = name.chars().all(|c| "=<>+-*/~&^%$@.?!_".contains(c));
    ours || signs || name.starts_with("bv") || WORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Binary;

    #[test]
    fn names_stay_different_and_mean_nothing_else() {
        let mut pool = Pool::new();
        let (x, y) = (pool.variable(0, 8), pool.variable(1, 8));
        let less = pool.binary(Binary::Ult, x, y);
        let script = |name: &dyn Fn(u32) -> String| {
            Script::default().text(&pool, &[Assertion::named(less, "same")], name)
        };
        let text = script(&|_| "same".into());
        for symbol in ["|same|", "|same #2|", "|same #3|"] {
            assert!(text.contains(symbol), "{text}");
        }
        let text = script(&|index| ["t7", "and"][index as usize].into());
        assert!(text.contains("(declare-const |t7'|") && text.contains("(declare-const |and'|"), "{text}");
        let text = script(&|index| ["a|b\\\n", "é"][index as usize].into());
        assert!(text.contains("|a_b__|") && text.contains("|_|"), "{text}");
    }

    #[test]
    fn shared_parts_are_written_once() {
        let mut pool = Pool::new();
        let mut t = pool.variable(0, 32);
        let y = pool.variable(1, 32);
        let mut lengths = Vec::new();
        for step in 0..2000 {
            let other = pool.binary(Binary::Xor, t, y);
            t = pool.binary(Binary::Mul, t, other);
            if step % 1000 == 999 {
                let k = pool.constant(32, 5);
                let equal = pool.binary(Binary::Eq, t, k);
                lengths.push(
                    Script::default().text(&pool, &[Assertion::new(equal)], &|i| format!("x{i}")).len(),
                );
            }
        }
        // Written as trees, terms of this depth would not fit into any memory.
        assert!(lengths[1] < lengths[0] * 5 / 2, "{lengths:?}");
    }
}
