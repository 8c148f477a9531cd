//! Versions, builds, test runs, and their results.
//!
//! A *trial* takes the bad version, reverts some of the changes between good and bad, builds the result and
//! runs the test. The [`TrialRunner`] runs trials in parallel and answers the search through
//! [`changes::outcome::Trials`]. Its parts:
//!
//! * `version`, `checkout`, `git`: the user's name of a version as files of our own; `built`: build
//!   products in the tree that are not part of the version; the user's repository is only read.
//! * `variant`, `tree`, `snapshot`: the desired content of a tree, produced by writing only what
//!   differs, with modification times that make build tools rebuild what they must.
//! * `worker`: a tree in which variants are built and tested one after the other; built from scratch if
//!   files are added or removed, or the `plan` of the build changes.
//! * `process`, `process_marks`: commands whose descendants are always killed; `watchdog`: even if we
//!   are killed.
//! * `oracle`, `observed`, `exit_kind`: pass, fail as bad does, or unresolved; and whether it is a regression
//!   test at all.
//! * `history`, `blame`: the commits between good and bad, bisected, and which of them
//!   brought a change.
//! * `opened`: which files of a tree a build and a test open.
//! * `mask`: the parts of an output that differ between runs of one version.
//! * `store`, `memory`: outcomes, remembered within a run and from run to run.
//! * `batch`: one call for outcomes, shared by the workers.
//! * `record`: recordings of the test with good and bad; `suite`: one version and the recordings
//!   of many commands.
//! * `work`: the work directory, its lock and its cleanup.
//!
//! Nothing here knows what a change means, why a test fails, or what a recording contains. No terminal is
//! used and no environment variable is read; commands inherit the environment of this process.
//!
//! # Environment of commands
//! Builds and tests run in the tree (in the same subdirectory as the user's current directory) with `CC`,
//! `CXX`, `RELAPSE_MODE`, `RELAPSE_CACHE` and `RELAPSE_TREE`; tests also with a `TMPDIR` that is empty each
//! time. Files that a test writes into the tree are removed before the next one.
//!
//! # Example
//! ```no_run
//! use changes::{ChangeSet, DiffOptions, Trials};
//! use std::path::Path;
//! use trials::{TrialRunner, Oracle, Setup, Tools, TrialLimits, Version, Work};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let here = Path::new(".");
//! let work = Work::open(Path::new("/home/me/.cache/relapse/project"), false)?;
//! let (good, bad) = Version::resolve_pair("v1.2", ".", here)?;
//! let (good_files, bad_files) = (work.sources("good"), work.sources("bad"));
//! good.check_out(&good_files, work.root())?;
//! bad.check_out(&bad_files, work.root())?;
//! let difference = changes::difference(&good_files, &bad_files, &DiffOptions::default())?;
//!
//! let setup = Setup {
//!     bad: bad_files,
//!     subdirectory: bad.subdirectory.clone(),
//!     build: "make".to_owned(),
//!     test: "./check.sh".to_owned(),
//!     suite: None,
//!     stdin: None,
//!     oracle: Oracle::default(),
//!     tools: Tools {
//!         cc: "/usr/bin/relapse-cc".into(),
//!         cxx: "/usr/bin/relapse-c++".into(),
//!         relapse: "/usr/bin/relapse".into(),
//!         clang: None,
//!         symbolizer: None,
//!         identity: "relapse 0.1, clang 22".to_owned(),
//!     },
//!     jobs: 4,
//!     repeat: 3,
//!     limits: TrialLimits::default(),
//! };
//! let mut runner = TrialRunner::open(work, setup, &difference, Default::default())?;
//! runner.prepare()?; // builds and runs both versions; errors if this is no regression test
//! let first: ChangeSet = difference.changes().iter().take(1).map(|c| c.id).collect();
//! println!("without the first change: {:?}", runner.outcomes(&[first], false)?);
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]

mod blame;
pub mod check;
mod checker;

mod batch;
mod build_error;
mod built;
pub mod checkout;
mod difference;
mod error;
mod examine;
mod exit_kind;
mod git;
mod history;
mod mask;
mod memory;
mod observed;
mod opened;
mod oracle;
mod plan;
pub mod process;
mod process_marks;
mod record;
mod runner;
pub mod sanitizer;
mod setup;
mod snapshot;
mod store;
mod suite;
mod tree;
pub mod variant;
mod version;
mod watchdog;
mod words;
mod work;
mod worker;

pub use blame::{commit_of_change, commit_of_line};
pub use checkout::Checkout;
pub use error::{Error, Side};
pub use examine::Examined;
pub use exit_kind::{ExitKind, signal_name};
pub use git::Repository;
pub use history::{Commit, Culprit, History, Verdict};
pub use mask::{Mask, looks_like_clock};
pub use observed::{Observed, without_places};
pub use opened::{Opened, OpenedFiles};
pub use oracle::{Judge, Oracle, Rule, Sink};
pub use process::Status;
pub use record::Recorded;
pub use runner::{Baseline, Effort, Event, TrialRunner, Tried};
pub use setup::{Mode, Setup, Tools, TrialLimits, with_compilers};
pub use suite::{Run, Suite};
pub use variant::{Content, TreeKey, Variant, Variants};
pub use version::{Version, bisect_log, bisect_marks};
pub use words::quoted;
pub use work::Work;
pub use worker::TestRun;
