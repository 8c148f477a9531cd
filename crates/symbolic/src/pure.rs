//! Operations that are intrinsics in LLVM.

use crate::condition::Reason;
use crate::engine::Engine;
use crate::observer::StepObserver;
use crate::semantics;
use program::inst::{Operand, Pure, Ty};
use replay::observer::View;
use solver::Term;

impl<W: StepObserver> Engine<'_, W> {
    pub(crate) fn pure(&mut self, view: &View<'_>, op: Pure, ty: Ty, dst: u32, args: &[Operand]) {
        let slots = op.result_slots(ty);
        if op.is_float() || matches!(ty, Ty::Float(_)) {
            self.float_intrinsic(view, op, ty, dst, args);
            return;
        }
        let bits = ty.bits();
        let symbolic = args.iter().any(|a| self.operand(view, *a, bits).is_some());
        if !symbolic {
            self.forget(view, dst, slots);
            return;
        }
        let terms: Vec<Term> = args.iter().map(|a| self.term(view, *a, bits)).collect();
        let Some(result) = semantics::intrinsic(self.pool(), op, &terms) else {
            for o in args {
                self.concretise_operand(view, *o, ty, Reason::Detail("a product of more than 64 bits"));
            }
            self.forget(view, dst, slots);
            return;
        };
        self.assign(view, dst, bits, Some(result.value));
        if let Some(overflow) = result.overflow {
            self.assign(view, dst + ty.slots(), 1, Some(overflow));
        }
    }
}
