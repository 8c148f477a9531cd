//! The integration tests of this crate, as one program.

mod arithmetic;
mod builds;
mod common;
mod events;
mod fused;
mod machine;
mod printf;
