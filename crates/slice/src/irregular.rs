//! Irregular events of a segment: everything apart from the steps of fragments.

use crate::formatted::{self, List};
use program::inst::{ArgTy, Inst};
use program::model::Function;
use recording::event::{Event, Position};
use replay::code::{Code, Op};
use replay::effects;
use replay::observer::{EventContext, ExternalCall, Observer, View};

/// The index of nothing.
const NONE: u32 = u32::MAX;

/// One event. `depth` is the number of activations, including the running one; `function` is a number in the
/// image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// The step before took this edge.
    Edge { depth: u32, from: u32, to: u32 },
    /// The activation at `depth` was entered; `copies` indexes [`Irregular::copies`].
    Enter { function: u32, depth: u32, outside: bool, copies: u32 },
    /// The external call of the activation at `depth` has returned.
    External { depth: u32, call: u32 },
    /// Control returned to the call at `index` by a jump.
    Landed { function: u32, index: u32, depth: u32 },
    /// Code outside the program caught a jump or an exception that left functions which it had called back.
    /// The call of the activation at `depth` is in progress again.
    Unwound { depth: u32 },
    /// An event changed memory: an index in [`Irregular::changes`].
    Changed { depth: u32, change: u32 },
    /// A load read what the thread had not written: an index in [`Irregular::misses`].
    Missed { miss: u32 },
    /// A variadic argument was stored to memory: an index in [`Irregular::spills`].
    Spilled { depth: u32, spill: u32 },
}

/// A call that left the program.
#[derive(Clone, Debug)]
pub struct Outside {
    pub function: u32,
    pub index: u32,
    pub reads: Vec<(u64, u64)>,
    pub writes: Vec<(u64, u64)>,
    /// Bytes that were copied between memory and files: to, from, length.
    pub transfers: Vec<(u64, u64, u64)>,
    /// The address of library state that the call appended to.
    pub appends: Option<u64>,
    pub known: Option<&'static externals::External>,
}

/// Memory changed by an event.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Patch { address: u64, len: u64 },
    Moved { from: u64, to: u64, len: u64 },
    Zeroed { address: u64, len: u64 },
}

/// A load whose value the recording corrected.
#[derive(Clone, Debug)]
pub struct Miss {
    pub step: u64,
    pub module: u32,
    pub site: u32,
    pub address: u64,
    pub bytes: Vec<u8>,
    pub writer: Option<u32>,
    pub seq: Option<u64>,
}

/// A by-value parameter: the address of the callee's copy.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    pub parameter: u32,
    pub to: u64,
    pub len: u64,
}

/// A variadic argument in memory: its index among the call's arguments.
#[derive(Clone, Copy, Debug)]
pub struct Spill {
    pub argument: u32,
    pub address: u64,
    pub len: u64,
}

/// See the module's documentation.
#[derive(Default)]
pub struct Irregular {
    pub items: Vec<Item>,
    pub externals: Vec<Outside>,
    pub changes: Vec<Change>,
    pub misses: Vec<Miss>,
    pub copies: Vec<Vec<Copied>>,
    pub spills: Vec<Spill>,
    /// Addresses of the by-value arguments of each call that has any, in order.
    pub passed: Vec<Vec<u64>>,
    /// The `va_list` of the call in progress, if it has one and a format.
    listed: Option<List>,
    /// The function of the last step: address of its code, and its number.
    last: (usize, u32),
}

impl Irregular {
    /// The number of the running function.
    #[inline]
    pub fn number(&mut self, view: &View<'_>) -> u32 {
        let at = std::ptr::from_ref::<Code>(view.code).addr();
        if self.last.0 != at {
            let number = view.image.function(view.code.module, view.code.function).unwrap_or(0);
            self.last = (at, number);
        }
        self.last.1
    }

    /// A call is about to be made. Returns the index of its by-value arguments in [`Irregular::passed`], if
    /// it has any.
    pub fn calling(&mut self, view: &View<'_>) -> Option<u32> {
        let Inst::Call(call) = view.inst() else { return None };
        if let Op::Call { call } = view.code.ops[view.index as usize] {
            self.listed = formatted::list_of(view, &view.code.calls[call as usize]);
        }
        let mut by_value = call.args.iter().filter(|a| matches!(a.ty, ArgTy::ByVal { .. })).peekable();
        by_value.peek()?;
        self.passed.push(by_value.map(|a| view.value(a.value)).collect());
        Some(self.passed.len() as u32 - 1)
    }
}

impl Observer for Irregular {
    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.items.push(Item::Edge { depth: view.depth, from, to });
    }

    fn enter(&mut self, view: &View<'_>, outside: bool) {
        let function = self.number(view);
        let mut copies = NONE;
        if view.code.by_value && !outside {
            copies = self.copies.len() as u32;
            self.copies.push(copied(view.function(), view));
        }
        self.items.push(Item::Enter { function, depth: view.depth, outside, copies });
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let function = self.number(view);
        let formatted = formatted::reads(view, call, self.listed.take());
        self.items.push(Item::External { depth: view.depth, call: self.externals.len() as u32 });
        self.externals.push(Outside {
            function,
            index: view.index,
            reads: merged([effects::reads(view, call), formatted].concat()),
            writes: merged(effects::writes(view, call)),
            transfers: call.transfers.to_vec(),
            appends: effects::appends(call),
            known: call.known,
        });
    }

    fn landed(&mut self, view: &View<'_>) {
        let function = self.number(view);
        self.items.push(Item::Landed { function, index: view.index, depth: view.depth });
    }

    fn unwound(&mut self, view: &View<'_>) {
        self.items.push(Item::Unwound { depth: view.depth });
    }

    fn event(&mut self, moment: &EventContext<'_>, _: Position, event: &Event<'_>) {
        let change = match *event {
            Event::Patch { address, bytes } => Change::Patch { address, len: bytes.len() as u64 },
            Event::Moved { from, to, length } => Change::Moved { from, to, len: length },
            Event::Zeroed { address, length } => Change::Zeroed { address, len: length },
            _ => return,
        };
        let depth = moment.view.map_or(0, |v| v.depth);
        self.items.push(Item::Changed { depth, change: self.changes.len() as u32 });
        self.changes.push(change);
    }

    fn miss(&mut self, view: &View<'_>, address: u64, len: u32, position: Position, writer: Option<u32>) {
        let mut bytes = vec![0; len as usize];
        view.memory.peek(address, &mut bytes);
        self.items.push(Item::Missed { miss: self.misses.len() as u32 });
        self.misses.push(Miss {
            step: view.count,
            module: view.code.module,
            site: view.site(),
            address,
            bytes,
            writer,
            seq: position.seq,
        });
    }

    fn variadic(&mut self, view: &View<'_>, argument: u32, address: u64, len: u64) {
        self.items.push(Item::Spilled { depth: view.depth, spill: self.spills.len() as u32 });
        self.spills.push(Spill { argument, address, len });
    }
}

/// Removes ranges that lie in others.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    if ranges.len() > 1 {
        ranges.sort_unstable_by_key(|(at, len)| (*at, std::cmp::Reverse(*len)));
        let mut end = 0;
        ranges.retain(|(at, len)| {
            let last = at.saturating_add(*len);
            let new = last > end;
            end = end.max(last);
            new
        });
    }
    ranges
}

/// The by-value parameters of a function just entered.
fn copied(function: &Function, view: &View<'_>) -> Vec<Copied> {
    let mut out = Vec::new();
    for (number, p) in function.params.iter().enumerate() {
        if let ArgTy::ByVal { size, .. } = p.ty {
            let to = view.frame.wrapping_add(p.frame_offset);
            out.push(Copied { parameter: number as u32, to, len: size });
        }
    }
    out
}
