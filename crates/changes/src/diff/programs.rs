//! Random edits of random small C programs, and the properties their parts must have.

use super::pair::Pair;
use super::*;
use proptest::prelude::*;
use std::ops::Range;

#[derive(Clone, Debug)]
enum Statement {
    Simple(u8, u8),
    Declared(u8, u8),
    Leaves(u8),
    /// Without braces.
    Guarded(u8, u8),
    If(u8, Vec<Statement>, Vec<Statement>),
    While(u8, Vec<Statement>),
    DoWhile(u8, Vec<Statement>),
    Switch(u8, Vec<Vec<Statement>>),
    /// Under a preprocessor condition.
    Compiled(Vec<Statement>, Vec<Statement>),
}

use Statement::*;

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let leaf = prop_oneof![
        4 => (0..4_u8, 0..4_u8).prop_map(|(a, b)| Simple(a, b)),
        1 => (0..4_u8, 0..4_u8).prop_map(|(a, b)| Declared(a, b)),
        1 => (0..4_u8).prop_map(Leaves),
        1 => (0..4_u8, 0..4_u8).prop_map(|(a, b)| Guarded(a, b)),
    ];
    let statement = leaf.prop_recursive(3, 24, 4, |inner| {
        let block = || proptest::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            (0..4_u8, block(), block()).prop_map(|(a, then, other)| If(a, then, other)),
            (0..4_u8, block()).prop_map(|(a, body)| While(a, body)),
            (0..4_u8, block()).prop_map(|(a, body)| DoWhile(a, body)),
            (0..4_u8, proptest::collection::vec(block(), 1..3)).prop_map(|(a, cases)| Switch(a, cases)),
            (block(), block()).prop_map(|(then, other)| Compiled(then, other)),
        ]
    });
    proptest::collection::vec(statement, 0..8)
}

fn print(statements: &[Statement], depth: usize, out: &mut String) {
    let pad = "  ".repeat(depth);
    let mut block = |head: &str, body: &[Statement], end: &str| {
        out.push_str(&format!("{pad}{head}\n"));
        print(body, depth + 1, out);
        if !end.is_empty() {
            out.push_str(&format!("{pad}{end}\n"));
        }
    };
    for statement in statements {
        match statement {
            Simple(a, b) => block(&format!("v{a} = f{b}(v{b}, {a});"), &[], ""),
            Declared(a, b) => block(&format!("int v{a} ="), &[], &format!("  {b};")),
            Leaves(a) => block(&format!("return v{a};"), &[], ""),
            Guarded(a, b) => {
                block(&format!("if (v{a})"), &[], &format!("  g{b}();"));
                block("else", &[], &format!("  h{b}();"));
            }
            If(a, then, other) => {
                block(&format!("if (v{a}) {{"), then, "");
                block("} else {", other, "}");
            }
            While(a, body) => block(&format!("while (v{a}) {{"), body, "}"),
            DoWhile(a, body) => block("do {", body, &format!("}} while (v{a});")),
            Switch(a, cases) => {
                block(&format!("switch (v{a}) {{"), &[], "");
                for (number, body) in cases.iter().enumerate() {
                    block(&format!("case {number}:;"), body, if number % 2 == 0 { "break;" } else { "" });
                }
                block("}", &[], "");
            }
            Compiled(then, other) => {
                block("#if A", then, "");
                block("#else", other, "#endif");
            }
        }
    }
}

/// A program and an edited one.
fn programs() -> impl Strategy<Value = (String, String)> {
    let edit = (0..5_u8, 0..32_usize, statements());
    (statements(), statements(), proptest::collection::vec(edit, 1..6)).prop_map(|(first, second, edits)| {
        let mut bad = [first.clone(), second.clone()];
        for (kind, place, new) in edits {
            apply(&mut bad[place % 2], kind, place / 2, &new);
        }
        let text = |bodies: &[Vec<Statement>]| {
            let mut out = String::new();
            for (number, body) in bodies.iter().enumerate() {
                out.push_str(&format!("int p{number}(int v0, int v1, int v2, int v3)\n{{\n"));
                print(body, 1, &mut out);
                out.push_str("}\n\n");
            }
            out
        };
        (text(&[first, second]), text(&bad))
    })
}

/// Edits a list at an index, or a list nested in it.
fn apply(list: &mut Vec<Statement>, kind: u8, place: usize, new: &[Statement]) {
    let count = list.len();
    if count == 0 || kind == 0 {
        let at = place % (count + 1);
        list.splice(at..at, new.iter().cloned());
        return;
    }
    let at = place % count;
    match (kind, &mut list[at]) {
        (1, _) => drop(list.remove(at)),
        (2, _) => list.swap(at, (at + 1) % count),
        (3, statement) => *statement = While(3, vec![statement.clone()]),
        (_, If(_, inner, _) | While(_, inner) | DoWhile(_, inner) | Compiled(_, inner)) => {
            apply(inner, kind - 1, place / 2, new);
        }
        (_, Switch(_, cases)) => apply(&mut cases[0], kind - 1, place / 2, new),
        (_, Simple(a, b) | Declared(a, b) | Guarded(a, b)) => (*a, *b) = (*b, (*a + 1) % 4),
        (_, Leaves(a)) => *a = (*a + 1) % 4,
    }
}

fn parse(text: &[u8]) -> tree_sitter::Tree {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).unwrap();
    parser.parse(text, None).unwrap()
}

/// Line ranges (from 0) of all control structures of a text.
fn structures(text: &str) -> Vec<Range<u32>> {
    let tree = parse(text.as_bytes());
    let mut found = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let kinds = [
            "if_statement",
            "while_statement",
            "do_statement",
            "switch_statement",
            "preproc_if",
            "declaration",
        ];
        if kinds.contains(&node.kind()) {
            let row = |row: usize| u32::try_from(row).unwrap();
            found.push(row(node.start_position().row)..row(node.end_position().row) + 1);
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return found;
            }
        }
    }
}

fn compare(good: &str, bad: &str) -> Difference {
    let side = |text: &str| {
        (Some("a.c".to_owned()), FileState::Content { bytes: text.as_bytes().into(), mode: 0o644 })
    };
    Difference::new(vec![Pair::new(side(good), side(bad)).unwrap()])
}

fn content(difference: &Difference, set: &ChangeSet) -> Vec<u8> {
    match difference.tree(set).remove("a.c") {
        Some(FileState::Content { bytes, .. }) => bytes.to_vec(),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn parts_of_a_hunk_are_whole((good, bad) in programs(), bits: u64) {
        let difference = compare(&good, &bad);
        prop_assert_eq!(content(&difference, &ChangeSet::new()), bad.as_bytes());
        prop_assert_eq!(content(&difference, &difference.all()), good.as_bytes());
        // Each change belongs to exactly one hunk and one unit.
        let hunks: Vec<ChangeId> = difference.hunks().iter().flat_map(|hunk| hunk.changes.clone()).collect();
        prop_assert!(hunks.iter().copied().eq(difference.all()));
        let mut units: Vec<ChangeId> = difference.units().into_iter().flat_map(|unit| unit.changes).collect();
        units.sort_unstable();
        prop_assert_eq!(units, hunks);
        let (old, new) = (structures(&good), structures(&bad));
        for hunk in difference.hunks().iter().filter(|hunk| hunk.changes.len() > 1) {
            // A construct that begins and ends in the hunk does so in the same part.
            for structure in &old {
                let (first, last) = (structure.start + 1, structure.end);
                let ends = [first, last].map(|line| difference.touching_old("a.c", line).map(|change| change.id));
                if ends.iter().all(|id| id.is_some_and(|id| hunk.changes.contains(&id))) {
                    prop_assert_eq!(ends[0], ends[1], "{}", &good);
                }
            }
            for structure in &new {
                let (first, last) = (structure.start + 1, structure.end);
                let ends = [first, last].map(|line| difference.touching("a.c", line).map(|change| change.id));
                if ends.iter().all(|id| id.is_some_and(|id| hunk.changes.contains(&id))) {
                    prop_assert_eq!(ends[0], ends[1], "{}", &bad);
                }
            }
            // If the hunk can be reverted as a whole, any subset of its parts can be reverted too.
            let whole: ChangeSet = hunk.changes.iter().copied().collect();
            let some: ChangeSet = whole.iter().copied().filter(|id| bits >> (id.0 % 64) & 1 == 1).collect();
            if !parse(&content(&difference, &whole)).root_node().has_error() {
                let text = content(&difference, &some);
                prop_assert!(!parse(&text).root_node().has_error(), "{}", String::from_utf8_lossy(&text));
            }
        }
    }
}
