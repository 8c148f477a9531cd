//! `relapse dump program`: the model as text.

use crate::Session;
use crate::failure::{Exit, Failure};
use clap::Args;
use program::binary::{Binary, BinaryError};
use program::model::{Module, Opaque};
use program::text::FunctionText;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

/// Show the program model of object files, executables and shared libraries
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse dump program sum.o
  relapse dump program ./sum --function main
  relapse dump program ./sum --opaque    what runs as external code, and why")]
pub struct ProgramArgs {
    /// Files that `relapse cc` made
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Only this function
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Only the functions that could not be modelled, with the reasons
    #[arg(long, conflicts_with = "function")]
    opaque: bool,
    /// Answer in JSON (schema relapse.program/1, with --opaque relapse.opaque/1)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ProgramAnswer {
    schema: &'static str,
    modules: Vec<Module>,
}

#[derive(Serialize)]
struct OpaqueAnswer<'a> {
    schema: &'static str,
    modelled: usize,
    opaque: Vec<OpaqueFunction<'a>>,
}

#[derive(Serialize)]
struct OpaqueFunction<'a> {
    module: &'a str,
    #[serde(flatten)]
    function: &'a Opaque,
}

pub fn run(args: &ProgramArgs, session: &mut Session) -> Result<Exit, Failure> {
    let mut modules = Vec::new();
    for file in &args.files {
        let binary = Binary::read(file).map_err(|error| {
            let exit = if matches!(error, BinaryError::File { .. }) { Exit::Usage } else { Exit::BadInput };
            match error {
                BinaryError::File { .. } => Failure::failed_to(exit, error),
                other => Failure::failed_to(exit, format_args!("read {}: failed to {other}", file.display())),
            }
        })?;
        if binary.modules.is_empty() {
            return Err(Failure::new(
                Exit::BadInput,
                format_args!("{} holds no program model", file.display()),
            )
            .hint("Build it with `relapse cc`."));
        }
        modules.extend(binary.modules);
    }
    if args.opaque {
        return opaque(&modules, args.json, session);
    }
    if let Some(name) = &args.function {
        let known = names(&modules);
        for module in &mut modules {
            module.functions.retain(|f| f.name == *name);
        }
        modules.retain(|m| !m.functions.is_empty());
        if modules.is_empty() {
            return Err(no_such_function(name, &known));
        }
    }
    if args.json {
        return session.json(&ProgramAnswer { schema: "relapse.program/1", modules });
    }
    for module in &modules {
        match args.function {
            None => writeln!(session.out, "{module}")?,
            Some(_) => {
                for function in &module.functions {
                    writeln!(session.out, "{}", FunctionText { module, function })?;
                }
            }
        }
    }
    Ok(Exit::Done)
}

fn names(modules: &[Module]) -> Vec<String> {
    modules.iter().flat_map(|m| m.functions.iter().map(|f| f.name.clone())).collect()
}

fn no_such_function(name: &str, known: &[String]) -> Failure {
    let failure = Failure::new(Exit::No, format_args!("there is no function {name}"));
    let near: Vec<&str> =
        known.iter().map(String::as_str).filter(|k| k.contains(name) || name.contains(*k)).take(8).collect();
    match (near.as_slice(), known.len()) {
        ([], 0..=12) => failure.hint(format_args!("The functions are {}.", known.join(", "))),
        ([], n) => failure.hint(format_args!("There are {n} functions, and none is like it.")),
        (near, _) => failure.hint(format_args!("Similar: {}.", near.join(", "))),
    }
}

fn opaque(modules: &[Module], json: bool, session: &mut Session) -> Result<Exit, Failure> {
    let modelled = modules.iter().map(|m| m.functions.len()).sum();
    if json {
        let opaque = modules
            .iter()
            .flat_map(|m| m.opaque.iter().map(|function| OpaqueFunction { module: &m.name, function }))
            .collect();
        return session.json(&OpaqueAnswer { schema: "relapse.opaque/1", modelled, opaque });
    }
    let mut count = 0;
    for module in modules {
        for function in &module.opaque {
            count += 1;
            writeln!(
                session.out,
                "{}: {}: {}",
                module.name,
                session.paint.name(&function.name),
                function.reason
            )?;
        }
    }
    writeln!(session.out, "{count} of {} functions run as external code", modelled + count)?;
    Ok(Exit::Done)
}
