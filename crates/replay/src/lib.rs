pub mod arith;
pub mod f80;
pub mod memory;
