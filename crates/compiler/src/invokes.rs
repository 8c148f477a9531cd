//! Brings calls that may throw into the form of the model.
//!
//! A call of a function that does not throw loses its unwind edge:
//!
//! ```text
//! before                                     after
//!   %r = invoke i32 @f(i32 %x)                 %r = call i32 @f(i32 %x)
//!           to label %on unwind label %pad     br label %on
//! ```
//!
//! The front end knows that a function does not throw only if it has seen its body, so this depends
//! on its position in the unit; at the end of the unit all bodies are known. Functions of headers
//! must get the same model in every unit, since the linker keeps one of their copies.
//!
//! If `%on` has other predecessors too, the edge of the call is split: the code that
//! instrumentation adds after a call goes into the new block. `resume` becomes the call that the
//! code generator would emit for it, so that the model needs no special case.

use crate::llvm::{Blk, Opcode, Unit, Val};
use std::collections::HashMap;

const FUNCTION: u32 = u32::MAX;

/// The function that continues unwinding after the cleanups of a function.
const RESUME: &str = "_Unwind_Resume";

pub fn simplify(unit: &Unit, f: Val) {
    for end in f.blocks().into_iter().filter_map(Blk::terminator) {
        match end.opcode() {
            Opcode::LLVMInvoke if !may_throw(end) && end.bundle_count() == 0 => replace(unit, end),
            Opcode::LLVMResume => resume(unit, end),
            _ => {}
        }
    }
    split_normal_edges(unit, f);
}

fn may_throw(invoke: Val) -> bool {
    let callee = invoke.called_value();
    let known = callee.is_function() && callee.attribute(FUNCTION, "nounwind").is_some();
    !known && invoke.call_attribute(FUNCTION, "nounwind").is_none()
}

fn replace(unit: &Unit, invoke: Val) {
    let from = invoke.parent();
    let args = invoke.call_args();
    let (on, pad) = (invoke.normal_destination(), invoke.unwind_destination());
    let b = unit.builder();
    b.before(invoke);
    let call = b.call(invoke.called_type(), invoke.called_value(), &args);
    for index in (0..=args.len() as u32).chain([FUNCTION]) {
        for attribute in invoke.call_attributes(index) {
            call.add_call_attribute(index, attribute);
        }
    }
    call.set_calling_convention(invoke.calling_convention());
    invoke.replace_with(call);
    if pad != on {
        pad.remove_incoming(from, unit);
    }
    b.before(invoke);
    b.jump(on);
    invoke.erase();
}

fn resume(unit: &Unit, resume: Val) {
    let b = unit.builder();
    b.before(resume);
    let exception = b.extract(resume.operand(0), 0);
    let ty = unit.function_type(unit.void(), &[unit.ptr()], false);
    b.call(ty, unit.add_function(RESUME, ty), &[exception]);
    b.unreachable();
    resume.erase();
}

/// Splits the normal edge of each invoke whose destination has other predecessors.
fn split_normal_edges(unit: &Unit, f: Val) {
    let mut ways: HashMap<Blk, u32> = HashMap::new();
    let ends: Vec<Val> = f.blocks().into_iter().filter_map(Blk::terminator).collect();
    for to in ends.iter().flat_map(|end| end.successors()) {
        *ways.entry(to).or_default() += 1;
    }
    let b = unit.builder();
    for invoke in ends.into_iter().filter(|end| end.opcode() == Opcode::LLVMInvoke) {
        let on = invoke.normal_destination();
        if ways[&on] == 1 {
            continue;
        }
        let between = unit.append_block(f, "returned");
        on.replace_incoming(invoke.parent(), between, unit);
        b.at_end(between);
        b.set_location(invoke.debug_location());
        b.jump(on);
        invoke.set_normal_destination(between);
    }
}
