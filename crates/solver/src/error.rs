//! Errors of solvers.

/// A failure of a solver. Timeouts and `unknown` are answers and not errors.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("start the solver {solver}: {reason}")]
    Start { solver: String, reason: std::io::Error },
    #[error("get an answer from the solver {solver}, which ended{}", told(.said))]
    Exited { solver: String, said: String },
    #[error("understand the solver {solver}: asked for {wanted}, it said {said:?}")]
    UnexpectedOutput { solver: String, wanted: &'static str, said: String },
    #[error("get an answer from the solver {solver}: {message}")]
    ErrorReply { solver: String, message: String },
    #[error("trust the solver {solver}: its model does not satisfy what was asked")]
    WrongModel { solver: String },
    #[error("solve anything: no solver was given")]
    NoSolver,
}

fn told(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(" saying {said:?}") }
}
