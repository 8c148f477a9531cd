//! From a failed test to its causes.
//!
//! # What lives here
//! * [`answer`]: what an explanation says, as plain data;
//! * [`session`]: one explanation from beginning to end;
//! * [`pair`], [`held`]: the versions to search between, after bisecting commits; the
//!   test's own files, held fixed;
//! * [`searching`]: the search for the guilty changes, and what was shown of them;
//! * [`case`], [`sources`]: both versions, what their runs left behind, their texts;
//! * [`align`], [`moments`]: which moment of one run corresponds to which of the other,
//!   and whether they had the same value there;
//! * [`meant`]: changes in functions that changed only as they should, which are suspected last;
//! * [`observe`]: what went wrong, and where in the recordings it shows;
//! * [`traced`], [`ways`]: the slice of a run, and the easiest way to each part of it;
//! * [`evidence`]: how near each change is to the failure: the order of the search;
//! * [`causes`], [`values`]: the tree from the failure to the changes, with
//!   values in both versions; `library`: steps in installed headers, as calls;
//!   `upstream`: the same through processes that wrote what the failing one read;
//! * [`links`]: which of its steps decide, by running bad with another value there;
//! * [`nearby`], [`passing`]: an input on which both versions agree, and what tells a
//!   passing test from the failing one;
//! * [`findings`]: all that the recordings say, put together;
//! * [`parting`]: where two recorded runs begin to differ, without a search;
//! * [`parting_lines`]: which lines only the failing test runs, and only one version;
//! * [`beside`]: the runs themselves, for somebody who wants to look at them.
//!
//! # What must not be known here
//! Terminals, colours, files of reports. How a change is reverted, built or tested is
//! `trials`' matter, how sets of changes are searched that of `changes`.
//!
//! # Method
//! After AFTER (Yi, Yang, Liu, Zhao and Wang, *A Synergistic Analysis Method for
//! Explaining Failed Regression Tests*): causes are followed back from the failure, the
//! changes they touch are reverted and the test run again; if that does not help, the
//! decisions that led there are followed in their turn. Here all layers of decisions
//! come from one slice of the recording, and so does the order of trials; the run of
//! the good version adds what bad no longer does.

pub mod align;
pub mod answer;
pub mod beside;
pub mod case;
pub mod causes;
pub mod condition;
pub mod error;
pub mod evidence;
pub mod findings;
mod fleeting;
pub mod formula;
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
