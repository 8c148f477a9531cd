//! A finished stretch of a column, as it is stored.
//!
//! Six forms, of which the shortest is taken. Three in bits of fixed width ([`fixed`]): a
//! run-length grammar, a SEQUITUR grammar, the symbols in a row. Three coded by what has come
//! before ([`crate::range`]): the run-length grammar ([`named`]), the row, each symbol by the
//! two before it ([`row`]), and runs in a row, by several contexts at once ([`runs`]).
//!
//! A coded grammar is read into the same grammar when it is opened; nothing is unfolded. Rows
//! become a grammar of one rule. They are only taken where a grammar would not be much
//! smaller; and runs, which take a while to read, only where they save enough.

mod fixed;
mod named;
mod row;
mod runs;

use crate::grammar::Grammar;
use crate::lane;

pub use fixed::shorter;

const FORM_CODED: u64 = 3;

/// In the first byte of a coded form: the numbers are distances from a prediction.
const PREDICTED: u8 = 4;

/// There too: no grammar, but the symbols in a row.
const IN_A_ROW: u8 = 8;

/// And: runs in a row.
const IN_RUNS: u8 = 16;

/// And: the numbers of a column of differences are no differences but the values themselves,
/// listed as differences to the one listed before.
const VALUES: u8 = 32;

/// Rows are read as a whole, so that they must be short; and no longer than this many
/// times what the grammar would hold in memory.
const LONGEST_ROW: u64 = 1 << 18;
const LONGER: u64 = 32;

/// Runs must save a byte for so many of them, and so there cannot be many more of them
/// than nodes. Where next to nothing is stored there is nothing to save.
const RUNS_A_BYTE: usize = 16;
const MORE_RUNS: usize = 8;
const LITTLE: usize = 16;

/// What the numbers of a piece are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Each by itself, or differences to the one before: the last number is `end` then.
    Own { end: u64 },
    /// Distances from a prediction.
    Distances,
    /// Values, where others are differences.
    Values,
}

impl Meaning {
    fn end(self) -> Option<u64> {
        match self {
            Meaning::Own { end } => Some(end),
            Meaning::Distances | Meaning::Values => None,
        }
    }

    fn form(self) -> u8 {
        FORM_CODED as u8
            | match self {
                Meaning::Own { .. } => 0,
                Meaning::Distances => PREDICTED,
                Meaning::Values => VALUES,
            }
    }
}

/// One of the ways in which the numbers of a piece can be put.
pub struct Candidate {
    meaning: Meaning,
    list: Vec<u64>,
    grammar: Grammar,
    bytes: Vec<u8>,
}

impl Candidate {
    /// Numbers that stand for themselves, or differences.
    #[must_use]
    pub fn own(list: Vec<u64>, grammar: Grammar, end: u64) -> Candidate {
        Candidate::new(Meaning::Own { end }, list, grammar)
    }

    /// Distances from a prediction.
    #[must_use]
    pub fn distances(list: Vec<u64>, grammar: Grammar) -> Candidate {
        Candidate::new(Meaning::Distances, list, grammar)
    }

    /// Values instead of differences. The grammar's symbols are numbered as they first come.
    #[must_use]
    pub fn values(mut list: Vec<u64>, grammar: Grammar) -> Candidate {
        let mut last = 0;
        for value in &mut list {
            let before = std::mem::replace(&mut last, *value);
            *value = value.wrapping_sub(before);
        }
        Candidate::new(Meaning::Values, list, grammar)
    }

    fn new(meaning: Meaning, list: Vec<u64>, grammar: Grammar) -> Candidate {
        let bytes = code(&list, &grammar, meaning);
        Candidate { meaning, list, grammar, bytes }
    }

    #[must_use]
    pub fn list(&self) -> &[u64] {
        &self.list
    }

    #[must_use]
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Bytes it takes without runs in a row.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }
}

/// What is stored of a piece that can be put in these ways, in a coded form. Runs are tried for those that
/// are not much longer than the shortest.
#[must_use]
pub fn choose(candidates: &[Candidate]) -> Vec<u8> {
    let Some(shortest) = candidates.iter().min_by_key(|c| c.size()) else { return Vec::new() };
    let mut best = shortest.bytes.clone();
    let mut least = best.len();
    for c in candidates.iter().filter(|c| c.size() > LITTLE && c.size() <= shortest.size() * 4 / 3) {
        let most = (c.grammar.nodes() * MORE_RUNS).min(c.size() * RUNS_A_BYTE);
        let coded = runs::code(&c.list, &c.grammar, c.meaning.end(), c.meaning.form() | IN_RUNS, most);
        if let Some((bytes, count)) = coded
            && bytes.len() + count / RUNS_A_BYTE < least
        {
            least = bytes.len() + count / RUNS_A_BYTE;
            best = bytes;
        }
    }
    best
}

/// The coded forms but runs, the shorter one.
fn code(list: &[u64], g: &Grammar, meaning: Meaning) -> Vec<u8> {
    let (end, form) = (meaning.end(), meaning.form());
    let mut best = named::code(list, g, end, form);
    if g.len() > 1 && g.len() <= LONGEST_ROW && g.len() <= LONGER * g.nodes() as u64 {
        let other = row::code(list, g, end, form | IN_A_ROW);
        if other.len() < best.len() {
            best = other;
        }
    }
    best
}

/// A piece ready to be walked.
#[derive(Clone, Debug)]
pub struct Decoded {
    pub(crate) list: Vec<u64>,
    pub(crate) grammar: Grammar,
    /// What the numbers are.
    pub(crate) meaning: Meaning,
    /// For each rule the sum of what it stands for.
    sums: Vec<u64>,
}

impl Decoded {
    /// None if the bytes are no piece.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Decoded> {
        let (first, rest) = bytes.split_first()?;
        let has = |flag: u8| first & flag != 0;
        let is_coded = u64::from(first & 3) == FORM_CODED;
        let has_end = !has(PREDICTED | VALUES);
        let (mut list, grammar, end) = match is_coded {
            false => fixed::read(bytes),
            true if has(IN_RUNS) => runs::read(rest, has_end),
            true if has(IN_A_ROW) => row::read(rest, has_end),
            true => named::read(rest, has_end),
        }?;
        let meaning = match is_coded {
            true if has(PREDICTED) => Meaning::Distances,
            true if has(VALUES) => Meaning::Values,
            _ => Meaning::Own { end },
        };
        if meaning == Meaning::Values {
            let mut value = 0u64;
            for number in &mut list {
                value = value.wrapping_add(*number);
                *number = value;
            }
        }
        let sums = lane::sums(&list, &grammar);
        Some(Decoded { list, grammar, meaning, sums })
    }

    #[must_use]
    pub fn len(&self) -> u64 {
        self.grammar.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.grammar.is_empty()
    }

    #[must_use]
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    pub(crate) fn sum(&self, sym: u32) -> u64 {
        match self.grammar.rule_of(sym) {
            None => self.list[sym as usize],
            Some(r) => self.sums[r as usize],
        }
    }
}
