//! The operands and results of executed instructions.

use program::inst::{Inst, Operand};
use replay::machine::Machine;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use slice::{NodeId, Occurrence};
use std::collections::HashMap;

/// One execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fact {
    /// Its operands in their order, the low slot of each.
    pub operands: Vec<(Operand, u64)>,
    /// The value that it assigned, stored or branched on.
    pub value: u64,
    /// The address of a load or store; the target of a copy.
    pub address: u64,
    /// The source address of a copy.
    pub from: u64,
}

impl Fact {
    /// The value of an operand.
    #[must_use]
    pub fn of(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Const(value) => Some(value),
            _ => self.operands.iter().find(|(own, _)| *own == operand).map(|x| x.1),
        }
    }
}

/// Facts of nodes, from one replay of each stream.
#[must_use]
pub fn facts(process: &LoadedProcess, nodes: &[(NodeId, Occurrence)]) -> HashMap<NodeId, Fact> {
    let mut all = HashMap::new();
    for (number, loaded) in process.streams.iter().enumerate() {
        let mut wanted: Vec<(u64, NodeId)> = nodes
            .iter()
            .filter(|(_, at)| at.stream as usize == number)
            .map(|(n, at)| (at.step, *n))
            .collect();
        wanted.sort_unstable();
        let Some(last) = wanted.last().map(|w| w.0) else { continue };
        let mut reader = Reader { wanted, next: 0, facts: &mut all };
        // Facts before a divergence are valid.
        let _ = Machine::new(&process.image, &loaded.stream).run(&mut reader, last + 1);
    }
    all
}

struct Reader<'r> {
    wanted: Vec<(u64, NodeId)>,
    next: usize,
    facts: &'r mut HashMap<NodeId, Fact>,
}

impl Observer for Reader<'_> {
    #[inline]
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        while let Some((step, node)) = self.wanted.get(self.next).copied()
            && step <= view.count
        {
            self.next += 1;
            if step == view.count {
                self.facts.insert(node, fact(view, effect));
            }
        }
    }
}

fn fact(view: &View<'_>, effect: Effect) -> Fact {
    let inst = view.inst();
    let mut operands = Vec::new();
    inst.for_each_use(|operand, _| operands.push((operand, view.value(operand))));
    let mask = if matches!(inst, Inst::Branch { .. }) { 1 } else { u64::MAX };
    let value = inst.value().map_or(0, |(operand, _)| view.value(operand) & mask);
    let (address, from) = match effect {
        Effect::Load { address, .. } | Effect::Store { address, .. } | Effect::Update { address, .. } => {
            (address, 0)
        }
        Effect::Copy { to, from, .. } => (to, from),
        Effect::Fill { to, .. } => (to, 0),
        Effect::None => (0, 0),
    };
    Fact { operands, value, address, from }
}
