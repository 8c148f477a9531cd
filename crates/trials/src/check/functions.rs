//! Finds the function that contains a line of C or C++.
//!
//! Compilers report the location of a diagnostic by line, and lines shift from version to version; functions
//! keep their names. A scan over braces finds them without parsing: comments, literals and directives are
//! skipped, and each branch of an `#if` begins with the same braces open. Unusual code (macros that contain
//! half a function) gives unusual names, but the same ones for the same code, which is sufficient for
//! comparisons. One pass over the file.

/// The functions of one file.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// First line, last line, name; ordered by end.
    spans: Vec<(u32, u32, String)>,
}

/// The construct that an open brace began.
#[derive(Clone, Debug)]
enum Scope {
    /// May contain functions: a class, a namespace.
    Open,
    Function(u32, String),
    /// A block, an initialiser, an enumeration.
    Closed,
}

/// The state of the scan that is restored for each branch of an `#if`.
#[derive(Clone, Debug, Default)]
struct State {
    scopes: Vec<Scope>,
    /// The text since the last statement or block ended, and the line where it began.
    header: String,
    begins: u32,
    /// Statements since the last block: the parameters of a K&R-style definition.
    statements: Vec<(u32, String)>,
}

impl Functions {
    #[must_use]
    pub fn of(text: &[u8]) -> Functions {
        let mut scan = Scan { text, at: 0, line: 1, state: State::default(), found: Functions::default() };
        scan.run();
        scan.found
    }

    /// The innermost function that contains this line (from 1).
    #[must_use]
    pub fn around(&self, line: u32) -> Option<&str> {
        let holds = |(first, last, _): &&(u32, u32, String)| (*first..=*last).contains(&line);
        self.spans.iter().find(holds).map(|(_, _, name)| name.as_str())
    }
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    state: State,
    found: Functions,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut conditions: Vec<State> = Vec::new();
        let mut line_is_blank = true;
        while let Some(byte) = self.next() {
            match byte {
                b'\n' => line_is_blank = true,
                b'#' if line_is_blank => self.directive(&mut conditions),
                b'/' if self.peek() == Some(b'/') => self.skip_line(),
                b'/' if self.peek() == Some(b'*') => self.skip_comment(),
                b'"' if self.ends_in_raw_prefix() => self.skip_raw(),
                b'"' | b'\'' => {
                    // A digit separator does not begin a literal.
                    if byte == b'"' || !self.state.header.ends_with(|c: char| c.is_ascii_digit()) {
                        self.skip_literal(byte);
                    }
                    self.push(byte);
                }
                b'{' => self.open(),
                b'}' => self.close(),
                b';' => {
                    let statement = (self.state.begins, std::mem::take(&mut self.state.header));
                    self.state.statements.push(statement);
                }
                _ => self.push(byte),
            }
            line_is_blank &= byte.is_ascii_whitespace();
        }
    }

    fn next(&mut self) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        self.line += u32::from(byte == b'\n');
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn at_top(&self) -> bool {
        self.state.scopes.iter().all(|scope| matches!(scope, Scope::Open))
    }

    fn push(&mut self, byte: u8) {
        if !self.at_top() {
            return;
        }
        if byte.is_ascii_whitespace() {
            if !self.state.header.is_empty() && !self.state.header.ends_with(' ') {
                self.state.header.push(' ');
            }
            return;
        }
        if self.state.header.is_empty() {
            self.state.begins = self.line;
        }
        self.state.header.push(char::from(byte));
    }

    fn open(&mut self) {
        let scope = if self.at_top() { self.opened() } else { Scope::Closed };
        self.state.scopes.push(scope);
        self.state.header.clear();
        self.state.statements.clear();
    }

    /// The construct that a brace outside of all functions begins.
    fn opened(&self) -> Scope {
        let header = without_attributes(self.state.header.trim());
        let has_word = |word: &str| words(&header).any(|found| found == word);
        if header.starts_with("extern \"") || has_word("namespace") {
            return Scope::Open;
        }
        if let Some(name) = function_name(&header) {
            return Scope::Function(self.state.begins, name);
        }
        if has_word("class") || has_word("struct") || has_word("union") {
            return Scope::Open;
        }
        if header.is_empty() {
            // `int f(a) int a; {`: the declarator is in the last statement that is not a parameter
            // declaration.
            for (begins, statement) in self.state.statements.iter().rev() {
                let statement = without_attributes(statement.trim());
                if let Some((_, parameters)) = statement.rsplit_once(')') {
                    let is_definition = !parameters.trim().is_empty();
                    let name = function_name(&statement).filter(|_| is_definition);
                    return name.map_or(Scope::Closed, |name| Scope::Function(*begins, name));
                }
            }
        }
        Scope::Closed
    }

    fn close(&mut self) {
        if let Some(Scope::Function(first, name)) = self.state.scopes.pop() {
            self.found.spans.push((first, self.line, name));
        }
        self.state.header.clear();
        self.state.statements.clear();
    }

    fn directive(&mut self, conditions: &mut Vec<State>) {
        let from = self.at;
        self.skip_line();
        let text = String::from_utf8_lossy(&self.text[from..self.at]);
        let text = text.trim_start();
        if text.starts_with("if") {
            conditions.push(self.state.clone());
        } else if text.starts_with("el") {
            if let Some(state) = conditions.last() {
                self.state = state.clone();
            }
        } else if text.starts_with("endif") {
            conditions.pop();
        }
    }

    /// Skips to the end of the line, which may be continued.
    fn skip_line(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => return,
                b'\\' => {
                    self.next();
                    self.next();
                }
                b'/' if self.text.get(self.at + 1) == Some(&b'*') => {
                    self.next();
                    self.skip_comment();
                }
                _ => _ = self.next(),
            }
        }
    }

    fn skip_comment(&mut self) {
        self.next();
        while let Some(byte) = self.next() {
            if byte == b'*' && self.peek() == Some(b'/') {
                self.next();
                return;
            }
        }
    }

    fn skip_literal(&mut self, quote: u8) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => return,
                b'\\' => {
                    self.next();
                    self.next();
                }
                _ => {
                    self.next();
                    if byte == quote {
                        return;
                    }
                }
            }
        }
    }

    fn ends_in_raw_prefix(&self) -> bool {
        let before = &self.text[..self.at - 1];
        let word = before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
        let word: Vec<u8> = word.copied().collect();
        matches!(word.as_slice(), b"R" | b"RL" | b"Ru" | b"RU" | b"R8u")
    }

    /// `R"name( ... )name"`
    fn skip_raw(&mut self) {
        let rest = &self.text[self.at..];
        let Some(open) = rest.iter().position(|byte| *byte == b'(') else { return };
        let end = [b")".as_slice(), &rest[..open], b"\""].concat();
        let length = rest.windows(end.len()).position(|window| window == end).map(|at| at + end.len());
        for _ in 0..length.unwrap_or(rest.len()) {
            self.next();
        }
    }
}

/// The name before the first parenthesis, if this is the header of a function.
fn function_name(header: &str) -> Option<String> {
    let (before, _) = header.split_once('(')?;
    let before = before.trim_end();
    if before.contains('=') && !before.contains("operator") {
        return None;
    }
    if let Some(at) = before.find("operator") {
        let qualified = before[..at].rfind(' ').map_or(0, |space| space + 1);
        return Some(before[qualified..].to_owned());
    }
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '~' | '$');
    let name = &before[before.rfind(|c| !in_name(c)).map_or(0, |at| at + 1)..];
    let name = name.trim_start_matches(':');
    (!name.is_empty()).then(|| name.to_owned())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// `__attribute__((x))` and similar contain parentheses that do not enclose parameters.
fn without_attributes(header: &str) -> String {
    const ATTRIBUTES: [&str; 5] = ["__attribute__", "__attribute", "__declspec", "alignas", "_Alignas"];
    let mut out = header.to_owned();
    for word in ATTRIBUTES {
        while let Some(at) = out.find(word) {
            let rest = &out[at + word.len()..];
            let mut depth = 0;
            let end = rest.char_indices().find_map(|(index, c)| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                (depth == 0 && c == ')').then_some(index + 1)
            });
            out = format!("{} {}", out[..at].trim_end(), rest[end.unwrap_or(rest.len())..].trim_start());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str, line: u32) -> Option<String> {
        Functions::of(text.as_bytes()).around(line).map(str::to_owned)
    }

    #[test]
    fn functions_of_c() {
        let text = "static int x = 3;\nint f(int a)\n{\n  if (a) { return 1; }\n  char c = '{'; // }\n  return 0;\n}\n\
                    struct s { int m; };\n/* { */ __attribute__((noinline)) void g(void) {\n  f(1);\n}\nint t[] = { 1,\n 2 };\n\
                    int old(a, b)\n  int a;\n  char *b;\n{\n  return a;\n}\nint after;\n";
        for (line, name) in [
            (1, None),
            (2, Some("f")),
            (4, Some("f")),
            (7, Some("f")),
            (8, None),
            (10, Some("g")),
            (13, None),
            (18, Some("old")),
            (20, None),
        ] {
            assert_eq!(at(text, line).as_deref(), name, "line {line}");
        }
    }

    #[test]
    fn functions_of_cpp() {
        let text = "namespace n {\nclass A : public B {\n public:\n  A() : x_(0) {\n    y();\n  }\n  bool operator==(const A &o) const {\n    return true;\n  }\n};\n\
                    int n::A::get(int a) const {\n  auto f = [](int b) { return b; };\n  const char *s = R\"x(\n } \" )x\";\n  return 1'000;\n}\n}\n\
                    extern \"C\" {\nvoid c(void) {\n  int i;\n}\n}\n";
        for (line, name) in [
            (1, None),
            (5, Some("A")),
            (8, Some("operator==")),
            (10, None),
            (12, Some("n::A::get")),
            (15, Some("n::A::get")),
            (20, Some("c")),
        ] {
            assert_eq!(at(text, line).as_deref(), name, "line {line}");
        }
    }

    #[test]
    fn branches_of_conditions_begin_alike() {
        let text = "void f(int a) {\n#if X\n  if (a) {\n#else\n  while (a) {\n#endif\n    g();\n  }\n}\nvoid h(void) {\n  g();\n}\n";
        assert_eq!(at(text, 7).as_deref(), Some("f"));
        assert_eq!(at(text, 11).as_deref(), Some("h"));
    }

    proptest! {
        /// For any input the scan ends and lines stay within the file.
        #[test]
        fn any_text(text in "([{}();#\"'/*\\\\ a\n]|#if\n|#else\n|#endif\n|R\"\\(|int f\\(\\) \\{){0,60}") {
            let lines = u32::try_from(text.matches('\n').count()).unwrap() + 1;
            let found = Functions::of(text.as_bytes());
            prop_assert!(found.spans.iter().all(|(first, last, _)| first <= last && *last <= lines));
        }
    }
}
