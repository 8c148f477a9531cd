//! Observers of a replay.
//!
//! The machine calls an [`Observer`] for every instruction, after it ran: since every register is assigned at
//! one place, operands and results can both be read then. Observers are generic parameters; one that does
//! nothing compiles to nothing. No step allocates.

use crate::code::{CallSite, Code};
use crate::image::Image;
use crate::machine::{Frame, Machine};
use crate::memory::Memory;
use program::inst::{BlockId, Inst, Operand};
use program::model::{Function, Module, Place};
use recording::event::{Event, Position};

/// The state of the machine at one instruction.
#[derive(Clone, Copy)]
pub struct View<'v> {
    /// The recorded program.
    pub image: &'v Image,
    /// The function's executable form.
    pub code: &'v Code,
    /// Index of the instruction in its function's code.
    pub index: u32,
    /// The frame's registers (followed by the constants).
    pub regs: &'v [u64],
    /// The thread's memory; the instruction's own stores are included once it has run.
    pub memory: &'v Memory,
    /// Number of this instruction in the stream, from 0.
    pub count: u64,
    /// Time of the stream.
    pub time: u64,
    /// Number of frames.
    pub depth: u32,
    /// Address of the function's fixed frame.
    pub frame: u64,
}

impl<'v> View<'v> {
    /// The model of the function's module.
    #[must_use]
    pub fn module(&self) -> &'v Module {
        self.image.module(self.code.module)
    }

    /// The model of the function.
    #[must_use]
    pub fn function(&self) -> &'v Function {
        &self.module().functions[self.code.function as usize]
    }

    /// The instruction itself.
    #[must_use]
    pub fn inst(&self) -> &'v Inst {
        &self.function().code[self.index as usize]
    }

    /// Number of the instruction in its module.
    #[must_use]
    pub fn site(&self) -> u32 {
        self.code.first_site + self.index
    }

    /// The instruction's source location.
    #[must_use]
    pub fn place(&self) -> Place {
        self.function().place(self.index as usize)
    }

    /// One slot of an operand.
    #[must_use]
    pub fn value(&self, operand: Operand) -> u64 {
        match operand {
            Operand::Reg(r) => self.regs.get(r as usize).copied().unwrap_or(0),
            Operand::Const(c) => c,
            Operand::Symbol { symbol, offset } => {
                self.image.symbol(self.code.module, symbol).wrapping_add_signed(offset)
            }
        }
    }

    /// The low slot and the one after it.
    #[must_use]
    pub fn wide(&self, operand: Operand) -> u128 {
        match operand {
            Operand::Reg(r) => {
                let high = self.regs.get(r as usize + 1).copied().unwrap_or(0);
                u128::from(high) << 64 | u128::from(self.value(operand))
            }
            _ => self.value(operand).into(),
        }
    }
}

/// The state of the machine at an event.
#[derive(Clone, Copy)]
pub struct EventContext<'v> {
    /// The innermost function; none at the top, outside of all functions.
    pub view: Option<View<'v>>,
    /// The thread's memory.
    pub memory: &'v Memory,
    /// The part of the stream that contains the event: each fork begins a new one.
    pub part: usize,
}

/// The effect of an instruction on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It accesses no memory, or its accesses are reported otherwise, as those of calls.
    None,
    /// Memory was read into a register.
    Load {
        /// First byte.
        address: u64,
        /// Number of bytes.
        len: u32,
    },
    /// A register or constant was written to memory.
    Store {
        /// First byte.
        address: u64,
        /// Number of bytes.
        len: u32,
    },
    /// Atomic; `stored` is false for a failed exchange.
    Update {
        /// First byte.
        address: u64,
        /// Number of bytes.
        len: u32,
        /// Whether memory was written.
        stored: bool,
    },
    /// A range was copied; the ranges may overlap.
    Copy {
        /// First byte written.
        to: u64,
        /// First byte read.
        from: u64,
        /// Number of bytes.
        len: u64,
    },
    /// A range was filled: with one byte value, or a `va_list` by `va_start`.
    Fill {
        /// First byte.
        to: u64,
        /// Number of bytes.
        len: u64,
    },
}

/// A call that left the modelled program.
#[derive(Clone, Copy)]
pub struct ExternalCall<'v> {
    /// The call, as the caller's code has it.
    pub site: &'v CallSite,
    /// Address of the callee.
    pub target: u64,
    /// Its entry in the table of externals, if it is known.
    pub known: Option<&'static externals::External>,
    /// Argument slots.
    pub args: &'v [u64],
    /// Result slots.
    pub result: &'v [u64],
    /// What a modelled function read, and the content of files that a function read (at addresses of
    /// [`crate::effects`]): address and length.
    pub reads: &'v [(u64, u64)],
    /// What a modelled function wrote, and the content of files that a function wrote. Memory that other
    /// functions wrote is reported by `Patch` events.
    pub writes: &'v [(u64, u64)],
    /// Bytes copied unchanged between memory and files: to, from, length.
    pub transfers: &'v [(u64, u64, u64)],
    /// Whether the result was computed, not read from the recording.
    pub modelled: bool,
    /// All activations, the caller last; each is at its current call.
    pub frames: &'v [Frame],
}

/// See the module's documentation. All methods do nothing unless overridden.
#[allow(unused_variables)]
pub trait Observer {
    /// `false` removes the calls at every instruction.
    const STEPS: bool = true;

    /// `false` means that only loads, stores, calls, returns and rare instructions must be reported, and no
    /// edges. Then the fast loop can run; the `count` and `time` of a view are then at best those of the last
    /// call.
    const ALL_STEPS: bool = true;

    /// Whether every instruction must be reported from here on after all. Queried when a function is entered
    /// or left, and when the fast loop has returned for another reason.
    fn all_steps(&self) -> bool {
        Self::ALL_STEPS
    }

    /// `true` means that the fast loop must also report selects as steps, and the edges that control follows
    /// ([`Observer::fused_edge`]).
    const FUSED_EDGES: bool = false;

    /// An instruction has run. Calls and returns are reported before control
    /// moves: arguments and result can be read.
    fn step(&mut self, view: &View<'_>, effect: Effect) {}

    /// Control followed an edge and the target's phis were assigned. `view` is still at the jump.
    fn edge(&mut self, view: &View<'_>, from: BlockId, to: BlockId) {}

    /// The fast loop leaves a block by this [`FusedEdge`](crate::fused::FusedEdge) of the function's fused code; the phis
    /// are not assigned yet.
    fn fused_edge(&mut self, fused_edge: u32) {}

    /// A function was entered and its parameters are set; `outside`: by code that is not modelled.
    fn enter(&mut self, view: &View<'_>, outside: bool) {}

    /// A linked call has returned; its result slots are set. `view` is the
    /// caller's, at the call.
    fn returned(&mut self, view: &View<'_>) {}

    /// An external call that takes a `va_list` is about to be made; there is no
    /// result yet.
    fn leaving(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {}

    /// An external call has returned; its result slots are set.
    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {}

    /// A non-local return: `view` is at its landing, with the result set.
    fn landed(&mut self, view: &View<'_>) {}

    /// Code outside, called by the current instruction, caught an exception out of functions that it had
    /// called back: their frames are gone.
    fn unwound(&mut self, view: &View<'_>) {}

    /// `va_start` stored a variadic argument of the call (its number among all arguments) in memory, where
    /// `va_arg` reads it. The step follows.
    fn variadic(&mut self, view: &View<'_>, argument: u32, address: u64, len: u64) {}

    /// An event of the recording was consumed. For an event with data, memory is already up to date.
    fn event(&mut self, moment: &EventContext<'_>, position: Position, event: &Event<'_>) {}

    /// The first pass makes a checkpoint here ([`crate::checkpoint::Checkpoints::make`]).
    fn checkpoint(&mut self, machine: &Machine<'_>) {}

    /// A load returned another value than predicted; `event` has preceded.
    fn miss(&mut self, view: &View<'_>, address: u64, len: u32, position: Position, writer: Option<u32>) {}
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Null;

impl Observer for Null {
    const STEPS: bool = false;
}
