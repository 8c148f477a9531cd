//! Exact re-execution of recordings.

pub mod arith;
pub mod checkpoint;
pub mod code;
pub mod decimal;
pub mod decode;
pub mod error;
mod external;
pub mod f80;
pub mod format;
pub mod image;
pub mod io;
pub mod machine;
pub mod memory;
pub mod observer;
pub mod process;
mod run;
mod slow;
pub mod tape;
pub mod vars;
pub mod verify;
pub mod writers;
