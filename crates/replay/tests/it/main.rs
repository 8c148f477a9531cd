//! The tests of this crate from outside, as one program.

mod arithmetic;
mod builds;
mod common;
mod events;
mod fused;
mod machine;
mod printf;
