//! Allocation wrappers: functions that return memory which an allocator returned to them.
//!
//! Programs rarely call `malloc` directly; they call a wrapper of their own that checks the result.
//! With one object per allocator call site, all memory of such a program would be one object.
//! Wrappers are therefore analysed once per call site (heap cloning). The *height* of a wrapper is
//! its distance from the allocator. Cloned calls descend in height, so no chain of them is longer
//! than [`MAX_HEIGHT`].

use crate::inst::{CastOp, Inst, Operand, Reg};
use crate::model::Function;
use crate::outside::{Outside, ResultTarget};
use crate::whole::{Callee, LinkedProgram};
use std::collections::{HashMap, HashSet};

/// Functions above this height are not cloned.
pub const MAX_HEIGHT: u32 = 5;
/// Larger functions are not cloned.
const MAX_WRAPPER_CODE: usize = 300;

/// The height of each function; `None` if it is not a wrapper.
pub struct Wrappers {
    heights: Vec<Option<u32>>,
}

impl Wrappers {
    pub fn of(whole: &LinkedProgram<'_>, outside: &dyn Outside) -> Wrappers {
        let mut all = Wrappers { heights: vec![None; whole.functions() as usize] };
        let candidates: Vec<(u32, Vec<Source>)> = (0..whole.functions())
            .filter(|f| whole.function(*f).code.len() <= MAX_WRAPPER_CODE)
            .map(|f| (f, sources(whole, outside, f)))
            .filter(|(_, sources)| !sources.is_empty())
            .collect();
        // The height of a function is one more than the lowest source of its result.
        for height in 1..=MAX_HEIGHT {
            let mut found = Vec::new();
            for (f, sources) in candidates.iter().filter(|(f, _)| all.heights[*f as usize].is_none()) {
                let below = |s: &Source| match s {
                    Source::Allocator => 0,
                    Source::Pointer => 1,
                    Source::Function(g) => all.heights[*g as usize].unwrap_or(u32::MAX),
                };
                if sources.iter().any(|s| below(s) < height) {
                    found.push(*f);
                }
            }
            for f in found {
                all.heights[f as usize] = Some(height);
            }
        }
        all
    }

    /// Whether this call gets its own instance of the callee.
    pub fn is_cloned(&self, caller: u32, callee: u32) -> bool {
        let height = |f: u32| self.heights.get(f as usize).copied().flatten();
        match (height(caller), height(callee)) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(above), Some(below)) => below < above,
        }
    }
}

/// A possible source of a returned pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Allocator,
    Function(u32),
    /// The callee of an indirect call.
    Pointer,
}

/// The sources of the result. Empty if the result may be memory that existed before the call.
fn sources(whole: &LinkedProgram<'_>, outside: &dyn Outside, number: u32) -> Vec<Source> {
    let function = whole.function(number);
    let made = Made::of(function);
    let mut work: Vec<Operand> = Vec::new();
    for inst in &function.code {
        if let Inst::Return { value: Some(value), .. } = inst {
            work.push(*value);
        }
    }
    let mut seen: HashSet<Reg> = HashSet::new();
    let mut all = Vec::new();
    while let Some(operand) = work.pop() {
        let Operand::Reg(r) = operand else {
            // A constant may be null. The address of a variable is not fresh memory.
            if matches!(operand, Operand::Symbol { .. }) {
                return Vec::new();
            }
            continue;
        };
        if !seen.insert(r) {
            continue;
        }
        if let Some(incoming) = made.phis.get(&r) {
            work.extend(incoming);
            continue;
        }
        match made.by.get(&r).map(|i| &function.code[*i]) {
            Some(Inst::Copy { a, .. } | Inst::Cast { op: CastOp::Bits, a, .. }) => work.push(*a),
            Some(Inst::Address { base, .. }) => work.push(*base),
            Some(Inst::Select { a, b, .. }) => work.extend([*a, *b]),
            Some(Inst::Call(call)) => match whole.callee(number, call.callee) {
                Callee::Function(callee) => all.push(Source::Function(callee)),
                Callee::Pointer => all.push(Source::Pointer),
                Callee::External(name) => {
                    let effect = outside.effect(name);
                    if effect.is_none_or(|e| !e.returns.contains(&ResultTarget::New)) {
                        return Vec::new();
                    }
                    all.push(Source::Allocator);
                }
            },
            // A parameter: returned unchanged or reallocated.
            None => {}
            Some(_) => return Vec::new(),
        }
    }
    all
}

/// The definition of each register.
struct Made {
    by: HashMap<Reg, usize>,
    phis: HashMap<Reg, Vec<Operand>>,
}

impl Made {
    fn of(function: &Function) -> Made {
        let mut made = Made { by: HashMap::new(), phis: HashMap::new() };
        for (index, inst) in function.code.iter().enumerate() {
            if let Some((dst, _)) = inst.defines() {
                made.by.insert(dst, index);
            }
        }
        for phi in function.blocks.iter().flat_map(|b| &b.phis) {
            made.phis.insert(phi.dst, phi.incoming.iter().map(|i| i.1).collect());
        }
        made
    }
}
