//! The integration tests of this crate, as one program.

mod exposed;
mod html;
mod json;
mod markdown;
mod samples;
mod sarif;
mod terminal;
