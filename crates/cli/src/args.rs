//! The command line.

use crate::commands;
use clap::{Parser, Subcommand, ValueEnum};

/// Explains why a test that passed fails now: which changes did it, and how.
#[derive(Debug, Parser)]
#[command(name = "relapse", version, propagate_version = true, max_term_width = 100, after_help = EXAMPLES)]
pub struct Args {
    /// When to use colours
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub color: Color,
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  relapse explain --good v1 --bad HEAD --build make --test ./test
                                      which changes broke the test, and how?
  relapse locate --build make --test './sum 4' --passing './sum 3'
                                      where does the failing run part from one that passes?
  relapse expose --good HEAD --bad . --build make --test './sum 4'
                                      on which input do these versions behave differently?
  relapse explore --build make --test './sum 4'
                                      what does it compute, and on which inputs?
  relapse cc -g -o sum sum.c          compile with recording built in
  relapse record -o run -- ./sum 4    run it and keep what cannot be recomputed
  relapse replay run                  run it again from the recording, and check
  relapse values run sum.c:7 total    what was `total` whenever line 7 ran?
  relapse slice run --at sum.c:7      what did line 7 get its values from?
  relapse path run                    which conditions on its input did the run meet?
  relapse alternate old new           on which inputs near to this one do two versions part?
  relapse diff old new                what do two runs do differently?
  relapse cause old new old-ok new-ok which of the differences made the test fail?
  relapse contract check --good v1 --bad v2 --build make --test ./test --unchanged
                                      did the refactoring change anything?
  relapse environment find there -- make check
                                      it passes there and fails here; what does it?

Exit codes:
  0    done; for `replay`: exact
  1    the answer is no: replay was not exact, the line never ran, the runs differ
  2    the command line makes no sense
  3    the recording or the program is damaged or does not fit
  4    the recording is incomplete (disk full, nothing recorded)
  5    something is missing on this machine (clang, a directory)
  13   a defect of relapse itself; the message says what was not as it must be
  `record`, `cc` and `c++` hand on the exit code of the command they ran.";

#[derive(Debug, Subcommand)]
pub enum Command {
    Explain(Box<commands::explain::ExplainArgs>),
    Show(commands::show::ShowArgs),
    Locate(Box<commands::locate::LocateArgs>),
    Explore(Box<commands::explore::ExploreArgs>),
    Expose(Box<commands::expose::ExposeArgs>),
    Record(commands::record::RecordArgs),
    Replay(commands::replay::ReplayArgs),
    Values(commands::values::ValuesArgs),
    Slice(commands::slice::SliceArgs),
    Path(commands::path::PathArgs),
    Alternate(Box<commands::alternate::AlternateArgs>),
    Views(commands::views::ViewsArgs),
    Diff(commands::diff::DiffArgs),
    Cause(commands::cause::CauseArgs),
    #[command(subcommand)]
    Contract(commands::contract::ContractCommand),
    #[command(subcommand)]
    Environment(commands::environment::EnvironmentCommand),
    #[command(subcommand)]
    Dump(commands::dump::DumpCommand),
    Cc(commands::compile::CompileArgs),
    #[command(name = "c++")]
    Cxx(commands::compile::CompileCxxArgs),
    Completions(commands::shell::CompletionsArgs),
    Man(commands::shell::ManArgs),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

impl Color {
    /// Whether output to a stream is coloured; `terminal`: the stream is a terminal.
    pub fn enabled(self, terminal: bool) -> bool {
        match self {
            Color::Always => true,
            Color::Never => false,
            // https://no-color.org: any value but the empty one.
            Color::Auto => terminal && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        Args::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example() {
        fn check(command: &clap::Command, path: &str) {
            for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
                let path = format!("{path} {}", sub.get_name());
                if sub.has_subcommands() {
                    check(sub, &path);
                } else {
                    let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
                    assert!(help.contains("Example"), "{path} has no example");
                    assert!(help.contains(&path), "the example of {path} does not show it");
                }
            }
        }
        check(&Args::command(), "relapse");
    }

    #[test]
    fn colour_follows_the_flag_first() {
        assert!(Color::Always.enabled(false));
        assert!(!Color::Never.enabled(true));
        assert!(!Color::Auto.enabled(false));
    }
}
