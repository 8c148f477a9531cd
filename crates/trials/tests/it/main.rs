//! The integration tests of this crate, as one program.

mod batches;
mod history;
mod mask;
mod processes;
mod recordings;
mod sandbox;
mod trials;
mod versions;
