//! The trace of one segment: which fragments ran, and what their instructions accessed.
//!
//! For each executed fragment the backward pass needs its end, and the operands of its instructions:
//! addresses and choices, whose number is known statically. So a trace is two lists: words that encode
//! control flow, and operands in execution order:
//!
//! | word | meaning | operands |
//! |---|---|---|
//! | way | a fragment ran to the end of its block, and control crossed these edges | the fragment's |
//! | run | instructions ran up to this one | theirs |
//! | from | the next `way` or `run` began at this instruction, not at the start of its fragment | |
//! | enter, returned | a call of the program; the word before `returned` is the function | |
//! | other | an irregular event: one of [`Irregular`]'s items | |
//! | passed | by-value arguments of the call that the last run ended in | |
//! | left | activations were popped without returning | |
//!
//! The activations at the end of the segment are known, so the words can be read backwards. The position of
//! an instruction's operands follows from the number of operands before it in its function ([`before`]).

use crate::fragments;
use crate::irregular::Irregular;
use program::inst::Inst;
use program::model::Function;
use recording::event::{Event, Position};
use replay::code::Op;
use replay::image::Image;
use replay::machine::{self, Machine};
use replay::observer::{Effect, EventContext, ExternalCall, Observer, View};
use std::sync::OnceLock;

/// A word: its kind in the upper three bits, and a number.
pub mod word {
    pub const FUSED_EDGE: u32 = 0;
    pub const RUN: u32 = 1 << 29;
    pub const FROM: u32 = 2 << 29;
    pub const ENTER: u32 = 3 << 29;
    pub const RETURNED: u32 = 4 << 29;
    pub const OTHER: u32 = 5 << 29;
    pub const PASSED: u32 = 6 << 29;
    pub const LEFT: u32 = 7 << 29;
    pub const KIND_MASK: u32 = 7 << 29;
    pub const NUMBER_MASK: u32 = !KIND_MASK;
}

/// For each instruction the number of operands before it, and at the end the total.
pub fn before(function: &Function) -> Vec<u32> {
    let mut sum = 0;
    let mut before = Vec::with_capacity(function.code.len() + 1);
    for inst in &function.code {
        before.push(sum);
        sum += numbers(inst);
    }
    before.push(sum);
    before
}

/// The number of operands that an execution of an instruction records.
fn numbers(inst: &Inst) -> u32 {
    match inst {
        Inst::Load { .. } | Inst::Store { .. } | Inst::Select { .. } => 1,
        Inst::Rmw { .. } | Inst::CmpXchg { .. } | Inst::MemSet { .. } | Inst::VaStart { .. } => 2,
        Inst::MemCopy { .. } | Inst::VaCopy { .. } => 3,
        _ => 0,
    }
}

/// The memory effect of an instruction, decoded from its operands.
pub fn effect(inst: &Inst, numbers: &[u64]) -> Effect {
    match (inst, numbers) {
        (Inst::Load { ty, .. }, [address, ..]) => Effect::Load { address: *address, len: ty.bytes() },
        (Inst::Store { ty, .. }, [address, ..]) => Effect::Store { address: *address, len: ty.bytes() },
        (Inst::Rmw { ty, .. } | Inst::CmpXchg { ty, .. }, [address, stored, ..]) => {
            Effect::Update { address: *address, len: ty.bytes(), stored: *stored != 0 }
        }
        (Inst::MemSet { .. } | Inst::VaStart { .. }, [to, len, ..]) => Effect::Fill { to: *to, len: *len },
        (Inst::MemCopy { .. } | Inst::VaCopy { .. }, [to, from, len, ..]) => {
            Effect::Copy { to: *to, from: *from, len: *len }
        }
        _ => Effect::None,
    }
}

/// The start of the fragment of each instruction of each function of an image, computed when first needed.
pub struct Starts<'i> {
    image: &'i Image,
    all: Vec<OnceLock<Vec<u32>>>,
}

impl<'i> Starts<'i> {
    pub fn new(image: &'i Image) -> Starts<'i> {
        Starts { image, all: (0..image.functions()).map(|_| OnceLock::new()).collect() }
    }

    /// The first instruction of an instruction's fragment.
    fn of(&self, function: u32, index: u32) -> u32 {
        let starts = self.all[function as usize].get_or_init(|| {
            let code = self.image.code(function);
            let model = &self.image.module(code.module).functions[code.function as usize];
            let (all, fragment_of) = fragments::split(model);
            fragment_of.into_iter().map(|f| all[f as usize].start).collect()
        });
        starts.get(index as usize).copied().unwrap_or(index)
    }
}

/// The current run began at the start of its fragment.
const FRAGMENT_START: u32 = u32::MAX;

/// An activation: its function, and the address of its frame.
pub type Frame = (u32, u64);

/// An active activation.
#[derive(Clone, Copy, Debug)]
struct ActiveFrame {
    function: u32,
    /// The address of its frame.
    frame: u64,
    /// The first instruction of its current run; not maintained for the innermost activation.
    start: u32,
}

/// See the module's documentation.
pub struct SegmentTrace<'n> {
    starts: &'n Starts<'n>,
    pub words: Vec<u32>,
    pub numbers: Vec<u64>,
    pub irregular: Irregular,
    /// Activations that were popped without returning: how many were kept, and the popped ones.
    pub left: Vec<(u32, Vec<Frame>)>,
    /// Frames of activations that returned, in order.
    pub returned: Vec<u64>,
    open: Vec<ActiveFrame>,
    /// The first instruction of the current run.
    start: u32,
    /// The last instruction stepped over, unless control was transferred since.
    last: Option<u32>,
}

impl<'n> SegmentTrace<'n> {
    pub fn new(starts: &'n Starts<'n>) -> SegmentTrace<'n> {
        SegmentTrace {
            starts,
            words: Vec::new(),
            numbers: Vec::new(),
            irregular: Irregular::default(),
            left: Vec::new(),
            returned: Vec::new(),
            open: Vec::new(),
            start: FRAGMENT_START,
            last: None,
        }
    }

    /// Starts a new segment with these activations.
    pub fn begin(&mut self, frames: &[machine::Frame]) {
        self.words.clear();
        self.numbers.clear();
        self.left.clear();
        self.returned.clear();
        self.irregular = Irregular::default();
        self.last = None;
        self.open.clear();
        for frame in frames {
            let op = self.starts.image.code(frame.function).ops.get(frame.pc as usize);
            let waits = matches!(op, Some(Op::Call { .. }));
            let start = if waits { FRAGMENT_START } else { frame.pc };
            self.open.push(ActiveFrame { function: frame.function, frame: frame.frame, start });
        }
        self.start = frames.last().map_or(FRAGMENT_START, |frame| frame.pc);
    }

    /// Ends the segment in this state of the machine.
    pub fn finish(&mut self, machine: &Machine<'_>) {
        if let Some(view) = machine.view() {
            self.cut(&view);
        }
    }

    /// The activations at the end of the segment, innermost last.
    pub fn activations(&self) -> impl Iterator<Item = Frame> + '_ {
        self.open.iter().map(|o| (o.function, o.frame))
    }

    /// Ends the current run after an instruction.
    #[inline]
    fn run(&mut self, index: u32) {
        if self.start != FRAGMENT_START {
            self.from();
        }
        self.words.push(word::RUN | index);
    }

    #[cold]
    fn from(&mut self) {
        self.words.push(word::FROM | self.start);
        self.start = FRAGMENT_START;
    }

    /// Pops activations down to a depth without a return.
    fn leave(&mut self, depth: usize) -> bool {
        if depth >= self.open.len() {
            return false;
        }
        self.start = depth.checked_sub(1).map_or(FRAGMENT_START, |d| self.open[d].start);
        let gone = self.open.split_off(depth).into_iter().map(|o| (o.function, o.frame)).collect();
        self.words.push(word::LEFT | self.left.len() as u32);
        self.left.push((depth as u32, gone));
        true
    }

    /// Ends the current run before an event that is not a step.
    fn cut(&mut self, view: &View<'_>) {
        let depth = view.depth as usize;
        if self.leave(depth) {
            // The caller was waiting for the call.
            self.last = Some(view.index);
        }
        if depth > self.open.len() {
            return;
        }
        let Some(top) = self.open.last().copied() else { return };
        let end = view.index + u32::from(self.last == Some(view.index));
        let natural = self.starts.of(top.function, end);
        let start = if self.start == FRAGMENT_START { natural } else { self.start };
        if start < end {
            self.run(end - 1);
        }
        self.start = if natural == end { FRAGMENT_START } else { end };
    }

    fn step_otherwise(&mut self, view: &View<'_>, effect: Effect) {
        match effect {
            Effect::Load { address, .. } | Effect::Store { address, .. } => self.numbers.push(address),
            Effect::Update { address, stored, .. } => self.numbers.extend([address, stored.into()]),
            Effect::Copy { to, from, len } => self.numbers.extend([to, from, len]),
            Effect::Fill { to, len } => self.numbers.extend([to, len]),
            Effect::None => match view.code.ops[view.index as usize] {
                Op::Select { cond, .. } => self.numbers.push(view.regs[cond as usize] & 1),
                Op::Slow => {
                    if let Inst::Select { cond, .. } = view.inst() {
                        self.numbers.push(view.value(*cond) & 1);
                    }
                }
                Op::Call { call } => {
                    self.run(view.index);
                    let site = &view.code.calls[call as usize];
                    if (site.moves.is_none() || site.direct.is_none())
                        && let Some(passed) = self.irregular.calling(view)
                    {
                        self.words.push(word::PASSED | passed);
                    }
                }
                Op::Return { .. } => self.run(view.index),
                _ => {}
            },
        }
    }

    /// Adds a word for the last irregular item.
    fn other(&mut self) {
        self.words.push(word::OTHER | (self.irregular.items.len() as u32 - 1));
    }
}

impl Observer for SegmentTrace<'_> {
    const ALL_STEPS: bool = false;
    const FUSED_EDGES: bool = true;

    #[inline(always)] // the fast loop knows which effect it is
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        self.last = Some(view.index);
        match effect {
            Effect::Load { address, .. } | Effect::Store { address, .. } => self.numbers.push(address),
            _ => self.step_otherwise(view, effect),
        }
    }

    #[inline(always)]
    fn fused_edge(&mut self, fused_edge: u32) {
        self.last = None;
        if self.start != FRAGMENT_START {
            self.from();
        }
        self.words.push(word::FUSED_EDGE | fused_edge);
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        self.run(view.index);
        self.last = None;
        self.irregular.edge(view, from, to);
        self.other();
    }

    #[inline]
    fn enter(&mut self, view: &View<'_>, outside: bool) {
        let function = self.irregular.number(view);
        // A return to code outside the program left no word.
        self.leave((view.depth as usize).saturating_sub(1));
        if outside || view.code.by_value {
            self.irregular.enter(view, outside);
            self.other();
        } else {
            self.words.push(word::ENTER);
        }
        if let Some(caller) = self.open.last_mut() {
            caller.start = self.start;
        }
        self.open.push(ActiveFrame { function, frame: view.frame, start: FRAGMENT_START });
        self.start = FRAGMENT_START;
        self.last = None;
    }

    #[inline]
    fn returned(&mut self, view: &View<'_>) {
        let (function, frame) = self.open.pop().map_or((0, 0), |o| (o.function, o.frame));
        self.returned.push(frame);
        // The caller was waiting for the call.
        self.start = FRAGMENT_START;
        self.words.extend([function, word::RETURNED | view.index]);
        self.last = Some(view.index);
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.cut(view);
        self.irregular.external(view, call);
        self.other();
    }

    fn landed(&mut self, view: &View<'_>) {
        // What ran before the jump was recorded at the jump's event.
        self.leave(view.depth as usize);
        self.irregular.landed(view);
        self.other();
        self.last = Some(view.index);
        let handler = matches!(view.inst(), Inst::Landing { .. });
        self.start = if handler { view.index + 1 } else { FRAGMENT_START };
    }

    fn unwound(&mut self, view: &View<'_>) {
        self.cut(view);
        self.irregular.unwound(view);
        self.other();
    }

    fn event(&mut self, moment: &EventContext<'_>, position: Position, event: &Event<'_>) {
        let before = self.irregular.items.len();
        self.irregular.event(moment, position, event);
        let noted = self.irregular.items.len() > before;
        let leaves = matches!(event, Event::Land { .. } | Event::Unwound { .. });
        if let (true, Some(view)) = (noted || leaves, &moment.view) {
            self.cut(view);
        }
        if noted {
            self.other();
        }
    }

    fn miss(&mut self, view: &View<'_>, address: u64, len: u32, position: Position, writer: Option<u32>) {
        self.cut(view);
        self.irregular.miss(view, address, len, position, writer);
        self.other();
    }

    fn variadic(&mut self, view: &View<'_>, argument: u32, address: u64, len: u64) {
        self.cut(view);
        self.irregular.variadic(view, argument, address, len);
        self.other();
    }
}
