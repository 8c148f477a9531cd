//! Explanations as text, page, JSON and SARIF.
//!
//! One model, [`explain::answer::Answer`], has several renderings:
//!
//! | for | |
//! |---|---|
//! | a person at a terminal | [`terminal::render`] |
//! | a person with a browser | [`html::render`]: one file, no network |
//! | the same, with two runs | [`runs::render`], of a comparison |
//! | the same, with a run in phases | [`phases::render`], of a tree of levels |
//! | a pull request | [`markdown::render`] |
//! | a log | [`summary_line`] |
//! | a program | [`json::to_json`], [`json::from_json`] |
//! | a code scanning service or an editor | [`sarif::to_sarif`] |
//! | all of these, for a located fault | [`located`], of a [`locate::answer::Located`] |
//! | page and SARIF, for exposed changes | [`exposed`], of an [`explore::exposed::Exposed`] |
//! | the same, for an explored program | [`explored`], of an [`explore::explored::Explored`] |
//!
//! This crate must *not* know how an answer was found: it computes nothing that is not in the answer,
//! opens no file, and does not query the terminal or the environment. Source text and values are
//! untrusted: all of it is sanitised before it is shown (`text.rs`, `html.rs`). The same answer always
//! gives the same text. Causes may be nested thousands deep, so their traversals do not recurse; only
//! JSON does, on a stack that is large enough (`json.rs`).
//!
//! ```
//! use explain::answer::{Answer, Effort, Hunk, Observation, Version};
//!
//! let answer = Answer {
//!     schema: report::json::SCHEMA.to_owned(),
//!     verified: true,
//!     method: "auto".to_owned(),
//!     good: Version { name: "v1".to_owned(), end: "exit 0".to_owned(), ..Version::default() },
//!     bad: Version { name: "v2".to_owned(), end: "exit 1".to_owned(), ..Version::default() },
//!     build: "make".to_owned(),
//!     test: "./t".to_owned(),
//!     observation: Observation { summary: "it exits with status 1".to_owned(), ..Observation::default() },
//!     root: vec![Hunk { file: "t.c".to_owned(), new_start: 3, new_lines: 1, ..Hunk::default() }],
//!     trials: Effort { changes: 9, builds: 4, runs: 4, seconds: 2.5, ..Effort::default() },
//!     ..Answer::default()
//! };
//! assert_eq!(
//!     report::summary_line(&answer),
//!     "relapse: verified: caused by t.c:3: it exits with status 1 (4 builds, 4 runs, 2.5 s)"
//! );
//! let text = report::terminal::render(&answer, &report::Style::default());
//! assert!(text.starts_with("verified: undoing 1 of 9 changes makes the test pass again; put into good,"));
//! ```

#![warn(missing_docs)]

pub mod explored;
pub mod exposed;
mod forest;
mod graph;
pub mod html;
mod hunk;
pub mod json;
pub mod located;
pub mod markdown;
mod page;
mod paint;
pub mod phases;
pub mod runs;
pub mod sarif;
mod sarif_log;
mod sources;
pub mod terminal;
pub mod text;
mod words;

pub use paint::Style;
pub use sources::Sources;
pub use words::summary_line;
