//! Parses a report's information about the memory: the variable or block, its allocation, and where it was
//! freed.
//!
//! ```text
//! 0x7bd2e19e001c is located 2 bytes after 10-byte region [0x7bd2e19e0010,0x7bd2e19e001a)
//! freed by thread T0 here:
//!     #0 ...
//! previously allocated by thread T0 here:
//!     #0 ...
//!
//! 0x564c87dedc69 is located 1 bytes after global variable 'table' defined in 's.c:4' ...
//!
//! Address 0x7b8f68bf002a is located in stack of thread T0 at offset 42 in frame
//!     #0 ...
//!     [32, 42) 'key' (line 4) <== Memory access at offset 42 overflows this variable
//!
//! Uninitialized value was created by an allocation of 'mask' in the stack frame
//!     #0 ...
//!
//! Uninitialized value was created by a heap deallocation
//!     #0 ...
//! ```

use super::{Access, Address, Report, frame};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The position of an access relative to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RelativePosition {
    /// At a lower address than its first byte.
    Before,
    /// Within it, such as in freed memory.
    Inside,
    /// Behind its last byte.
    After,
}

/// A line of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Source {
    /// Relative to the tree.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
}

/// The memory that a report refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Object {
    /// The variable; none for a heap block.
    pub name: Option<String>,
    /// Where the access is; none if the report is not about an access next to an object.
    pub beside: Option<RelativePosition>,
    /// Where it was declared or allocated.
    pub made: Option<Source>,
    /// Where it was freed, if it was.
    pub freed: Option<Source>,
}

/// The same as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Raw {
    pub name: Option<String>,
    pub beside: Option<RelativePosition>,
    /// The line of the declaration, if it is reported.
    pub line: Option<u32>,
    pub made: Vec<Address>,
    pub freed: Vec<Address>,
    /// The stack that is currently parsed.
    at: At,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum At {
    #[default]
    Nowhere,
    Made,
    Freed,
}

impl Raw {
    /// Parses a line after the stack of the access.
    pub fn read(&mut self, line: &str) {
        if let Some(address) = frame(line) {
            match self.at {
                At::Made => self.made.extend(address),
                At::Freed => self.freed.extend(address),
                At::Nowhere => {}
            }
            return;
        }
        let quoted = || line.split('\'').nth(1).map(str::to_owned);
        if line.contains("allocated by thread") {
            self.at = At::Made;
        } else if line.contains("freed by thread") {
            self.at = At::Freed;
        } else if line.contains(" is located in stack of thread ") {
            self.at = At::Made;
        } else if line.contains("<== Memory access at offset") {
            self.name = quoted();
            let number = line.split_once("(line ").and_then(|(_, rest)| rest.split(')').next());
            self.line = number.and_then(|number| number.parse().ok());
            self.beside = Some(match line {
                _ if line.contains("underflows") => RelativePosition::Before,
                _ if line.contains("overflows") => RelativePosition::After,
                _ => RelativePosition::Inside,
            });
        } else if line.contains(" is located ") {
            self.beside = match line {
                _ if line.contains(" bytes after ") => Some(RelativePosition::After),
                _ if line.contains(" bytes before ") => Some(RelativePosition::Before),
                _ => Some(RelativePosition::Inside),
            };
            if line.contains("global variable ") {
                self.name = quoted();
            }
        } else if line.contains("Uninitialized value was created by ") {
            self.name = if line.contains("an allocation of ") { quoted() } else { None };
            // MemorySanitizer takes the content of a freed block for uninitialised.
            self.at = if line.contains("a heap deallocation") { At::Freed } else { At::Made };
        } else if line.contains("Uninitialized value was stored to memory at") {
            self.at = At::Nowhere;
        }
    }
}

impl Report {
    /// Whether MemorySanitizer reports the content of a freed block. AddressSanitizer reports the access.
    #[must_use]
    pub fn uses_freed(&self) -> bool {
        let freed = self.object.as_ref().and_then(|object| object.freed.as_ref());
        self.kind == "use-of-uninitialized-value" && freed.is_some()
    }

    /// The error as a sentence: the access, the memory, and the locations.
    #[must_use]
    pub fn sentence(&self) -> String {
        let does = match self.access {
            Some(Access::Write) => "writes",
            _ => "reads",
        };
        let none = Object::default();
        let object = self.object.as_ref().unwrap_or(&none);
        let at = |source: &Source| format!("{}:{}", source.file.display(), source.line);
        let made = object.made.as_ref().map(at);
        let whose = match (&object.name, &made) {
            (Some(name), Some(made)) => format!("`{name}`, declared at {made}"),
            (Some(name), None) => format!("`{name}`"),
            (None, Some(made)) => format!("the block allocated at {made}"),
            (None, None) => "a block".to_owned(),
        };
        let freed = object.freed.as_ref().map_or_else(String::new, |freed| format!(" at {}", at(freed)));
        let kind = self.kind.as_str();
        let what = match () {
            () if kind == "use-of-uninitialized-value" && object.name.is_some() => {
                format!("uses {whose}, before anything was written to it")
            }
            () if self.uses_freed() => format!("uses memory of a block that was freed{freed}"),
            () if kind == "use-of-uninitialized-value" => match made {
                Some(made) => format!("uses memory of the block allocated at {made} that was never written"),
                None => "uses memory that was never written".to_owned(),
            },
            () if kind == "double-free" => format!("frees a block that was freed{freed} already"),
            () if kind.contains("use-after-free") => format!("{does} {whose}, after it was freed{freed}"),
            () if kind.contains("use-after") => format!("{does} {whose}, after its life has ended"),
            () if object.beside == Some(RelativePosition::Before) => format!("{does} before {whose}"),
            () if object.beside == Some(RelativePosition::After) => format!("{does} past the end of {whose}"),
            () => format!("{does} where it must not ({kind})"),
        };
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!(" ({}:{line})", file.display()),
            _ => String::new(),
        };
        format!("{}{place} {what}", self.function.as_deref().unwrap_or("the program"))
    }
}
