//! The `relapse` command.
//!
//! # What lives here
//! * [`args`]: the command line as a whole; the arguments of each command are in its module;
//! * [`commands`]: one file per command. A command calls the libraries, and renders the answer as text or as
//!   one of the JSON documents of `docs/json.md`;
//! * [`failure`]: error sentences for people and exit codes for scripts;
//! * [`tools`], [`solvers`]: the compilers and solvers that commands use; [`signals`], [`times`],
//!   [`document`]: code shared by several commands;
//! * [`render`], [`progress`]: tables, numbers, colours, progress bars.
//!
//! # What must not be known here
//! How anything is computed. Code that a second front end (an editor, a test runner) would need as well
//! belongs in a library.

mod args;
mod commands;
mod document;
mod failure;
mod opened;
mod progress;
mod render;
mod signals;
mod solvers;
mod source;
mod times;
mod tools;
mod which;

use clap::Parser;
use failure::{Exit, Failure};
use std::io::{BufWriter, IsTerminal, Write};
use std::process::ExitCode;

/// The context of every command: the output stream and its properties.
pub struct Session {
    /// Standard output, buffered.
    pub out: Box<dyn Write>,
    /// Colours for `out`.
    pub paint: render::Paint,
    /// Whether standard error is a terminal.
    pub watched: bool,
}

fn main() -> ExitCode {
    let words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    if let Some(done) = commands::compile::passthrough(&words) {
        return match done {
            Ok(exit) => exit.code(),
            Err(failure) => {
                let terminal = std::io::stderr().is_terminal();
                failure.report(render::Paint::new(args::Color::Auto.enabled(terminal)));
                failure.exit.code()
            }
        };
    }
    let args = args::Args::parse();
    let paint = render::Paint::new(args.color.enabled(std::io::stdout().is_terminal()));
    let error_paint = render::Paint::new(args.color.enabled(std::io::stderr().is_terminal()));
    let mut session = Session {
        out: Box::new(BufWriter::new(std::io::stdout())),
        paint,
        watched: std::io::stderr().is_terminal(),
    };
    let answer = commands::run(args.command, &mut session)
        .and_then(|exit| session.out.flush().map(|()| exit).map_err(Failure::from));
    match answer {
        Ok(exit) => exit.code(),
        Err(failure) => {
            // Output written before the failure is part of the answer.
            let _ = session.out.flush();
            failure.report(error_paint);
            failure.exit.code()
        }
    }
}

impl Session {
    /// Writes a JSON document and a newline.
    pub fn json(&mut self, document: &impl serde::Serialize) -> Result<Exit, Failure> {
        serde_json::to_writer_pretty(&mut self.out, document)
            .map_err(|e| Failure::from(std::io::Error::from(e)))?;
        writeln!(self.out)?;
        Ok(Exit::Done)
    }
}
