//! The effects of C library functions: the memory they read and write, and the values they return.
//! One table is used by the runtime (what to log), by replay (the effects), by slicing
//! (dependences) and by symbolic execution (semantics).
//!
//! # What lives here
//! * [`effect`]: the vocabulary in which the table describes a function;
//! * [`table`]: the entries, one file per header family, sorted at compile time;
//! * [`model`]: functions whose effect and result are computed rather than logged, by one evaluator
//!   for recorder and replayer;
//! * [`format`](mod@format): the conversions of a `printf` or `scanf` format.
//!
//! # What must not be known here
//! Events, shadow memory, processes. No allocation, no I/O, `no_std`: the
//! runtime links this crate into every recorded program.
//!
//! ```
//! let strlen = externals::find("strlen").unwrap();
//! assert_eq!(strlen.model, Some(externals::Model::Strlen));
//! assert_eq!(externals::by_id(externals::id("strlen").unwrap()).unwrap().name, "strlen");
//! ```
#![no_std]
#![warn(missing_docs)]

#[cfg(test)]
extern crate std;

pub mod effect;
pub mod format;
pub mod model;
pub mod table;

pub use effect::{
    Access, Channel, Data, Direction, External, Format, FormatArgs, Hidden, Io, Len, Owner, Place, Range,
    Ret, STATE_VARIABLES, State, StateVariable, When, flag,
};
pub use model::{Memory, Model, TooLong, evaluate};

/// The entry of a function, by its symbol name.
#[must_use]
pub fn find(name: &str) -> Option<&'static External> {
    by_id(id(name)?)
}

/// The index of a function in the table. Indices change when entries are added, so they are never
/// stored outside the process.
#[must_use]
pub fn id(name: &str) -> Option<u16> {
    table::ALL.binary_search_by(|e| e.name.cmp(name)).ok().map(|i| i as u16)
}

/// The entry with an index.
#[must_use]
pub fn by_id(id: u16) -> Option<&'static External> {
    table::ALL.get(id as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_itself() {
        for (i, e) in table::ALL.iter().enumerate() {
            assert_eq!(id(e.name), Some(i as u16), "{}", e.name);
        }
        assert!(table::ALL.windows(2).all(|w| w[0].name < w[1].name), "sorted, without repetition");
        assert!(find("no such function").is_none());
    }

    #[test]
    fn the_table_is_wide() {
        assert!(table::ALL.len() >= 300, "{}", table::ALL.len());
    }

    #[test]
    fn descriptions_are_consistent() {
        for e in table::ALL {
            if let Some(io) = e.io {
                match io.data {
                    Data::Written(i) => assert!((i as usize) < e.writes.len(), "{}", e.name),
                    Data::Read(i) => assert!((i as usize) < e.reads.len(), "{}", e.name),
                    _ => {}
                }
            }
            if let Some(f) = e.format {
                let first = match f.args {
                    FormatArgs::From(s) | FormatArgs::List(s) => s,
                };
                assert!(first > f.format, "{}", e.name);
            }
            if e.model.is_some() {
                assert!(e.writes.is_empty(), "{}: the model says what is written", e.name);
            }
        }
    }
}
