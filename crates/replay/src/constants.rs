//! Constant data, read from the binaries: a string that the program only passed on was never loaded, so the
//! recording does not contain it.

use crate::image::LoadedModule;
use program::binary::Constants as File;
use std::collections::HashMap;
use std::ops::Range;

/// Addresses at which a binary can be loaded are multiples of this.
const PAGE: u64 = 4096;

/// Constant data of a process, at its addresses in memory.
#[derive(Debug, Default)]
pub struct Constants {
    /// Address and bytes, in order of addresses.
    ranges: Vec<(u64, Vec<u8>)>,
    /// The same for variables, with their initial values.
    initial: Vec<(u64, Vec<u8>)>,
    /// Addresses of those words that the loader relocated, in order.
    relocated: Vec<u64>,
}

/// The initial value of a byte of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Initial {
    /// The byte itself, as the binary has it.
    Byte(u8),
    /// Part of an address.
    Address,
}

impl Constants {
    /// Adds the constants of a file from which these modules were loaded.
    pub fn add(&mut self, file: File, modules: &[&LoadedModule]) {
        let Some(distance) = distance(&file, modules) else { return };
        self.ranges.extend(file.sections.into_iter().map(|(at, bytes)| (at.wrapping_add(distance), bytes)));
        self.ranges.sort_by_key(|r| r.0);
        self.initial.extend(file.initial.into_iter().map(|(at, bytes)| (at.wrapping_add(distance), bytes)));
        self.initial.sort_by_key(|r| r.0);
        self.relocated.extend(file.relocated.into_iter().map(|at| at.wrapping_add(distance)));
        self.relocated.sort_unstable();
    }

    /// The initial value of a byte; none if it belongs to no variable with an initial value.
    #[must_use]
    pub fn initial(&self, address: u64) -> Option<Initial> {
        let byte = from(&self.initial, address)?.first()?;
        let next = self.relocated.partition_point(|word| *word <= address);
        let is_filled = next > 0 && address - self.relocated[next - 1] < 8;
        Some(if is_filled { Initial::Address } else { Initial::Byte(*byte) })
    }

    /// The parts of a range that are variables with initial values.
    pub fn initial_within(&self, address: u64, len: u64) -> impl Iterator<Item = Range<u64>> + '_ {
        let end = address.saturating_add(len);
        let parts = self.initial.iter().map(move |(start, bytes)| {
            address.max(*start)..end.min(start.saturating_add(bytes.len() as u64))
        });
        parts.filter(|part| !part.is_empty())
    }

    /// The known bytes from an address on; none if there is no constant data.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<&[u8]> {
        from(&self.ranges, address)
    }
}

/// The bytes of ranges, in order of addresses, from an address on.
fn from(ranges: &[(u64, Vec<u8>)], address: u64) -> Option<&[u8]> {
    let next = ranges.partition_point(|r| r.0 <= address);
    let (start, bytes) = ranges.get(next.checked_sub(1)?)?;
    bytes.get(usize::try_from(address - start).ok()?..).filter(|rest| !rest.is_empty())
}

/// The load bias of a file: the distance on which most of its symbols agree, since a file may contain a name
/// twice.
fn distance(file: &File, modules: &[&LoadedModule]) -> Option<u64> {
    let mut places: HashMap<&str, Vec<u64>> = HashMap::new();
    for (name, at) in &file.symbols {
        places.entry(name).or_default().push(*at);
    }
    let mut votes: HashMap<u64, usize> = HashMap::new();
    for module in modules {
        for (symbol, address) in module.model.symbols.iter().zip(&module.addresses) {
            for at in places.get(symbol.name.as_str()).into_iter().flatten() {
                let distance = address.wrapping_sub(*at);
                if *address != 0 && distance.is_multiple_of(PAGE) {
                    *votes.entry(distance).or_default() += 1;
                }
            }
        }
    }
    votes.into_iter().max_by_key(|(distance, votes)| (*votes, std::cmp::Reverse(*distance))).map(|v| v.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::model::{Module, Symbol, SymbolKind};
    use std::sync::Arc;

    #[test]
    fn names_tell_where_a_file_was_loaded() {
        let symbol = |name: &str| Symbol { name: name.to_owned(), kind: SymbolKind::External };
        let model = Module { symbols: ["f", "g", "twice"].map(symbol).to_vec(), ..Module::default() };
        let addresses = vec![0x7000_1010, 0x7000_1200, 0x7000_1400];
        let loaded = LoadedModule { model: Arc::new(model), addresses, base: 0 };
        let named = |name: &str, at| (name.to_owned(), at);
        let file = File {
            sections: vec![(0x2000, b"one\0two\0".to_vec()), (0x3000, b"far".to_vec())],
            initial: vec![(0x6000, vec![5; 16])],
            relocated: vec![0x6004],
            symbols: vec![
                named("f", 0x1010),
                named("g", 0x1200),
                named("twice", 0x5400),
                named("twice", 0x1400),
                named("other", 0x10),
            ],
        };
        let mut constants = Constants::default();
        constants.add(file, &[&loaded]);
        assert_eq!(constants.at(0x7000_2004), Some(&b"two\0"[..]));
        assert_eq!(constants.at(0x7000_3000), Some(&b"far"[..]));
        assert_eq!(constants.initial(0x7000_6003), Some(Initial::Byte(5)));
        assert_eq!(constants.initial(0x7000_6004), Some(Initial::Address));
        assert_eq!(constants.initial(0x7000_600b), Some(Initial::Address));
        assert_eq!(constants.initial(0x7000_600c), Some(Initial::Byte(5)));
        assert_eq!(constants.initial(0x7000_6010), None);
        let within = |at, len| constants.initial_within(at, len).next();
        assert_eq!(within(0x7000_5ff0, 0x14), Some(0x7000_6000..0x7000_6004));
        assert_eq!(within(0x7000_6010, 8), None);
        for nothing in [0, 0x2004, 0x7000_1fff, 0x7000_2008, 0x7000_3003] {
            assert_eq!(constants.at(nothing), None, "{nothing:#x}");
        }
    }

    #[test]
    fn a_file_without_names_tells_nothing() {
        let mut constants = Constants::default();
        constants.add(File { sections: vec![(0x2000, vec![1])], ..File::default() }, &[]);
        assert_eq!(constants.at(0x2000), None);
    }
}
