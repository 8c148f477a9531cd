//! Tests of the command: one program, with a module for each subject.

#[path = "../audit/mod.rs"]
mod audit;
#[macro_use]
#[path = "../sandbox/mod.rs"]
mod sandbox;

mod altered;
mod alternate;
mod cache;
mod contract;
mod contract_proofs;
mod contract_states;
mod contracts;
mod driver;
mod dump;
mod environment;
mod explain;
mod expose;
mod exposing;
mod faithful;
mod fixtures;
mod help;
mod hidden;
mod input;
mod intervene;
mod libraries;
mod library;
mod locate;
mod observe;
mod path;
mod phases;
mod processes;
mod questions;
mod record;
mod relevant;
mod replay;
mod runs;
mod signatures;
mod slice;
mod slicing;
mod symbolic;
mod unsolved;
mod values;
mod why;
