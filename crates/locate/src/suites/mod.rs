//! Test suites as other tools describe them.
//!
//! [`ctest`]: what `ctest --show-only=json-v1` prints. [`automake`]: the `.trs` files that `make check`
//! leaves behind. [`tap`]: what programs print that follow the Test Anything Protocol.

pub mod automake;
pub mod ctest;
pub mod tap;
