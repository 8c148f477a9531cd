//! Errors of solvers.

/// A failure of a solver. Timeouts and `unknown` are answers and not errors.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The process cannot be started.
    #[error("start the solver {solver}: {reason}")]
    Start {
        /// The solver's name.
        solver: String,
        /// The system's error.
        reason: std::io::Error,
    },
    /// The process ended while an answer was expected.
    #[error("get an answer from the solver {solver}, which ended{}", told(.said))]
    Exited {
        /// The solver's name.
        solver: String,
        /// What it wrote last; empty if nothing.
        said: String,
    },
    /// The reply is not of the expected form.
    #[error("understand the solver {solver}: asked for {wanted}, it said {said:?}")]
    UnexpectedOutput {
        /// The solver's name.
        solver: String,
        /// What was asked for: "an answer", "values", "a core".
        wanted: &'static str,
        /// The reply, shortened.
        said: String,
    },
    /// The solver reported an error, or exceeded the timeout of a report.
    #[error("get an answer from the solver {solver}: {message}")]
    ErrorReply {
        /// The solver's name.
        solver: String,
        /// Its message.
        message: String,
    },
    /// Evaluation contradicts the solver's model.
    #[error("trust the solver {solver}: its model does not satisfy what was asked")]
    WrongModel {
        /// The solver's name; "in this process" for the SAT solver here.
        solver: String,
    },
    /// No solver was given, or the one that is asked for a report is not running.
    #[error("solve anything: no solver was given")]
    NoSolver,
}

fn told(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(" saying {said:?}") }
}
