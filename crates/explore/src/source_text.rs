//! Sources as a preprocessor sees them: the words of each line, macros, and conditional regions.
//!
//! Nothing is expanded. Comments and literals are skipped, and a directive extends over continued lines.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

/// The directive that a line belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directive {
    /// Defines or undefines a macro.
    Macro(String),
    /// Begins, divides or ends a conditional region, by its index.
    Conditional(usize),
    /// Includes a file, or anything else.
    Other,
}

/// The type whose definition a line belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeBody {
    /// Its name behind `struct`, `union`, `enum` or `class`; empty if it has none there.
    pub name: String,
    /// The definition ends on this line, where an alias may follow, and attributes of all of it.
    pub ends: bool,
}

/// A line without comments and literals.
#[derive(Clone, Debug, Default)]
struct SourceLine {
    words: Vec<String>,
    /// The number of words before its first opening parenthesis.
    before_parameters: usize,
    body: Option<TypeBody>,
    /// Its brackets and semicolons; of directives, none.
    brackets: String,
    directive: Option<Directive>,
    /// A statement or a paragraph ends here.
    ends: bool,
    /// The innermost conditional region.
    region: Option<usize>,
}

/// From `#if` to `#endif`.
#[derive(Clone, Debug, Default)]
struct Region {
    parent: Option<usize>,
    /// The words of its conditions.
    words: BTreeSet<String>,
}

/// A source file.
#[derive(Clone, Debug, Default)]
pub struct SourceText {
    lines: Vec<SourceLine>,
    regions: Vec<Region>,
}

/// The sources of a version, by their paths in its tree.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: HashMap<String, SourceText>,
    /// For each word, the macros that are defined by it.
    macros: HashMap<String, BTreeSet<String>>,
}

impl Sources {
    /// Reads all files of a tree whose names `wanted` accepts. Unreadable ones are left out.
    #[must_use]
    pub fn read(tree: &Path, wanted: &dyn Fn(&str) -> bool) -> Sources {
        let mut sources = Sources::default();
        let mut directories = vec![tree.to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
                let (path, kind) = (entry.path(), entry.file_type());
                let Some(name) = path.strip_prefix(tree).ok().map(|p| p.display().to_string()) else {
                    continue;
                };
                match kind {
                    Ok(kind) if kind.is_dir() => directories.push(path),
                    Ok(_) if wanted(&name) => {
                        let text = std::fs::read(&path).unwrap_or_default();
                        sources.add(name, SourceText::new(&String::from_utf8_lossy(&text)));
                    }
                    _ => {}
                }
            }
        }
        sources
    }

    fn add(&mut self, name: String, text: SourceText) {
        for line in &text.lines {
            if let Some(Directive::Macro(of)) = &line.directive {
                for word in line.words.iter().filter(|word| *word != of) {
                    self.macros.entry(word.clone()).or_default().insert(of.clone());
                }
            }
        }
        self.files.insert(name, text);
    }

    #[must_use]
    pub fn file(&self, name: &str) -> Option<&SourceText> {
        self.files.get(name)
    }

    /// These names, and all macros that expand to one of them.
    #[must_use]
    pub fn expanding_to(&self, names: impl IntoIterator<Item = String>) -> BTreeSet<String> {
        let mut all: BTreeSet<String> = names.into_iter().collect();
        let mut worklist: Vec<String> = all.iter().cloned().collect();
        while let Some(name) = worklist.pop() {
            for of in self.macros.get(&name).into_iter().flatten() {
                if all.insert(of.clone()) {
                    worklist.push(of.clone());
                }
            }
        }
        all
    }
}

impl SourceText {
    #[must_use]
    pub fn new(text: &str) -> SourceText {
        let mut source = SourceText::default();
        let mut open: Vec<usize> = Vec::new();
        let mut bodies = TypeBodies::default();
        let mut in_comment = false;
        // The directive that the line before continues with a backslash.
        let mut continued: Option<Directive> = None;
        for raw in text.lines() {
            let plain = without_comments(raw, &mut in_comment);
            let code = plain.trim();
            let words: Vec<String> = words_of(code).map(str::to_owned).collect();
            let mut line = SourceLine { region: open.last().copied(), ..SourceLine::default() };
            let begun = continued.is_none() && code.starts_with('#');
            line.directive = match continued.take() {
                Some(directive) => Some(directive),
                None if begun => Some(source.directive(&words, &mut open)),
                None => None,
            };
            if let Some(Directive::Conditional(region)) = &line.directive {
                source.regions[*region].words.extend(words.iter().cloned());
            }
            if line.directive.is_some() && raw.trim_end().ends_with('\\') {
                continued.clone_from(&line.directive);
            }
            line.ends =
                line.directive.is_some() || raw.trim().is_empty() || code.ends_with([';', '{', '}', ':']);
            if line.directive.is_none() {
                line.body = bodies.pass(code);
                line.before_parameters = words_of(code.split('(').next().unwrap_or_default()).count();
                line.brackets = code.chars().filter(|c| "()[]{};".contains(*c)).collect();
            }
            line.words = words;
            source.lines.push(line);
        }
        source
    }

    fn directive(&mut self, words: &[String], open: &mut Vec<usize>) -> Directive {
        match words.first().map_or("", String::as_str) {
            "define" | "undef" => Directive::Macro(words.get(1).cloned().unwrap_or_default()),
            "if" | "ifdef" | "ifndef" => {
                self.regions.push(Region { parent: open.last().copied(), ..Region::default() });
                open.push(self.regions.len() - 1);
                Directive::Conditional(self.regions.len() - 1)
            }
            "elif" | "elifdef" | "elifndef" | "else" => {
                open.last().map_or(Directive::Other, |region| Directive::Conditional(*region))
            }
            "endif" => open.pop().map_or(Directive::Other, Directive::Conditional),
            _ => Directive::Other,
        }
    }

    fn line(&self, number: u32) -> Option<&SourceLine> {
        self.lines.get((number as usize).checked_sub(1)?)
    }

    /// The number of lines.
    #[must_use]
    pub fn line_count(&self) -> u32 {
        self.lines.len() as u32
    }

    /// The directive that a line belongs to.
    #[must_use]
    pub fn directive_at(&self, number: u32) -> Option<&Directive> {
        self.line(number)?.directive.as_ref()
    }

    /// The type whose definition a line belongs to.
    #[must_use]
    pub fn type_at(&self, number: u32) -> Option<&TypeBody> {
        self.line(number)?.body.as_ref()
    }

    /// The words of a line.
    #[must_use]
    pub fn words_at(&self, number: u32) -> &[String] {
        self.line(number).map_or(&[], |line| &line.words)
    }

    /// The words of a line before its first opening parenthesis: what it declares, but no parameters.
    #[must_use]
    pub fn words_before_parameters(&self, number: u32) -> &[String] {
        self.line(number).map_or(&[], |line| &line.words[..line.before_parameters])
    }

    /// The lines of the statement that a line belongs to, as far as line ends show them.
    #[must_use]
    pub fn statement(&self, number: u32) -> std::ops::RangeInclusive<u32> {
        let is_end = |n: u32| self.line(n).is_none_or(|line| line.ends);
        let (mut first, mut last) = (number, number);
        while first > 1 && !is_end(first - 1) {
            first -= 1;
        }
        while !is_end(last) && last < self.line_count() {
            last += 1;
        }
        first..=last
    }

    /// The words of the statement that a line belongs to.
    pub fn words_of_statement(&self, number: u32) -> impl Iterator<Item = &String> {
        self.statement(number).flat_map(|n| self.words_at(n))
    }

    /// The conditional regions around a line, innermost first.
    pub fn regions(&self, number: u32) -> impl Iterator<Item = usize> {
        let first = self.line(number).and_then(|line| line.region);
        std::iter::successors(first, |region| self.regions[*region].parent)
    }

    /// The words of the conditions around a line.
    #[must_use]
    pub fn words_of_conditions(&self, number: u32) -> HashSet<&str> {
        self.regions(number).flat_map(|r| self.regions[r].words.iter().map(String::as_str)).collect()
    }

    /// The last line of the definition that begins at a line: to the semicolon outside of all brackets.
    #[must_use]
    pub fn end_of_definition(&self, first: u32) -> u32 {
        let mut depth = 0_i32;
        for number in first..=self.line_count() {
            for c in self.line(number).map_or("", |line| &line.brackets).chars() {
                match c {
                    '(' | '[' | '{' => depth += 1,
                    ';' if depth <= 0 => return number,
                    ';' => {}
                    _ => depth -= 1,
                }
            }
        }
        self.line_count()
    }
}

/// Follows braces from line to line to find the definitions of types.
#[derive(Default)]
struct TypeBodies {
    /// For each open brace, the name of the type that it defines.
    open: Vec<Option<String>>,
    /// The words since the last brace or semicolon.
    before: Vec<String>,
}

impl TypeBodies {
    /// The innermost type whose definition a line is a part of.
    fn pass(&mut self, code: &str) -> Option<TypeBody> {
        let body = |name: &String, ends| TypeBody { name: name.clone(), ends };
        let innermost = |open: &[Option<String>]| open.last().cloned().flatten();
        let mut found = innermost(&self.open).map(|name| body(&name, false));
        for part in code.split_inclusive(['{', '}', ';']) {
            self.before.extend(words_of(part).map(str::to_owned));
            match part.chars().last() {
                Some('{') => {
                    let is_key =
                        |word: &String| ["struct", "union", "enum", "class"].contains(&word.as_str());
                    // A parameter list may have such a word too, but then comes a bracket.
                    let key = self.before.iter().position(is_key).filter(|_| !part.contains(')'));
                    let name = key.map(|key| self.before.get(key + 1).cloned().unwrap_or_default());
                    found = name.as_ref().map(|name| body(name, false)).or(found);
                    self.open.push(name);
                }
                Some('}') => {
                    let closed = self.open.pop().flatten();
                    found = closed.map(|name| body(&name, true)).or(found);
                }
                Some(';') => {}
                _ => continue,
            }
            self.before.clear();
        }
        found
    }
}

/// The identifiers of a line without comments and literals.
fn words_of(code: &str) -> impl Iterator<Item = &str> {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let all = code.split(move |c: char| !is_of_word(c));
    all.filter(|word| word.starts_with(|c: char| c.is_alphabetic() || c == '_'))
}

/// A line with blanks instead of comments and of the content of literals.
fn without_comments(line: &str, in_comment: &mut bool) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if *in_comment {
            if c == '*' && chars.peek() == Some(&'/') {
                chars.next();
                *in_comment = false;
                plain.push(' ');
            }
            continue;
        }
        match (c, chars.peek()) {
            ('/', Some('/')) => break,
            ('/', Some('*')) => {
                chars.next();
                *in_comment = true;
            }
            ('"' | '\'', _) => {
                plain.push(c);
                while let Some(inner) = chars.next() {
                    match inner {
                        '\\' => {
                            chars.next();
                        }
                        _ if inner == c => {
                            plain.push(c);
                            break;
                        }
                        _ => {}
                    }
                }
            }
            _ => plain.push(c),
        }
    }
    plain
}

/// The words of some texts, each with the positions at which it occurs.
#[must_use]
pub fn index<'w>(texts: impl Iterator<Item = Vec<&'w String>>) -> BTreeMap<&'w str, Vec<usize>> {
    let mut all: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (position, words) in texts.enumerate() {
        for word in words {
            let of = all.entry(word).or_default();
            if of.last() != Some(&position) {
                of.push(position);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
#ifndef GUARD /* not LIMIT */
#define GUARD
#define LIMIT 4
#define BOTH(a, b) \\
    ((a) < LIMIT && \\
     (b) < LIMIT)
#define TWICE(x) BOTH(x, x)
#ifdef DEBUG
# define LOG(x) puts(\"LIMIT\")
int f(int a) {
    return a +
        // LIMIT
        TWICE(a);
#else
int g;
#endif
#endif
";

    #[test]
    fn macros_are_found_through_others() {
        let mut sources = Sources::default();
        sources.add("a.h".to_owned(), SourceText::new(TEXT));
        let of = |name: &str| sources.expanding_to([name.to_owned()]).into_iter().collect::<Vec<_>>();
        assert_eq!(of("LIMIT"), ["BOTH", "LIMIT", "TWICE"]);
        assert_eq!(of("DEBUG"), ["DEBUG"]);
    }

    #[test]
    fn lines_have_directives_statements_and_conditions() {
        let text = SourceText::new(TEXT);
        let is_macro = |n, name: &str| text.directive_at(n) == Some(&Directive::Macro(name.to_owned()));
        assert!(is_macro(5, "BOTH") && is_macro(6, "BOTH") && is_macro(7, "TWICE"));
        assert_eq!(text.directive_at(8), text.directive_at(14));
        assert_eq!(text.directive_at(10), None);
        assert_eq!(text.words_of_statement(11).collect::<Vec<_>>(), ["return", "a", "TWICE", "a"]);
        assert_eq!(text.words_of_statement(13).count(), 4);
        let conditions = |n| text.words_of_conditions(n).contains("DEBUG");
        assert!(conditions(11) && conditions(15) && !conditions(7));
        assert!(text.words_at(9).iter().all(|word| word != "LIMIT"));
    }

    #[test]
    fn lines_of_types_are_known() {
        let text = SourceText::new(
            "struct s {\n    int a;\n    union { int b; } u;\n} t;\nint f(struct s *p) {\n    return 0;\n}\n\
             enum { A, B };\nint g(struct s);\n",
        );
        let of = |n| text.type_at(n).map(|body| (body.name.as_str(), body.ends));
        assert_eq!((of(1), of(2), of(4)), (Some(("s", false)), Some(("s", false)), Some(("s", true))));
        assert_eq!((of(3), of(8)), (Some(("", true)), Some(("", true))));
        assert_eq!([of(5), of(6), of(7), of(9)], [None; 4]);
    }

    #[test]
    fn a_definition_ends_outside_of_brackets() {
        let text = SourceText::new("int x = 1;\nint table[] = {\n  1, /* ; */ 2,\n};\nint y;\n");
        assert_eq!((text.end_of_definition(1), text.end_of_definition(2)), (1, 4));
    }
}
