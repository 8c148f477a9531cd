//! Alternate inputs: explains a failing test by similar inputs.
//!
//! A test passes with the old version and fails with the new one. Each version takes a path through the
//! program, and each path has a path condition, which exactly the inputs that take it satisfy. An *alternate
//! input* satisfies the path condition of one version but not that of the other. At the branch where the
//! other leaves its path, the versions disagree about inputs like this one. If both versions give the same
//! output for the alternate input, that branch is most likely the location of the fault. (The method is
//! DARWIN: Qi, Roychoudhury, Liang, Vaswani, "DARWIN: an approach to debugging evolving programs", TOSEM
//! 2012.)
//!
//! The two programs need to correspond in nothing but their input: versions with many changes, or two
//! implementations of one specification, can be compared as well. Code that the new version lacks is found as
//! a branch of the old one. A branch on an unchanged line can be found, too.
//!
//! # What lives here
//! * [`find`]: the whole search; [`Options`] for it, [`Report`] with its result;
//! * [`run`]: a recorded run, and the facts about its path (`facts`, `predicates`);
//! * [`rerun`]: running a recorded program again with another input;
//! * [`relevant`]: what the outputs of a run depend on; other decisions are skipped;
//! * [`same`]: another input for the same path;
//! * `search`: one direction, question by question; `ask`: one question;
//! * `nearest`: if nothing passes, an input on which both versions agree;
//! * `way`: whether two runs took the same path up to a branch;
//! * [`accuracy`]: the distance of a report from a known fault.
//!
//! # What is true of every alternate input
//! A solver only proposes inputs. Both programs have been run with each reported input, and their
//! recordings compared: one version took the same path from beginning to end, the other took the same
//! path up to the reported branch and another edge there. The one exception is [`Nearest`], which
//! guarantees less: both versions have the same outcome with it.
//!
//! # What must not be known here
//! Terminals, command lines, environment variables, source text (the caller has it), how terms are solved,
//! how input is followed.
//!
//! # Example
//! ```no_run
//! use alternate::rerun::Recorder;
//! use alternate::{Options, Run};
//!
//! let (old, new) = (recording::Recording::open("old".as_ref())?, recording::Recording::open("new".as_ref())?);
//! let options = Options::new(solver::Command::found());
//! let old = Run::open(&old, None, &options.follow)?;
//! let new = Run::open(&new, None, &options.follow)?;
//! let mut runner = Recorder::new("/tmp".into(), std::time::Duration::from_secs(10));
//! let report = alternate::find(&old, &new, &options, &mut runner)?;
//! for candidate in &report.candidates {
//!     println!("{}:{} {}", candidate.file, candidate.line, candidate.condition);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]

pub mod accuracy;
mod ask;
mod error;
mod facts;
mod find;
mod nearest;
mod options;
mod predicates;
pub mod relevant;
mod report;
pub mod rerun;
pub mod run;
pub mod same;
mod search;
mod side;
mod stop_flag;
mod way;

pub use error::{Error, Untried};
pub use facts::FactKind;
pub use find::find;
pub use nearest::Nearest;
pub use options::{Direction, Options, Predicates};
pub use report::{Alternate, Candidate, Changed, Part, Report, Searched, Verdict};
pub use rerun::{Ended, Rerun, Runner, Status};
pub use run::Run;
pub use side::{Both, Side};
pub use stop_flag::with_stop_flag;
