//! Seeds faults into C programs: each is a small change of one line.
//!
//! The operators are the usual ones of mutation testing for C: relational and arithmetic operators,
//! constants, initial values, deleted statements, and a wrong variable. Lines are changed as text, outside of
//! strings and comments; the caller skips mutants that do not compile.

use std::collections::BTreeSet;

/// A changed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// `relational`, `arithmetic`, `constant`, `initialisation`, `deletion` or `variable`.
    pub operator: &'static str,
    /// Counted from 1.
    pub line: usize,
    pub text: String,
}

impl Mutant {
    /// The lines that count as faulty: for a deleted statement, also its neighbours.
    pub fn faulty(&self) -> Vec<u64> {
        let line = self.line as u64;
        if self.operator == "deletion" { vec![line - 1, line, line + 1] } else { vec![line] }
    }

    /// The program with the fault.
    pub fn apply(&self, source: &str) -> String {
        let lines = source.lines().enumerate();
        let changed = lines.map(|(n, line)| if n + 1 == self.line { self.text.as_str() } else { line });
        changed.flat_map(|line| [line, "\n"]).collect()
    }
}

/// Operators with surrounding blanks, as the programs write them, and their replacements.
const RELATIONAL: &[(&str, &[&str])] = &[
    (" < ", &[" <= ", " > "]),
    (" <= ", &[" < "]),
    (" > ", &[" >= ", " < "]),
    (" >= ", &[" > "]),
    (" == ", &[" != "]),
    (" != ", &[" == "]),
    (" && ", &[" || "]),
    (" || ", &[" && "]),
];
const ARITHMETIC: &[(&str, &[&str])] = &[
    (" + ", &[" - "]),
    (" - ", &[" + "]),
    (" * ", &[" + "]),
    (" / ", &[" * "]),
    (" % ", &[" / "]),
    (" += ", &[" -= "]),
    (" -= ", &[" += "]),
    ("++", &["--"]),
];

/// All mutants of a program, in the order of lines.
pub fn mutants(source: &str) -> Vec<Mutant> {
    let mut list = Vec::new();
    let mut variables: Vec<String> = Vec::new();
    for (n, line) in source.lines().enumerate() {
        if line.starts_with("static") && line.ends_with('{') {
            variables.clear();
        }
        variables.extend(declared(line));
        let code = line.trim_start();
        if code.starts_with(['#', '/', '*']) || code.is_empty() {
            continue;
        }
        let mut add = |operator, text: String| list.push(Mutant { operator, line: n + 1, text });
        for (operator, table) in [("relational", RELATIONAL), ("arithmetic", ARITHMETIC)] {
            for (from, others) in table {
                for at in places(line, from) {
                    for to in *others {
                        add(operator, format!("{}{to}{}", &line[..at], &line[at + from.len()..]));
                    }
                }
            }
        }
        let operator = if is_declaration(code) { "initialisation" } else { "constant" };
        for (from, to) in numbers(line) {
            if let Ok(number) = line[from..to].parse::<i64>() {
                add(operator, format!("{}{}{}", &line[..from], number + 1, &line[to..]));
            }
        }
        if is_assignment(code) {
            let indent = line.len() - code.len();
            add("deletion", format!("{};", &line[..indent]));
        }
        for (from, to) in words(line) {
            let word = &line[from..to];
            if !variables.iter().any(|known| known == word) || is_declaration(code) {
                continue;
            }
            if let Some(other) = variables.iter().rev().find(|other| *other != word) {
                add("variable", format!("{}{other}{}", &line[..from], &line[to..]));
            }
        }
    }
    let mut seen = BTreeSet::new();
    list.retain(|mutant| seen.insert((mutant.line, mutant.text.clone())));
    list
}

/// The integer variables that a line declares.
fn declared(line: &str) -> Vec<String> {
    let code = line.trim_start();
    let code = code.strip_prefix("for (").unwrap_or(code);
    let Some(rest) = code.strip_prefix("int ").or_else(|| code.strip_prefix("long ")) else {
        return Vec::new();
    };
    let names = rest.trim_end_matches(';').split(',').map(|part| part.split(['=', ';']).next().unwrap_or(""));
    names.map(|name| name.trim().to_owned()).filter(|name| is_name(name)).collect()
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn is_declaration(code: &str) -> bool {
    ["int ", "long ", "static int ", "static long "].iter().any(|ty| code.starts_with(ty))
}

/// Whether a statement is `x = y;`, `x++;` or similar.
fn is_assignment(code: &str) -> bool {
    let assigns = [" = ", " += ", " -= "].iter().any(|sign| code.contains(sign)) || code.ends_with("++;");
    let word = code.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
    assigns
        && code.ends_with(';')
        && !is_declaration(code)
        && !["if", "for", "while", "struct", "static", "return"].contains(&word)
}

/// The positions of a text in a line, outside of strings.
fn places(line: &str, text: &str) -> Vec<usize> {
    line.match_indices(text).map(|(at, _)| at).filter(|at| !in_string(line, *at)).collect()
}

fn in_string(line: &str, at: usize) -> bool {
    line[..at].matches('"').count() % 2 == 1
}

fn words(line: &str) -> Vec<(usize, usize)> {
    let bytes = line.as_bytes();
    let is_word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let mut list = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let from = at;
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        let is_field = from > 0 && matches!(bytes[from - 1], b'.' | b'>' | b'\'');
        if at > from && !is_field && !in_string(line, from) {
            list.push((from, at));
        }
        at = at.max(from + 1);
    }
    list
}

fn numbers(line: &str) -> Vec<(usize, usize)> {
    words(line)
        .into_iter()
        .filter(|(from, to)| line[*from..*to].bytes().all(|b| b.is_ascii_digit()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "static int f(int n) {\n    int sum = 0, i;\n    for (i = 0; i < n; i++)\n        sum += i;\n    printf(\"a < b\");\n    return sum;\n}\n";

    fn made(operator: &str) -> Vec<(usize, String)> {
        let all = mutants(PROGRAM).into_iter().filter(|m| m.operator == operator);
        all.map(|m| (m.line, m.text.trim().to_owned())).collect()
    }

    #[test]
    fn each_operator_changes_one_line() {
        assert!(made("relational").contains(&(3, "for (i = 0; i <= n; i++)".to_owned())));
        assert!(made("relational").iter().all(|(line, _)| *line == 3), "strings stay as they are");
        assert!(made("arithmetic").contains(&(4, "sum -= i;".to_owned())));
        assert_eq!(made("initialisation"), [(2, "int sum = 1, i;".to_owned())]);
        assert_eq!(made("constant"), [(3, "for (i = 1; i < n; i++)".to_owned())]);
        assert_eq!(made("deletion"), [(4, ";".to_owned())]);
        assert!(made("variable").contains(&(6, "return i;".to_owned())));
    }

    #[test]
    fn a_mutant_differs_from_its_program_in_its_line() {
        for mutant in mutants(PROGRAM) {
            let changed = mutant.apply(PROGRAM);
            let differing: Vec<usize> = PROGRAM
                .lines()
                .zip(changed.lines())
                .enumerate()
                .filter(|(_, (a, b))| a != b)
                .map(|(n, _)| n + 1)
                .collect();
            assert_eq!(differing, [mutant.line]);
        }
    }
}
