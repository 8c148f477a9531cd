//! Environments that differ, found with real programs.

mod sandbox;

mod damage;
mod files;
mod machine;
mod served;
