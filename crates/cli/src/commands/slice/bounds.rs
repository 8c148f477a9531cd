//! What an answer does not hold, and why: said in every form of it.

use super::At;
use serde::Serialize;
use slice::Slice;
use std::io::Write;

#[derive(Debug, Serialize)]
pub struct Bounds {
    /// Not all executions were kept.
    pub truncated: bool,
    /// It was interrupted: there is more.
    pub incomplete: bool,
    /// Branches before this were not asked whether they could have mattered.
    asked_back_to: Option<At>,
    /// Pointers were followed less exactly than asked.
    coarse_pointers: bool,
}

impl Bounds {
    pub fn of(slice: &Slice) -> Bounds {
        Bounds {
            truncated: slice.truncated,
            incomplete: slice.incomplete,
            asked_back_to: slice.asked_back_to.map(|at| At { stream: at.stream, instruction: at.step }),
            coarse_pointers: slice.coarse,
        }
    }

    /// What branches and pointers were not asked.
    pub fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        if let Some(at) = &self.asked_back_to {
            writeln!(
                out,
                "\nBranches before instruction {} of thread {} were not asked whether they could have \
                 mattered: the slice had grown too large. A higher `--limit` asks more.",
                at.instruction, at.stream
            )?;
        }
        if self.coarse_pointers {
            writeln!(
                out,
                "\nPointers were followed less exactly than asked, as with `--pointers unified`: the program \
                 is too large for more."
            )?;
        }
        Ok(())
    }
}
