//! One file per command.

pub mod alternate;
pub mod cause;
pub mod compile;
pub mod contract;
pub mod diff;
pub mod dump;
pub mod environment;
pub mod explain;
pub mod explore;
pub mod expose;
pub mod locate;
pub mod path;
pub mod record;
pub mod replay;
pub mod shell;
pub mod show;
pub mod slice;
pub mod values;
pub mod views;

use crate::Session;
use crate::args::Command;
use crate::failure::{Exit, Failure};

pub fn run(command: Command, session: &mut Session) -> Result<Exit, Failure> {
    match command {
        Command::Explain(args) => explain::run(&args, session),
        Command::Show(args) => show::run(&args, session),
        Command::Locate(args) => locate::run(&args, session),
        Command::Explore(args) => explore::run(&args, session),
        Command::Expose(args) => expose::run(&args, session),
        Command::Record(args) => record::run(&args),
        Command::Replay(args) => replay::run(&args, session),
        Command::Values(args) => values::run(&args, session),
        Command::Slice(args) => slice::run(&args, session),
        Command::Path(args) => path::run(&args, session),
        Command::Alternate(args) => alternate::run(&args, session),
        Command::Views(args) => views::run(&args, session),
        Command::Diff(args) => diff::run(&args, session),
        Command::Cause(args) => cause::run(&args, session),
        Command::Contract(command) => contract::run(&command, session),
        Command::Environment(command) => environment::run(&command, session),
        Command::Dump(args) => dump::run(&args, session),
        Command::Cc(args) => compile::cc(&args),
        Command::Cxx(args) => compile::cxx(&args),
        Command::Completions(args) => shell::completions(&args, session),
        Command::Man(_) => shell::man(session),
    }
}
