//! The integration tests of this crate, as one program.

mod common;
mod damaged;
mod fuzz_reader;
#[path = "../../../program/tests/it/common/mutate.rs"]
mod mutate;
mod roundtrip;
