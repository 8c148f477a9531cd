//! Fault localisation with the test suite: how the failing run differs from the nearest run that passes.
//!
//! The input is one program, a failing test, and passing tests if there are any; no older version is needed.
//! The passing run that is nearest to the failing one shows which branches would have had to take another
//! direction. Those that the failure depends on are the first candidates.
//!
//! # What lives here
//! * [`chain`], [`difference`], [`branches`]: which events of two runs correspond, which branches took
//!   another direction, and which of two differences is smaller;
//! * [`choose`], [`pool`]: the nearest of many runs, recorded in parallel;
//! * [`failure`]: the failing run and the slices of its failure;
//! * [`dataflow`]: values that differ at aligned steps, for runs that take the same path;
//! * [`consequences`]: branches that only follow from an earlier one;
//! * [`entries`], [`suspicion`]: the report's entries, ranked, and the evidence of the whole pool about
//!   lines; `right_output`: the evidence of the failing run's own correct output;
//! * [`coverage`]: lines by coverage only, where nothing can be recorded;
//! * [`dependences`]: the program dependence graph by lines, which reports are scored with;
//! * [`inputs`], [`perturb`], [`reduce`]: tests with another input, where there is no suite; [`toggles`],
//!   [`generate`]: inputs that negate branches of the failing run, by a solver;
//! * [`test`](mod@test): tests and verdicts; [`suites`]: tests in the formats of CTest, Automake and TAP;
//! * [`session`]: the whole process, `search` for passing runs, [`memory`]: results of an interrupted pool;
//! * [`answer`]: the result, as plain data.
//!
//! # What must not be known here
//! Terminals, colours, environment variables, versions and changes. `trials` builds and runs programs,
//! `slice` explains values.
//!
//! # Method
//! After Guo, Roychoudhury and Wang, *Accurately Choosing Execution Runs for Software Fault
//! Localization*, and Wang, *Post-mortem dynamic analysis for software debugging*, chapter 6:
//! events are aligned by their chains of control dependence; differences are compared backwards from
//! the failure, without weights. Added here: the order of the report by dynamic and relevant slices of
//! the failure and of correct output, and differing values for runs whose branches are the same.
//!
//! # Example
//! ```
//! use locate::branches::Branches;
//! use locate::chain::{Chains, Event};
//! use locate::difference::Difference;
//!
//! // if (1) 2; if (3) 4; as statement, the event it is control dependent on, and the direction taken.
//! let event = |statement, depends_on, outcome| Event { statement, depends_on, outcome };
//! let failing = [event(1, None, Some(1)), event(2, Some(0), None), event(3, None, Some(0))];
//! let passing = [event(1, None, Some(0)), event(3, None, Some(0))];
//! let mut chains = Chains::default();
//! let branches = Branches::of_events(&failing, &mut chains, usize::MAX);
//! // The first branch took another direction, and the second is still the same event.
//! assert_eq!(branches.compare_events(&passing, &mut chains), Difference::of(vec![0]));
//! ```

#![warn(missing_docs)]

pub mod answer;
pub mod branches;
pub mod chain;
pub mod choose;
pub mod consequences;
pub mod coverage;
pub mod dataflow;
pub mod dependences;
pub mod difference;
pub mod entries;
mod error;
pub mod failure;
pub mod generate;
pub mod inputs;
pub mod memory;
mod observation;
pub mod perturb;
pub mod pool;
mod prepare;
pub mod reduce;
mod right_output;
mod search;
pub mod session;
pub mod suites;
pub mod suspicion;
pub mod test;
pub mod toggles;
pub mod upstream;

pub use error::{Error, Result};
