//! Splits a hunk into parts that can be reverted independently, using the syntax.
//!
//! A split point is the border between two members of one list (statements of a block, entries of a table,
//! declarations of a file) that contains the whole hunk, in both versions and at the same nesting. So no
//! control structure is split: a construct that begins and ends within the hunk lies within one part. Parts
//! also share no name that one of them declares or assigns, so a variable is never left without its
//! declaration or with only some of its assignments. In case of doubt the hunk stays whole, because its lines
//! were written together.

use super::alike::segments;
use super::groups::{Lines, Side};
use crate::syntax::{Function, NameScope, Syntax, World, name_effect};
use std::collections::HashMap;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// A file in both versions, parsed.
pub(super) struct Parsed {
    pub old: Syntax,
    pub new: Syntax,
}

impl Parsed {
    /// The function that contains a group: in bad, or in good if the group has no lines in bad.
    pub fn function(&self, group: &Lines) -> Option<&Function> {
        let (syntax, lines) =
            if group.new.is_empty() { (&self.old, &group.old) } else { (&self.new, &group.new) };
        syntax.function(lines)
    }

    /// Whether the function begins before the group and ends after it.
    pub fn is_enclosed(&self, group: &Lines) -> bool {
        let lines = if group.new.is_empty() { &group.old } else { &group.new };
        self.function(group)
            .is_some_and(|function| function.lines.start < lines.start && lines.end < function.lines.end)
    }
}

/// The parts of a hunk, without gaps; a single part if it cannot be split.
pub(super) fn parts(
    parsed: &Parsed,
    old: &Side,
    new: &Side,
    hunk: &Lines,
    pairs: &[(u32, u32)],
) -> Vec<Lines> {
    let mut in_function = false;
    let mut cuts: Vec<(u32, u32)> = Vec::new();
    let mut consider = |at_old: u32, at_new: u32| {
        let here = parsed.old.cuttable(&hunk.old, at_old);
        let there = parsed.new.cuttable(&hunk.new, at_new);
        if let (Some(here), Some(there)) = (here, there)
            && here == there
        {
            in_function = here.in_function;
            cuts.push((at_old, at_new));
        }
    };
    for segment in segments(hunk, pairs) {
        // Lines that exist in only one version may be split anywhere. For replaced lines that are not alike,
        // it is unknown which line replaced which.
        if old.is_blank(segment.old.clone()) {
            segment.new.clone().skip(1).for_each(|line| consider(segment.old.start, line));
        } else if new.is_blank(segment.new.clone()) {
            segment.old.clone().skip(1).for_each(|line| consider(line, segment.new.start));
        }
        if segment.old.end < hunk.old.end || segment.new.end < hunk.new.end {
            consider(segment.old.end, segment.new.end);
        }
    }
    if cuts.is_empty() {
        return vec![hunk.clone()];
    }
    let parts = with_code(old, new, between(hunk, &cuts));
    independent(parsed, old, new, hunk, parts, in_function)
}

fn between(hunk: &Lines, cuts: &[(u32, u32)]) -> Vec<Lines> {
    let (mut at_old, mut at_new) = (hunk.old.start, hunk.new.start);
    let mut parts = Vec::with_capacity(cuts.len() + 1);
    for &(old, new) in cuts.iter().chain(std::iter::once(&(hunk.old.end, hunk.new.end))) {
        parts.push(Lines { old: at_old..old, new: at_new..new });
        (at_old, at_new) = (old, new);
    }
    parts
}

/// Joins blank lines and comments to the part that follows them, and blank lines at the end of the hunk to
/// the part before them.
fn with_code(old: &Side, new: &Side, parts: Vec<Lines>) -> Vec<Lines> {
    let mut out: Vec<Lines> = Vec::with_capacity(parts.len());
    let mut open: Option<Lines> = None;
    for part in parts {
        let joined = open.take().map_or_else(|| part.clone(), |before| span(&before, &part));
        let code = !old.lexed.tokens(joined.old.start, joined.old.end).is_empty()
            || !new.lexed.tokens(joined.new.start, joined.new.end).is_empty();
        if code { out.push(joined) } else { open = Some(joined) }
    }
    if let Some(rest) = open {
        let blank = old.is_blank(rest.old.clone()) && new.is_blank(rest.new.clone());
        match out.last_mut().filter(|_| blank) {
            Some(last) => *last = span(last, &rest),
            None => out.push(rest),
        }
    }
    out
}

fn span(a: &Lines, b: &Lines) -> Lines {
    Lines { old: a.old.start..b.old.end, new: a.new.start..b.new.end }
}

/// The uses of one name across the parts.
#[derive(Clone, Copy)]
struct NameParts {
    first: usize,
    last: usize,
    /// First and last part that assign a component of it or use it as a whole.
    related: Option<(usize, usize)>,
    effects: u8,
}

/// Merges parts if one declares or assigns a name that the other mentions, together with all parts between
/// them.
fn independent(
    parsed: &Parsed,
    old: &Side,
    new: &Side,
    hunk: &Lines,
    parts: Vec<Lines>,
    in_function: bool,
) -> Vec<Lines> {
    let mut names: HashMap<(World, u64), NameParts> = HashMap::new();
    for (number, part) in parts.iter().enumerate() {
        let sides: [(&Syntax, &Side, &Range<u32>, u32); 2] =
            [(&parsed.old, old, &part.old, hunk.old.start), (&parsed.new, new, &part.new, hunk.new.start)];
        for (syntax, side, lines, start) in sides {
            for name in syntax.names(lines) {
                // A local name whose scope begins in the hunk is not visible outside its part.
                if matches!(name.reach, NameScope::Local(scope) if scope >= start) {
                    continue;
                }
                let mut effects = name.effects;
                if !in_function {
                    // Functions that write the same fields are still independent of each other.
                    if name.world == World::Field && effects & name_effect::ASSIGN != 0 {
                        effects = name_effect::USE;
                    }
                    effects &= !name_effect::ASSIGN_PART;
                }
                let key = (name.world, xxh3_64(&side.text[name.at.clone()]));
                let mentioned = names.entry(key).or_insert(NameParts {
                    first: number,
                    last: number,
                    related: None,
                    effects: 0,
                });
                mentioned.last = number;
                mentioned.effects |= effects;
                if effects & (name_effect::ASSIGN_PART | name_effect::USE) != 0 {
                    let first = mentioned.related.map_or(number, |(first, _)| first);
                    mentioned.related = Some((first, number));
                }
            }
        }
    }
    // For each part, the last part it must be merged with.
    let mut reach: Vec<usize> = (0..parts.len()).collect();
    for mentioned in names.values() {
        let (first, last) = if mentioned.effects & (name_effect::DECLARE | name_effect::ASSIGN) != 0 {
            (mentioned.first, mentioned.last)
        } else if mentioned.effects & name_effect::ASSIGN_PART != 0
            && mentioned.effects & name_effect::USE != 0
        {
            mentioned.related.unwrap_or((0, 0))
        } else {
            continue;
        };
        reach[first] = reach[first].max(last);
    }
    let mut out = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        let mut end = at;
        let mut next = at;
        while next <= end {
            end = end.max(reach[next]);
            next += 1;
        }
        out.push(span(&parts[at], &parts[end]));
        at = end + 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::pair::Pair;
    use super::super::{Difference, FileState};

    fn compare(path: &str, old: &str, new: &str) -> Difference {
        let side = |text: &str| {
            (Some(path.to_owned()), FileState::Content { bytes: text.as_bytes().into(), mode: 0o644 })
        };
        Difference::new(vec![Pair::new(side(old), side(new)).unwrap()])
    }

    /// The first new (or old) line of each change.
    fn parts(old: &str, new: &str) -> Vec<String> {
        let difference = compare("a.c", old, new);
        let shown = difference.changes().iter().map(|change| {
            let mut lines = change.new_lines.iter().chain(&change.old_lines).map(|line| line.trim());
            lines.find(|line| !line.is_empty()).unwrap_or_default().to_owned()
        });
        shown.collect()
    }

    /// The parts of a change to statements.
    fn statements(old: &str, new: &str) -> Vec<String> {
        let function =
            |body: &str| format!("int f(int x, int y)\n{{\n  int a, b, c;\n{body}\n  end();\n}}\n");
        parts(&function(old), &function(new))
    }

    #[test]
    fn statements_on_unrelated_variables_are_parts() {
        assert_eq!(
            statements("a = x + 1;\nb = y + 1;", "a = x + 2;\nb = y + 2;"),
            ["a = x + 2;", "b = y + 2;"]
        );
        // Added statements too, with or without a blank line between them.
        assert_eq!(statements("", "a = 1;\n\nlog(y);"), ["a = 1;", "log(y);"]);
        assert_eq!(statements("a = 1;\nb = 2;", ""), ["a = 1;", "b = 2;"]);
        // A statement that spans several lines is one part.
        assert_eq!(statements("a = x +\n 1;\nb = 1;", "a = x +\n 2 +\n 3;\nb = 2;"), ["2 +", "b = 2;"]);
    }

    #[test]
    fn a_variable_is_not_parted_from_its_values() {
        assert_eq!(statements("a = 1;\nb = 2;", "a = 3;\nb = a;").len(), 1);
        assert_eq!(statements("a = 1;\na = a + 2;", "a = 3;\na = a + 4;").len(), 1);
        assert_eq!(statements("", "int n;\nlog(y);\nn = 4;").len(), 1);
        assert_eq!(statements("a = 1;\nlog(x, 1);", "scan(&x);\nlog(x, 2);").len(), 1);
        // The same holds for lines that exist in only one version.
        assert_eq!(statements("b = c;\nx = 1;", "b = 2;\nc = x;").len(), 1);
    }

    #[test]
    fn fields_are_variables_of_their_own() {
        assert_eq!(statements("x->m = 1;\nx->n = 2;", "x->m = 3;\nx->n = 4;").len(), 2);
        assert_eq!(statements("x->m = 1;\na = x->m;", "x->m = 3;\na = -x->m;").len(), 1);
        assert_eq!(statements("x->m = 1;\nsend(x, 1);", "x->m = 3;\nsend(x, 2);").len(), 1);
    }

    #[test]
    fn a_buffer_is_not_parted_from_what_fills_it() {
        let f = |body: &str| {
            format!("int f(const char *s, struct t *t)\n{{\n  char m[9];\n{body}\n  end();\n}}\n")
        };
        assert_eq!(parts(&f("copy(m, s, 1);\nputs(m, 2);"), &f("copy(m, s, 2);\nputs(m, 3);")).len(), 1);
        // A function that receives a handle or a constant string does not write to it.
        assert_eq!(parts(&f("copy(t, 1);\nputs(t, 2);"), &f("copy(t, 2);\nputs(t, 3);")).len(), 2);
        assert_eq!(parts(&f("copy(s, 1);\nputs(s, 2);"), &f("copy(s, 2);\nputs(s, 3);")).len(), 2);
    }

    #[test]
    fn control_structures_stay_whole() {
        // A header is not separated from its body.
        assert_eq!(statements("a = 1;\nb = 1;", "for (;;)\n  a = 2;\nb = 2;"), ["for (;;)", "b = 2;"]);
        assert_eq!(statements("log(1);\nput(1);", "if (x) {\n  log(2);\n  put(2);\n}").len(), 1);
        assert_eq!(
            statements("if (x)\n  log(1);\nelse\n  put(1);", "if (y)\n  log(2);\nelse if (x)\n  put(2);")
                .len(),
            1
        );
        // The end of a loop is not separated from its body.
        let old = "do {\n  log(1);\n  put(1);\n} while (x);";
        assert_eq!(statements(old, "do {\n  log(2);\n  put(2);\n} while (y);").len(), 1);
        // Within an unchanged header, statements are separate parts.
        assert_eq!(
            statements("while (x) {\n  log(1);\n  put(1);\n}", "while (x) {\n  log(2);\n  put(2);\n}").len(),
            2
        );
    }

    #[test]
    fn what_leaves_is_not_parted_from_what_it_skips() {
        assert_eq!(statements("if (x) return 1;\nlog(1);", "if (x) return 2;\nlog(2);").len(), 1);
        assert_eq!(statements("log(1);\nreturn 1;", "log(2);\nreturn 2;").len(), 1);
        assert_eq!(statements("while (x) break;\nlog(1);", "while (y) break;\nlog(2);").len(), 2);
    }

    #[test]
    fn cases_are_parts_unless_one_falls_into_the_next() {
        let switch = |body: &str| format!("switch (x) {{\ncase 0: break;\n{body}}}");
        let cases = "case 1:\n  log(1);\n  break;\ncase 2:\n  put(1);\n  break;\n";
        assert_eq!(statements(&switch(""), &switch(cases)), ["case 1:", "case 2:"]);
        let falls = "case 1:\n  log(1);\ncase 2:\n  put(1);\n  break;\n";
        assert_eq!(statements(&switch(""), &switch(falls)).len(), 1);
        // Within a case, statements are separate parts.
        let within = |n: u32| format!("case 1:\n  log({n});\n  put({n});\n");
        assert_eq!(statements(&switch(&within(1)), &switch(&within(2))).len(), 2);
    }

    #[test]
    fn entries_and_enumerators_with_values_are_parts() {
        let table = |a: u32, b: u32| {
            format!("struct s t[] = {{\n  {{ \"a\", {a} }},\n  {{ \"b\", {b} }},\n  {{ 0 }}\n}};\n")
        };
        assert_eq!(parts(&table(1, 2), &table(3, 4)).len(), 2);
        let valued = |a: u32, b: u32| format!("enum e {{\n  A = {a},\n  B = {b},\n  C\n}};\n");
        assert_eq!(parts(&valued(1, 2), &valued(3, 4)).len(), 2);
        assert_eq!(parts("enum e {\n  A,\n  D\n};\n", "enum e {\n  A,\n  B,\n  C,\n  D\n};\n").len(), 1);
        // The comma after the last enumerator belongs to the next one.
        assert_eq!(parts("enum e {\n  A = 1\n};\n", "enum e {\n  A = 1,\n  B = 2\n};\n").len(), 1);
    }

    #[test]
    fn neighbouring_functions_are_parts() {
        let two = "int f(int n)\n{\n  int i = n;\n  return i;\n}\n\n/* The other. */\nint g(int n)\n{\n  int i = -n;\n  return i;\n}\n";
        assert_eq!(parts("int last;\n", &format!("{two}int last;\n")), ["int f(int n)", "/* The other. */"]);
        let calls = two.replace("-n", "f(n)");
        assert_eq!(parts("int last;\n", &format!("{calls}int last;\n")).len(), 1);
        // A macro and its use, a type and its use, a prototype and its function.
        assert_eq!(parts("", "#define M 3\nint a = M;\n").len(), 1);
        assert_eq!(parts("", "#define M 3\nint a = 2;\n").len(), 2);
        assert_eq!(parts("", "typedef int T;\nT t;\n").len(), 1);
        assert_eq!(parts("", "struct s { int m; };\nint f(void *p) { return T(p)->m; }\n").len(), 1);
    }

    #[test]
    fn borders_of_another_nesting_are_no_cuts() {
        // As diff shows it: the end of one function and the beginning of the next.
        let old = "int f(void)\n{\n  a();\n  return 2;\n}\n";
        let new = "int f(void)\n{\n  a();\n  return 1;\n}\n\nint g(void)\n{\n  b();\n  return 2;\n}\n";
        assert_eq!(parts(old, new).len(), 1);
        // The two branches of an `#if` stay together.
        let both = |n: u32| format!("#if A\nint a = {n};\n#else\nint b = {n};\n#endif\nint c;\n");
        let halves = compare("a.c", &both(1), &both(2));
        assert_eq!(halves.hunks().len(), 2);
        let all = |n: u32| format!("#if A\nint a = {n};\n#else /* {n} */\nint b = {n};\n#endif\nint c;\n");
        assert_eq!(compare("a.c", &all(1), &all(2)).changes().len(), 1);
    }

    #[test]
    fn old_style_and_broken_code_is_tolerated() {
        let old = "int f(a, b)\n  int a;\n  char *b;\n{\n  log(a, 1);\n  put(b, 1);\n}\nFOO(x) BAR\n";
        let difference = compare("a.c", old, &old.replace(", 1", ", 2"));
        assert_eq!(difference.changes().len(), 2);
        assert_eq!(difference.changes()[1].function.as_deref(), Some("f"));
        // A text that cannot be parsed at all is split by lines.
        let broken = "} ) = = {\n] ] = if else (\n a = 1 2 3 {\n";
        assert_eq!(compare("a.c", broken, &broken.replace(" = ", " @ ")).hunks().len(), 1);
    }

    #[test]
    fn headers_may_be_of_either_language() {
        let class = |n: u32| {
            format!("class A {{\npublic:\n  int f() {{ return {n}; }}\n  int g() {{ return {n}; }}\n}};\n")
        };
        let difference = compare("a.h", &class(1), &class(2));
        let functions: Vec<Option<&str>> =
            difference.changes().iter().map(|change| change.function.as_deref()).collect();
        assert_eq!(functions, [Some("f"), Some("g")]);
    }
}
