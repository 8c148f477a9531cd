//! Alternate inputs: why a test fails now, said by inputs near to it.
//!
//! A test passes with the old version and fails with the new one. Each version takes its way
//! through the program, and each way has a path condition: what an input must be like to go there.
//! An *alternate input* satisfies the path condition of one version but not that of the other. The
//! branch where the other leaves its way is where the versions disagree about inputs like this one;
//! if both versions give the same output for the alternate input, that branch is most likely where
//! the error is. (The method is DARWIN: Qi, Roychoudhury, Liang, Vaswani, "DARWIN: an approach to
//! debugging evolving programs", TOSEM 2012.)
//!
//! Nothing of the two programs needs to correspond except their input: versions with many changes,
//! or two implementations of one specification, can be compared as well. Code that is missing in
//! the new version is found as a branch of the old one; a branch on a line that nobody changed can
//! be found as well.
//!
//! # What lives here
//! * [`find`]: the whole search; [`Options`] for it, [`Report`] what comes out of it;
//! * [`run`]: a recorded run, and what is known of its way (`facts`, `predicates`);
//! * [`rerun`]: running a recorded program again with another input;
//! * [`relevant`]: what the outputs of a run depend on; other decisions are not asked about;
//! * [`same`]: another input for the same way;
//! * `search`: one direction, question by question; `ask`: one question;
//! * `way`: whether two runs took the same way up to a branch;
//! * [`accuracy`]: how near a report is to a known truth.
//!
//! # What is true of every alternate input
//! A solver only proposes. Both programs have been run with each input that is reported, and their
//! recordings compared: one version took the same way from beginning to end, the other took the same
//! way up to the reported branch and went the other way there.
//!
//! # What must not be known here
//! Terminals, command lines, environment variables, source text (the caller has it), how terms are
//! solved, how input is followed.
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

pub mod accuracy;
mod ask;
mod error;
mod facts;
mod find;
mod options;
mod predicates;
pub mod relevant;
mod report;
pub mod rerun;
pub mod run;
pub mod same;
mod search;
mod side;
mod way;

pub use error::{Error, Untried};
pub use facts::What;
pub use find::find;
pub use options::{Direction, Options, Predicates};
pub use report::{Alternate, Candidate, Changed, Part, Report, Searched, Verdict};
pub use rerun::{Ended, Rerun, Runner, Status};
pub use run::Run;
pub use side::{Both, Side};
