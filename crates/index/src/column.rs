//! One sequence of numbers: written at its end while the program is replayed, read
//! from its end while a slice walks back.
//!
//! Numbers that move (addresses) are kept as differences to the one before. The
//! numbers that occur are listed once; the sequence of their places in the list is
//! what the grammar produces. A grammar that has grown large is sealed and a new one
//! begun, so that memory stays bounded whatever the program does. A sealed piece is
//! stored in the shortest of three forms: run-length grammar, plain SEQUITUR grammar,
//! runs as they are.

use crate::bits::{Reader, Writer, width};
use crate::cursor::Cursor;
use crate::grammar::{Grammar, Node};
use crate::hash::Map;
use crate::rlese::{Rlese, Work};
use crate::sequitur::Sequitur;

/// Nodes of a grammar after which it is sealed.
const SEALED_AT: usize = 1 << 17;

/// Whether SEQUITUR is tried too. Where the run-length grammar has made few nodes of
/// many symbols it cannot be beaten by much, and trying takes time for every symbol.
fn worth_trying(symbols: u64, nodes: usize) -> bool {
    symbols <= 1 << 16 || symbols <= 512 * nodes as u64
}

/// How numbers follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Each by itself.
    Plain,
    /// As a difference to the one before, modulo 2^64.
    Delta,
}

/// A sealed piece of a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub bytes: Vec<u8>,
}

/// What a column came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub symbols: u64,
    pub bytes: u64,
    pub work: Work,
}

/// Takes numbers in.
#[derive(Clone, Debug)]
pub struct Builder {
    kind: Kind,
    /// The number before.
    before: u64,
    /// The last number put into the grammar, and its place in the list.
    last: Option<(u64, u32)>,
    list: Vec<u64>,
    places: Map<u64, u32>,
    grammar: Rlese,
    pieces: Vec<Piece>,
    size: Size,
}

impl Builder {
    #[must_use]
    pub fn new(kind: Kind) -> Builder {
        Builder {
            kind,
            before: 0,
            last: None,
            list: Vec::new(),
            places: Map::default(),
            grammar: Rlese::new(),
            pieces: Vec::new(),
            size: Size::default(),
        }
    }

    #[inline]
    pub fn push(&mut self, value: u64) {
        let number = match self.kind {
            Kind::Plain => value,
            Kind::Delta => value.wrapping_sub(std::mem::replace(&mut self.before, value)),
        };
        let place = match self.last {
            Some((last, place)) if last == number => place,
            _ => {
                let next = self.list.len() as u32;
                let place = *self.places.entry(number).or_insert(next);
                if place == next {
                    self.list.push(number);
                }
                self.last = Some((number, place));
                place
            }
        };
        self.grammar.push(place);
        if self.grammar.nodes() > SEALED_AT {
            self.seal();
        }
    }

    /// The number pushed last, if they are kept as differences.
    #[must_use]
    #[inline]
    pub fn before(&self) -> u64 {
        self.before
    }

    fn seal(&mut self) {
        let grammar = std::mem::take(&mut self.grammar);
        if grammar.is_empty() {
            return;
        }
        self.size.symbols += grammar.len();
        self.size.work.checks += grammar.work().checks;
        self.size.work.folds += grammar.work().folds;
        let list = std::mem::take(&mut self.list);
        let before = self.before;
        let bytes = encode(&list, &grammar.finish(), before);
        self.size.bytes += bytes.len() as u64;
        self.pieces.push(Piece { bytes });
        self.places = Map::default();
        self.last = None;
    }

    /// The sealed pieces, in order.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Piece>, Size) {
        self.seal();
        (self.pieces, self.size)
    }
}

/// Codes in which a piece may be stored.
const FORM_GRAMMAR: u64 = 0;
const FORM_SEQUITUR: u64 = 1;
const FORM_RUNS: u64 = 2;

fn encode(list: &[u64], grammar: &Grammar, before: u64) -> Vec<u8> {
    // The list in rising order takes differences; the symbols follow their numbers.
    let mut order: Vec<u32> = (0..list.len() as u32).collect();
    order.sort_unstable_by_key(|i| list[*i as usize]);
    let mut place = vec![0u32; list.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old as usize] = new as u32;
    }
    let head = |form: u64| {
        let mut w = Writer::default();
        w.put(form, 2);
        w.number(before);
        w.number(list.len() as u64);
        let mut last = 0u64;
        for i in &order {
            let value = list[*i as usize];
            w.number(value.wrapping_sub(last));
            last = value;
        }
        w
    };
    let rules = |mut w: Writer, g: &Grammar, counted: bool| {
        w.number(g.rules().into());
        for rule in 0..g.rules() {
            let body = g.body(rule);
            w.gamma(if rule + 1 == g.rules() {
                body.len() as u64
            } else {
                body.len() as u64 - counted_least(counted)
            });
            let bits = width(u64::from(g.terminals() + rule));
            for node in body {
                let sym = match g.rule_of(node.sym) {
                    None => place[node.sym as usize],
                    Some(_) => node.sym,
                };
                w.put(sym.into(), bits);
                if counted {
                    w.gamma(node.count.into());
                }
            }
        }
        w.finish()
    };
    let mut best = rules(head(FORM_GRAMMAR), grammar, true);
    if worth_trying(grammar.len(), grammar.nodes()) {
        let mut plain = Sequitur::new();
        grammar.symbols().for_each(|s| plain.push(s));
        let other = rules(head(FORM_SEQUITUR), &plain.finish(), false);
        if other.len() < best.len() {
            best = other;
        }
        let mut w = head(FORM_RUNS);
        w.number(grammar.len());
        let bits = width(list.len() as u64);
        for symbol in grammar.symbols() {
            w.put(place[symbol as usize].into(), bits);
        }
        let other = w.finish();
        if other.len() < best.len() {
            best = other;
        }
    }
    best
}

/// Rules have two nodes, or one with a count; so their length needs no smaller code.
fn counted_least(counted: bool) -> u64 {
    u64::from(!counted)
}

/// Bytes that plain SEQUITUR takes for what a piece holds.
///
/// # Errors
/// If the piece is damaged.
pub fn sequitur_bytes(piece: &[u8]) -> Option<(u64, Work)> {
    let decoded = Decoded::new(piece)?;
    let mut plain = Sequitur::new();
    decoded.grammar.symbols().for_each(|s| plain.push(s));
    let work = plain.work();
    let grammar = plain.finish();
    let mut w = Writer::default();
    w.put(FORM_SEQUITUR, 2);
    w.number(decoded.end);
    w.number(decoded.list.len() as u64);
    let mut last = 0u64;
    for value in &decoded.list {
        w.number(value.wrapping_sub(last));
        last = *value;
    }
    w.number(grammar.rules().into());
    for rule in 0..grammar.rules() {
        let body = grammar.body(rule);
        w.gamma(if rule + 1 == grammar.rules() { body.len() as u64 } else { body.len() as u64 - 1 });
        let bits = width(u64::from(grammar.terminals() + rule));
        for node in body {
            w.put(node.sym.into(), bits);
        }
    }
    Some((w.finish().len() as u64, work))
}

/// A piece ready to be walked.
#[derive(Clone, Debug)]
pub struct Decoded {
    list: Vec<u64>,
    grammar: Grammar,
    /// The last number of the piece, if they are differences.
    end: u64,
    /// For each rule the sum of what it stands for.
    sums: Vec<u64>,
}

impl Decoded {
    /// None if the bytes are no piece.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Decoded> {
        let mut r = Reader::new(bytes);
        let form = r.get(2)?;
        let end = r.number()?;
        let count = r.number()?;
        if count > r.left() || count > 1 << 30 {
            return None;
        }
        let mut list = Vec::with_capacity(count as usize);
        let mut last = 0u64;
        for _ in 0..count {
            last = last.wrapping_add(r.number()?);
            list.push(last);
        }
        let terminals = list.len() as u32;
        let grammar = match form {
            FORM_GRAMMAR | FORM_SEQUITUR => read_rules(&mut r, terminals, form == FORM_GRAMMAR)?,
            FORM_RUNS => read_runs(&mut r, terminals)?,
            _ => return None,
        };
        let mut sums: Vec<u64> = Vec::with_capacity(grammar.rules() as usize);
        for rule in 0..grammar.rules() {
            let sum = grammar.body(rule).iter().fold(0u64, |sum, node| {
                let one = match grammar.rule_of(node.sym) {
                    None => list[node.sym as usize],
                    Some(r) => sums[r as usize],
                };
                sum.wrapping_add(one.wrapping_mul(node.count.into()))
            });
            sums.push(sum);
        }
        Some(Decoded { list, grammar, end, sums })
    }

    #[must_use]
    pub fn len(&self) -> u64 {
        self.grammar.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.grammar.is_empty()
    }

    /// The numbers (or differences), from the beginning.
    pub fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.grammar.symbols().map(|symbol| self.list[symbol as usize])
    }

    #[must_use]
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    fn sum(&self, sym: u32) -> u64 {
        match self.grammar.rule_of(sym) {
            None => self.list[sym as usize],
            Some(r) => self.sums[r as usize],
        }
    }
}

fn read_rules(r: &mut Reader<'_>, terminals: u32, counted: bool) -> Option<Grammar> {
    let rules = r.number()?;
    if rules == 0 || rules > r.left() {
        return None;
    }
    let mut starts = vec![0];
    let mut nodes = Vec::new();
    for rule in 0..rules as u32 {
        let mut len = r.gamma()?;
        if rule + 1 < rules as u32 {
            len += counted_least(counted);
        }
        let bits = width(u64::from(terminals) + u64::from(rule));
        // Nodes take bits, except those of the only symbol there is: then SEQUITUR has
        // rules for all but three of them.
        let most = if bits == 0 && !counted { 3 } else { r.left() };
        if len > most {
            return None;
        }
        for _ in 0..len {
            let sym = r.get(bits)? as u32;
            let count = if counted { u32::try_from(r.gamma()?).ok()? } else { 1 };
            if sym >= terminals.checked_add(rule)? {
                return None;
            }
            nodes.push(Node { sym, count });
        }
        starts.push(nodes.len() as u32);
    }
    Grammar::new(terminals, starts, nodes)
}

fn read_runs(r: &mut Reader<'_>, terminals: u32) -> Option<Grammar> {
    let len = r.number()?;
    let bits = width(terminals.into());
    if terminals == 0 || len > 1 << 31 || (bits > 0 && len > r.left() / u64::from(bits)) || len == 0 {
        return None;
    }
    if bits == 0 {
        return Grammar::of_runs(terminals, vec![Node { sym: 0, count: u32::try_from(len).ok()? }]);
    }
    let mut nodes: Vec<Node> = Vec::new();
    for _ in 0..len {
        let sym = r.get(bits)? as u32;
        if sym >= terminals {
            return None;
        }
        match nodes.last_mut() {
            Some(last) if last.sym == sym => last.count += 1,
            _ => nodes.push(Node { sym, count: 1 }),
        }
    }
    Grammar::of_runs(terminals, nodes)
}

/// Reads a column backwards.
#[derive(Clone, Debug)]
pub struct Back<'b> {
    kind: Kind,
    /// Pieces not yet opened, the next one last.
    pieces: Vec<&'b [u8]>,
    open: Option<Decoded>,
    cursor: Cursor,
    value: u64,
    /// How many numbers have been passed.
    passed: u64,
    /// A piece could not be read.
    damaged: bool,
}

impl<'b> Back<'b> {
    /// Behind the last number of the pieces, which stand in order.
    #[must_use]
    pub fn new(kind: Kind, pieces: Vec<&'b [u8]>) -> Back<'b> {
        let cursor = Cursor::default();
        Back { kind, pieces, open: None, cursor, value: 0, passed: 0, damaged: false }
    }

    /// Numbers passed so far.
    #[must_use]
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Whether a piece turned out to be no piece.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Opens the next piece if the open one is used up.
    #[cold]
    fn turn(&mut self) -> Option<()> {
        while self.cursor.left() == 0 {
            let bytes = self.pieces.pop()?;
            let Some(piece) = Decoded::new(bytes) else {
                self.damaged = true;
                self.pieces.clear();
                return None;
            };
            self.cursor = Cursor::at_end(&piece.grammar);
            self.value = piece.end;
            self.open = Some(piece);
        }
        Some(())
    }

    /// The number before the place, over which it steps.
    #[inline]
    pub fn back(&mut self) -> Option<u64> {
        if self.cursor.left() == 0 {
            self.turn()?;
        }
        let piece = self.open.as_ref()?;
        let number = piece.list[self.cursor.back(&piece.grammar)? as usize];
        self.passed += 1;
        Some(match self.kind {
            Kind::Plain => number,
            Kind::Delta => {
                let value = self.value;
                self.value = value.wrapping_sub(number);
                value
            }
        })
    }

    /// Steps over numbers until `passed` have been passed.
    pub fn seek(&mut self, passed: u64) {
        while self.passed < passed {
            if self.cursor.left() == 0 && self.turn().is_none() {
                return;
            }
            let Some(piece) = &self.open else { return };
            let n = (passed - self.passed).min(self.cursor.left());
            let value = &mut self.value;
            self.cursor.skip(&piece.grammar, n, |sym, copies| {
                *value = value.wrapping_sub(piece.sum(sym).wrapping_mul(copies));
            });
            self.passed += n;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn column(kind: Kind, values: &[u64]) -> Vec<Piece> {
        let mut b = Builder::new(kind);
        values.iter().for_each(|v| b.push(*v));
        b.finish().0
    }

    /// Every short sequence, at every place in a byte.
    #[test]
    fn short_columns_come_back() {
        for len in 1..10u32 {
            for pattern in 0..1u32 << (len - 1) {
                for size in 0..10 {
                    let value = |i: u32| 1u64 << size | u64::from(pattern >> i & 1);
                    let values: Vec<u64> = (0..len).map(value).collect();
                    let pieces = column(Kind::Plain, &values);
                    let mut all = Back::new(Kind::Plain, pieces.iter().map(|p| &p.bytes[..]).collect());
                    let mut back: Vec<u64> = std::iter::from_fn(|| all.back()).collect();
                    back.reverse();
                    assert_eq!(back, values);
                }
            }
        }
    }

    /// So many different numbers that grammars are sealed on the way.
    #[test]
    fn long_columns_are_cut_into_pieces() {
        let mut state = 1u64;
        let values: Vec<u64> = (0..400_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 40) % 5000 * 8
            })
            .collect();
        for kind in [Kind::Plain, Kind::Delta] {
            let pieces = column(kind, &values);
            assert!(pieces.len() > 1);
            let mut all = Back::new(kind, pieces.iter().map(|p| &p.bytes[..]).collect());
            for (i, v) in values.iter().enumerate().rev() {
                assert_eq!(all.back(), Some(*v), "element {i}");
            }
            assert_eq!(all.back(), None);
        }
    }

    fn values() -> impl Strategy<Value = Vec<u64>> {
        let runs = proptest::collection::vec((any::<u64>(), 0u64..64, 1usize..20), 0..12);
        let strides = runs.prop_map(|runs| {
            runs.iter().flat_map(|(at, by, n)| (0..*n as u64).map(move |i| at.wrapping_add(i * by))).collect()
        });
        prop_oneof![strides, proptest::collection::vec(0u64..5, 0..200)]
    }

    proptest! {
        #[test]
        fn numbers_come_back_from_the_end(values in values(), seeks in proptest::collection::vec(0u64..30, 0..8)) {
            for kind in [Kind::Plain, Kind::Delta] {
                let pieces = column(kind, &values);
                let bytes: Vec<&[u8]> = pieces.iter().map(|p| &p.bytes[..]).collect();
                let mut all = Back::new(kind, bytes.clone());
                let mut back: Vec<u64> = std::iter::from_fn(|| all.back()).collect();
                back.reverse();
                prop_assert_eq!(&back, &values);
                let mut some = Back::new(kind, bytes);
                let mut passed = 0;
                for seek in &seeks {
                    passed = (passed + seek).min(values.len() as u64);
                    some.seek(passed);
                    let expected = (values.len() as u64).checked_sub(passed + 1).map(|i| values[i as usize]);
                    prop_assert_eq!(some.back(), expected);
                    passed = (passed + 1).min(values.len() as u64);
                }
            }
        }

        #[test]
        fn never_larger_than_sequitur(values in values()) {
            for piece in column(Kind::Delta, &values) {
                let (plain, _) = sequitur_bytes(&piece.bytes).expect("a piece");
                prop_assert!(piece.bytes.len() as u64 <= plain);
            }
        }

        #[test]
        fn nonsense_is_no_piece_or_one_that_can_be_walked(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let mut back = Back::new(Kind::Delta, vec![&bytes]);
            for _ in 0..1000 {
                if back.back().is_none() {
                    break;
                }
            }
            back.seek(u64::MAX);
        }
    }
}
