//! Instances of functions: one for all calls, or one per call site for wrappers.

use std::collections::HashMap;

/// A variable of the analysis.
pub type Var = u32;

/// All instances. The first instance of each function has the function's number.
#[derive(Default)]
pub struct Instances {
    /// Function and first variable of each instance: its slots, then the slots of its result.
    list: Vec<(u32, Var)>,
    /// Instances for single call sites: caller instance, instruction and callee.
    apart: HashMap<(u32, u32, u32), u32>,
}

impl Instances {
    pub fn add(&mut self, function: u32, first: Var) -> u32 {
        self.list.push((function, first));
        self.len() - 1
    }

    pub fn len(&self) -> u32 {
        self.list.len() as u32
    }

    pub fn function(&self, instance: u32) -> u32 {
        self.list[instance as usize].0
    }

    /// The first variable.
    pub fn first(&self, instance: u32) -> Var {
        self.list[instance as usize].1
    }

    /// The instance for this call site alone, if there is one.
    pub fn apart(&self, caller: u32, index: u32, callee: u32) -> Option<u32> {
        self.apart.get(&(caller, index, callee)).copied()
    }

    pub fn set_clone(&mut self, caller: u32, index: u32, callee: u32, instance: u32) {
        self.apart.insert((caller, index, callee), instance);
    }

    /// The instance that a call calls.
    pub fn called(&self, caller: u32, index: u32, callee: u32) -> u32 {
        self.apart(caller, index, callee).unwrap_or(callee)
    }
}
