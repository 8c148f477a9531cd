//! How a program names the content of an array: only for text.

/// A part of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub offset: u64,
    pub size: u64,
    /// As it follows the element: `.length`; empty if the element is not a record.
    pub name: String,
}

/// A bit of an element that a function of the source tests: `isdigit(c)` of a table of character classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    pub offset: u64,
    pub mask: u8,
    pub name: &'static str,
}

/// The name of an array, and its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub name: String,
    /// Size of an element; 0 if it has none.
    pub stride: u64,
    /// The number of the element that has the index 0 in the source.
    pub origin: u64,
    /// The parts of an element.
    pub fields: Vec<Field>,
    /// Its bits that have names.
    pub flags: Vec<Flag>,
}
