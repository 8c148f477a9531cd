//! `relapse show`: prints a stored explanation, in any format.

use super::explain::OutputFormats;
use crate::Session;
use crate::failure::{Exit, Failure};
use clap::Args;
use std::path::PathBuf;

/// Show an explanation again, from the JSON that `relapse explain` wrote
///
/// Nothing is built or run: the report is printed with as many steps as asked for, or
/// written in other forms.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse show answer.json --steps all
  relapse show answer.json --markdown comment.md --html why.html")]
pub struct ShowArgs {
    /// What `relapse explain --json FILE` wrote
    #[arg(value_name = "FILE")]
    answer: PathBuf,
    #[command(flatten)]
    forms: OutputFormats,
}

pub fn run(args: &ShowArgs, session: &mut Session) -> Result<Exit, Failure> {
    let text = std::fs::read_to_string(&args.answer).map_err(|error| {
        Failure::failed_to(Exit::Usage, format_args!("read {}: {error}", args.answer.display()))
    })?;
    let answer = report::json::from_json(&text).map_err(|error| {
        Failure::failed_to(Exit::BadInput, error)
            .hint(format!("{} should be what `relapse explain --json` wrote.", args.answer.display()))
    })?;
    args.forms.write(&answer, || report::html::render(&answer, None))?;
    args.forms.print(&answer, session)?;
    Ok(Exit::Done)
}
