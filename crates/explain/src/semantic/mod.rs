//! Why something had to come out as it did: AFTER's semantic analysis.
//!
//! The question is a value or a decision of the failing run. Its *negation*
//! (some value is another one, the branch goes the other way) is carried back
//! along the run: what an instruction computes replaces its result, and the
//! branches that let those instructions run join as conditions, in the
//! direction they took. Far enough back the formula cannot be satisfied, at the
//! latest where everything is a number. The *cut* is the latest such point, the
//! minimal unsatisfiable core is the part of the formula that matters, and the
//! instructions behind it are the *cause*. A slice would keep all that was
//! computed before the cut, and every branch.
//!
//! * [`cone`]: which executed instructions a question reaches by values;
//! * [`facts`]: what those instructions saw, from one replay;
//! * [`lift`]: their results as terms over what lies behind the cut;
//! * [`why`]: the cut, the core, the cause;
//! * [`layers`]: causes of causes through the decisions that let them run, and
//!   which changes they touch.
//!
//! The graph is that of the slice, so everything it follows (memory by bytes,
//! calls, threads) is followed here. Floating point, external results and
//! whatever else has no term stay the numbers they were: such a step is opaque,
//! which can only make a cause larger.

pub mod cone;
pub mod facts;
pub mod layers;
pub mod lift;
pub mod why;

use slice::NodeId;
use thiserror::Error;

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Question {
    /// Why did this branch go this way?
    Decision(NodeId),
    /// Why were the values that this node used what they were?
    Values(NodeId),
}

impl Question {
    #[must_use]
    pub fn node(self) -> NodeId {
        match self {
            Question::Decision(node) | Question::Values(node) => node,
        }
    }
}

/// A cause: what made the answer inevitable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    pub question: Question,
    /// Instructions, the newest first; the question's own is one of them.
    pub generators: Vec<NodeId>,
    /// Branches among them that the core needed.
    pub branches: Vec<NodeId>,
    /// The oldest instruction that counts: with it nothing else could come out, without it
    /// something could.
    pub cut: NodeId,
    /// How many instructions were looked at: as many as a slice along values would have kept, or the newest of those.
    pub cone: usize,
    /// The core could not be made smaller; false if a solver could not tell.
    pub minimal: bool,
}

/// Why there is no cause.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NotApplicable {
    #[error("more than {0} executed instructions bear on it, and the last of them do not settle it")]
    TooLarge(usize),
    #[error("nothing recorded bears on it")]
    Nothing,
    #[error("the values of the run could not be computed again")]
    Unclear,
    #[error("it took too long")]
    Late,
    #[error("the solver failed to {0}")]
    Solver(String),
}
