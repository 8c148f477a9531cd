//! Why a result was inevitable: AFTER's semantic analysis.
//!
//! The question is a value or a decision of the failing run. Its *negation* (some value differs, the branch
//! takes the other direction) is propagated backwards along the run: results are replaced by the expressions
//! that computed them, and the branches that control those instructions join as conditions, in the direction
//! they took. Far enough back the formula is unsatisfiable, at the latest where all values are constants. The
//! *cut* is the latest such point, the minimal unsatisfiable core is the part of the formula that matters,
//! and its instructions are the *cause*. A slice would keep all computations before the cut, and every
//! branch.
//!
//! * [`cone`]: the executed instructions that a question reaches by values;
//! * [`facts`]: the operands and results of those instructions, from one replay;
//! * [`lift`]: their results as terms over the values beyond the cut;
//! * [`why`]: the cut, the core, the cause;
//! * [`layers`]: causes of causes through the decisions that let them run, and
//!   which changes they touch.
//!
//! The graph is that of the slice, so all its dependences (memory by bytes, calls, threads) are followed
//! here. Floating point, external results and everything else without a term keep their concrete values: such
//! a step is opaque, which can only make a cause larger.

pub mod cone;
pub mod facts;
pub mod layers;
pub mod lift;
pub mod why;

use slice::NodeId;
use thiserror::Error;

/// A question about the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Question {
    /// Why did this branch take this direction?
    Decision(NodeId),
    /// Why did the operands of this node have their values?
    Values(NodeId),
}

impl Question {
    /// The node that the question is about.
    #[must_use]
    pub fn node(self) -> NodeId {
        match self {
            Question::Decision(node) | Question::Values(node) => node,
        }
    }
}

/// A cause: the instructions that made the answer inevitable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The question that it answers.
    pub question: Question,
    /// Instructions, the newest first; the question's own is one of them.
    pub generators: Vec<NodeId>,
    /// The branches in the core.
    pub branches: Vec<NodeId>,
    /// The oldest instruction that matters: with it the formula has no other answer, without it there is one.
    pub cut: NodeId,
    /// The number of instructions in the cone: those that a slice along values would have kept, or the newest
    /// of them.
    pub cone: usize,
    /// The core is minimal; false if a solver could not decide.
    pub minimal: bool,
}

/// Why there is no cause.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NotApplicable {
    /// The cone has more nodes than this, and the newest of them do not make the formula unsatisfiable.
    #[error("more than {0} executed instructions bear on it, and the last of them do not settle it")]
    TooLarge(usize),
    /// The question has no operands in the slice.
    #[error("nothing recorded bears on it")]
    Nothing,
    /// The formula of the whole cone is satisfiable: values of the run are missing in it.
    #[error("the values of the run could not be computed again")]
    Unclear,
    /// The time limit of the analysis was reached.
    #[error("it took too long")]
    Late,
    /// No solver gave an answer; the text completes "failed to".
    #[error("the solver failed to {0}")]
    Solver(String),
}
