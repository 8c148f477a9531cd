//! Test suites in the formats of other tools.
//!
//! [`ctest`]: the output of `ctest --show-only=json-v1`. [`automake`]: the `.trs` files that `make check`
//! creates. [`tap`]: the output of programs that follow the Test Anything Protocol.

pub mod automake;
pub mod ctest;
pub mod tap;
