//! Exact re-execution of recordings.

pub mod arith;
pub mod code;
pub mod decode;
pub mod error;
pub mod external;
pub mod f80;
pub mod image;
pub mod machine;
pub mod memory;
pub mod observer;
pub mod run;
mod slow;
pub mod tape;
