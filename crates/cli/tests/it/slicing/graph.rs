//! The dependence graph of a run, made the simple way: forwards, all of it, with
//! the last writer of every bit of registers and memory. What the slicer finds walking
//! back must be what can be reached here.

use super::bits::made_of;
use program::cfg::Graph as Flow;
use program::inst::{Arg, ArgTy, Inst, Operand, Reg};
use program::model::{Function, Home, Phi};
use recording::event::{Event, Position};
use replay::effects;
use replay::observer::{Effect, EventContext, ExternalCall, Observer, View};
use replay::vars::Bindings;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Index of a node.
type Id = usize;

/// A node: the step it belongs to, if it is one's own, and what it needs.
#[derive(Default)]
struct Node {
    step: Option<u64>,
    needs: Vec<Id>,
}

/// Who made each bit of a slot.
type Slot = Rc<[Option<Id>; 64]>;

/// A call: who made it, the makers of its arguments' slots, and their values.
type Made = (Id, Vec<Vec<Slot>>, Vec<u64>);

fn nobody() -> Slot {
    Rc::new([None; 64])
}

/// All who made any of it.
fn makers(slot: &Slot) -> BTreeSet<Id> {
    slot.iter().flatten().copied().collect()
}

struct Frame {
    regs: HashMap<Reg, Slot>,
    /// The last branch that decided about each block.
    decided: HashMap<u32, Id>,
    /// Why the function runs.
    called: Option<Id>,
    /// The call under way: its node, its argument slots, its by-value addresses.
    call: Option<Made>,
    /// Variadic arguments: the caller's slots.
    variadic: Vec<Vec<Slot>>,
}

#[derive(Default)]
pub struct Graph {
    nodes: Vec<Node>,
    /// The node of each step.
    steps: Vec<Id>,
    /// What a question for all that a step used must reach besides.
    more: HashMap<u64, Vec<Id>>,
    frames: Vec<Frame>,
    /// By address and bit.
    memory: HashMap<(u64, u8), Id>,
    control: HashMap<(u32, u32), Vec<Vec<u32>>>,
    /// Slots that the function just left has returned.
    returned: Vec<Slot>,
}

impl Graph {
    /// Steps reachable from what a step used and why it ran.
    pub fn slice(&self, step: u64) -> BTreeSet<u64> {
        let mut seen = vec![false; self.nodes.len()];
        let mut work = vec![self.steps[step as usize]];
        work.extend(self.more.get(&step).into_iter().flatten());
        let mut found = BTreeSet::new();
        while let Some(n) = work.pop() {
            if !std::mem::replace(&mut seen[n], true) {
                found.extend(self.nodes[n].step);
                work.extend(&self.nodes[n].needs);
            }
        }
        found
    }

    pub fn len(&self) -> u64 {
        self.steps.len() as u64
    }

    fn add(&mut self, step: Option<u64>, needs: Vec<Id>) -> Id {
        self.nodes.push(Node { step, needs });
        self.nodes.len() - 1
    }

    fn slot(&self, o: Operand, k: u32) -> Slot {
        let known = match (o, self.frames.last()) {
            (Operand::Reg(r), Some(frame)) => frame.regs.get(&(r + k)),
            _ => None,
        };
        known.cloned().unwrap_or_else(nobody)
    }

    fn reg(&self, o: Operand, k: u32) -> BTreeSet<Id> {
        makers(&self.slot(o, k))
    }

    /// A slot whose bits have nodes of their own, one for all that need the same.
    fn slot_of(&mut self, step: Option<u64>, needs: impl Fn(&Graph, u32) -> BTreeSet<Id>) -> Slot {
        let mut known: HashMap<BTreeSet<Id>, Id> = HashMap::new();
        let mut slot = [None; 64];
        for (bit, place) in (0..).zip(&mut slot) {
            let needs = needs(self, bit);
            let node = match known.get(&needs) {
                Some(node) => *node,
                None => self.add(step, needs.iter().copied().collect()),
            };
            known.insert(needs, node);
            *place = Some(node);
        }
        Rc::new(slot)
    }

    /// A slot that is a copy: each bit needs the same bit, and `base`.
    fn copy_of(&mut self, slot: &Slot, base: &[Id]) -> Slot {
        self.slot_of(None, |_, bit| base.iter().copied().chain(slot[bit as usize]).collect())
    }

    /// What a step made, bit by bit, if its instruction allows; the node of the step is needed for
    /// why it ran.
    fn made(&mut self, view: &View<'_>, inst: &Inst, why: &[Id]) -> Option<Slot> {
        made_of(inst, 0)?;
        let is_uniform = |o: Operand| {
            let slot = self.slot(o, 0);
            slot.iter().all(|maker| *maker == slot[0])
        };
        let mut are_uniform = true;
        inst.for_each_use(|o, _| are_uniform &= is_uniform(o));
        let of_bit = |graph: &Graph, bit: u32| {
            let mut made = made_of(inst, bit).unwrap_or_default();
            if are_uniform {
                made.sort_by_key(|(o, _)| format!("{o:?}"));
                made.dedup_by_key(|(o, _)| *o);
            }
            let makers = made.iter().filter_map(|(o, bit)| graph.slot(*o, 0)[*bit as usize]);
            why.iter().copied().chain(makers).collect()
        };
        Some(self.slot_of(Some(view.count), of_bit))
    }

    fn bytes(&self, at: u64, len: u64) -> Vec<Id> {
        let all = (0..len).flat_map(|i| (0..8).map(move |bit| (at.wrapping_add(i), bit)));
        let nodes: BTreeSet<Id> = all.filter_map(|place| self.memory.get(&place).copied()).collect();
        nodes.into_iter().collect()
    }

    fn set_bytes(&mut self, at: u64, len: u64, node: Id) {
        for i in 0..len {
            self.set_byte(at.wrapping_add(i), Some(node));
        }
    }

    fn set_byte(&mut self, at: u64, node: Option<Id>) {
        for bit in 0..8 {
            match node {
                Some(node) => self.memory.insert((at, bit), node),
                None => self.memory.remove(&(at, bit)),
            };
        }
    }

    /// The bits of a bit-field: bit 0 is the lowest of the byte at the address.
    fn field(&self, at: u64, mask: u64) -> Vec<Id> {
        places(at, mask).filter_map(|place| self.memory.get(&place).copied()).collect()
    }

    fn set_reg(&mut self, reg: Reg, slot: Slot) {
        if let Some(f) = self.frames.last_mut() {
            f.regs.insert(reg, slot);
        }
    }

    fn set_regs(&mut self, dst: Reg, n: u32, node: Id) {
        (dst..dst + n).for_each(|reg| self.set_reg(reg, Rc::new([Some(node); 64])));
    }

    /// Copies byte by byte, each copy needing `base` too.
    fn copy_bytes(&mut self, to: u64, from: u64, len: u64, base: &[Id]) {
        let sources: Vec<Vec<Id>> = (0..len).map(|i| self.bytes(from.wrapping_add(i), 1)).collect();
        for (i, source) in sources.into_iter().enumerate() {
            let needs = base.iter().copied().chain(source).collect();
            let node = self.add(None, needs);
            self.set_byte(to.wrapping_add(i as u64), Some(node));
        }
    }

    /// For each block, the branches that decide about it.
    fn parents(&mut self, view: &View<'_>) -> &Vec<Vec<u32>> {
        self.control.entry((view.code.module, view.code.function)).or_insert_with(|| {
            let flow = Flow::of(view.function());
            let mut all = flow.control_dependence();
            for parents in &mut all {
                parents.retain(|p| flow.successors(*p).len() > 1);
            }
            all
        })
    }

    /// Whether the edge chose the value of a phi: it is a constant; or it was computed before a
    /// branch that chose the edge, and no variable of the phi had it there.
    fn is_chosen(&mut self, view: &View<'_>, from: u32, phi: &Phi, value: Operand) -> bool {
        let Operand::Reg(reg) = value else { return true };
        let f = view.function();
        let flow = Flow::of(f);
        let mut branches = self.parents(view)[from as usize].clone();
        if flow.successors(from).len() > 1 {
            branches = vec![from];
        }
        let home = (0..).zip(&f.blocks).find(|(_, block)| {
            let insts = &f.code[block.start as usize..block.end as usize];
            let of_insts = insts.iter().filter_map(Inst::defines);
            of_insts
                .chain(block.phis.iter().map(|p| (p.dst, p.slots)))
                .any(|(r, n)| (r..r + n).contains(&reg))
        });
        // Some way leads from the branch to the edge, and not through the definition.
        let before =
            |branch: u32| home.is_none_or(|(home, _)| branch == from || reaches(&flow, branch, from, home));
        let holds = |home: Home, r: Reg| matches!(home, Home::Value(Operand::Reg(x), _) if x == r);
        let mine = f.bindings.iter().filter(|b| holds(b.home, phi.dst)).map(|b| b.variable);
        let mine: BTreeSet<u32> = mine.collect();
        let known = Bindings::of(f);
        branches.into_iter().any(|branch| {
            let index = f.blocks[branch as usize].end - 1;
            let had = mine.iter().flat_map(|v| known.at(index, *v)).any(|b| holds(b.home, reg));
            before(branch) && !had
        })
    }

    /// The node of the step that runs, with why it runs.
    fn begin(&mut self, view: &View<'_>) -> Id {
        let block = block_of(view.function(), view.index);
        let frame = self.frames.last().expect("a frame");
        let why = frame.decided.get(&block).copied().or(frame.called);
        let node = self.add(Some(view.count), why.into_iter().collect());
        assert_eq!(self.steps.len() as u64, view.count);
        self.steps.push(node);
        node
    }
}

/// Places of the bits of a mask.
fn places(at: u64, mask: u64) -> impl Iterator<Item = (u64, u8)> {
    let bits = (0..64u64).filter(move |bit| mask >> bit & 1 != 0);
    bits.map(move |bit| (at.wrapping_add(bit / 8), (bit % 8) as u8))
}

/// The length of the string at an address, with its NUL.
fn string(view: &View<'_>, address: u64) -> u64 {
    view.memory.peek_string(address, 1 << 16).len() as u64 + 1
}

/// Strings that a `printf` formats: those of `%s`, as far as the programs here use them.
fn formatted(view: &View<'_>, call: &ExternalCall<'_>) -> Vec<(u64, u64)> {
    let first = match call.known.map(|k| k.name) {
        Some("printf") => 1,
        Some("sprintf") => 2,
        Some("snprintf") => 3,
        _ => return Vec::new(),
    };
    let text = view.memory.peek_string(call.args[first - 1], 1 << 16);
    let text = String::from_utf8_lossy(&text).into_owned();
    let kinds = text.split('%').skip(1).map(|c| c.trim_start_matches('l').starts_with('s'));
    let strings = (first..).zip(kinds).filter(|(_, is_string)| *is_string);
    strings.map(|(slot, _)| (call.args[slot], string(view, call.args[slot]))).collect()
}

/// Whether a way leads from a block to another without coming through a third.
fn reaches(flow: &Flow, from: u32, to: u32, without: u32) -> bool {
    let mut seen = BTreeSet::from([without]);
    let mut work = vec![from];
    while let Some(block) = work.pop() {
        work.extend(flow.successors(block).iter().filter(|b| seen.insert(**b)));
        if to != without && seen.contains(&to) {
            return true;
        }
    }
    false
}

fn block_of(f: &Function, index: u32) -> u32 {
    f.blocks.iter().position(|b| (b.start..b.end).contains(&index)).expect("a block") as u32
}

impl Observer for Graph {
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        let node = self.begin(view);
        let inst = view.inst();
        let field = view.function().bit_access(view.index);
        let why = self.nodes[node].needs.clone();
        let mut uses = Vec::new();
        match inst {
            Inst::Store { addr, value, ty } => {
                let slots = ty.slots();
                let value = field.and_then(|f| f.value).unwrap_or(*value);
                uses.extend(self.reg(*addr, 0));
                uses.extend((0..slots).flat_map(|k| self.reg(value, k)));
            }
            Inst::Select { slots, cond, a, b, .. } => {
                uses.extend(self.reg(*cond, 0));
                let chosen = if view.value(*cond) & 1 != 0 { *a } else { *b };
                uses.extend((0..*slots).flat_map(|k| self.reg(chosen, k)));
            }
            Inst::Call(call) => {
                uses.extend(self.reg(call.callee, 0));
                let slots = |a: &Arg| (0..a.ty.slots()).map(|k| self.slot(a.value, k)).collect();
                let args: Vec<Vec<Slot>> = call.args.iter().map(slots).collect();
                let by_value = call.args.iter().filter(|a| matches!(a.ty, ArgTy::ByVal { .. }));
                let addresses = by_value.map(|a| view.value(a.value)).collect();
                let mut more: Vec<Id> = args.iter().flatten().flat_map(makers).collect();
                for arg in &call.args {
                    if let ArgTy::ByVal { size, .. } = arg.ty {
                        more.extend(self.bytes(view.value(arg.value), size));
                    }
                }
                self.more.insert(view.count, more);
                self.frames.last_mut().expect("a frame").call = Some((node, args, addresses));
            }
            Inst::Return { value: Some(v), ret } => {
                let slots: u32 = ret.iter().map(|t| t.slots()).sum();
                let slots: Vec<Slot> = (0..slots).map(|k| self.slot(*v, k)).collect();
                self.returned = slots.iter().map(|slot| self.copy_of(slot, &[node])).collect();
                self.more.insert(view.count, self.returned.iter().flat_map(makers).collect());
            }
            _ => inst.for_each_use(|o, slots| uses.extend((0..slots).flat_map(|k| self.reg(o, k)))),
        }
        self.nodes[node].needs.extend(uses);
        let mut made = self.made(view, inst, &why);
        match (effect, inst) {
            (Effect::None, Inst::Select { slots: 1, cond, a, b, .. }) => {
                let chosen = self.slot(if view.value(*cond) & 1 != 0 { *a } else { *b }, 0);
                let base: Vec<Id> = why.into_iter().chain(self.reg(*cond, 0)).collect();
                let needs = |bit: u32| base.iter().copied().chain(chosen[bit as usize]).collect();
                made = Some(self.slot_of(Some(view.count), |_, bit| needs(bit)));
            }
            (Effect::None, _) => {}
            (Effect::Load { address, len }, Inst::Load { addr, .. }) => {
                let bytes = match field {
                    Some(field) => self.field(address, field.mask),
                    None => self.bytes(address, len.into()),
                };
                self.nodes[node].needs.extend(bytes);
                if len <= 8 {
                    let mask = field.map_or(u64::MAX >> (64 - 8 * len), |field| field.mask);
                    let base: Vec<Id> = why.into_iter().chain(self.reg(*addr, 0)).collect();
                    let read = |graph: &Graph, bit: u32| {
                        let place = (address.wrapping_add(u64::from(bit / 8)), (bit % 8) as u8);
                        graph.memory.get(&place).copied().filter(|_| mask >> bit & 1 != 0)
                    };
                    let needs =
                        |graph: &Graph, bit: u32| base.iter().copied().chain(read(graph, bit)).collect();
                    made = Some(self.slot_of(Some(view.count), needs));
                }
            }
            (Effect::Store { address, len }, Inst::Store { addr, value, .. }) => match field {
                Some(field) => self.memory.extend(places(address, field.mask).map(|place| (place, node))),
                None if len <= 8 => {
                    let base: Vec<Id> = why.into_iter().chain(self.reg(*addr, 0)).collect();
                    let value = self.slot(*value, 0);
                    let needs = |bit: u32| base.iter().copied().chain(value[bit as usize]).collect();
                    let stored = self.slot_of(Some(view.count), |_, bit| needs(bit));
                    let nodes = places(address, u64::MAX >> (64 - 8 * len)).zip(stored.iter().flatten());
                    self.memory.extend(nodes.map(|(place, node)| (place, *node)));
                }
                None => self.set_bytes(address, len.into(), node),
            },
            (Effect::Load { .. } | Effect::Store { .. }, _) => unreachable!("no load or store"),
            (Effect::Update { address, len, stored }, _) => {
                let bytes = self.bytes(address, len.into());
                self.nodes[node].needs.extend(bytes);
                if stored {
                    self.set_bytes(address, len.into(), node);
                }
            }
            (Effect::Copy { to, from, len }, _) => {
                let sources = self.bytes(from, len);
                self.more.insert(view.count, sources);
                self.copy_bytes(to, from, len, &[node]);
            }
            (Effect::Fill { to, len }, _) => self.set_bytes(to, len, node),
        }
        if let Some((dst, n)) = inst.defines()
            && !matches!(inst, Inst::Call(_))
        {
            match made {
                Some(slot) if n == 1 => self.set_reg(dst, slot),
                _ => self.set_regs(dst, n, node),
            }
        }
        let block = block_of(view.function(), view.index);
        if matches!(inst, Inst::Branch { .. } | Inst::Switch { .. }) {
            let decides: Vec<u32> = self
                .parents(view)
                .iter()
                .enumerate()
                .filter(|(_, parents)| parents.contains(&block))
                .map(|(b, _)| b as u32)
                .collect();
            let frame = self.frames.last_mut().expect("a frame");
            frame.decided.extend(decides.into_iter().map(|b| (b, node)));
        }
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        let jump = *self.steps.last().expect("the jump");
        let mut moves = Vec::new();
        for phi in &view.function().blocks[to as usize].phis {
            let (_, value) = phi.incoming.iter().find(|i| i.0 == from).expect("an incoming value");
            let chosen = self.is_chosen(view, from, phi, *value);
            for k in 0..phi.slots {
                let source = self.slot(*value, k);
                let made = if chosen { self.copy_of(&source, &[jump]) } else { source };
                moves.push((phi.dst + k, made));
            }
        }
        moves.into_iter().for_each(|(reg, slot)| self.set_reg(reg, slot));
    }

    fn enter(&mut self, view: &View<'_>, outside: bool) {
        let mut frame = Frame {
            regs: HashMap::new(),
            decided: HashMap::new(),
            called: None,
            call: None,
            variadic: Vec::new(),
        };
        self.frames.truncate(view.depth as usize - 1);
        let mut copies = Vec::new();
        if let Some((call, args, addresses)) = self.frames.last().and_then(|f| f.call.clone()) {
            frame.called = Some(call);
            let mut addresses = addresses.into_iter();
            for (p, arg) in view.function().params.iter().zip(&args) {
                for k in 0..p.ty.slots() {
                    let mut needs = vec![call];
                    let mut source = arg.get(k as usize).cloned().unwrap_or_else(nobody);
                    if outside {
                        // Outside code chose the arguments, from all it was given.
                        needs.extend(args.iter().flatten().flat_map(makers));
                        source = nobody();
                    }
                    let slot = self.copy_of(&source, &needs);
                    if !matches!(p.ty, ArgTy::ByVal { .. }) {
                        frame.regs.insert(p.reg + k, slot);
                    }
                }
                if let (ArgTy::ByVal { size, .. }, false) = (p.ty, outside) {
                    let address = addresses.next().expect("an address");
                    let base: Vec<Id> = [call].into_iter().chain(arg.iter().flat_map(makers)).collect();
                    copies.push((view.frame.wrapping_add(p.frame_offset), address, size, base));
                }
            }
            frame.variadic = args;
        }
        for (to, from, len, base) in copies {
            self.copy_bytes(to, from, len, &base);
        }
        self.frames.push(frame);
    }

    fn returned(&mut self, view: &View<'_>) {
        self.frames.truncate(view.depth as usize);
        let Inst::Call(call) = view.inst() else { return };
        let slots = std::mem::take(&mut self.returned);
        for (k, slot) in slots.into_iter().enumerate() {
            self.set_reg(call.dst + k as u32, slot);
        }
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.frames.truncate(view.depth as usize);
        let Inst::Call(inst) = view.inst() else { return };
        let Some((base, args, _)) = self.frames.last_mut().and_then(|f| f.call.take()) else { return };
        let mut needs: Vec<Id> = vec![base];
        needs.extend(args.iter().flatten().flat_map(makers));
        let copying = ["memcpy", "memmove", "strcpy", "strncpy"];
        let copies = call.known.is_some_and(|k| copying.contains(&k.name));
        let step = self.nodes[base].step.expect("the call's step");
        let ranges = effects::reads(view, call).into_iter().chain(formatted(view, call));
        let reads: Vec<Id> = ranges.flat_map(|(at, len)| self.bytes(at, len)).collect();
        if let ([(to, len)], [(from, read)], true) = (call.writes, call.reads, copies) {
            let result = self.add(None, needs.clone());
            self.set_regs(inst.dst, inst.ret.len() as u32, result);
            let copied = (*len).min(*read);
            self.copy_bytes(*to, *from, copied, &needs);
            needs.extend(reads);
            // What is filled up says how long the string was.
            let rest = self.add(None, needs.clone());
            self.set_bytes(to.wrapping_add(copied), len - copied, rest);
            self.more.insert(step, needs);
            return;
        }
        needs.extend(reads);
        let node = self.add(None, needs);
        self.more.insert(step, vec![node]);
        let slots: u32 = inst.ret.iter().map(|t| t.slots()).sum();
        self.set_regs(inst.dst, slots, node);
        for (at, len) in effects::writes(view, call) {
            self.set_bytes(at, len, node);
        }
    }

    fn variadic(&mut self, _: &View<'_>, argument: u32, address: u64, len: u64) {
        let frame = self.frames.last().expect("a frame");
        let slots = frame.variadic[argument as usize].clone();
        let call = frame.called.expect("a call");
        let needs = [call].into_iter().chain(slots.iter().flat_map(makers)).collect();
        let node = self.add(None, needs);
        self.set_bytes(address, len, node);
    }

    fn event(&mut self, _: &EventContext<'_>, _: Position, event: &Event<'_>) {
        if let Event::Patch { address, bytes } = event {
            for i in 0..bytes.len() as u64 {
                self.set_byte(address.wrapping_add(i), None);
            }
        }
    }

    fn miss(&mut self, _: &View<'_>, address: u64, len: u32, _: Position, _: Option<u32>) {
        for i in 0..u64::from(len) {
            self.set_byte(address.wrapping_add(i), None);
        }
    }
}
