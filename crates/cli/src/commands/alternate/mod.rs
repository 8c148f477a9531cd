//! `relapse alternate`: inputs near the failing one on which two versions diverge.

mod answer;
mod files;
pub mod text;
mod values;

use crate::failure::{Exit, Failure};
use crate::source::LineSpec;
use crate::{Session, opened, solvers};
use alternate::rerun::Recorder;
use alternate::{Both, Direction, Error, Options, Predicates, Run, Verdict};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;
use values::NoAlternateInput;

/// Find inputs near the failing one that show where two versions disagree
///
/// OLD and NEW are recordings of the same failing test with both versions. For each branch of the new
/// version, a solver searches for an input that takes the failing input's path in the old version but another
/// edge of that branch in the new one; then the same with the versions exchanged, which finds what the new
/// version lacks. Both programs are run with every input before it is reported, in the recorded environment
/// and in a copy of its directory. Inputs on which both versions agree again come first: their branch is the
/// most likely location of the error.
///
/// Before that, the report lists the lines at which the two recorded runs first differ in a value that their
/// output depends on: most errors are in values that no branch tests.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  relapse alternate old new                   where do the versions disagree?
  relapse alternate old new --out inputs      and keep the inputs as files for tests
  relapse alternate old new --predicates      look at values as well, not only at branches

The order of the answer: places with an input on which both versions give the same output and
end the same way; of those, code that both versions ran before code that only one of them ran;
a check of the old version that no branch of the new one in the same function replaces; then
what changes the fewest bytes. It is an order of evidence, no probability: each place was
confirmed by running both versions, but only you know which of the differences was meant.
A place is where the condition was computed (`return a && b;`), not where a caller tested it.")]
pub struct AlternateArgs {
    /// Recording of the test with the version that passes
    old: PathBuf,
    /// Recording of the test with the version that fails
    new: PathBuf,
    /// Write the alternate inputs as files into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Time limit of a solver query, in seconds
    #[arg(long, value_name = "S", default_value_t = 10)]
    timeout: u64,
    /// Time limit of the whole command, in seconds
    #[arg(long, value_name = "S", default_value_t = 300)]
    budget: u64,
    /// Time limit of a program run with an alternate input, in seconds
    #[arg(long, value_name = "S", default_value_t = 10)]
    run_timeout: u64,
    /// Version whose branches are reported: a, the new one; b, the old one [default: a, then b if nothing
    /// passes or a was cheap]
    #[arg(long, value_enum)]
    direction: Option<Way>,
    /// Test values where the program does not: results for null and sign, variables for equality
    #[arg(long, num_args = 0..=1, value_enum, default_missing_value = "equal", value_name = "KIND")]
    predicates: Option<PredicateKind>,
    /// Leave out decisions inside library functions
    #[arg(long)]
    no_libraries: bool,
    /// Search for inputs even if both versions behave the same on the recorded one
    #[arg(long)]
    anyway: bool,
    /// Known location of the error: reports how near each answer is
    #[arg(long, value_name = "FILE:LINE")]
    truth: Option<LineSpec>,
    /// Only inputs whose name ends with this (a file's path, stdin, argv[1]); may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Follow environment variables as well
    #[arg(long)]
    environment: bool,
    /// Use the recorded values of floating-point numbers instead of following input into them
    #[arg(long)]
    no_float: bool,
    /// Give up when the conditions have more parts than this
    #[arg(long, value_name = "N", default_value_t = 20_000_000)]
    largest: usize,
    /// The process of each recording, counted from 0 [default: the first that decides by input]
    #[arg(long, value_name = "N")]
    process: Option<usize>,
    /// The solver, with its arguments [default: cvc5, bitwuzla or z3, if installed]
    #[arg(long, value_name = "CMD")]
    solver: Option<String>,
    /// Answer in JSON (schema relapse.alternate/1)
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Way {
    /// Branches of the new version
    A,
    /// Branches of the old version
    B,
    /// Both
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PredicateKind {
    /// Null, sign, equality
    Equal,
    /// Also less and greater
    Ordered,
}

impl AlternateArgs {
    fn options(&self) -> Result<Options, Failure> {
        let mut options = Options::new(solvers::named(self.solver.as_deref())?);
        options.solver.limits.timeout = Duration::from_secs(self.timeout);
        options.budget = Duration::from_secs(self.budget);
        options.libraries = !self.no_libraries;
        options.anyway = self.anyway;
        options.nearest = true;
        options.follow.inputs.only.clone_from(&self.only);
        options.follow.inputs.environment = self.environment.into();
        options.follow.max_terms = self.largest;
        options.follow.concrete_floats = self.no_float;
        options.direction = match self.direction {
            None => Direction::Auto,
            Some(Way::A) => Direction::New,
            Some(Way::B) => Direction::Old,
            Some(Way::Both) => Direction::Both,
        };
        options.predicates = match self.predicates {
            None => Predicates::None,
            Some(PredicateKind::Equal) => Predicates::Equal,
            Some(PredicateKind::Ordered) => Predicates::Ordered,
        };
        Ok(options)
    }
}

pub fn run(args: &AlternateArgs, session: &mut Session) -> Result<Exit, Failure> {
    let options = args.options()?;
    let (old, new) = (opened::recording(&args.old)?, opened::recording(&args.new)?);
    let open = |recording| Run::open(recording, args.process, &options.follow).map_err(|e| explain(args, &e));
    let runs = Both { old: open(&old)?, new: open(&new)? };
    let pending = values::Pending::begin(args);
    let mut runner = Recorder::new(std::env::temp_dir(), Duration::from_secs(args.run_timeout));
    let report = match alternate::find(&runs.old, &runs.new, &options, &mut runner) {
        Ok(report) => report,
        Err(error) => {
            if needs_no_input(&error) {
                without_input(args, &error, pending.values(), session)?;
            }
            return Err(explain(args, &error));
        }
    };
    let written = match &args.out {
        Some(directory) => Some(files::write(directory, &report)?),
        None => None,
    };
    let values = pending.values();
    let answer = answer::Answer::new(args, &report, &runs, written, values);
    if args.json {
        session.json(&answer)?;
    } else {
        text::write(session, &answer)?;
    }
    Ok(if report.verdict == Verdict::Found { Exit::Done } else { Exit::No })
}

/// Whether the recordings still give an answer although no input can be computed.
fn needs_no_input(error: &Error) -> bool {
    match error {
        Error::NoInput | Error::NoBranch { .. } | Error::TooLarge { .. } | Error::TimeUp { .. } => true,
        Error::Rerun { .. } | Error::NotReproduced { .. } | Error::Follow { .. } => true,
        Error::Open(_) | Error::Replay { .. } | Error::Broken { .. } => false,
        Error::OtherInput { .. } | Error::NoDeviation => false,
    }
}

fn without_input(
    args: &AlternateArgs,
    error: &Error,
    values: values::Values,
    session: &mut Session,
) -> Result<(), Failure> {
    if args.json {
        let reason = format!("failed to {error}");
        let answer =
            NoAlternateInput { schema: "relapse.alternate/1", verdict: "unanswered", reason, values };
        session.json(&answer)?;
    } else {
        values::write(session, &values, true)?;
    }
    Ok(())
}

/// The sentence, exit code and hint for an error.
fn explain(args: &AlternateArgs, error: &Error) -> Failure {
    let exit = match error {
        Error::Open(_) | Error::Replay { .. } | Error::Follow { .. } | Error::Broken { .. } => Exit::BadInput,
        Error::OtherInput { .. } => Exit::Usage,
        Error::NoDeviation => Exit::NoRegression,
        Error::NoInput | Error::NoBranch { .. } | Error::TooLarge { .. } | Error::TimeUp { .. } => Exit::No,
        Error::Rerun { .. } | Error::NotReproduced { .. } => Exit::Environment,
    };
    let failure = Failure::failed_to(exit, error);
    match error {
        Error::Open(_) => failure.hint("A recording needs the binaries it was made with, unchanged."),
        Error::NoInput if !args.only.is_empty() => failure.hint("Follow more inputs: leave out --only."),
        Error::NoInput => failure.hint(
            "Standard input, arguments and files are followed; `relapse dump io DIR` shows what was read,\n\
             --environment follows the environment as well.",
        ),
        Error::NoBranch { fixed: 1.., .. } => failure.hint(
            "What depends on a fixed value is not seen; `relapse path DIR --all` lists such values with reasons.",
        ),
        Error::NoBranch { .. } => failure.hint(
            "The difference is in values, or the input goes through code that is not recorded.\n\
             `relapse explain` finds the changes; --predicates looks at values.",
        ),
        Error::NoDeviation => failure.hint(
            "Record the test that fails with the new version. If it fails by something else than its output\n\
             and exit status, say --anyway.",
        ),
        Error::OtherInput { .. } => failure.hint("Record both versions with the same input."),
        Error::Rerun { .. } => failure.hint(
            "Every input is tried before it is reported. Record the programs themselves, with input from\n\
             files, arguments or standard input, and leave them where they are.",
        ),
        Error::NotReproduced { .. } => failure.hint(
            "Something else than its input decides where it goes: time, addresses, other processes, or input\n\
             that is gone. Record it again with all its input in files or on standard input.",
        ),
        Error::TooLarge { .. } => {
            failure.hint("Follow fewer inputs (--only), use a smaller one, or allow more (--largest; mind the memory).")
        }
        Error::TimeUp { .. } => failure.hint("Give it more time (--budget), or follow fewer inputs (--only)."),
        Error::Broken { .. } => failure.hint("This is a fault in relapse."),
        _ => failure,
    }
}
