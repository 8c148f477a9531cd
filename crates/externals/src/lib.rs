//! What the C library's functions read, write and return: one table, used by
//! the runtime (what to log), by replay (what happened), by slicing (what
//! depends on what) and by symbolic execution (what it means).
//!
//! # What lives here
//! * [`effect`]: the small language in which the table describes a function;
//! * [`table`]: the entries, one file a header family, sorted when compiled;
//! * [`model`]: functions whose effect and result are computed rather than
//!   logged, by one evaluator for recorder and replayer alike;
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

/// The number of a function in the table. Numbers change when entries are
/// added; they never leave the process that computed them.
#[must_use]
pub fn id(name: &str) -> Option<u16> {
    table::ALL.binary_search_by(|e| e.name.cmp(name)).ok().map(|i| i as u16)
}

/// The entry with a number.
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
