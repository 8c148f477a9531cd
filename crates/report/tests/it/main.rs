//! The tests of this crate from outside, as one program.

mod exposed;
mod html;
mod json;
mod markdown;
mod samples;
mod sarif;
mod terminal;
