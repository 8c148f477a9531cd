//! From a failed test to its causes.
//!
//! # What lives here
//! * [`answer`]: the result of an explanation, as plain data;
//! * [`session`]: one explanation from beginning to end;
//! * [`pair`], [`held`]: the versions to search between, after bisecting commits; the
//!   test's own files, held fixed;
//! * [`searching`]: the search for the guilty changes, and the proof of its answer;
//! * [`case`], [`sources`]: both versions, the results of their runs, their texts;
//! * [`align`], [`moments`]: the corresponding executed instructions of both runs,
//!   and whether their values are equal;
//! * [`meant`]: changes in functions that changed only as intended, which are suspected last;
//! * [`observe`]: the observed failure, and its location in the recordings;
//! * [`traced`], [`ways`]: the slice of a run, and the shortest path to each of its nodes;
//! * [`evidence`]: the distance of each change to the failure, which orders the search;
//! * [`causes`], [`values`]: the tree from the failure to the changes, with
//!   values in both versions; `absence`: why a version has no counterpart of a step; `library`: steps in
//!   installed headers, as calls; `upstream`: the same through processes that wrote the input of the failing
//!   one;
//! * [`links`]: which of its steps decide, by running bad with another value there;
//! * [`nearby`], [`passing`]: an input on which both versions agree, and the differences
//!   between a passing test and the failing one;
//! * [`findings`]: the results of both recordings, combined;
//! * [`failing`]: which process of two recordings made the difference;
//! * [`parting`]: where two recorded runs begin to differ, without a search;
//! * [`parting_lines`]: the lines that only the failing test of one version runs;
//! * [`beside`]: views of the runs themselves, on request; `further`: commands for the recordings.
//!
//! # What must not be known here
//! Terminals, colours, files of reports. `trials` reverts, builds and tests changes; `changes` searches sets
//! of changes.
//!
//! # Method
//! Based on AFTER (Yi, Yang, Liu, Zhao and Wang, *A Synergistic Analysis Method for Explaining Failed
//! Regression Tests*): causes are followed backwards from the failure, the changes they touch are reverted
//! and the test runs again; if it still fails, the decisions that led there are followed in turn. Here one
//! slice of the recording gives all layers of decisions, and with them the order of trials; the run of good
//! adds what bad no longer executes.

#![warn(missing_docs)]

mod absence;
pub mod align;
pub mod answer;
pub mod beside;
pub mod case;
pub mod causes;
pub mod condition;
pub mod error;
pub mod evidence;
pub mod failing;
pub mod findings;
mod fleeting;
pub mod formula;
mod further;
pub mod held;
mod last_words;
mod library;
pub mod links;
pub mod meant;
mod members;
pub mod moments;
pub mod names;
pub mod nearby;
pub mod observe;
pub mod pair;
pub mod parting;
pub mod parting_lines;
pub mod passing;
pub mod searching;
pub mod semantic;
pub mod session;
pub mod sources;
pub mod telling;
pub mod traced;
mod upstream;
pub mod values;
pub mod ways;
