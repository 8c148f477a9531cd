//! Shell completions and the manual page.

use crate::Session;
use crate::args;
use crate::failure::{Exit, Failure};
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::io::Write;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  relapse completions bash > ~/.local/share/bash-completion/completions/relapse")]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  relapse man | man -l -")]
pub struct ManArgs {}

pub fn completions(args: &CompletionsArgs, session: &mut Session) -> Result<Exit, Failure> {
    // The generator panics if its writer fails, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut args::Args::command(), "relapse", &mut script);
    session.out.write_all(&script)?;
    Ok(Exit::Done)
}

/// A single page: each command has a section.
pub fn man(session: &mut Session) -> Result<Exit, Failure> {
    let mut root = args::Args::command();
    root.build();
    clap_mangen::Man::new(root.clone()).render(&mut session.out)?;
    render_commands(&root, "relapse", session)?;
    Ok(Exit::Done)
}

fn render_commands(command: &clap::Command, path: &str, session: &mut Session) -> Result<(), Failure> {
    for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
        let path = format!("{path} {}", sub.get_name());
        if sub.has_subcommands() {
            render_commands(sub, &path, session)?;
            continue;
        }
        writeln!(session.out, ".SH \"{}\"", path.to_uppercase())?;
        let page = clap_mangen::Man::new(sub.clone());
        page.render_description_section(&mut session.out)?;
        page.render_synopsis_section(&mut session.out)?;
        page.render_options_section(&mut session.out)?;
        page.render_extra_section(&mut session.out)?;
    }
    Ok(())
}
