//! The decisions that could have made it different.
//!
//! After the critical predicates of *A Synergistic Analysis Method for
//! Explaining Failed Regression Tests* (Yi and others, ICSE 2015): of an executed
//! instruction, the branch that decided that it ran (*direct*), and every branch
//! executed between the last assignment of a value it used and the use, whose
//! other way could have assigned the value anew (*indirect*). Only executed
//! branches count.

mod other_way;

use crate::Result;
use crate::criterion::Occurrence;
use crate::facts::AllFacts;
use crate::log::{Item, Log};
use crate::slicer::Slicer;
use other_way::{Alternative, OtherWay};
use program::inst::{BlockId, Inst, Operand, Reg};
use replay::observer::Effect;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A use is followed back over so many steps at most.
const MAX_STEPS: u64 = 1 << 24;

/// How a branch matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CriticalKind {
    Direct,
    Indirect,
}

/// An executed branch that matters to an executed instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CriticalPredicate {
    pub branch: Occurrence,
    pub kind: CriticalKind,
    /// The instruction it matters to.
    pub to: Occurrence,
}

impl Slicer<'_> {
    /// The critical predicates of executed instructions, newest first.
    ///
    /// # Errors
    /// If replay fails.
    pub fn critical(&self, at: &[Occurrence]) -> Result<Vec<CriticalPredicate>> {
        let mut found = BTreeSet::new();
        let streams: BTreeSet<u32> = at.iter().map(|o| o.stream).collect();
        for stream in streams {
            let wanted: HashSet<u64> = at.iter().filter(|o| o.stream == stream).map(|o| o.step).collect();
            self.critical_in(stream, &wanted, &mut found)?;
        }
        Ok(found.into_iter().rev().collect())
    }

    fn critical_in(
        &self,
        stream: u32,
        wanted: &HashSet<u64>,
        found: &mut BTreeSet<CriticalPredicate>,
    ) -> Result<()> {
        let checkpoints = &self.prepared(stream)?.checkpoints;
        let mut search = Search {
            facts: &self.facts,
            other: OtherWay::new(&self.facts),
            open: Vec::new(),
            taken: None,
            found,
            stream,
        };
        let (Some(last), Some(first)) = (wanted.iter().max(), wanted.iter().min()) else { return Ok(()) };
        for index in (0..checkpoints.len()).rev() {
            let segment = checkpoints.segment(index);
            if segment.instructions.start > *last {
                continue;
            }
            if search.open.is_empty() && segment.instructions.end <= *first {
                break;
            }
            let mut log = Log::default();
            checkpoints.replay(index, &mut log)?;
            let mut next = segment.instructions.end;
            for item in log.items.iter().rev() {
                if let Item::Step { function, index, depth, effect } = *item {
                    next -= 1;
                    let effect = log.effects.get(effect as usize).copied().unwrap_or(Effect::None);
                    search.step(next, function, index, depth, effect);
                    if wanted.contains(&next) {
                        let machine = checkpoints.machine_at(next)?;
                        let frames = machine.frames().iter().map(|f| f.frame).collect();
                        search.begin(next, function, index, depth, effect, frames);
                    }
                } else {
                    search.item(&log, item);
                }
            }
        }
        Ok(())
    }
}

/// One instruction whose critical predicates are looked for.
struct Query {
    step: u64,
    depth: u32,
    function: u32,
    block: BlockId,
    /// Its deciding branch was found, or its activation has no such branch.
    decided: bool,
    /// Used registers whose assignment was not reached yet, and what could have
    /// been assigned to them instead.
    regs: HashMap<Reg, HashSet<Alternative>>,
    /// The same for memory: ranges.
    memory: Vec<(u64, u64)>,
    /// Activations up to this depth are those on the stack at the instruction;
    /// their frames.
    floor: u32,
    frames: Vec<u64>,
}

impl Query {
    fn assigned(&mut self, address: u64, len: u64) {
        let (from, to) = (address, address.saturating_add(len));
        let mut left = Vec::new();
        for (start, n) in std::mem::take(&mut self.memory) {
            let end = start.saturating_add(n);
            if end <= from || start >= to {
                left.push((start, n));
                continue;
            }
            if start < from {
                left.push((start, from - start));
            }
            if end > to {
                left.push((to, end - to));
            }
        }
        self.memory = left;
    }
}

struct Search<'s, 'f> {
    facts: &'s AllFacts<'f>,
    other: OtherWay<'s, 'f>,
    open: Vec<Query>,
    /// The edge just walked over: activation, and the block it led to.
    taken: Option<(u32, BlockId)>,
    found: &'s mut BTreeSet<CriticalPredicate>,
    stream: u32,
}

impl Search<'_, '_> {
    fn begin(&mut self, step: u64, function: u32, index: u32, depth: u32, effect: Effect, frames: Vec<u64>) {
        let inst = self.facts.inst(function, index);
        let mut query = Query {
            step,
            depth,
            function,
            block: self.facts.get(function).block_of[index as usize],
            decided: false,
            regs: HashMap::new(),
            memory: Vec::new(),
            floor: depth,
            frames,
        };
        inst.for_each_use(|operand, slots| {
            if let Operand::Reg(r) = operand {
                query.regs.extend((r..r + slots).map(|r| (r, HashSet::new())));
            }
        });
        match effect {
            Effect::Load { address, len } | Effect::Update { address, len, .. } => {
                query.memory.push((address, len.into()));
            }
            Effect::Copy { from, len, .. } => query.memory.push((from, len)),
            _ => {}
        }
        self.open.push(query);
    }

    fn step(&mut self, step: u64, function: u32, index: u32, depth: u32, effect: Effect) {
        let inst = self.facts.inst(function, index);
        let facts = self.facts.get(function);
        let edge = self.taken.take().filter(|(d, _)| *d == depth);
        let block = facts.block_of[index as usize];
        let branches = matches!(inst, Inst::Branch { .. } | Inst::Switch { .. });
        let stream = self.stream;
        for query in &mut self.open {
            let same = depth == query.depth && query.floor >= query.depth && function == query.function;
            if same && let Some((dst, n)) = inst.defines() {
                query.regs.retain(|r, _| !(dst..dst + n).contains(r));
            }
            match effect {
                Effect::Store { address, len } | Effect::Update { address, len, stored: true } => {
                    query.assigned(address, len.into());
                }
                Effect::Copy { to, len, .. } | Effect::Fill { to, len } => query.assigned(to, len),
                _ => {}
            }
            let Some((_, to)) = edge.filter(|_| branches) else { continue };
            let at = |step| Occurrence { stream, step };
            let mut add = |kind| {
                self.found.insert(CriticalPredicate { branch: at(step), kind, to: at(query.step) });
            };
            if same && !query.decided {
                let bits = facts.controls(block);
                let word = query.block as usize / 64;
                if bits.get(word).is_some_and(|w| w >> (query.block % 64) & 1 != 0) {
                    query.decided = true;
                    add(CriticalKind::Direct);
                    continue;
                }
            }
            for successor in inst.successors() {
                if successor == to {
                    continue;
                }
                let by_register =
                    same && query.regs.values().any(|a| self.other.assigns(function, (block, successor), a));
                let base = (depth <= query.floor).then(|| query.frames.get(depth as usize - 1).copied());
                let by_memory = !query.memory.is_empty()
                    && self.other.may_store(function, (block, successor), base.flatten(), &query.memory);
                if by_register || by_memory {
                    add(CriticalKind::Indirect);
                    break;
                }
            }
        }
        self.open.retain(|q| {
            let ended = q.floor < q.depth;
            let rest = !q.memory.is_empty() || !ended && (!q.decided || !q.regs.is_empty());
            rest && q.step - step < MAX_STEPS
        });
    }

    fn item(&mut self, log: &Log, item: &Item) {
        match *item {
            Item::Edge { depth, from, to } => {
                self.taken = Some((depth, to));
                for query in &mut self.open {
                    if depth == query.depth && query.floor >= query.depth && !query.regs.is_empty() {
                        let phis = &self.facts.function(query.function).blocks[to as usize].phis;
                        let mut moved = HashMap::new();
                        for phi in phis {
                            let Some((_, value)) = phi.incoming.iter().find(|i| i.0 == from) else {
                                continue;
                            };
                            for k in 0..phi.slots {
                                if let Some(mut others) = query.regs.remove(&(phi.dst + k)) {
                                    others.extend(self.other.alternatives(query.function, to, phi, *value));
                                    let source = match value {
                                        Operand::Reg(r) => *r + k,
                                        // The edge assigned it: nothing before matters.
                                        _ => continue,
                                    };
                                    moved.entry(source).or_insert_with(HashSet::new).extend(others);
                                }
                            }
                        }
                        query.regs.extend(moved);
                    }
                }
            }
            Item::Enter { depth, .. } => {
                for query in &mut self.open {
                    if depth <= query.floor {
                        query.floor = depth - 1;
                    }
                    if query.floor < query.depth {
                        query.regs.clear();
                    }
                }
            }
            Item::External { call, .. } => {
                for (address, len) in &log.externals[call as usize].writes {
                    self.open.iter_mut().for_each(|q| q.assigned(*address, *len));
                }
            }
            Item::Missed { miss } => {
                // Another thread stored it just now. Whatever else the load had
                // not seen yet, such as an initial value, may be old.
                let miss = &log.misses[miss as usize];
                if miss.writer.is_none() {
                    return;
                }
                self.open.iter_mut().for_each(|q| q.assigned(miss.address, miss.bytes.len() as u64));
            }
            Item::Returned { function, index, depth } | Item::Landed { function, index, depth } => {
                if let Inst::Call(call) = self.facts.inst(function, index) {
                    let n: u32 = call.ret.iter().map(|t| t.slots()).sum();
                    for query in &mut self.open {
                        if depth == query.depth && query.floor >= query.depth && function == query.function {
                            query.regs.retain(|r, _| !(call.dst..call.dst + n).contains(r));
                        }
                    }
                }
            }
            Item::Step { .. } | Item::Changed { .. } | Item::Spilled { .. } | Item::Frame { .. } => {}
        }
    }
}
