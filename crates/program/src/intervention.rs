//! A replaced value at one moment of a run.
//!
//! An explanation claims that a value made a test fail. The claim is checked by running the program
//! again with only that value replaced. The last line of a source file requests the replacement:
//!
//! ```text
//! #pragma relapse intervene FUNCTION LENGTH INDEX OCCURRENCE VALUE
//! ```
//!
//! The pragma reaches the object file through every build system and every cache, because it
//! changes the source file.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The replacement of one value at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervention {
    /// Linker name of the function.
    pub function: String,
    /// Number of instructions in its model, for a consistency check.
    pub length: u32,
    /// Index of the instruction among them.
    pub index: u32,
    /// The number of earlier executions of the instruction.
    pub occurrence: u64,
    /// The bits of the replacement value.
    pub value: u64,
}

/// Prefix of the line.
pub const PRAGMA: &str = "#pragma relapse intervene ";

impl fmt::Display for Intervention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Intervention { function, length, index, occurrence, value } = self;
        write!(f, "{PRAGMA}{function} {length} {index} {occurrence} {value}")
    }
}

impl FromStr for Intervention {
    type Err = ();

    fn from_str(line: &str) -> Result<Self, ()> {
        let words: Vec<&str> = line.strip_prefix(PRAGMA).ok_or(())?.split_whitespace().collect();
        let &[function, length, index, occurrence, value] = words.as_slice() else { return Err(()) };
        Ok(Intervention {
            function: function.to_owned(),
            length: length.parse().map_err(drop)?,
            index: index.parse().map_err(drop)?,
            occurrence: occurrence.parse().map_err(drop)?,
            value: value.parse().map_err(drop)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_is_written() {
        let wanted = Intervention {
            function: "_ZN1a1bEv".to_owned(),
            length: 40,
            index: 7,
            occurrence: 12,
            value: u64::MAX,
        };
        assert_eq!(wanted.to_string().parse(), Ok(wanted));
        assert_eq!("#pragma relapse intervene f 1 2".parse::<Intervention>(), Err(()));
    }
}
