//! The contracts selected by options, and the failures of reading or checking contracts.

use crate::failure::{Exit, Failure};

/// The contracts selected by options: those of a file, in addition to those in comments of the sources.
/// `None` if no option selects any.
pub fn asked(
    file: Option<&std::path::Path>,
    intended: bool,
) -> Result<Option<Vec<(String, contract::language::Contract)>>, Failure> {
    match file {
        Some(file) => contract::find::read_file(file, &file.display().to_string())
            .map(Some)
            .map_err(|error| failure(&error, false)),
        None => Ok(intended.then(Vec::new)),
    }
}

/// The sentence and the exit code for a failed check.
pub fn failure(error: &contract::Error, interrupted: bool) -> Failure {
    use contract::Error as C;
    use trials::Error as T;
    let failed = |exit| Failure::failed_to(exit, error);
    match error {
        // The error is a complete sentence with its location.
        C::Syntax { place, what } => {
            Failure::new(Exit::BadInput, format_args!("{place}: {what}")).hint(place.caret())
        }
        C::NoFunction { similar, .. } => {
            let failure = failed(Exit::BadInput);
            match similar.as_slice() {
                [] => failure,
                names => failure.hint(format_args!("There is {}.", names.join(", "))),
            }
        }
        C::Opaque { .. } => {
            failed(Exit::BadInput).hint("Such functions run as they are and are not recorded inside.")
        }
        C::NeverCalled { .. } => failed(Exit::BadInput).hint("Name a test that calls it with --test."),
        C::NoFunctionFollows { place } => failed(Exit::BadInput).hint(format_args!(
            "{}\nA contract stands directly before the definition of a function that is compiled.",
            place.caret()
        )),
        C::NothingToCheck => failed(Exit::Usage).hint(
            "Write a contract as //@ before the function, name a file with --contracts, or give\n\
             --unchanged for a refactoring. docs/contracts.md has examples.",
        ),
        C::Read { .. } => failed(Exit::Usage),
        C::TestNotRun { .. } => failed(Exit::TestNotRun)
            .hint("The test runs where the build ran. Correct --test, or have --build make what it needs."),
        C::DoesNotBuild { .. } => failed(Exit::DoesNotBuild).hint("Correct --build."),
        C::Trials(T::NoGit { .. }) => failed(Exit::NoGit),
        C::Trials(T::NoSuchVersion { .. } | T::AmbiguousVersion { .. }) => failed(Exit::Usage),
        C::Trials(T::Record { why, .. }) => {
            Failure::failed_to(Exit::Environment, format_args!("make a recording of the test: {why}"))
        }
        C::Trials(T::Cancelled) if interrupted => Failure::new(Exit::OfCommand(130), "interrupted"),
        C::Trials(T::Busy { .. }) => {
            failed(Exit::Environment).hint("Wait for it, or name another directory with --work.")
        }
        C::Recording(_) | C::Replay(_) => failed(Exit::BadInput),
        C::Trials(_) | C::Changes(_) => failed(Exit::Environment),
    }
}
