//! Finds the write that damaged the heap.
//!
//! An allocator that finds its metadata overwritten aborts: long after the write, in a correct call. A replay
//! that tracks the blocks observes the write itself: the first one that touches no live block but the
//! allocator's metadata next to a block, or a freed block. A pointer that was never allocated is detected
//! when it is freed.

use super::Error;
use super::ends::{Standing, machine_at, standing};
use externals::flag;
use program::inst::{Call, Inst, Operand};
use program::model::SymbolKind;
use replay::effects;
use replay::machine::Machine;
use replay::observer::{Effect, ExternalCall, Observer, View};
use replay::process::LoadedProcess;
use slice::{Occurrence, Wanted};
use std::collections::BTreeMap;

/// The allocator keeps its metadata within this many bytes of a block.
const BESIDE: u64 = 16;

/// A function and an instruction of it.
type Site = (u32, u32);

/// A write that damaged the heap.
pub(super) struct Damage {
    pub at: Occurrence,
    pub wanted: Vec<Wanted>,
    /// The call stack, outermost first.
    pub frames: Vec<Site>,
    pub what: What,
}

/// The kind of damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Wrote `len` bytes at distance `by` before or after a block; `allocated` is its allocation site.
    Outside { len: u64, by: u64, before: bool, size: u64, allocated: Site },
    /// Wrote `len` bytes of a freed block.
    Freed { len: u64, freed: Freed },
    /// Freed a block a second time.
    Again { freed: Freed },
    /// Freed a pointer that is not a heap block.
    NoBlock(Pointee),
}

/// A call that freed a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Freed {
    pub by: Site,
    /// The step of the free, in the stream that damaged the heap.
    pub step: u64,
}

/// Memory that is not the beginning of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointee {
    /// At offset `by` of a block; `allocated` is its allocation site.
    Inside { by: u64, allocated: Site },
    /// A variable or constant of the program: its symbol in a module.
    Data { module: u32, symbol: u32 },
    /// A local of a function.
    Local { function: u32 },
}

#[derive(Clone, Copy)]
struct Block {
    size: u64,
    allocated: Site,
    /// `None` while the block is live.
    freed: Option<Freed>,
}

#[derive(Default)]
struct Watcher {
    blocks: BTreeMap<u64, Block>,
    /// Step of the damage, and the register of the address if the address is the criterion.
    found: Option<(u64, Option<u32>, What)>,
}

impl Watcher {
    /// The block at an address or the nearest one below it.
    fn below(&self, address: u64) -> Option<(u64, Block)> {
        self.blocks.range(..=address).next_back().map(|(start, block)| (*start, *block))
    }

    fn written(&mut self, view: &View<'_>, step: u64, address: u64, len: u64, register: Option<u32>) {
        if self.found.is_some() || len == 0 {
            return;
        }
        if let Some(what) = self.damage(view, address, len, register) {
            self.found = Some((step, register, what));
        }
    }

    fn damage(&self, view: &View<'_>, address: u64, len: u64, register: Option<u32>) -> Option<What> {
        let (below, above) = (self.below(address), self.blocks.range(address.saturating_add(1)..).next());
        let mut what = None;
        if let Some((start, block)) = below {
            let end = start.saturating_add(block.size);
            if address < end {
                return match block.freed {
                    Some(freed) => Some(What::Freed { len, freed }),
                    // The write begins inside the block and may extend past its end.
                    None if address.saturating_add(len) <= end => None,
                    None => Some(outside(len, 0, false, block)),
                };
            } else if address - end < BESIDE && block.freed.is_none() {
                what = Some(outside(len, address - end, false, block));
            }
        }
        if what.is_none()
            && let Some((start, block)) = above
            && block.freed.is_none()
            && address.saturating_add(len) <= *start
            && *start - address <= BESIDE
        {
            what = Some(outside(len, *start - address, true, *block));
        }
        // Between two blocks, the block from which the address was computed is the one that was overrun.
        let meant = what.and(register).and_then(|r| base(view, r)).and_then(|base| {
            let (start, block) = self.below(base).filter(|(start, block)| base - start < block.size)?;
            let (before, by) = if address < start {
                (true, start - address)
            } else {
                (false, (address - start).saturating_sub(block.size))
            };
            Some(outside(len, by, before, block))
        });
        meant.or(what)
    }

    fn freed(&mut self, step: u64, address: u64, at: Site) {
        let Some(block) = self.blocks.get_mut(&address) else { return };
        match block.freed {
            Some(freed) if self.found.is_none() => {
                self.found = Some((step, None, What::Again { freed }));
            }
            _ => block.freed = Some(Freed { by: at, step }),
        }
    }

    /// Removes freed blocks whose memory is part of a new block.
    fn allocated(&mut self, address: u64, size: u64, at: Site) {
        let over: Vec<u64> =
            self.blocks.range(address..address.saturating_add(size)).map(|(start, _)| *start).collect();
        for start in over {
            self.blocks.remove(&start);
        }
        if let Some((start, block)) = self.below(address)
            && block.freed.is_some()
            && address - start < block.size
        {
            self.blocks.remove(&start);
        }
        self.blocks.insert(address, Block { size, allocated: at, freed: None });
    }
}

fn outside(len: u64, by: u64, before: bool, block: Block) -> What {
    What::Outside { len, by, before, size: block.size, allocated: block.allocated }
}

/// The pointer from which an address was computed.
fn base(view: &View<'_>, register: u32) -> Option<u64> {
    let code = &view.function().code;
    let made = code.iter().find(|inst| inst.defines().is_some_and(|(dst, _)| dst == register))?;
    match made {
        Inst::Address { base, .. } => Some(view.value(*base)),
        _ => None,
    }
}

fn register(operand: Operand) -> Option<u32> {
    if let Operand::Reg(r) = operand { Some(r) } else { None }
}

impl Observer for Watcher {
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        match (effect, view.inst()) {
            (Effect::Store { address, len }, Inst::Store { addr, .. }) => {
                self.written(view, view.count, address, len.into(), register(*addr));
            }
            (Effect::Update { address, len, stored: true }, _) => {
                self.written(view, view.count, address, len.into(), None);
            }
            (Effect::Copy { to, len, .. } | Effect::Fill { to, len }, _) => {
                self.written(view, view.count, to, len, None);
            }
            _ => {}
        }
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        // The counter already includes the call.
        let step = view.count.saturating_sub(1);
        let at = call.frames.last().map_or((0, view.index), |f| (f.function, f.pc));
        let argument = call.args.first().copied().unwrap_or(0);
        let result = call.result.first().copied().unwrap_or(0);
        let is = |bit| call.known.is_some_and(|k| k.has(bit));
        if is(flag::FREES) && argument != 0 && (!is(flag::MOVES) || (result != 0 && result != argument)) {
            self.freed(step, argument, at);
        } else if call.known.is_none_or(|k| k.allocates.is_none()) {
            for (address, len) in effects::writes(view, call) {
                if !effects::is_hidden(address) {
                    self.written(view, step, address, len, None);
                }
            }
        }
        if let Some((address, size)) = effects::allocated(view, call) {
            self.allocated(address, size.max(1), at);
        }
    }
}

/// Whether a call frees a block in external code.
fn frees(view: &View<'_>, call: &Call) -> bool {
    let known = view.image.external_at(view.value(call.callee)).and_then(|external| external.1);
    known.is_some_and(|known| known.has(flag::FREES))
}

/// What a pointer points to, if that is certainly not the beginning of a block.
fn pointee(machine: &Machine<'_>, watcher: &Watcher, address: u64) -> Option<Pointee> {
    let inside = watcher.below(address).filter(|(start, block)| address - start < block.size);
    if let Some((start, block)) = inside {
        return block
            .freed
            .is_none()
            .then_some(Pointee::Inside { by: address - start, allocated: block.allocated });
    }
    let image = machine.image();
    for (module, loaded) in image.modules() {
        for (symbol, (described, start)) in loaded.model.symbols.iter().zip(&loaded.addresses).enumerate() {
            if let SymbolKind::Data { size, .. } = described.kind
                && address.wrapping_sub(*start) < size
            {
                return Some(Pointee::Data { module, symbol: symbol as u32 });
            }
        }
    }
    let frame = machine.frames().iter().find(|frame| {
        let size = image.code(frame.function).frame_size;
        address.wrapping_sub(frame.frame) < size
    })?;
    Some(Pointee::Local { function: frame.function })
}

/// The first damage to the heap in a stream.
pub(super) fn first(process: &LoadedProcess, stream: usize) -> Result<Option<Damage>, Error> {
    let s = process.streams.get(stream).ok_or(Error::NoStream(stream))?;
    let mut watcher = Watcher::default();
    let mut machine = Machine::new(&process.image, &s.stream);
    machine.run(&mut watcher, u64::MAX)?;
    // The observer did not see the call from which the allocator did not return.
    let last = || {
        let view = machine.view()?;
        let Inst::Call(call) = view.inst() else { return None };
        let address = view.value(call.args.first()?.value);
        let what = match watcher.blocks.get(&address) {
            Some(block) => What::Again { freed: block.freed? },
            None if frees(&view, call) => What::NoBlock(pointee(&machine, &watcher, address)?),
            None => return None,
        };
        Some((machine.counters().instructions.saturating_sub(1), None, what))
    };
    let Some((step, register, what)) = watcher.found.or_else(last) else { return Ok(None) };
    let frames: Vec<Site> = match machine_at(process, stream, step)?.frames() {
        [] => standing(process, stream, step + 1)?.iter().map(site).collect(),
        frames => frames.iter().map(|f| (f.function, f.pc)).collect(),
    };
    let wanted = match register {
        Some(r) => vec![Wanted::Registers(vec![r])],
        None => vec![Wanted::All],
    };
    Ok(Some(Damage { at: Occurrence { stream: stream as u32, step }, wanted, frames, what }))
}

fn site(standing: &Standing) -> Site {
    (standing.function, standing.index)
}
