//! The two versions.

use std::fmt;

/// One of the two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// The version that passes, or the reference.
    Old,
    /// The version that fails.
    New,
}

impl Side {
    /// The other version.
    #[must_use]
    pub fn other(self) -> Side {
        match self {
            Side::Old => Side::New,
            Side::New => Side::Old,
        }
    }

    /// `old` or `new`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Side::Old => "old",
            Side::New => "new",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A pair with one value per version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Both<T> {
    /// The old version's value.
    pub old: T,
    /// The new version's value.
    pub new: T,
}

impl<T> Both<T> {
    /// The value of a version.
    #[must_use]
    pub fn of(&self, side: Side) -> &T {
        match side {
            Side::Old => &self.old,
            Side::New => &self.new,
        }
    }

    /// The value of a version, to be changed.
    pub fn of_mut(&mut self, side: Side) -> &mut T {
        match side {
            Side::Old => &mut self.old,
            Side::New => &mut self.new,
        }
    }

    /// Calls a function for each version.
    ///
    /// # Errors
    /// The function's error, for the old version first.
    pub fn try_from<E>(mut make: impl FnMut(Side) -> Result<T, E>) -> Result<Both<T>, E> {
        Ok(Both { old: make(Side::Old)?, new: make(Side::New)? })
    }
}
