//! Calls of functions that do not throw lose their way to a handler.
//!
//! ```text
//! before                                     after
//!   %r = invoke i32 @f(i32 %x)                 %r = call i32 @f(i32 %x)
//!           to label %on unwind label %pad     br label %on
//! ```
//!
//! Whether the front end knows that a function does not throw depends on whether it has
//! seen its body yet; at the end of the unit it does. Functions of headers must get the
//! same model in every unit, since the linker keeps one of their copies.

use crate::llvm::{Blk, Opcode, Unit, Val};

const FUNCTION: u32 = u32::MAX;

pub fn simplify(unit: &Unit, f: Val) {
    for invoke in f.blocks().into_iter().filter_map(Blk::terminator) {
        if invoke.opcode() == Opcode::LLVMInvoke && !may_throw(invoke) && invoke.bundle_count() == 0 {
            replace(unit, invoke);
        }
    }
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
