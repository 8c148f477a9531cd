//! How a program names the content of an array: only for text.

/// A part of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its first byte in the element.
    pub offset: u64,
    /// Its number of bytes.
    pub size: u64,
    /// As it follows the element: `.length`; empty if the element is not a record.
    pub name: String,
}

/// A bit of an element that a function of the source tests: `isdigit(c)` of a table of character classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// Its byte in the element.
    pub offset: u64,
    /// The bit in that byte.
    pub mask: u8,
    /// The function's name.
    pub name: &'static str,
}

/// The name of an array, and its elements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The array's name in the source.
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
