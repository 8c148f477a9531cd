//! The solvers to use: those that the user named, or installed ones.

use crate::failure::{Exit, Failure};
use solver::Command;

/// The solver commands. If there are none, the internal solver still answers easy queries.
pub fn named(text: Option<&str>) -> Result<Vec<Command>, Failure> {
    let Some(text) = text else { return Ok(Command::found()) };
    let fault = |what: String| {
        Failure::new(Exit::Usage, what)
            .hint("Name an installed program that speaks SMT-LIB 2, or leave --solver out.")
    };
    let command = Command::parse(text).ok_or_else(|| fault("--solver names no program".to_owned()))?;
    command.try_start().map_err(|e| fault(format!("the solver `{text}` cannot be started: {e}")))?;
    Ok(vec![command])
}
