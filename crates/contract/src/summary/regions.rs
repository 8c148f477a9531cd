//! The initial memory of both versions of a function: disjoint regions, and a variable for each byte that is
//! read.

use super::Supported;
use rustc_hash::{FxHashMap, FxHashSet};
use solver::{Binary, Pool, Term};

/// Memory that does not overlap any other region.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    Global(String),
    /// The target of the pointer in this parameter.
    Parameter(String),
    /// The target of the pointer at this location, as it was before the call.
    PointerTarget(Place),
    /// The locals of an activation.
    Frame(usize),
}

/// A byte: the number of its region, and the offset.
pub type Place = (usize, i64);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Variable {
    Parameter(String),
    Byte(Place),
    Address(usize),
}

/// The state shared by the paths of both versions.
#[derive(Default)]
pub struct Shared {
    pub pool: Pool,
    regions: Vec<Region>,
    /// The pointers to regions, which may be `NULL`.
    pub pointers: FxHashMap<usize, Term>,
    /// Regions whose pointers were followed.
    pub followed: FxHashSet<usize>,
    pub variables: Vec<(Variable, u32)>,
    /// Addresses and their targets.
    places: FxHashMap<Term, Place>,
    pub frames: usize,
}

impl Shared {
    pub fn region(&mut self, region: Region) -> usize {
        self.regions.iter().position(|known| *known == region).unwrap_or_else(|| {
            self.regions.push(region);
            self.regions.len() - 1
        })
    }

    pub fn regions(&self) -> impl Iterator<Item = &Region> {
        self.regions.iter()
    }

    pub fn of(&self, region: usize) -> &Region {
        &self.regions[region]
    }

    pub fn variable(&mut self, variable: Variable, width: u32) -> Term {
        let number = self.variables.iter().position(|(known, _)| *known == variable).unwrap_or_else(|| {
            self.variables.push((variable, width));
            self.variables.len() - 1
        });
        let width = self.variables[number].1;
        self.pool.variable(number as u32, width)
    }

    /// A byte as it was before the call.
    pub fn initial(&mut self, place: Place) -> Supported<Term> {
        match self.regions[place.0] {
            Region::Frame(_) => Err("it reads a local that has no value"),
            _ => Ok(self.variable(Variable::Byte(place), 8)),
        }
    }

    /// The address of a location in a region that is not the target of a pointer.
    pub fn address(&mut self, region: Region, offset: i64) -> Term {
        let region = self.region(region);
        let base = self.variable(Variable::Address(region), 64);
        self.shifted(base, (region, 0), offset)
    }

    pub fn shifted(&mut self, base: Term, place: Place, by: i64) -> Term {
        let constant = self.pool.constant(64, by.cast_unsigned().into());
        let term = self.pool.binary(Binary::Add, base, constant);
        self.places.entry(term).or_insert((place.0, place.1 + by));
        term
    }

    /// The target of an address.
    pub fn place(&self, address: Term) -> Option<Place> {
        self.places.get(&address).copied()
    }

    /// Registers a pointer in the initial state: its target is a region of its own.
    pub fn pointer(&mut self, term: Term, region: Region) {
        if self.pool.as_constant(term).is_none() && !self.places.contains_key(&term) {
            let region = self.region(region);
            self.places.insert(term, (region, 0));
            self.pointers.insert(region, term);
        }
    }

    /// The pointers that were followed, with their target regions.
    pub fn followed_pointers(&self) -> Vec<(usize, Term)> {
        let mut pointers: Vec<(usize, Term)> = self.pointers.iter().map(|(r, t)| (*r, *t)).collect();
        pointers.retain(|(region, _)| self.followed.contains(region));
        pointers.sort_unstable_by_key(|p| p.0);
        pointers
    }

    /// The concatenation of bytes, the first one lowest.
    pub fn joined(&mut self, bytes: &[Term]) -> Option<Term> {
        let (first, rest) = bytes.split_first()?;
        Some(rest.iter().fold(*first, |low, high| self.pool.concat(*high, low)))
    }

    /// Bytes after a path, or before the call.
    pub fn load(
        &mut self,
        written: Option<&FxHashMap<Place, Term>>,
        place: Place,
        len: u32,
    ) -> Supported<Term> {
        let mut bytes = Vec::new();
        let mut is_initial = true;
        for n in 0..i64::from(len) {
            let at = (place.0, place.1 + n);
            match written.and_then(|written| written.get(&at)) {
                Some(byte) => (is_initial, _) = (false, bytes.push(*byte)),
                None => bytes.push(self.initial(at)?),
            }
        }
        let term = self.joined(&bytes).ok_or("it reads nothing")?;
        if is_initial && len == 8 {
            self.pointer(term, Region::PointerTarget(place));
        }
        Ok(term)
    }
}
