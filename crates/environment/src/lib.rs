//! What a program sees of its surroundings.

pub mod address;
pub mod calls;
mod decode;
mod engine;
mod error;
pub mod file;
mod filter;
mod peers;
mod place;
pub mod record;
mod replay;
pub mod run;
mod spawn;
mod there;
mod threads;
mod trace;
mod tracee;

pub use error::{Error, Result};
pub use spawn::Stream;
