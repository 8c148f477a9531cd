//! Prepares the text for the parser: parts that would confuse it are blanked out.
//!
//! No preprocessor runs, so a grammar sees both branches of an `#if`. If each opens a brace and only one is
//! closed, the rest of the file is an error. Here the lines of conditional directives are replaced by spaces,
//! and so is a branch that cannot be combined with its alternatives. The branch of each line is recorded for
//! splitting. Macros in the position of specifiers (`LIB_API int f(void)`) are replaced by spaces too. All
//! other bytes keep their offsets.
//!
//! The cost is one pass over the text.

use std::ops::Range;

const NONE: u32 = u32::MAX;

/// Lines between two conditional directives, from 0.
#[derive(Clone, Debug)]
struct Branch {
    lines: Range<u32>,
    outer: u32,
    depth: u32,
    blank: bool,
}

/// The conditional branches that each line is in.
#[derive(Default)]
pub(super) struct Conditionals {
    branches: Vec<Branch>,
    /// The branch around the border before each line.
    around: Vec<u32>,
    /// Bytes that the parser does not see, and the lines at which they begin.
    pub unseen: Vec<(u32, Range<usize>)>,
}

impl Conditionals {
    /// Number of conditionals around the border before a line, if all of `lines` is in the same branch of
    /// each and the parser has seen it.
    pub fn depth(&self, lines: &Range<u32>, line: u32) -> Option<u32> {
        let Some(branch) =
            self.around.get(line as usize).and_then(|number| self.branches.get(*number as usize))
        else {
            return Some(0);
        };
        let holds = branch.lines.start <= lines.start && lines.end <= branch.lines.end;
        let mut seen = true;
        let mut at = Some(branch);
        while let Some(branch) = at {
            seen &= !branch.blank;
            at = self.branches.get(branch.outer as usize);
        }
        (holds && seen).then_some(branch.depth)
    }
}

/// The brackets and the last character of a branch, which decide whether it is complete by itself.
#[derive(Clone, Copy, Debug, Default)]
struct Content {
    braces: i32,
    parentheses: i32,
    last: u8,
}

impl Content {
    fn is_self_contained(&self) -> bool {
        let ended = matches!(self.last, 0 | b';' | b'}' | b':' | b',');
        self.braces == 0 && self.parentheses == 0 && ended
    }
}

/// An open conditional.
struct Open {
    /// Its branches so far.
    branches: Vec<(u32, Content)>,
    /// The condition is a plain 0.
    never: bool,
    /// Start offsets of its branches.
    starts: Vec<usize>,
}

struct Masker<'a> {
    text: &'a [u8],
    masked: Vec<u8>,
    out: Conditionals,
    open: Vec<Open>,
    in_comment: bool,
}

pub(super) fn mask(text: &[u8]) -> (Vec<u8>, Conditionals) {
    let mut masker = Masker {
        text,
        masked: text.to_vec(),
        out: Conditionals::default(),
        open: Vec::new(),
        in_comment: false,
    };
    let mut at = 0;
    let mut line = 0;
    let mut directive: Option<bool> = None;
    for full in text.split_inclusive(|byte| *byte == b'\n') {
        masker.out.around.push(masker.current());
        let range = at..at + full.len();
        at = range.end;
        let conditional = match directive.take() {
            Some(conditional) => Some(conditional),
            None => masker.directive(line, &range),
        };
        match conditional {
            Some(true) => masker.blank(line, range.clone()),
            Some(false) => masker.scan_comments(&range),
            None => {
                masker.specifiers(&range);
                masker.scan(&range);
            }
        }
        let body = full.trim_ascii_end();
        if conditional.is_some() && body.ends_with(b"\\") {
            directive = conditional;
        }
        line += 1;
    }
    masker.out.around.push(masker.current());
    while !masker.open.is_empty() {
        masker.close(line, text.len());
    }
    // A blanked branch includes the directives within it.
    let unseen = &mut masker.out.unseen;
    unseen.sort_by_key(|(_, range)| (range.start, std::cmp::Reverse(range.end)));
    let mut seen_to = 0;
    unseen.retain(|(_, range)| {
        let new = range.end > seen_to;
        seen_to = seen_to.max(range.end);
        new
    });
    (masker.masked, masker.out)
}

impl Masker<'_> {
    fn current(&self) -> u32 {
        self.open.last().and_then(|open| open.branches.last()).map_or(NONE, |(number, _)| *number)
    }

    /// Processes a line if it is a directive. Returns whether it is a conditional one.
    fn directive(&mut self, line: u32, range: &Range<usize>) -> Option<bool> {
        if self.in_comment {
            return None;
        }
        let rest = self.text[range.clone()].trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let condition = rest[word..].trim_ascii();
        match &rest[..word] {
            b"if" | b"ifdef" | b"ifndef" => {
                let never = condition == b"0" || condition.starts_with(b"0 ");
                self.open.push(Open { branches: Vec::new(), never, starts: Vec::new() });
                self.branch(line + 1, range.end);
            }
            b"else" | b"elif" | b"elifdef" | b"elifndef" => {
                self.end_branch(line);
                self.branch(line + 1, range.end);
            }
            b"endif" => self.close(line, range.start),
            _ => return Some(false),
        }
        Some(true)
    }

    fn branch(&mut self, first: u32, start: usize) {
        let depth = u32::try_from(self.open.len()).unwrap_or(NONE);
        let outer = self.open.len().checked_sub(2).and_then(|outer| self.open[outer].branches.last());
        let outer = outer.map_or(NONE, |(number, _)| *number);
        let number = u32::try_from(self.out.branches.len()).unwrap_or(NONE);
        if let Some(open) = self.open.last_mut() {
            self.out.branches.push(Branch { lines: first..first, outer, depth, blank: false });
            open.branches.push((number, Content::default()));
            open.starts.push(start);
        }
    }

    fn end_branch(&mut self, line: u32) {
        if let Some((number, _)) = self.open.last().and_then(|open| open.branches.last()) {
            self.out.branches[*number as usize].lines.end = line;
        }
    }

    /// Ends the innermost conditional and selects the branches to keep: all of them if each is complete by
    /// itself, else the first one that can be compiled.
    fn close(&mut self, line: u32, end: usize) {
        self.end_branch(line);
        let Some(open) = self.open.pop() else { return };
        let alone = open.branches.iter().all(|(_, content)| content.is_self_contained());
        let kept = usize::from(open.never);
        for (place, (number, content)) in open.branches.iter().enumerate() {
            let stays = if open.never && place == 0 { false } else { alone || place == kept };
            let first = self.out.branches[*number as usize].lines.start;
            if stays {
                // A kept branch is part of the branch around it.
                if let Some((_, outer)) = self.open.last_mut().and_then(|outer| outer.branches.last_mut()) {
                    outer.braces += content.braces;
                    outer.parentheses += content.parentheses;
                    outer.last = if content.last == 0 { outer.last } else { content.last };
                }
            } else {
                self.out.branches[*number as usize].blank = true;
                let until = open.starts.get(place + 1).copied().unwrap_or(end);
                self.blank(first, open.starts[place]..until);
            }
        }
    }

    fn blank(&mut self, line: u32, range: Range<usize>) {
        for byte in &mut self.masked[range.clone()] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        self.out.unseen.push((line, range));
    }

    /// Only tracks where comments begin and end.
    fn scan_comments(&mut self, range: &Range<usize>) {
        self.each_code_byte(range, |_, _| {});
    }

    fn scan(&mut self, range: &Range<usize>) {
        self.each_code_byte(range, |content, byte| {
            match byte {
                b'{' => content.braces += 1,
                b'}' => content.braces -= 1,
                b'(' => content.parentheses += 1,
                b')' => content.parentheses -= 1,
                _ => {}
            }
            content.last = byte;
        });
    }

    /// Visits the bytes of a line that are neither space nor comment; of a literal only its opening quote.
    fn each_code_byte(&mut self, range: &Range<usize>, mut take: impl FnMut(&mut Content, u8)) {
        let line = &self.text[range.clone()];
        let mut ignored = Content::default();
        let open = self.open.last_mut().and_then(|open| open.branches.last_mut());
        let content = open.map_or(&mut ignored, |(_, content)| content);
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            if self.in_comment {
                let end = rest.windows(2).position(|pair| pair == b"*/");
                self.in_comment = end.is_none();
                at += end.map_or(rest.len(), |end| end + 2);
            } else if rest.starts_with(b"/*") {
                self.in_comment = true;
                at += 2;
            } else if rest.starts_with(b"//") {
                return;
            } else if matches!(rest[0], b'"' | b'\'') {
                let mut end = 1;
                while end < rest.len() && rest[end] != rest[0] {
                    end += 1 + usize::from(rest[end] == b'\\');
                }
                take(content, rest[0]);
                at += end + 1;
            } else {
                if !rest[0].is_ascii_whitespace() {
                    take(content, rest[0]);
                }
                at += 1;
            }
        }
    }

    /// Blanks macros among the specifiers of a declaration in the first column: if there are more words
    /// before its first other character than a type and a name, the superfluous ones are those in capitals.
    fn specifiers(&mut self, range: &Range<usize>) {
        let line = &self.text[range.clone()];
        if self.in_comment || !line.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_') {
            return;
        }
        let mut words: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while at < line.len() && (is_word(line[at]) || matches!(line[at], b' ' | b'\t' | b'*')) {
            let length = line[at..].iter().take_while(|byte| is_word(**byte)).count();
            if length > 0 {
                words.push(at..at + length);
            }
            at += length.max(1);
        }
        let (mut typed, mut free, mut tag) = (false, 0_usize, false);
        for word in &words {
            match specifier(&line[word.clone()]) {
                Specifier::Type => typed = true,
                Specifier::Tag => (typed, tag) = (true, true),
                Specifier::Other => {}
                Specifier::No if tag => tag = false,
                Specifier::No => free += 1,
            }
        }
        let mut surplus = free.saturating_sub(if typed { 1 } else { 2 });
        let Some((_, before_name)) = words.split_last() else { return };
        for word in before_name {
            let text = &line[word.clone()];
            let capital = text.len() > 1 && !text.iter().any(u8::is_ascii_lowercase);
            if surplus > 0 && capital && specifier(text) == Specifier::No {
                surplus -= 1;
                self.masked[range.start + word.start..range.start + word.end].fill(b' ');
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Specifier {
    /// A complete type.
    Type,
    /// Turns the name after it into a type.
    Tag,
    Other,
    No,
}

fn specifier(word: &[u8]) -> Specifier {
    match word {
        b"void" | b"char" | b"short" | b"int" | b"long" | b"float" | b"double" | b"signed" | b"unsigned"
        | b"bool" | b"_Bool" | b"auto" => Specifier::Type,
        b"struct" | b"union" | b"enum" | b"class" | b"typename" => Specifier::Tag,
        b"static" | b"extern" | b"inline" | b"const" | b"volatile" | b"register" | b"typedef"
        | b"__inline" | b"__inline__" | b"__extension__" | b"restrict" | b"constexpr" | b"virtual"
        | b"explicit" | b"friend" | b"return" | b"else" | b"case" | b"goto" | b"using" | b"namespace"
        | b"template" | b"public" | b"private" | b"protected" => Specifier::Other,
        _ => Specifier::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        let (masked, _) = mask(text.as_bytes());
        assert_eq!(masked.len(), text.len());
        // Without the spaces that replaced blanked text.
        let lines: Vec<String> =
            String::from_utf8(masked).unwrap().lines().map(|line| line.trim().to_owned()).collect();
        lines.join("|")
    }

    #[test]
    fn branches_that_stand_alone_stay() {
        assert_eq!(masked("#if A\nint a;\n#else\nint b;\n#endif\nx;\n"), "|int a;||int b;||x;");
        assert_eq!(masked("#if 0\nextern {\n#endif\nx;\n#if 0\n}\n#endif\n"), "|||x;|||");
        assert_eq!(masked("#if 0\na;\n#else\nb;\n#endif\n"), "|||b;|");
    }

    #[test]
    fn one_of_two_half_branches_stays() {
        let half = "#ifdef A\nif (x) {\n#else\nif (y) {\n#endif\n  z;\n}\n";
        assert_eq!(masked(half), "|if (x) {||||z;|}");
        assert_eq!(masked("#if A\nf(1,\n#else\nf(2,\n#endif\n3);\n"), "|f(1,||||3);");
        // Unless they are nested in a kept branch and each is complete.
        let nested = "#if A\n#if B\nx;\n#endif\ny;\n#else\nz;\n#endif\n";
        assert_eq!(masked(nested), "||x;||y;||z;|");
        // Comments and literals are ignored.
        assert_eq!(
            masked("#if A\na('{'); /* {\n#else\n*/\n#else\nb;\n#endif\n"),
            "|a('{'); /* {|#else|*/||b;|"
        );
    }

    #[test]
    fn macros_are_no_specifiers() {
        assert_eq!(masked("LIB_API int f(void);\n"), "int f(void);");
        assert_eq!(masked("LIB_API state *f(void);\n"), "state *f(void);");
        assert_eq!(masked("static int LIB_INLINE f(void)\n"), "static int            f(void)");
        assert_eq!(masked("BOOL f(void);\n"), "BOOL f(void);");
        assert_eq!(masked("DWORD WINAPI f(void);\n"), "WINAPI f(void);");
        assert_eq!(masked("struct NODE *f(void);\n"), "struct NODE *f(void);");
        assert_eq!(masked("static FILE *out;\n"), "static FILE *out;");
    }

    #[test]
    fn lines_know_their_branch() {
        let text = "a;\n#if A\nb;\nc;\n#else\nd;\n#endif\ne;\n";
        let (_, conditionals) = mask(text.as_bytes());
        assert_eq!(conditionals.depth(&(2..4), 3), Some(1));
        // The lines extend beyond the branch.
        assert_eq!(conditionals.depth(&(2..5), 3), None);
        assert_eq!(conditionals.depth(&(0..8), 1), Some(0));
        assert_eq!(conditionals.depth(&(0..8), 7), Some(0));
        assert_eq!(conditionals.depth(&(0..8), 2), None);
    }
}
