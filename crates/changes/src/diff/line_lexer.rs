//! Lines as a compiler reads them: tokens without spaces and comments.
//!
//! This is not a parser. It answers three questions about the lines of a file: whether two ranges have the
//! same code (regardless of layout), how similar two lines are, and whether a group of lines opens more
//! brackets than it closes.

use super::language::{Comments, Language};
use xxhash_rust::xxh3::xxh3_64;

/// The lines of a file, tokenised.
pub(super) struct Lexed {
    /// Hashes of token texts, of all lines in sequence.
    tokens: Vec<u64>,
    lines: Vec<LexedLine>,
}

struct LexedLine {
    /// Index after its last token.
    end: u32,
    /// Hash of its comment text, 0 if it has none.
    comment: u64,
    balance: Balance,
    ending: Ending,
    /// The open construct after this line.
    inside: u64,
}

/// Opened minus closed: braces, parentheses, brackets, `#if`.
pub(super) type Balance = [i32; 4];

/// How the last line with code of a group ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// No code.
    Blank,
    /// A statement, a block or a directive ends here.
    Closed,
    /// A comma: the next item of a list follows.
    Comma,
    /// The statement continues on the next line.
    Open,
    /// Continued by a backslash.
    Continued,
}

const NEWLINE: u64 = 1;

impl Lexed {
    pub fn new(language: Language, lines: &[&[u8]]) -> Lexed {
        let mut lexer = Lexer {
            language,
            tokens: Vec::new(),
            inside: Inside::Code,
            directive: false,
            ending: Ending::Blank,
        };
        let mut out = Vec::with_capacity(lines.len());
        for line in lines {
            out.push(lexer.line(line));
        }
        Lexed { tokens: lexer.tokens, lines: out }
    }

    /// Tokens of a range of lines.
    pub fn tokens(&self, from: u32, to: u32) -> &[u64] {
        &self.tokens[self.token_at(from)..self.token_at(to)]
    }

    fn token_at(&self, line: u32) -> usize {
        line.checked_sub(1).map_or(0, |before| self.lines[before as usize].end as usize)
    }

    /// Comments of a range of lines.
    pub fn comments(&self, from: u32, to: u32) -> impl Iterator<Item = u64> + '_ {
        self.lines[from as usize..to as usize].iter().map(|line| line.comment).filter(|comment| *comment != 0)
    }

    /// The open construct before a line (a comment, a string, a directive).
    pub fn inside(&self, line: u32) -> u64 {
        line.checked_sub(1).map_or(0, |before| self.lines[before as usize].inside)
    }

    pub fn balance(&self, from: u32, to: u32) -> Balance {
        let mut sum = Balance::default();
        for line in &self.lines[from as usize..to as usize] {
            for (sum, part) in sum.iter_mut().zip(line.balance) {
                *sum += part;
            }
        }
        sum
    }

    pub fn ending(&self, from: u32, to: u32) -> Ending {
        self.lines[from as usize..to as usize]
            .iter()
            .rev()
            .map(|line| line.ending)
            .find(|ending| *ending != Ending::Blank)
            .unwrap_or(Ending::Blank)
    }
}

/// The construct that is open at the end of a line.
#[derive(Clone, PartialEq, Eq)]
enum Inside {
    Code,
    Comment,
    /// A multi-line string, ended by this text.
    Text(Vec<u8>),
}

struct Lexer {
    language: Language,
    tokens: Vec<u64>,
    inside: Inside,
    /// The last line was a directive that is continued.
    directive: bool,
    ending: Ending,
}

impl Lexer {
    fn line(&mut self, line: &[u8]) -> LexedLine {
        let first = self.tokens.len();
        let mut comment = Vec::new();
        let mut balance = Balance::default();
        self.ending = Ending::Blank;
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let body = text.strip_suffix(b"\r").unwrap_or(text);
        let continued = body.ends_with(b"\\");
        // Where every space is significant, carriage returns are too.
        let text = if self.language.free_space { body } else { text };
        let mut at = 0;
        while at < text.len() {
            at = self.step(text, at, first, &mut comment, &mut balance);
        }
        if self.directive {
            self.ending = if continued { Ending::Continued } else { Ending::Closed };
        }
        let has_code = self.tokens.len() > first;
        // In a multi-line string, the line end is part of the string.
        let in_text = matches!(self.inside, Inside::Text(_));
        if in_text || (has_code && (!self.language.free_lines || self.directive)) {
            self.tokens.push(NEWLINE);
        }
        self.directive = self.directive && continued;
        LexedLine {
            end: u32::try_from(self.tokens.len()).unwrap_or(u32::MAX),
            comment: if comment.is_empty() { 0 } else { xxh3_64(&comment) | 1 },
            balance,
            ending: self.ending,
            inside: self.inside_key(),
        }
    }

    fn inside_key(&self) -> u64 {
        match &self.inside {
            Inside::Code => u64::from(self.directive),
            Inside::Comment => 2,
            Inside::Text(end) => xxh3_64(end) | 4,
        }
    }

    /// Consumes one token, comment or run of white space. Returns the position after it.
    fn step(
        &mut self,
        text: &[u8],
        at: usize,
        first: usize,
        comment: &mut Vec<u8>,
        balance: &mut Balance,
    ) -> usize {
        let rest = &text[at..];
        match &self.inside {
            Inside::Comment => {
                let end = find(rest, b"*/").map(|end| end + 2);
                comment.extend(rest[..end.unwrap_or(rest.len())].trim_ascii());
                if end.is_some() {
                    self.inside = Inside::Code;
                }
                return at + end.unwrap_or(rest.len());
            }
            Inside::Text(close) => {
                let end = find(rest, close).map(|end| end + close.len());
                if end.is_some() {
                    self.inside = Inside::Code;
                }
                return at + self.token(&rest[..end.unwrap_or(rest.len())]);
            }
            Inside::Code => {}
        }
        let byte = rest[0];
        if byte.is_ascii_whitespace() {
            let len = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if !self.language.free_space {
                self.tokens.push(xxh3_64(&rest[..len]));
            }
            return at + len;
        }
        match self.language.comments {
            Comments::Slashes if rest.starts_with(b"//") => {
                comment.extend(rest.trim_ascii());
                return text.len();
            }
            Comments::Slashes if rest.starts_with(b"/*") => {
                comment.extend(b"/*");
                self.inside = Inside::Comment;
                return at + 2;
            }
            Comments::Hash if byte == b'#' && (at == 0 || text[at - 1].is_ascii_whitespace()) => {
                comment.extend(rest.trim_ascii());
                // The space before a comment belongs to the comment.
                if at > 0 && self.tokens.len() > first && !self.language.free_space {
                    self.tokens.pop();
                }
                return text.len();
            }
            _ => {}
        }
        at + self.code(rest, first, balance)
    }

    /// Consumes one token at the beginning of `rest`, which is neither space nor comment.
    fn code(&mut self, rest: &[u8], first: usize, balance: &mut Balance) -> usize {
        let byte = rest[0];
        let language = self.language;
        if language.directives && byte == b'#' && self.tokens.len() == first {
            self.directive = true;
            let word: Vec<u8> =
                rest[1..].trim_ascii_start().iter().copied().take_while(u8::is_ascii_alphabetic).collect();
            if word.starts_with(b"if") {
                balance[3] += 1;
            } else if word == b"endif" {
                balance[3] -= 1;
            }
        }
        if language.triple_quotes && (rest.starts_with(b"\"\"\"") || rest.starts_with(b"'''")) {
            self.inside = Inside::Text(rest[..3].to_vec());
            return self.token(&rest[..3]);
        }
        if language.backticks && byte == b'`' {
            self.inside = Inside::Text(b"`".to_vec());
            return self.token(&rest[..1]);
        }
        if language.directives && rest.starts_with(b"R\"") {
            let delimiter: Vec<u8> = rest[2..].iter().copied().take_while(|byte| *byte != b'(').collect();
            if delimiter.len() <= 16 && rest.get(2 + delimiter.len()) == Some(&b'(') {
                self.inside = Inside::Text([b")", delimiter.as_slice(), b"\""].concat());
                return self.token(&rest[..3 + delimiter.len()]);
            }
        }
        let quote = byte == b'"' || (byte == b'\'' && (!language.lifetimes || closes_soon(rest)));
        if quote && language.comments != Comments::Nothing {
            return self.token(&rest[..quoted(rest)]);
        }
        if is_word(byte) {
            return self.token(&rest[..rest.iter().take_while(|byte| is_word(**byte)).count()]);
        }
        match byte {
            b'{' => balance[0] += 1,
            b'}' => balance[0] -= 1,
            b'(' => balance[1] += 1,
            b')' => balance[1] -= 1,
            b'[' => balance[2] += 1,
            b']' => balance[2] -= 1,
            _ => {}
        }
        self.token(&rest[..operator(rest)])
    }

    fn token(&mut self, text: &[u8]) -> usize {
        self.tokens.push(xxh3_64(text));
        self.ending = match (self.language.comments, text) {
            (Comments::Slashes, [.., b';' | b'{' | b'}' | b':']) => Ending::Closed,
            (Comments::Slashes, [.., b',']) => Ending::Comma,
            (_, b"\\") => Ending::Continued,
            (Comments::Slashes, _) => Ending::Open,
            _ => Ending::Closed,
        };
        text.len()
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// Length of a quoted text. It ends at the end of the line at the latest.
fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == rest[0] => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn closes_soon(rest: &[u8]) -> bool {
    rest.get(1) == Some(&b'\\') || rest.iter().skip(2).take(4).any(|byte| *byte == b'\'')
}

fn operator(rest: &[u8]) -> usize {
    const THREE: [&[u8]; 4] = [b"<<=", b">>=", b"...", b"->*"];
    const TWO: [&[u8]; 22] = [
        b"++", b"--", b"->", b"<<", b">>", b"<=", b">=", b"==", b"!=", b"&&", b"||", b"+=", b"-=", b"*=",
        b"/=", b"%=", b"&=", b"|=", b"^=", b"##", b"::", b"=>",
    ];
    if THREE.iter().any(|operator| rest.starts_with(operator)) {
        3
    } else if TWO.iter().any(|operator| rest.starts_with(operator)) {
        2
    } else {
        1
    }
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(path: &str, text: &str) -> Lexed {
        let lines: Vec<&[u8]> = text.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
        Lexed::new(Language::of(path), &lines)
    }

    fn same(path: &str, a: &str, b: &str) -> bool {
        let count = |text: &str| u32::try_from(text.lines().count()).unwrap();
        lex(path, a).tokens(0, count(a)) == lex(path, b).tokens(0, count(b))
    }

    #[test]
    fn layout_means_nothing_in_c() {
        assert!(same("a.c", "if(x){y=1;}", "if (x)\n{\n  y = 1; // set\n}\n"));
        assert!(same("a.c", "a = b; /* one\n two */ c = d;\n", "a = b; c = d;\n"));
        assert!(!same("a.c", "puts(\"a b\");", "puts(\"a  b\");"));
        assert!(!same("a.c", "puts(\"a // b\");", "puts(\"a \");"));
        assert!(!same("a.c", "x = a + +b;", "x = a ++b;"));
        assert!(!same("a.c", "int ab;", "inta b;"));
        assert!(!same("a.c", "#define A\nb;\n", "#define A b;\n"));
        assert!(same("a.c", "char q = '\"'; x;\n", "char q = '\"';  x; /* \" */\n"));
    }

    #[test]
    fn layout_means_much_elsewhere() {
        assert!(!same("a.py", "  x\n", "x\n"));
        assert!(!same("Makefile", "\tcc\n", "    cc\n"));
        assert!(same("Makefile", "\tcc\n", "\tcc # compile\n"));
        assert!(same("a.sh", "a b\n", "a b # c\n"));
        assert!(!same("a.sh", "a$#b\n", "a$#c\n"));
        assert!(!same("notes", "# a\n", "# b\n"));
        assert!(!same("a.py", "x = '''\n# a\n'''\n", "x = '''\n# b\n'''\n"));
    }

    #[test]
    fn brackets_and_endings() {
        let text = lex("a.c", "if (x) {\n  f(a,\n    \"}\");\n#if A\n#endif\n");
        assert_eq!(text.balance(0, 1), [1, 0, 0, 0]);
        assert_eq!(text.balance(1, 2), [0, 1, 0, 0]);
        assert_eq!(text.balance(1, 3), [0, 0, 0, 0]);
        assert_eq!(text.balance(3, 4), [0, 0, 0, 1]);
        assert_eq!(text.ending(1, 2), Ending::Comma);
        assert_eq!(text.ending(0, 3), Ending::Closed);
        assert_eq!(lex("a.c", "x = a +\n").ending(0, 1), Ending::Open);
    }

    #[test]
    fn an_open_comment_is_seen_behind_the_line() {
        let text = lex("a.c", "a /* b\nc\n*/ d\n");
        assert_eq!(text.inside(0), 0);
        assert_ne!(text.inside(1), 0);
        assert_ne!(text.inside(2), 0);
        assert_eq!(text.inside(3), 0);
        assert_eq!(text.tokens(1, 2).len(), 0);
    }
}
