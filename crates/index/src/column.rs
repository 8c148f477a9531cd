//! One sequence of numbers: written at its end while the program is replayed, read
//! from its end while a slice walks back.
//!
//! Numbers that move (addresses) are kept as differences to the one before, as distances
//! from a prediction or as they are, whichever takes less. The numbers that occur are listed
//! once; the sequence of their places in the list is what the grammar produces. A grammar
//! that has grown large is sealed and a new one begun, so that memory stays bounded
//! whatever the program does.

use crate::cursor::Cursor;
use crate::lane::{self, Lane};
use crate::measure::Measured;
use crate::piece::{self, Candidate, Decoded, Meaning};
use crate::rlese::Work;

/// Nodes of a grammar after which it is sealed.
const SEALED_AT: usize = 1 << 17;

/// A piece of so few bytes is not looked at in further ways.
const LITTLE: usize = 32;

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
    own: Lane,
    /// The same as distances from what was predicted.
    predicted: Option<Box<Lane>>,
    pieces: Vec<Piece>,
    size: Size,
    measured: Option<Box<Measured>>,
}

impl Builder {
    #[must_use]
    pub fn new(kind: Kind) -> Builder {
        Builder {
            kind,
            before: 0,
            own: Lane::default(),
            predicted: None,
            pieces: Vec::new(),
            size: Size::default(),
            measured: None,
        }
    }

    /// Every number will be predicted.
    #[must_use]
    pub fn predicted(mut self) -> Builder {
        self.predicted = Some(Box::default());
        self
    }

    /// What other means make of the numbers is measured too. Takes time for every number.
    #[must_use]
    pub fn measured(mut self) -> Builder {
        self.measured = Some(Box::default());
        self
    }

    /// The next number, of which nothing was predicted.
    #[inline]
    pub fn push(&mut self, value: u64) {
        self.push_near(value, 0);
    }

    /// The next number, and what was predicted for it.
    #[inline]
    pub fn push_near(&mut self, value: u64, prediction: u64) {
        let before = std::mem::replace(&mut self.before, value);
        self.own.push(match self.kind {
            Kind::Plain => value,
            Kind::Delta => value.wrapping_sub(before),
        });
        let mut nodes = self.own.grammar.nodes();
        if let Some(lane) = &mut self.predicted {
            lane.push(value.wrapping_sub(prediction));
            nodes = nodes.max(lane.grammar.nodes());
        }
        if nodes > SEALED_AT {
            self.seal();
        }
    }

    /// The number pushed last; 0 before the first.
    #[must_use]
    #[inline]
    pub fn before(&self) -> u64 {
        self.before
    }

    fn seal(&mut self) {
        let own = std::mem::take(&mut self.own);
        if own.grammar.is_empty() {
            return;
        }
        self.size.symbols += own.grammar.len();
        let mut add = |work: Work| {
            self.size.work.checks += work.checks;
            self.size.work.folds += work.folds;
        };
        add(own.grammar.work());
        let end = match self.kind {
            Kind::Plain => 0,
            Kind::Delta => self.before,
        };
        let grammar = own.grammar.finish();
        let mut candidates = vec![Candidate::own(own.list, grammar, end)];
        if let Some(lane) = self.predicted.as_mut().map(std::mem::take) {
            add(lane.grammar.work());
            candidates.push(Candidate::distances(lane.list, lane.grammar.finish()));
        }
        let is_worth_more = candidates.iter().all(|c| c.size() > LITTLE);
        if self.kind == Kind::Delta
            && is_worth_more
            && let Some(lane) = lane::values(candidates[0].list(), candidates[0].grammar(), end)
        {
            candidates.push(Candidate::values(lane.list, lane.grammar.finish()));
        }
        let own = &candidates[0];
        let coded = piece::choose(&candidates);
        let (bytes, sequitur) =
            piece::shorter(own.list(), own.grammar(), end, coded, self.measured.is_some());
        if let Some(measured) = &mut self.measured {
            measured.add(self.kind, own.list(), own.grammar(), bytes.len() as u64, sequitur);
        }
        self.size.bytes += bytes.len() as u64;
        self.pieces.push(Piece { bytes });
    }

    /// The sealed pieces, in order.
    #[must_use]
    pub fn finish(mut self) -> (Vec<Piece>, Size, Measured) {
        self.seal();
        (self.pieces, self.size, self.measured.map_or(Measured::default(), |m| *m))
    }
}

/// Reads a column backwards. There are thousands of columns, and a walk goes from one to
/// the next: what the next number of a run takes lies together.
#[derive(Clone, Debug)]
pub struct Back<'b> {
    /// The run that is being passed: its number, and how many are left of it.
    number: u64,
    left: u32,
    kind: Kind,
    /// Numbers are differences; if not, they are values, or distances from a prediction.
    is_difference: bool,
    is_predicted: bool,
    /// A piece could not be read.
    damaged: bool,
    /// How many numbers have been passed.
    passed: u64,
    value: u64,
    rest: Box<Rest<'b>>,
}

#[derive(Clone, Debug)]
struct Rest<'b> {
    /// Pieces not yet opened, the next one last.
    pieces: Vec<&'b [u8]>,
    open: Option<Decoded>,
    /// Before the run.
    cursor: Cursor,
}

impl<'b> Back<'b> {
    /// Behind the last number of the pieces, which stand in order.
    #[must_use]
    pub fn new(kind: Kind, pieces: Vec<&'b [u8]>) -> Back<'b> {
        let rest = Box::new(Rest { pieces, open: None, cursor: Cursor::default() });
        let (number, left, passed, value) = (0, 0, 0, 0);
        let (is_difference, is_predicted, damaged) = (false, false, false);
        Back { number, left, kind, is_difference, is_predicted, damaged, passed, value, rest }
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
        while self.rest.cursor.left() == 0 {
            let bytes = self.rest.pieces.pop()?;
            let Some(piece) = Decoded::new(bytes) else {
                self.damaged = true;
                self.rest.pieces.clear();
                return None;
            };
            self.rest.cursor = Cursor::at_end(&piece.grammar);
            self.value = match piece.meaning {
                Meaning::Own { end } => end,
                Meaning::Distances | Meaning::Values => 0,
            };
            self.is_predicted = piece.meaning == Meaning::Distances;
            self.is_difference = self.kind == Kind::Delta && matches!(piece.meaning, Meaning::Own { .. });
            self.rest.open = Some(piece);
        }
        Some(())
    }

    /// Goes on to the next run.
    #[inline(never)]
    fn next_run(&mut self) -> Option<()> {
        if self.rest.cursor.left() == 0 {
            self.turn()?;
        }
        let Rest { open, cursor, .. } = &mut *self.rest;
        let piece = open.as_ref()?;
        let (symbol, copies) = cursor.back_run(&piece.grammar)?;
        (self.number, self.left) = (piece.list[symbol as usize], copies);
        Some(())
    }

    /// The number before the place, over which it steps.
    #[inline]
    pub fn back(&mut self) -> Option<u64> {
        self.back_near().map(|(number, _)| number)
    }

    /// The same, and whether it is only the distance from a prediction.
    #[inline]
    pub fn back_near(&mut self) -> Option<(u64, bool)> {
        if self.left == 0 {
            self.next_run()?;
        }
        self.left -= 1;
        self.passed += 1;
        if !self.is_difference {
            return Some((self.number, self.is_predicted));
        }
        let value = self.value;
        self.value = value.wrapping_sub(self.number);
        Some((value, false))
    }

    /// Steps over numbers until `passed` have been passed.
    pub fn seek(&mut self, passed: u64) {
        let of_run = passed.saturating_sub(self.passed).min(self.left.into());
        self.left -= of_run as u32;
        self.passed += of_run;
        self.value = self.value.wrapping_sub(self.number.wrapping_mul(of_run));
        while self.passed < passed {
            if self.rest.cursor.left() == 0 && self.turn().is_none() {
                return;
            }
            let Rest { open, cursor, .. } = &mut *self.rest;
            let Some(piece) = open else { return };
            let n = (passed - self.passed).min(cursor.left());
            let value = &mut self.value;
            cursor.skip(&piece.grammar, n, |sym, copies| {
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
        // A few places, come back to in any order, with runs and without.
        let places =
            (proptest::collection::vec(any::<u64>(), 30), proptest::collection::vec(0usize..30, 0..300));
        let places = (places, 1usize..4).prop_map(|((at, order), copies)| {
            order.iter().flat_map(|i| std::iter::repeat_n(at[*i], copies)).collect()
        });
        prop_oneof![strides, proptest::collection::vec(0u64..5, 0..200), places]
    }

    /// Objects that are visited in any order: fewer than their differences, and told as runs.
    #[test]
    fn places_come_back_as_they_are() {
        let mut state = 1u64;
        let values: Vec<u64> = (0..20_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let n = state >> 40 & 63;
                0x5555_0000 + n * n * 48
            })
            .collect();
        let pieces = column(Kind::Delta, &values);
        let first = Decoded::new(&pieces[0].bytes).expect("a piece");
        assert_eq!(first.meaning, Meaning::Values);
        // Six bits each is what they are.
        let bytes: usize = pieces.iter().map(|p| p.bytes.len()).sum();
        assert!(bytes < 20_000 * 7 / 8, "{bytes}");
        let mut back = Back::new(Kind::Delta, pieces.iter().map(|p| &p.bytes[..]).collect());
        back.seek(700);
        assert!(values.iter().rev().skip(700).all(|v| back.back() == Some(*v)));
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

        /// Whatever is predicted.
        #[test]
        fn predicted_numbers_come_back(
            values in values(),
            predictions in proptest::collection::vec(0u64..40, 200),
            near in any::<bool>(),
        ) {
            let guess = |i: usize| predictions[i % 200].wrapping_add(if near { values[i] & !31 } else { 0 });
            let mut b = Builder::new(Kind::Delta).predicted();
            for (i, v) in values.iter().enumerate() {
                b.push_near(*v, guess(i));
            }
            let (pieces, ..) = b.finish();
            let mut back = Back::new(Kind::Delta, pieces.iter().map(|p| &p.bytes[..]).collect());
            for (i, v) in values.iter().enumerate().rev() {
                let (number, distance) = back.back_near().expect("a number");
                prop_assert_eq!(if distance { guess(i).wrapping_add(number) } else { number }, *v);
            }
            prop_assert_eq!(back.back(), None);
        }

        #[test]
        fn never_larger_than_sequitur(values in values()) {
            let mut b = Builder::new(Kind::Delta).predicted().measured();
            for (i, v) in values.iter().enumerate() {
                b.push_near(*v, i as u64 * 8);
            }
            let (pieces, size, measured) = b.finish();
            prop_assert!(size.bytes <= measured.sequitur);
            prop_assert_eq!(measured.larger, 0);
            prop_assert_eq!(pieces.iter().map(|p| p.bytes.len() as u64).sum::<u64>(), measured.stored);
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
