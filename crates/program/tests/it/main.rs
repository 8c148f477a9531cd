//! The integration tests of this crate, as one program.

mod cfg_properties;
mod common;
mod fuzz_model;
mod listing;
mod results;
mod sections;
mod unsound;
