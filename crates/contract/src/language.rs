//! Contracts as data: cases, clauses, predicates, with their locations.

use expression::Expression;
use std::fmt;
use std::sync::Arc;

/// A text that contains contracts.
#[derive(Debug, PartialEq, Eq)]
pub struct Source {
    /// The displayed name: relative to the version, or as the user gave it.
    pub file: String,
    /// The whole text; spans are byte offsets in it.
    pub text: String,
}

/// A byte range of a source.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The text that contains the range.
    pub source: Arc<Source>,
    /// Byte offset of the beginning.
    pub start: usize,
    /// Byte offset of the end, exclusive.
    pub end: usize,
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_and_column();
        write!(f, "{}:{line}:{column}", self.source.file)
    }
}

impl Place {
    /// A part of this range; `span` is relative to its start.
    #[must_use]
    pub fn part(&self, span: &std::ops::Range<usize>) -> Place {
        let at = |n: usize| self.start.saturating_add(n).min(self.source.text.len());
        Place { source: self.source.clone(), start: at(span.start), end: at(span.end) }
    }

    /// From 1; columns count characters.
    #[must_use]
    pub fn line_and_column(&self) -> (u32, u32) {
        let before = self.source.text.get(..self.start).unwrap_or_default();
        let line = before.bytes().filter(|b| *b == b'\n').count() as u32 + 1;
        let start = before.rfind('\n').map_or(0, |n| n + 1);
        (line, before[start..].chars().count() as u32 + 1)
    }

    /// The text of the range on one line, with white space collapsed.
    #[must_use]
    pub fn text(&self) -> String {
        let text = self.source.text.get(self.start..self.end).unwrap_or_default();
        let lines = text.lines().map(|line| {
            let line = line.trim_start();
            line.strip_prefix("//@").or_else(|| line.strip_prefix('@')).unwrap_or(line)
        });
        lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
    }

    /// The line, and below it carets under the range.
    #[must_use]
    pub fn caret(&self) -> String {
        let text = &self.source.text;
        let start = text.get(..self.start).and_then(|t| t.rfind('\n')).map_or(0, |n| n + 1);
        let line = text.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
        let before = text.get(start..self.start).unwrap_or_default();
        let blanks: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let rest = line.len().saturating_sub(before.len());
        let marked = text.get(self.start..self.end.min(self.start + rest)).unwrap_or_default();
        format!("{line}\n{blanks}{}", "^".repeat(marked.chars().count().max(1)))
    }
}

/// The intended changes of one function.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    /// Its location.
    pub place: Place,
    /// Results that count as abnormal termination, under a user-defined name.
    pub errors: Vec<NamedError>,
    /// Empty: nothing may change.
    pub cases: Vec<Case>,
}

/// `error: \result < 0`
#[derive(Clone, Debug, PartialEq)]
pub struct NamedError {
    /// The name by which `signals` and `when_signaled` refer to it.
    pub name: String,
    /// Evaluated after a call that returned.
    pub predicate: Predicate,
}

/// One `changed_behavior`. Clauses of one kind are conjoined.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The location of the whole case.
    pub place: Place,
    /// Conditions before the call in bad.
    pub requires: Vec<Predicate>,
    /// Obligations after a call of bad that returned.
    pub ensures: Vec<Predicate>,
    /// Conditions after a call of good that returned.
    pub when_ensured: Vec<Predicate>,
    /// Obligations after a call of bad that terminated abnormally in this way.
    pub signals: Vec<(Kind, Predicate)>,
    /// Conditions after a call of good that terminated abnormally in this way.
    pub when_signaled: Vec<(Kind, Predicate)>,
}

/// The kinds of abnormal termination of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `any`: any of the following.
    Any,
    /// The process aborted itself; this is also the signal `SIGABRT`.
    Abort,
    /// By name, such as `SIGSEGV`; none for every signal except that of `abort`.
    Signal(Option<String>),
    /// With this status, or with any.
    Exit(Option<u32>),
    /// A C++ exception of this type, or of any.
    Throw(Option<String>),
    /// An error that the contract itself names.
    Named(String),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Any => write!(f, "any"),
            Kind::Abort => write!(f, "abort"),
            Kind::Signal(None) => write!(f, "signal"),
            Kind::Signal(Some(name)) => write!(f, "signal {name}"),
            Kind::Exit(None) => write!(f, "exit"),
            Kind::Exit(Some(status)) => write!(f, "exit {status}"),
            Kind::Throw(None) => write!(f, "throw"),
            Kind::Throw(Some(ty)) => write!(f, "throw {ty}"),
            Kind::Named(name) => write!(f, "{name}"),
        }
    }
}

/// A C expression with the forms of contracts. In the tree, `\result` is the name `$result`, `\old(e)` a call
/// of `$old`, and the quantifier number 0 the name `$0`.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    /// The range of the expression; its spans are relative to it.
    pub place: Place,
    /// Including the keyword.
    pub clause: Place,
    /// The expression with its forms replaced by identifiers.
    pub expression: Expression,
    /// The quantifiers, by their numbers in the names.
    pub quantifiers: Vec<Quantifier>,
}

/// `\forall int i; 0 <= i && i < n; a[i] >= 0`
#[derive(Clone, Debug, PartialEq)]
pub struct Quantifier {
    /// `\forall` if true, else `\exists`.
    pub all: bool,
    /// In C syntax.
    pub ty: String,
    /// The name of the variable.
    pub variable: String,
    /// Restricts the values; its comparisons must bound the variable on both sides.
    pub range: Predicate,
    /// What holds for all or for one of these values.
    pub body: Predicate,
}

/// Maximum nesting of quantifiers.
pub const MAX_QUANTIFIERS: usize = 8;

impl Contract {
    /// A contract without cases.
    #[must_use]
    pub fn unchanged(place: Place) -> Contract {
        Contract { place, errors: Vec::new(), cases: Vec::new() }
    }

    /// All predicates, including those inside quantifiers.
    #[must_use]
    pub fn predicates(&self) -> Vec<&Predicate> {
        let mut all: Vec<&Predicate> = self.errors.iter().map(|e| &e.predicate).collect();
        for case in &self.cases {
            all.extend(case.requires.iter().chain(&case.ensures).chain(&case.when_ensured));
            all.extend(case.signals.iter().chain(&case.when_signaled).map(|(_, p)| p));
        }
        let mut next = 0;
        while next < all.len() {
            let inner: Vec<&Predicate> =
                all[next].quantifiers.iter().flat_map(|q| [&q.range, &q.body]).collect();
            all.extend(inner);
            next += 1;
        }
        all
    }
}
