//! The limits of an answer and their reasons, which every output format reports.

use super::At;
use serde::Serialize;
use slice::Slice;
use std::io::Write;

#[derive(Debug, Serialize)]
pub struct Bounds {
    /// Whether some executions were not stored.
    pub truncated: bool,
    /// Whether the slice was interrupted, so that it is incomplete.
    pub incomplete: bool,
    /// Branches before this point were not checked for alternatives that could have mattered.
    asked_back_to: Option<At>,
    /// The points-to analysis was less precise than requested.
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

    /// Prints which branches were not checked, and whether the points-to analysis was less precise.
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
