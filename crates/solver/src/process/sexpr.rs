//! The output of a solver: S-expressions, parsed incrementally from bytes.
//!
//! No output may cause a panic or exhaust the stack: depth is bounded, and anything that is not an
//! S-expression is an error.

/// Maximum depth of lists. Answers to our queries have four levels.
const DEPTH: usize = 200;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Sexpr {
    /// A symbol, keyword or literal; the bars of a quoted symbol are removed.
    Atom(String),
    /// A string literal, without its quotes.
    Text(String),
    List(Vec<Sexpr>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ParseError {
    Unopened,
    TooDeep,
}

/// Splits a stream of bytes into expressions. `feed` adds bytes; `next` returns complete expressions.
#[derive(Default, Debug)]
pub(crate) struct Reader {
    bytes: Vec<u8>,
    /// The bytes before this index have been consumed.
    at: usize,
    /// The lists that are not closed yet.
    open: Vec<Vec<Sexpr>>,
}

impl Reader {
    pub fn feed(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Bytes that arrived but are not part of a complete expression yet.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    /// Whether an expression has begun.
    pub fn is_inside(&self) -> bool {
        !self.open.is_empty() || self.rest().iter().any(|byte| !byte.is_ascii_whitespace())
    }

    /// The next complete expression, or `None` if more bytes are needed.
    pub fn next(&mut self) -> Result<Option<Sexpr>, ParseError> {
        loop {
            let Some(&first) = self.bytes.get(self.at) else { return Ok(None) };
            let item = match first {
                b'(' => {
                    if self.open.len() >= DEPTH {
                        return Err(ParseError::TooDeep);
                    }
                    self.at += 1;
                    self.open.push(Vec::new());
                    continue;
                }
                b')' => {
                    self.at += 1;
                    Sexpr::List(self.open.pop().ok_or(ParseError::Unopened)?)
                }
                b';' => match self.find(self.at, b'\n') {
                    Some(end) => {
                        self.at = end + 1;
                        continue;
                    }
                    None => return Ok(None),
                },
                b'"' => match self.text() {
                    Some(text) => text,
                    None => return Ok(None),
                },
                b'|' => match self.find(self.at + 1, b'|') {
                    Some(end) => {
                        let atom = Sexpr::Atom(lossy(&self.bytes[self.at + 1..end]));
                        self.at = end + 1;
                        atom
                    }
                    None => return Ok(None),
                },
                byte if byte.is_ascii_whitespace() => {
                    self.at += 1;
                    continue;
                }
                _ => {
                    // An atom ends at a delimiter; until one has arrived the atom may continue.
                    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"()\";|".contains(byte);
                    let Some(len) = self.bytes[self.at..].iter().position(ends) else { return Ok(None) };
                    let atom = Sexpr::Atom(lossy(&self.bytes[self.at..self.at + len]));
                    self.at += len;
                    atom
                }
            };
            match self.open.last_mut() {
                Some(list) => list.push(item),
                None => return Ok(Some(item)),
            }
        }
    }

    fn find(&self, from: usize, wanted: u8) -> Option<usize> {
        self.bytes.get(from..)?.iter().position(|&byte| byte == wanted).map(|at| from + at)
    }

    /// A string literal, in which a doubled quote represents one.
    fn text(&mut self) -> Option<Sexpr> {
        let mut content = Vec::new();
        let mut from = self.at + 1;
        loop {
            let end = self.find(from, b'"')?;
            content.extend_from_slice(&self.bytes[from..end]);
            // Whether the quote is doubled is known only when the next byte has arrived.
            if *self.bytes.get(end + 1)? != b'"' {
                self.at = end + 1;
                return Some(Sexpr::Text(lossy(&content)));
            }
            content.push(b'"');
            from = end + 2;
        }
    }
}

impl Sexpr {
    pub fn atom(&self) -> Option<&str> {
        match self {
            Sexpr::Atom(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Sexpr]> {
        match self {
            Sexpr::List(items) => Some(items),
            _ => None,
        }
    }

    /// The message of `(error "…")`.
    pub fn error(&self) -> Option<String> {
        match self.list()? {
            [Sexpr::Atom(word), Sexpr::Text(text) | Sexpr::Atom(text), ..] if word == "error" => {
                Some(text.clone())
            }
            _ => None,
        }
    }

    /// A bit vector literal: `#x…`, `#b…`, `(_ bv… …)`; a truth value counts as one bit.
    pub fn number(&self) -> Option<u128> {
        match self {
            Sexpr::Atom(text) => match text.as_str() {
                "true" => Some(1),
                "false" => Some(0),
                _ => {
                    let (digits, radix) = match text.strip_prefix("#x") {
                        Some(digits) => (digits, 16),
                        None => (text.strip_prefix("#b")?, 2),
                    };
                    // `from_str_radix` would accept a sign.
                    let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
                    if plain { u128::from_str_radix(digits, radix).ok() } else { None }
                }
            },
            Sexpr::List(items) => match items.as_slice() {
                [Sexpr::Atom(mark), Sexpr::Atom(value), Sexpr::Atom(_)] if mark == "_" => {
                    let digits = value.strip_prefix("bv")?;
                    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
                    if plain { digits.parse().ok() } else { None }
                }
                _ => None,
            },
            Sexpr::Text(_) => None,
        }
    }

    /// The expression as text, for messages.
    pub fn shown(&self) -> String {
        let mut text = String::new();
        self.show(&mut text);
        if text.len() > 200 {
            let end = (0..=200).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            text.truncate(end);
            text.push('…');
        }
        text
    }

    /// The recursion is bounded by the reader's limit on depth.
    fn show(&self, into: &mut String) {
        match self {
            Sexpr::Atom(text) => into.push_str(text),
            Sexpr::Text(text) => {
                into.push('"');
                into.push_str(text);
                into.push('"');
            }
            Sexpr::List(items) => {
                into.push('(');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        into.push(' ');
                    }
                    item.show(into);
                }
                into.push(')');
            }
        }
    }
}

pub(crate) fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(chunks: &[&[u8]]) -> Result<Vec<Sexpr>, ParseError> {
        let mut reader = Reader::default();
        let mut found = Vec::new();
        for chunk in chunks {
            reader.feed(chunk);
            while let Some(item) = reader.next()? {
                found.push(item);
            }
        }
        Ok(found)
    }

    fn shown(text: &str) -> Vec<String> {
        all(&[text.as_bytes()]).unwrap().iter().map(Sexpr::shown).collect()
    }

    #[test]
    fn answers_are_read() {
        assert_eq!(shown("sat\n"), ["sat"]);
        assert_eq!(shown("((v1 #x61) (v2 (_ bv5 8)))\nunsat "), ["((v1 #x61) (v2 (_ bv5 8)))", "unsat"]);
        assert_eq!(shown("; hello\n|a b|("), ["a b"]);
        let error = &all(&[b"(error \"not \"\"so\"\" good\")"]).unwrap()[0];
        assert_eq!(error.error().as_deref(), Some("not \"so\" good"));
        // An incomplete answer is not returned.
        assert!(shown("sat").is_empty());
        assert!(shown("(error \"x").is_empty());
        assert_eq!(all(&[b")"]), Err(ParseError::Unopened));
        assert_eq!(all(&["(".repeat(1_000_000).as_bytes()]), Err(ParseError::TooDeep));
    }

    #[test]
    fn numbers_are_read() {
        let number = |text: &str| all(&[text.as_bytes(), b"\n"]).unwrap()[0].number();
        assert_eq!(number("#x0aF"), Some(0xaf));
        assert_eq!(number("#b101"), Some(5));
        assert_eq!(number("(_ bv340282366920938463463374607431768211455 128)"), Some(u128::MAX));
        for text in [
            "#x",
            "#b2",
            "#x+1",
            "(_ bv+1 8)",
            "(_ bv 8)",
            "(- 1)",
            "7",
            "(_ bv999999999999999999999999999999999999999999 8)",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }

    /// Texts that resemble answers, split at arbitrary positions.
    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just("(".to_owned()),
            Just(")".to_owned()),
            Just("\"".to_owned()),
            Just("|".to_owned()),
            Just(" ".to_owned()),
            Just("\n".to_owned()),
            Just(";".to_owned()),
            Just("#x0f".to_owned()),
            Just("(_ bv5 8)".to_owned()),
            Just("(error \"a\")".to_owned()),
            "[a-z#0-9]{1,5}",
        ];
        prop_oneof![
            proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat().into_bytes()),
            proptest::collection::vec(any::<u8>(), 0..200),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn nothing_makes_the_reader_panic_and_chunks_do_not_matter(
            bytes in texts(),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6),
        ) {
            let whole = all(&[&bytes]);
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(&whole, &all(&chunks));
            for item in whole.into_iter().flatten() {
                item.number();
                item.error();
                prop_assert!(item.shown().chars().count() <= 201);
            }
        }

        #[test]
        fn what_is_written_is_read_again(bytes in texts()) {
            for item in all(&[&bytes]).into_iter().flatten() {
                let text = item.shown();
                // Bars and quotes are not written back, so only expressions that need none are compared.
                let simple = !text.contains(['"', '|', '…', ';']) && !text.contains("()") && !text.is_empty()
                    && text.chars().all(|c| c.is_ascii_graphic() || c == ' ');
                if simple && !matches!(&item, Sexpr::Atom(atom) if atom.contains([' ', '(', ')'])) && !quoted_inside(&item) {
                    prop_assert_eq!(all(&[text.as_bytes(), b"\n"]), Ok(vec![item]));
                }
            }
        }
    }

    fn quoted_inside(item: &Sexpr) -> bool {
        match item {
            Sexpr::Atom(text) => text.is_empty() || text.contains([' ', '(', ')', '\n']),
            Sexpr::Text(_) => true,
            Sexpr::List(items) => items.iter().any(quoted_inside),
        }
    }
}
