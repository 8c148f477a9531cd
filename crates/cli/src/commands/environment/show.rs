//! `relapse environment show`: the contents of a recording, for review before it leaves the machine.

use super::failed;
use crate::Session;
use crate::failure::{Exit, Failure};
use crate::render::{Table, bytes, counted};
use clap::Args;
use environment::secrets::{name, redact, secrets};
use environment::{calls, file, sentences, words};
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Show what a recording holds, and take out what must not leave
///
/// Lists the things the command asked about, and points out what looks like a secret.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse environment show there                         what did the command see?
  relapse environment show there --redact API_TOKEN      take the value of a variable out
  relapse environment show there --redact-secrets        take out all that looks like a secret")]
pub struct ShowArgs {
    /// The recording
    dir: PathBuf,
    /// Replace the bytes of this variable, file or other thing; may be repeated
    #[arg(long, value_name = "NAME")]
    redact: Vec<String>,
    /// Replace all that looks like a secret
    #[arg(long)]
    redact_secrets: bool,
    /// List every system call
    #[arg(long)]
    calls: bool,
    /// Answer in JSON (schema relapse.environment-show/1)
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Answer {
    schema: &'static str,
    recording: String,
    command: Vec<String>,
    directory: String,
    system: String,
    status: u8,
    variables: Vec<(String, String)>,
    things: Vec<Thing>,
    calls: Vec<CallLine>,
    secrets: Vec<Secret>,
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Thing {
    kind: &'static str,
    name: String,
    calls: usize,
    bytes: u64,
    redacted: bool,
}

#[derive(Debug, Serialize)]
struct CallLine {
    call: usize,
    thread: u32,
    name: String,
    thing: String,
    result: String,
    bytes: u64,
}

#[derive(Debug, Serialize)]
struct Secret {
    kind: &'static str,
    name: String,
    why: &'static str,
}

pub fn run(args: &ShowArgs, session: &mut Session) -> Result<Exit, Failure> {
    let mut record = file::read(&args.dir).map_err(|error| failed(&error))?;
    let mut names = args.redact.clone();
    if args.redact_secrets {
        names.extend(secrets(&record).into_iter().map(|secret| secret.name));
    }
    if !names.is_empty() {
        let missing = redact(&mut record, &names);
        if let Some(first) = missing.first() {
            return Err(Failure::new(Exit::Usage, format_args!("the recording has nothing named {first}"))
                .hint("Nothing was changed. `relapse environment show DIR` lists the names."));
        }
        file::write(&args.dir, &record).map_err(|error| failed(&error))?;
    }
    let answer = answer(args, &record);
    if args.json {
        return session.json(&answer);
    }
    write(session, args, &answer)?;
    Ok(Exit::Done)
}

fn answer(args: &ShowArgs, record: &environment::record::Record) -> Answer {
    let size = |call: &environment::record::Call| -> u64 {
        call.writes.iter().map(|write| record.blob(write.blob).len() as u64).sum()
    };
    let by_key = record.by_key();
    let things = record.keys.iter().zip(&by_key).enumerate().map(|(id, (key, calls))| Thing {
        kind: sentences::kind(key),
        name: name(key),
        calls: calls.len(),
        bytes: calls.iter().map(|at| size(&record.calls[*at])).sum(),
        redacted: record.redacted.iter().any(|redacted| redacted.0 as usize == id),
    });
    let lines = record.calls.iter().enumerate().map(|(at, call)| CallLine {
        call: at + 1,
        thread: call.thread,
        name: calls::name(call.number),
        thing: name(record.key(call.key)),
        result: if call.result < 0 { calls::error_name(call.result) } else { call.result.to_string() },
        bytes: size(call),
    });
    Answer {
        schema: "relapse.environment-show/1",
        recording: args.dir.display().to_string(),
        command: record.start.arguments.iter().map(|word| words::text(word)).collect(),
        directory: words::text(&record.start.directory),
        system: record.start.system.clone(),
        status: record.end.status,
        variables: record.start.variables.iter().map(|(n, v)| (words::text(n), words::text(v))).collect(),
        things: things.collect(),
        calls: if args.calls { lines.collect() } else { Vec::new() },
        secrets: secrets(record)
            .into_iter()
            .map(|secret| Secret { kind: secret.kind, name: secret.name, why: secret.why })
            .collect(),
        notes: record.notes.clone(),
    }
}

fn write(session: &mut Session, args: &ShowArgs, answer: &Answer) -> Result<(), Failure> {
    let paint = session.paint;
    let out = &mut session.out;
    writeln!(out, "command    {}", answer.command.join(" "))?;
    writeln!(out, "directory  {}", answer.directory)?;
    writeln!(out, "system     {}", answer.system)?;
    writeln!(out, "exit code  {}", answer.status)?;
    writeln!(
        out,
        "variables  {}\n",
        answer.variables.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>().join(" ")
    )?;
    if args.calls {
        let mut table = Table::new(&[">call", ">thread", "name", "about", "result", ">memory"]);
        for call in &answer.calls {
            table.row([
                call.call.to_string(),
                call.thread.to_string(),
                call.name.clone(),
                call.thing.clone(),
                call.result.clone(),
                if call.bytes == 0 { String::new() } else { bytes(call.bytes) },
            ]);
        }
        table.write(out, paint)?;
    } else {
        let mut table = Table::new(&["kind", ">calls", ">memory", "name"]);
        for thing in &answer.things {
            let name = match thing.redacted {
                true => format!("{} (redacted)", thing.name),
                false => thing.name.clone(),
            };
            table.row([thing.kind.to_owned(), thing.calls.to_string(), bytes(thing.bytes), name]);
        }
        table.write(out, paint)?;
    }
    for note in &answer.notes {
        writeln!(out, "not recorded: {note}")?;
    }
    if !answer.secrets.is_empty() {
        writeln!(
            out,
            "\n{}",
            paint.bad(format_args!(
                "{} like a secret:",
                match answer.secrets.len() {
                    1 => "1 thing looks".to_owned(),
                    n => format!("{} look", counted(n as u64, "thing")),
                }
            ))
        )?;
        for secret in &answer.secrets {
            writeln!(out, "  {} {}: {}", secret.kind, secret.name, secret.why)?;
        }
        writeln!(out, "`--redact NAME` takes one out, `--redact-secrets` all of them.")?;
    }
    Ok(())
}
