//! Parses contracts. The grammar:
//!
//! ```text
//! contract   ::= named-error* [ case ( "also" case )* ]
//! named-error::= NAME ":" predicate [ ";" ]
//! case       ::= "changed_behavior" clause*
//! clause     ::= ( "requires" | "ensures" | "when_ensured" ) predicate [ ";" ]
//!              | ( "signals" | "when_signaled" ) "(" kind ")" predicate [ ";" ]
//! kind       ::= "any" | "abort" | "signal" [ NAME ] | "exit" [ NUMBER ] | "throw" [ TYPE ] | NAME
//! predicate  ::= C expression that may also contain  \result  \old(e)  \prev(e)  \latest(x)
//!                \deprecated(x)  and quantifiers
//! quantifier ::= ( "\forall" | "\exists" ) TYPE NAME ";" predicate ";" predicate
//! ```
//! The frame is parsed with winnow, expressions with tree-sitter (crate `expression`). Forms are replaced by
//! C identifiers of the same length: `\` becomes `$`, and a quantifier becomes a name. So every error has its
//! location in the user's text.

use crate::error::{Error, Result};
use crate::language::{Case, Contract, Kind, MAX_QUANTIFIERS, NamedError, Place, Predicate, Quantifier};
use std::ops::Range;
use winnow::combinator::{alt, cut_err, delimited, eof, opt, peek, preceded, repeat, terminated};
use winnow::error::{ContextError, ErrMode, StrContext, StrContextValue};
use winnow::prelude::*;
use winnow::stream::{LocatingSlice, Location, Stream};
use winnow::token::take_while;

type Input<'t> = LocatingSlice<&'t str>;

/// Words that end a predicate.
const WORDS: [&str; 7] =
    ["changed_behavior", "also", "requires", "ensures", "when_ensured", "signals", "when_signaled"];

/// Forms that occur in predicates.
const FORMS: [&str; 5] = ["result", "old", "prev", "latest", "deprecated"];

/// A predicate whose C expression is not parsed yet.
#[derive(Debug)]
struct Raw {
    span: Range<usize>,
    quantifiers: Vec<RawQuantifier>,
}

#[derive(Debug)]
struct RawQuantifier {
    span: Range<usize>,
    all: bool,
    ty: String,
    variable: String,
    range: Raw,
    body: Raw,
}

#[derive(Debug)]
enum RawClause {
    Requires(Range<usize>, Raw),
    Ensures(Range<usize>, Raw),
    WhenEnsured(Range<usize>, Raw),
    Signals(Range<usize>, Kind, Raw),
    WhenSignaled(Range<usize>, Kind, Raw),
}

/// Parses the contract in a range. In `masked` everything outside of the contract is blank; otherwise it
/// equals the source and has the same length.
///
/// # Errors
/// With the location of the first error.
pub fn parse(masked: &str, place: &Place) -> Result<Contract> {
    let text = masked.get(place.start..place.end).unwrap_or_default();
    let (errors, cases) = contract.parse(LocatingSlice::new(text)).map_err(|error| {
        let offset = error.offset();
        let expected: Vec<String> = error
            .inner()
            .context()
            .filter_map(|context| match context {
                StrContext::Expected(StrContextValue::Description(what)) => Some((*what).to_owned()),
                _ => None,
            })
            .collect();
        let rest = text.get(offset..).unwrap_or_default();
        let word = word_at(rest);
        let expected = expected.first().map_or("a clause", String::as_str);
        let found = if word.is_empty() { "the end".to_owned() } else { format!("{word:?}") };
        let what = format!("{expected} is expected here, not {found}");
        Error::Syntax { place: place.part(&(offset..offset + word.len().max(1))), what }
    })?;
    let reader = Reader { masked, place };
    let errors = errors
        .into_iter()
        .map(|(name, span, raw)| {
            Ok(NamedError { name: name.to_owned(), predicate: reader.predicate(raw, &place.part(&span))? })
        })
        .collect::<Result<Vec<_>>>()?;
    let cases = cases.into_iter().map(|case| reader.case(case)).collect::<Result<Vec<_>>>()?;
    let contract = Contract { place: place.clone(), errors, cases };
    check_kinds(&contract)?;
    Ok(contract)
}

/// The beginning of a text: a word, or a single other character.
fn word_at(text: &str) -> &str {
    let len = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let first = text.chars().next().map_or(0, char::len_utf8);
    text.get(..len.max(first)).unwrap_or_default()
}

/// Checks that named kinds are declared.
fn check_kinds(contract: &Contract) -> Result<()> {
    for case in &contract.cases {
        for (kind, predicate) in case.signals.iter().chain(&case.when_signaled) {
            if let Kind::Named(name) = kind
                && !contract.errors.iter().any(|error| error.name == *name)
            {
                let what = format!(
                    "{name} is no way in which a call ends: it is neither abort, signal, exit, throw or any, \
                     nor declared before the cases as \"{name}: predicate\""
                );
                return Err(Error::Syntax { place: predicate.clause.clone(), what });
            }
        }
    }
    Ok(())
}

fn expected(what: &'static str) -> StrContext {
    StrContext::Expected(StrContextValue::Description(what))
}

fn blank<'t>(input: &mut Input<'t>) -> ModalResult<&'t str> {
    take_while(0.., char::is_whitespace).parse_next(input)
}

/// A name and the following blanks.
fn name<'t>(input: &mut Input<'t>) -> ModalResult<&'t str> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_next = |c: char| c.is_ascii_alphanumeric() || c == '_';
    terminated((take_while(1, is_first), take_while(0.., is_next)).take(), blank).parse_next(input)
}

/// Exactly this word, not a longer one that begins with it.
fn word<'t>(word: &'static str) -> impl Parser<Input<'t>, &'t str, ErrMode<ContextError>> {
    name.verify(move |found: &str| found == word)
}

fn symbol<'t>(symbol: char, what: &'static str) -> impl Parser<Input<'t>, char, ErrMode<ContextError>> {
    terminated(symbol, blank).context(expected(what))
}

type RawError<'t> = (&'t str, Range<usize>, Raw);
type RawCase = (Range<usize>, Vec<RawClause>);

fn contract<'t>(input: &mut Input<'t>) -> ModalResult<(Vec<RawError<'t>>, Vec<RawCase>)> {
    blank.parse_next(input)?;
    let errors: Vec<RawError<'t>> = repeat(0.., named_error).parse_next(input)?;
    let mut cases = Vec::new();
    if opt(eof).parse_next(input)?.is_some() {
        return Ok((errors, cases));
    }
    loop {
        cases.push(cut_err(case).context(expected("changed_behavior")).parse_next(input)?);
        if opt(word("also")).parse_next(input)?.is_none() {
            break;
        }
    }
    cut_err(eof).context(expected("a clause, also, or the end")).parse_next(input)?;
    Ok((errors, cases))
}

fn named_error<'t>(input: &mut Input<'t>) -> ModalResult<RawError<'t>> {
    let start = input.current_token_start();
    let name =
        terminated(name.verify(|n: &str| !WORDS.contains(&n)), symbol(':', "a colon")).parse_next(input)?;
    let predicate = cut_err(predicate).parse_next(input)?;
    opt(symbol(';', "a semicolon")).parse_next(input)?;
    Ok((name, start..predicate.span.end, predicate))
}

fn case(input: &mut Input<'_>) -> ModalResult<RawCase> {
    let (_, span) = word("changed_behavior").with_span().parse_next(input)?;
    let clauses = repeat(0.., clause).parse_next(input)?;
    Ok((span, clauses))
}

fn clause(input: &mut Input<'_>) -> ModalResult<RawClause> {
    let start = input.current_token_start();
    let which = alt((
        word("requires"),
        word("ensures"),
        word("when_ensured"),
        word("signals"),
        word("when_signaled"),
    ))
    .parse_next(input)?;
    let kind = match which {
        "signals" | "when_signaled" => {
            let open = symbol('(', "the kind of end in parentheses, such as (abort),");
            Some(cut_err(delimited(open, kind, symbol(')', "a closing parenthesis"))).parse_next(input)?)
        }
        _ => None,
    };
    let predicate = cut_err(predicate).parse_next(input)?;
    opt(symbol(';', "a semicolon")).parse_next(input)?;
    let span = start..predicate.span.end;
    Ok(match (which, kind) {
        ("signals", Some(kind)) => RawClause::Signals(span, kind, predicate),
        ("when_signaled", Some(kind)) => RawClause::WhenSignaled(span, kind, predicate),
        ("ensures", _) => RawClause::Ensures(span, predicate),
        ("when_ensured", _) => RawClause::WhenEnsured(span, predicate),
        _ => RawClause::Requires(span, predicate),
    })
}

fn kind(input: &mut Input<'_>) -> ModalResult<Kind> {
    let which = name.context(expected("a kind of end such as abort")).parse_next(input)?;
    Ok(match which {
        "any" | "Exception" => Kind::Any,
        "abort" => Kind::Abort,
        "signal" => Kind::Signal(opt(name).map(|n: Option<&str>| n.map(str::to_owned)).parse_next(input)?),
        "exit" => {
            let digits = take_while(1.., |c: char| c.is_ascii_digit());
            let status = digits.verify_map(|d: &str| d.parse::<u8>().ok().map(u32::from));
            Kind::Exit(opt(terminated(status, blank)).parse_next(input)?)
        }
        "throw" => {
            let ty = take_while(0.., |c: char| !matches!(c, ')' | '(')).parse_next(input)?;
            let words: Vec<&str> = ty.split_whitespace().collect();
            Kind::Throw((!words.is_empty()).then(|| words.join(" ")))
        }
        other => Kind::Named(other.to_owned()),
    })
}

/// Everything up to a semicolon, a word that begins a clause, or an unmatched closing parenthesis.
fn predicate(input: &mut Input<'_>) -> ModalResult<Raw> {
    nested(input, MAX_QUANTIFIERS)
}

fn nested(input: &mut Input<'_>, depth: usize) -> ModalResult<Raw> {
    blank.parse_next(input)?;
    let start = input.current_token_start();
    let mut end = start;
    let mut open = 0usize;
    let mut quantifiers = Vec::new();
    // Keywords are recognised only at the beginning of a word.
    let mut inside_word = false;
    loop {
        let rest: &str = **input;
        let Some(c) = rest.chars().next() else { break };
        if !inside_word && open == 0 && peek(opt(name)).parse_next(input)?.is_some_and(|w| WORDS.contains(&w))
        {
            break;
        }
        match c {
            ';' => break,
            ')' | ']' if open == 0 => break,
            ')' | ']' => open -= 1,
            '(' | '[' => open += 1,
            '"' | '\'' => {
                let len = literal(rest, c);
                input.next_slice(len);
                (end, inside_word) = (input.current_token_start(), false);
                continue;
            }
            '\\' if rest.starts_with("\\forall") || rest.starts_with("\\exists") => {
                let quantifier = cut_err(|i: &mut Input<'_>| quantifier(i, depth)).parse_next(input)?;
                (end, inside_word) = (quantifier.span.end, false);
                quantifiers.push(quantifier);
                continue;
            }
            _ => {}
        }
        input.next_token();
        inside_word = c.is_alphanumeric() || matches!(c, '_' | '\\');
        if !c.is_whitespace() {
            end = input.current_token_start();
        }
    }
    if start == end {
        return Err(ErrMode::from_input(input).cut()).map_err(|e: ErrMode<ContextError>| {
            e.map(|inner| {
                let start = input.checkpoint();
                winnow::error::AddContext::add_context(inner, input, &start, expected("a predicate"))
            })
        });
    }
    blank.parse_next(input)?;
    Ok(Raw { span: start..end, quantifiers })
}

/// Length of a literal with its quotes; up to the end of the line if it is not closed.
fn literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn quantifier(input: &mut Input<'_>, depth: usize) -> ModalResult<RawQuantifier> {
    let start = input.current_token_start();
    let all = preceded('\\', name).parse_next(input)? == "forall";
    let Some(depth) = depth.checked_sub(1) else {
        return cut_err(winnow::combinator::fail.context(expected("fewer quantifiers in each other")))
            .parse_next(input);
    };
    let declared = take_while(1.., |c: char| c.is_ascii_alphanumeric() || c == '_' || c.is_whitespace())
        .context(expected("a type and a name"))
        .parse_next(input)?;
    let words: Vec<&str> = declared.split_whitespace().collect();
    let (variable, ty) = match words.split_last() {
        Some((variable, ty)) if !ty.is_empty() => ((*variable).to_owned(), ty.join(" ")),
        _ => {
            return cut_err(winnow::combinator::fail.context(expected("a type and a name")))
                .parse_next(input);
        }
    };
    symbol(';', "a semicolon after the quantifier's name").parse_next(input)?;
    let range = nested(input, depth)?;
    symbol(';', "a semicolon after the quantifier's range").parse_next(input)?;
    let body = nested(input, depth)?;
    Ok(RawQuantifier { span: start..body.span.end, all, ty, variable, range, body })
}

struct Reader<'t> {
    masked: &'t str,
    place: &'t Place,
}

impl Reader<'_> {
    fn case(&self, (span, clauses): RawCase) -> Result<Case> {
        let mut case = Case {
            place: self.place.part(&span),
            requires: Vec::new(),
            ensures: Vec::new(),
            when_ensured: Vec::new(),
            signals: Vec::new(),
            when_signaled: Vec::new(),
        };
        for clause in clauses {
            match clause {
                RawClause::Requires(at, raw) => {
                    case.requires.push(self.predicate(raw, &self.place.part(&at))?)
                }
                RawClause::Ensures(at, raw) => case.ensures.push(self.predicate(raw, &self.place.part(&at))?),
                RawClause::WhenEnsured(at, raw) => {
                    case.when_ensured.push(self.predicate(raw, &self.place.part(&at))?);
                }
                RawClause::Signals(at, kind, raw) => {
                    case.signals.push((kind, self.predicate(raw, &self.place.part(&at))?));
                }
                RawClause::WhenSignaled(at, kind, raw) => {
                    case.when_signaled.push((kind, self.predicate(raw, &self.place.part(&at))?));
                }
            }
        }
        Ok(case)
    }

    fn predicate(&self, raw: Raw, clause: &Place) -> Result<Predicate> {
        let place = self.place.part(&raw.span);
        let mut text = self.masked.get(place.start..place.end).unwrap_or_default().as_bytes().to_vec();
        let mut quantifiers = Vec::new();
        for (number, quantifier) in raw.quantifiers.into_iter().enumerate() {
            let from = quantifier.span.start - raw.span.start;
            let to = (quantifier.span.end - raw.span.start).min(text.len());
            let stand_in = format!("${number}");
            for (n, byte) in text[from..to].iter_mut().enumerate() {
                *byte = stand_in.as_bytes().get(n).copied().unwrap_or(b' ');
            }
            quantifiers.push(Quantifier {
                all: quantifier.all,
                ty: quantifier.ty,
                variable: quantifier.variable,
                range: self.predicate(quantifier.range, clause)?,
                body: self.predicate(quantifier.body, clause)?,
            });
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let text = with_forms(&text, &place)?;
        let expression = expression::parse(&text).map_err(|error| {
            let what = error.to_string().replace('$', "\\");
            Error::Syntax { place: place.part(&error.span), what }
        })?;
        Ok(Predicate { place, clause: clause.clone(), expression, quantifiers })
    }
}

/// The text with each `\` outside of literals replaced by `$`.
fn with_forms(text: &str, place: &Place) -> Result<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '"' | '\'' => literal(rest, c),
            '\\' => {
                let word = word_at(&rest[1..]);
                if !FORMS.contains(&word) {
                    let at = out.len();
                    let what = format!(
                        "\\{word} is no form of contracts: they are \\result, \\old, \\prev, \\latest, \\deprecated, \\forall, \\exists"
                    );
                    return Err(Error::Syntax { place: place.part(&(at..at + 1 + word.len())), what });
                }
                1
            }
            _ => c.len_utf8(),
        };
        match c {
            '\\' => out.push('$'),
            _ => out.push_str(&rest[..taken]),
        }
        rest = &rest[taken..];
    }
    Ok(out)
}
