//! Templates: the form of lines that differ from run to run, and the positions where they differ.
//!
//! A line is matched token by token (for each shape with a hash of the literal tokens, so that thousands of
//! templates cost no more than one), or, where the number of tokens varies from run to run, by
//! blank-separated fields.

use super::token::{Class, DURATIONS, Kind, Token, has_letters, shape, tokens};
use serde::{Serialize, Serializer};
use std::collections::HashMap;
use xxhash_rust::xxh3::Xxh3;

/// Bytes that are mostly text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub(super) struct Text(pub Vec<u8>);

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(&self.0))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Part {
    Literal(Text),
    /// Anything of this kind, which is masked.
    Wild(Kind),
    /// Anything; it is kept.
    Kept,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Template {
    pub shape: Text,
    pub parts: Vec<Part>,
    /// The whole line is left out.
    pub drop: bool,
    /// The position the line must have, if it has no words to identify it.
    pub around: Option<LinePosition>,
    pub example: Text,
}

/// A position: the nearest lines with words before and after it, and their distances; `None` for the
/// beginning and the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct LinePosition {
    pub before: (Option<Text>, usize),
    pub after: (Option<Text>, usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Field {
    Literal(Text),
    Within { prefix: Text, suffix: Text, kind: Kind },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Fields {
    pub fields: Vec<Field>,
    pub drop: bool,
    pub example: Text,
}

/// Numbers that are durations in all lines: with this number of decimals, before this unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Duration {
    pub decimals: usize,
    pub gap: Text,
    pub unit: Text,
    pub example: Text,
}

impl Duration {
    pub fn is_like(&self, found: &Found) -> bool {
        (self.decimals, &self.gap.0[..], &self.unit.0[..]) == (found.decimals, found.gap, found.unit)
    }
}

/// A number in a line that looks like a duration: its number of decimals, the text between it and its unit,
/// and the unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    decimals: usize,
    gap: &'a [u8],
    unit: &'a [u8],
}

impl Found<'_> {
    pub fn owned(&self, line: &[u8]) -> Duration {
        let text = |bytes: &[u8]| Text(bytes.to_vec());
        Duration { decimals: self.decimals, gap: text(self.gap), unit: text(self.unit), example: text(line) }
    }

    /// The length of a duration in seconds; `None` if it is an integer number of seconds or of a larger unit.
    pub fn length(&self, number: &[u8]) -> Option<f64> {
        let number: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
        let unit = match self.unit {
            b"ms" | b"msec" => 1e-3,
            b"us" | b"usec" => 1e-6,
            b"ns" => 1e-9,
            _ if self.decimals == 0 => return None,
            [b'm', ..] => 60.0,
            _ => 1.0,
        };
        Some(number * unit)
    }
}

/// A part of a line, masked or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub text: &'a [u8],
    pub class: Class,
    pub wild: Option<Kind>,
}

/// A line with its masked parts.
#[derive(Clone, Debug)]
pub(super) struct Masked<'a> {
    pub line: &'a [u8],
    pub pieces: Vec<Piece<'a>>,
    /// The pieces are those of fields; otherwise they are the line's tokens.
    pub by_fields: bool,
    pub dropped: bool,
}

impl<'a> Masked<'a> {
    pub fn text(&self) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.line.len());
        for piece in &self.pieces {
            match (piece.wild, piece.class) {
                (None, _) => text.extend_from_slice(piece.text),
                (Some(Kind::Padding), Class::Mark(sign)) => text.push(sign),
                (Some(Kind::Padding), _) => text.push(b' '),
                (Some(kind), _) => {
                    text.push(b'<');
                    text.extend_from_slice(kind.word().as_bytes());
                    text.push(b'>');
                }
            }
        }
        text
    }

    /// The masked texts.
    pub fn hidden(&self) -> Vec<&'a [u8]> {
        let wild = self.pieces.iter().filter(|p| p.wild.is_some_and(|k| k != Kind::Padding));
        wild.map(|p| p.text).collect()
    }

    /// Whether there are words that identify the line.
    pub fn has_words(&self) -> bool {
        self.pieces.iter().any(|p| p.wild.is_none() && has_letters(p.text))
    }

    pub fn tokens(&self) -> Vec<Token<'a>> {
        self.pieces.iter().map(|p| Token { class: p.class, text: p.text }).collect()
    }

    /// Pieces between blanks.
    pub fn fields(&self) -> Vec<&[Piece<'a>]> {
        let blank = |p: &Piece| p.class == Class::Space && !p.text.is_empty();
        self.pieces.split(blank).filter(|field| field.iter().any(|p| !p.text.is_empty())).collect()
    }
}

/// The rules for everything known to differ from run to run.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Rules {
    pub templates: Vec<Template>,
    pub fields: Vec<Fields>,
    pub durations: Vec<Duration>,
    #[serde(skip)]
    shapes: HashMap<Vec<u8>, Vec<Group>>,
    #[serde(skip)]
    lengths: HashMap<usize, Vec<usize>>,
}

/// Templates of one shape with wildcards at the same positions.
#[derive(Clone, Debug)]
struct Group {
    holes: Vec<(usize, Option<Kind>)>,
    /// By a hash of the tokens outside the wildcards.
    templates: HashMap<u64, Vec<usize>>,
}

fn hash_without(tokens: &[&[u8]], holes: &[(usize, Option<Kind>)]) -> u64 {
    let mut hasher = Xxh3::new();
    let mut holes = holes.iter().peekable();
    for (at, text) in tokens.iter().enumerate() {
        if holes.next_if(|(hole, _)| *hole == at).is_none() {
            hasher.update(text);
            hasher.update(b"\n");
        }
    }
    hasher.digest()
}

impl Rules {
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty() && self.fields.is_empty() && self.durations.is_empty()
    }

    /// Adds a template. False if it is already present.
    pub fn add(&mut self, template: Template) -> bool {
        let known = |t: &Template| {
            t.parts == template.parts && t.drop == template.drop && t.around == template.around
        };
        let hole = |(at, part): (usize, &Part)| match part {
            Part::Literal(_) => None,
            Part::Wild(kind) => Some((at, Some(*kind))),
            Part::Kept => Some((at, None)),
        };
        let holes: Vec<_> = template.parts.iter().enumerate().filter_map(hole).collect();
        let literal = |part: &Part| match part {
            Part::Literal(text) => text.0.clone(),
            _ => Vec::new(),
        };
        let texts: Vec<Vec<u8>> = template.parts.iter().map(literal).collect();
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let hash = hash_without(&texts, &holes);
        let groups = self.shapes.entry(template.shape.0.clone()).or_default();
        let place = groups.iter().position(|g| g.holes == holes).unwrap_or_else(|| {
            groups.push(Group { holes, templates: HashMap::new() });
            groups.len() - 1
        });
        let same = groups[place].templates.entry(hash).or_default();
        if same.iter().any(|t| known(&self.templates[*t])) {
            return false;
        }
        same.push(self.templates.len());
        self.templates.push(template);
        true
    }

    pub fn add_fields(&mut self, fields: Fields) -> bool {
        let same = self.lengths.entry(fields.fields.len()).or_default();
        if same.iter().any(|f| self.fields[*f].fields == fields.fields && self.fields[*f].drop == fields.drop)
        {
            return false;
        }
        same.push(self.fields.len());
        self.fields.push(fields);
        true
    }

    /// Removes the templates for which `keep` is false.
    pub fn retain(&mut self, keep: impl Fn(&Template) -> bool) {
        self.shapes.clear();
        for template in std::mem::take(&mut self.templates) {
            if keep(&template) {
                self.add(template);
            }
        }
    }

    /// Masks a line at a position; without one, templates that need a position do not match.
    pub fn mask<'a>(&self, line: &'a [u8], around: Option<&LinePosition>) -> Masked<'a> {
        let tokens = tokens(line);
        let plain = |t: &Token<'a>| Piece { text: t.text, class: t.class, wild: None };
        let mut masked =
            Masked { line, pieces: tokens.iter().map(plain).collect(), by_fields: false, dropped: false };
        if let Some(by_fields) = self.mask_fields(&masked) {
            return by_fields;
        }
        let texts: Vec<&[u8]> = tokens.iter().map(|t| t.text).collect();
        for group in self.shapes.get(&shape(&tokens)).into_iter().flatten() {
            let fits = |(at, kind): &(usize, Option<Kind>)| kind.is_none_or(|k| k.accepts(tokens[*at].class));
            if !group.holes.iter().all(fits) {
                continue;
            }
            let Some(found) = group.templates.get(&hash_without(&texts, &group.holes)) else { continue };
            for template in found.iter().map(|t| &self.templates[*t]) {
                if template.around.is_some() && template.around.as_ref() != around {
                    continue;
                }
                masked.dropped |= template.drop;
                for (at, kind) in &group.holes {
                    let wild = &mut masked.pieces[*at].wild;
                    *wild = kind.map(|k| wild.map_or(k, |w| w.join(k))).or(*wild);
                }
            }
        }
        self.mask_durations(&mut masked.pieces);
        mask_banner_padding(&mut masked.pieces);
        masked
    }

    fn mask_fields<'a>(&self, plain: &Masked<'a>) -> Option<Masked<'a>> {
        if self.fields.is_empty() {
            return None;
        }
        // A time is in one field although it contains blanks.
        let mut fields: Vec<&'a [u8]> = Vec::new();
        let (mut start, mut end) = (0, 0);
        for piece in &plain.pieces {
            if piece.class == Class::Space && !piece.text.is_empty() {
                fields.push(&plain.line[start..end]);
                start = end + piece.text.len();
            }
            end += piece.text.len();
        }
        fields.push(&plain.line[start..]);
        fields.retain(|field| !field.is_empty());
        let rule = self.lengths.get(&fields.len())?.iter().map(|f| &self.fields[*f]);
        let fits = |(field, text): (&Field, &&[u8])| match field {
            Field::Literal(literal) => literal.0 == *text,
            Field::Within { prefix, suffix, kind } => {
                let inner = text.strip_prefix(&prefix.0[..]).and_then(|t| t.strip_suffix(&suffix.0[..]));
                inner.is_some_and(|i| !i.is_empty() && (*kind != Kind::Number || numeric(i)))
            }
        };
        let mut matching = rule.filter(|r| r.fields.iter().zip(&fields).all(fits));
        // The latest rule is the most general one for these lines.
        let rule = matching.next_back()?;
        let mut pieces = Vec::new();
        for (field, text) in rule.fields.iter().zip(&fields) {
            if !pieces.is_empty() {
                pieces.push(Piece { text: b" ", class: Class::Space, wild: None });
            }
            let word = |text, wild| Piece { text, class: Class::Word, wild };
            match field {
                Field::Literal(_) => pieces.push(word(*text, None)),
                Field::Within { prefix, suffix, kind } => {
                    let (start, end) = (prefix.0.len(), text.len() - suffix.0.len());
                    pieces.push(word(&text[..start], None));
                    pieces.push(word(&text[start..end], Some(*kind)));
                    pieces.push(word(&text[end..], None));
                }
            }
        }
        Some(Masked { line: plain.line, pieces, by_fields: true, dropped: rule.drop })
    }

    fn mask_durations(&self, pieces: &mut [Piece]) {
        if self.durations.is_empty() {
            return;
        }
        for at in 0..pieces.len() {
            let Some(found) = duration(pieces, at) else { continue };
            if self.durations.iter().any(|d| d.is_like(&found)) {
                pieces[at].wild = Some(Kind::Number);
                // As in templates.
                if at > 0 && pieces[at - 1].class == Class::Space && !pieces[at - 1].text.is_empty() {
                    pieces[at - 1].wild = Some(Kind::Padding);
                }
            }
        }
    }
}

/// The duration at an index, if the number there has a unit of time.
pub(super) fn duration<'a>(pieces: &[Piece<'a>], at: usize) -> Option<Found<'a>> {
    let number = pieces.get(at).filter(|p| p.class == Class::Number)?;
    let decimals =
        number.text.iter().position(|b| *b == b'.').map_or(0, |point| number.text.len() - point - 1);
    let next = pieces.get(at + 1)?;
    let (gap, unit) = match next.class {
        Class::Space => (next.text, pieces.get(at + 2)?),
        _ => (&next.text[..0], next),
    };
    let known = unit.class == Class::Word && DURATIONS.iter().any(|d| d.as_bytes() == unit.text);
    known.then_some(Found { decimals, gap, unit: unit.text })
}

/// A line such as `===== 1 passed in 0.12s =====` is padded to a width by signs.
fn mask_banner_padding(pieces: &mut [Piece]) {
    let volatile = pieces.iter().any(|p| matches!(p.wild, Some(Kind::Number | Kind::Time)));
    let sign = |p: Option<&Piece>| p.filter(|p| p.text.len() > 2).map(|p| p.class);
    let (first, last) = (sign(pieces.first()), sign(pieces.last()));
    if volatile && first == last && matches!(first, Some(Class::Mark(_))) {
        for at in [0, pieces.len() - 1] {
            pieces[at].wild = Some(Kind::Padding);
        }
    }
}

pub(super) fn numeric(text: &[u8]) -> bool {
    text.iter().all(|b| b.is_ascii_digit() || b".,+-".contains(b)) && text.iter().any(u8::is_ascii_digit)
}
