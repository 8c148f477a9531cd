//! `relapse dump`: prints each stage of the pipeline as text.

mod dependences;
mod io;
mod lines;
mod program;
mod recording;
mod steps;
mod timeline;

use crate::Session;
use crate::failure::{Exit, Failure};
use clap::Subcommand;

/// Show a stage of the pipeline as text
#[derive(Debug, Subcommand)]
pub enum DumpCommand {
    Program(program::ProgramArgs),
    Recording(recording::RecordingArgs),
    Steps(steps::StepsArgs),
    Io(io::IoArgs),
    Lines(lines::LinesArgs),
    Dependences(dependences::DependencesArgs),
    Timeline(timeline::TimelineArgs),
}

pub fn run(command: &DumpCommand, session: &mut Session) -> Result<Exit, Failure> {
    match command {
        DumpCommand::Program(args) => program::run(args, session),
        DumpCommand::Recording(args) => recording::run(args, session),
        DumpCommand::Steps(args) => steps::run(args, session),
        DumpCommand::Io(args) => io::run(args, session),
        DumpCommand::Lines(args) => lines::run(args, session),
        DumpCommand::Dependences(args) => dependences::run(args, session),
        DumpCommand::Timeline(args) => timeline::run(args, session),
    }
}
