//! `relapse environment record`: runs a command and records its view of this machine.

use super::{command, failed};
use crate::Session;
use crate::failure::{Exit, Failure};
use crate::render::{bytes, counted};
use clap::Args;
use environment::file;
use environment::secrets::secrets;
use serde::Serialize;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Run a command and record what it sees of this machine
///
/// Any program: nothing is compiled again. Its system calls are recorded with their results and
/// the memory the kernel wrote, in all its processes and threads. The command keeps its standard
/// streams, and its exit code becomes that of `record`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse environment record -o there -- make check     what do the tests see here?
  relapse environment show there                        what would leave this machine?")]
pub struct RecordArgs {
    /// Directory for the recording
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Say nothing unless something goes wrong
    #[arg(short, long)]
    quiet: bool,
    /// Say on standard error what was recorded, in JSON (schema relapse.environment-record/1)
    #[arg(long)]
    json: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

#[derive(Debug, Serialize)]
struct Answer {
    schema: &'static str,
    recording: String,
    status: u8,
    calls: usize,
    things: usize,
    bytes: u64,
    secrets: usize,
    notes: Vec<String>,
}

pub fn run(args: &RecordArgs, _session: &mut Session) -> Result<Exit, Failure> {
    // SIGINT and SIGTERM are for the command; the recording keeps what it did until then.
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
    let command = command(&args.command, Default::default())?;
    let record = environment::run::record(&command, None).map_err(|error| failed(&error))?;
    file::write(&args.output, &record).map_err(|error| failed(&error))?;
    let size = file::path(&args.output).metadata().map_or(0, |about| about.len());
    let secrets = secrets(&record).len();
    let answer = Answer {
        schema: "relapse.environment-record/1",
        recording: args.output.display().to_string(),
        status: record.end.status,
        calls: record.calls.len(),
        things: record.keys.len(),
        bytes: size,
        secrets,
        notes: record.notes,
    };
    if args.json {
        // Standard output belongs to the command.
        if let Ok(text) = serde_json::to_string_pretty(&answer) {
            eprintln!("{text}");
        }
    } else if !args.quiet {
        eprintln!(
            "relapse: recorded {} about {}, {}, in {}",
            counted(answer.calls as u64, "system call"),
            counted(answer.things as u64, "thing"),
            bytes(size),
            answer.recording
        );
        for note in &answer.notes {
            eprintln!("relapse: not recorded: {note}");
        }
        if secrets > 0 {
            eprintln!(
                "relapse: {} in it; see `relapse environment show {}`",
                match secrets {
                    1 => "one thing looks like a secret".to_owned(),
                    n => format!("{n} things look like secrets"),
                },
                answer.recording
            );
        }
    }
    Ok(Exit::OfCommand(answer.status))
}
