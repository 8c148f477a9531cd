//! Functions as they are looked at: once for all calls, or once for each of some.

use std::collections::HashMap;

/// A variable of the analysis.
pub type Var = u32;

/// All instances. The first of each function has the function's number.
#[derive(Default)]
pub struct Instances {
    /// The function of each, and its first variable: its slots, then those of its result.
    list: Vec<(u32, Var)>,
    /// The instance for a call: the caller's, the instruction, and the function called.
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

    /// The instance for one call alone, if there is such a one.
    pub fn apart(&self, caller: u32, index: u32, callee: u32) -> Option<u32> {
        self.apart.get(&(caller, index, callee)).copied()
    }

    pub fn set_apart(&mut self, caller: u32, index: u32, callee: u32, instance: u32) {
        self.apart.insert((caller, index, callee), instance);
    }

    /// The instance that a call calls.
    pub fn called(&self, caller: u32, index: u32, callee: u32) -> u32 {
        self.apart(caller, index, callee).unwrap_or(callee)
    }
}
