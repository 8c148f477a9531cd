//! Access to symbolic values during replay.

use crate::engine::TermContext;
use crate::frames::Frame;
use crate::regions::Regions;
use crate::shadow::Shadow;
use program::inst::{Operand, Ty};
use program::model::{Home, Variable};
use replay::observer::View;
use replay::vars::Bindings;
use solver::Term;

/// Observes every step of a symbolic replay, after the shadow state is updated. An observer with `STEPS`
/// false costs nothing.
#[allow(unused_variables)]
pub trait StepObserver {
    /// Whether the methods are called at all.
    const STEPS: bool = true;

    /// An instruction has run.
    fn step(&mut self, now: &mut SymbolicState<'_, '_>) {}

    /// A function was entered and its parameters are set.
    fn enter(&mut self, now: &mut SymbolicState<'_, '_>) {}
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl StepObserver for NoObserver {
    const STEPS: bool = false;
}

/// A reference to an observer is an observer.
impl<T: StepObserver> StepObserver for &mut T {
    const STEPS: bool = T::STEPS;

    fn step(&mut self, now: &mut SymbolicState<'_, '_>) {
        (**self).step(now);
    }

    fn enter(&mut self, now: &mut SymbolicState<'_, '_>) {
        (**self).enter(now);
    }
}

/// The symbolic machine at one instruction.
pub struct SymbolicState<'n, 'v> {
    /// The terms and variables; an observer may make more.
    pub world: &'n mut TermContext,
    pub(crate) frames: &'n [Frame],
    pub(crate) memory: &'n Shadow,
    pub(crate) regions: &'n Regions,
    /// The instruction and the concrete state.
    pub view: &'n View<'v>,
}

impl SymbolicState<'_, '_> {
    /// The term of an operand in the instruction's frame, with the width of its type. `None` if it does not
    /// depend on input.
    pub fn operand(&mut self, operand: Operand, ty: Ty) -> Option<Term> {
        let Operand::Reg(r) = operand else { return None };
        let frame = self.frames.get(self.view.depth as usize - 1)?;
        let width = u32::from(ty.bits());
        let pool = &mut self.world.pool;
        let mut fit = |t: Term, width: u32| match pool.width(t) {
            has if has > width => pool.extract(t, 0, width),
            _ => pool.zext(t, width),
        };
        if width <= 64 {
            return frame.get(r).map(|t| fit(t, width));
        }
        let (low, high) = (frame.get(r), frame.get(r + 1));
        if low.is_none() && high.is_none() {
            return None;
        }
        let low = low.map(|t| fit(t, 64));
        let high = high.map(|t| fit(t, width - 64));
        let slot = |k: u32| self.view.regs.get((r + k) as usize).copied().unwrap_or(0);
        let low = low.unwrap_or_else(|| pool.constant(64, slot(0).into()));
        let high = high.unwrap_or_else(|| pool.constant(width - 64, slot(1).into()));
        Some(pool.concat(high, low))
    }

    /// The term of a value in memory (little-endian, at most 16 bytes). `None` if no byte of it depends on
    /// input.
    pub fn memory(&mut self, address: u64, len: u64) -> Option<Term> {
        let held = |a: u64| self.memory.get(a).is_some() || self.regions.at(a).is_some();
        if len == 0 || len > 16 || !(0..len).any(|i| held(address.wrapping_add(i))) {
            return None;
        }
        let mut bytes = [0; 16];
        self.view.memory.peek(address, &mut bytes[..len as usize]);
        let pool = &mut self.world.pool;
        let mut term = None;
        for i in (0..len).rev() {
            let at = address.wrapping_add(i);
            let byte = match (self.regions.at(at), self.memory.get(at)) {
                (Some(region), _) => {
                    let index = pool.constant(64, (at - region.start).into());
                    pool.read(region.array, index)
                }
                (None, Some(piece)) => pool.extract(piece.term, 8 * u32::from(piece.byte), 8),
                (None, None) => pool.constant(8, bytes[i as usize].into()),
            };
            term = Some(match term {
                Some(high) => pool.concat(high, byte),
                None => byte,
            });
        }
        term
    }

    /// The term of a source-level variable of the current function (given by its number) before the
    /// instruction.
    pub fn variable(&mut self, bindings: &Bindings<'_>, number: u32, size: u64) -> Option<Term> {
        let found = bindings.at(self.view.index, number);
        let binding = found.iter().find(|b| b.part.is_none())?;
        match binding.home {
            Home::Value(operand, ty) => self.operand(operand, ty),
            Home::Memory(operand, offset) => {
                self.memory(self.view.value(operand).wrapping_add_signed(offset), size)
            }
            Home::Frame(offset) => self.memory(self.view.frame.wrapping_add(offset), size),
            Home::Nowhere => None,
        }
    }

    /// The variables of the current function.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.view.function().variables
    }
}
