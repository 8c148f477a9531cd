//! Contracts that describe which changes were intended.

use crate::failure::Failure;
use clap::Args;
use contract::checking::{Checking, Runs, Wanted};
use contract::watch::Bounds;
use explain::meant::Intentions;
use std::path::PathBuf;

/// What was meant to change.
#[derive(Debug, Args)]
pub struct MeantArgs {
    /// Suspect changes last that are in functions which changed as the contracts in this file describe, or
    /// those in comments of the bad version's sources (docs/contracts.md)
    #[arg(long, value_name = "FILE")]
    contracts: Option<PathBuf>,
    /// The same with the contracts in comments only
    #[arg(long)]
    intended: bool,
}

impl MeantArgs {
    /// A callback that decides which changes were intended, if there are contracts.
    pub fn intentions(&self) -> Result<Option<Intentions>, Failure> {
        let asked = crate::commands::contract::given::asked(self.contracts.as_deref(), self.intended)?;
        let Some(contracts) = asked else { return Ok(None) };
        let bounds = Bounds { calls: 2000, bytes: 1 << 30 };
        let wanted = Wanted { contracts, unchanged: None, bounds, proofs: false };
        Ok(Some(Intentions::new(Box::new(move |runs| {
            let mut checking = Checking::new(&wanted);
            let runs = Runs { recordings: runs.recordings, trees: runs.trees, map: runs.map };
            checking.test(0, &runs).map_err(|error| format!("failed to {error}"))?;
            match checking.is_empty() {
                true => {
                    Err("neither the sources nor a file have one that speaks of a function here".to_owned())
                }
                false => Ok(checking.meant_functions()),
            }
        }))))
    }
}
