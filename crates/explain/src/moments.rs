//! Corresponding executed instructions of both runs, and their values.

use crate::align::{
    Found, Index, LineMap, Lines, Side, Stored, find, find_exact, index_of, pair_streams, stores_of,
};
use crate::case::Case;
use crate::evidence::touching;
use crate::findings::Run;
use crate::fleeting::fleeting;
use crate::semantic::facts::facts;
use program::inst::{ArgTy, Call, Inst, Operand, Ty};
use replay::machine::Machine;
use replay::memory::PAGE;
use replay::observer::{Effect, Observer, View};
use replay::process::LoadedProcess;
use slice::{NodeId, Occurrence};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The maximum number of nodes of a slice that are compared with the other run, the nearest to the failure
/// first.
const COMPARED: usize = 100_000;
/// The maximum number of stores that determine the distance between the heaps.
const FEW_STORES: usize = 1024;

/// For each execution of `own` the corresponding one of `other`; `None` if it is unknown.
#[must_use]
pub fn counterparts<'l>(
    at: &[Occurrence],
    own: &Run<'l>,
    other: &Run<'l>,
    case: &Case<'_>,
) -> Vec<Option<Found>> {
    align(at, own, other, case, &find)
}

/// Finds executions in a stream of the other run.
type LookUp<'f, T> =
    &'f dyn Fn(&LoadedProcess, usize, &[Index], Side, &Lines<'_>) -> replay::error::Result<Vec<T>>;

fn align<'l, T: Clone>(
    at: &[Occurrence],
    own: &Run<'l>,
    other: &Run<'l>,
    case: &Case<'_>,
    look_up: LookUp<'_, T>,
) -> Vec<Option<T>> {
    let (good, bad) = if own.traced.side == Side::Good { (own, other) } else { (other, own) };
    let map = |file: &str, line: u32| case.difference.counterpart_in_good(file, line);
    let map: &LineMap<'_> = &map;
    let image = &bad.traced.process.image;
    let lines = Lines::new(map, case.tree(Side::Good), case.tree(Side::Bad), image);
    let mut answer = vec![None; at.len()];
    for (bad_stream, good_stream) in pair_streams(good.traced.process, bad.traced.process) {
        let (own_stream, other_stream) = match own.traced.side {
            Side::Bad => (bad_stream, good_stream),
            Side::Good => (good_stream, bad_stream),
        };
        if at.iter().all(|o| o.stream as usize != own_stream) {
            continue;
        }
        let Ok(indices) = index_of(own.traced.process, own_stream, at, own.traced.side, &lines) else {
            continue;
        };
        let places: Vec<usize> = (0..indices.len()).filter(|n| indices[*n].is_some()).collect();
        let wanted: Vec<_> = indices.into_iter().flatten().collect();
        let Ok(found) = look_up(other.traced.process, other_stream, &wanted, other.traced.side, &lines)
        else {
            continue;
        };
        for (n, found) in places.into_iter().zip(found) {
            answer[n] = Some(found);
        }
    }
    answer
}

/// The comparison of a slice's nodes with the other run.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Equal in the other run: the difference between the runs did not propagate through them.
    pub dull: HashSet<NodeId>,
    /// They differ although all their operands are equal: the difference originated here.
    pub origins: HashSet<NodeId>,
    /// They have another value at the corresponding execution.
    pub differs: HashSet<NodeId>,
}

/// Compares the nodes of a slice with the other run.
#[must_use]
pub fn compare<'l>(own: &Run<'l>, other: &Run<'l>, case: &Case<'_>) -> Compared {
    let mut nearest: Vec<_> = (0..own.traced.slice.nodes.len() as NodeId)
        .filter_map(|node| Some((own.ways.distance(node)?, node)))
        .collect();
    nearest.sort_unstable();
    nearest.truncate(COMPARED);
    let mut nodes: Vec<NodeId> = nearest.into_iter().map(|x| x.1).collect();
    // Oldest first: the dependences of a node precede it.
    nodes.sort_unstable_by(|a, b| b.cmp(a));
    let at: Vec<Occurrence> = nodes.iter().map(|n| own.traced.slice.nodes[*n as usize].at).collect();
    let there: Vec<Option<Occurrence>> =
        align(&at, own, other, case, &find_exact).into_iter().map(Option::flatten).collect();
    let alike = stored_alike(&nodes, own, other, case);
    let own_values = values(own, &at);
    let other_values = values(other, &there.iter().flatten().copied().collect::<Vec<_>>());
    let fleeting = fleeting(own, &nodes);
    let mut compared = Compared::default();
    for (node, (at, there)) in nodes.into_iter().zip(at.iter().zip(there)) {
        // A value that differs in every run is no difference between the versions.
        let is_told = |need: &NodeId| compared.dull.contains(need) || fleeting.contains(need);
        let needs_same = own.traced.needs.of(node).iter().all(|(need, _)| is_told(need));
        let values = there.map(|there| (own_values.get(at), other_values.get(&there)));
        let is_alike = alike.contains(&node);
        if let Some((Some(own), Some(other))) = values
            && own != other
            && !is_alike
        {
            compared.differs.insert(node);
        }
        let same = match values {
            _ if is_alike => true,
            None => false,
            Some((Some(own), Some(other))) => own == other,
            // Addresses and calls count as equal if their operands are.
            Some(_) => needs_same,
        };
        if same {
            compared.dull.insert(node);
        } else if needs_same {
            compared.origins.insert(node);
        }
    }
    // Fleeting values are no origins either, unless there are no others.
    let steady: HashSet<NodeId> = compared.origins.difference(&fleeting).copied().collect();
    if !steady.is_empty() {
        compared.origins = steady;
    }
    compared
}

/// Stores in changed lines whose activation stored the same value to the same address in the other run, by
/// other code: a rewritten function with the same effect in this run. While both runs allocate alike, their
/// addresses are equal up to whole pages, since the heap begins where the program ends. Equal positions in
/// changed lines do not imply correspondence.
fn stored_alike<'l>(nodes: &[NodeId], own: &Run<'l>, other: &Run<'l>, case: &Case<'_>) -> HashSet<NodeId> {
    let traced = &own.traced;
    let is_changed_store = |node: &NodeId| {
        let inst = traced.inst(traced.slice.nodes[*node as usize].site);
        let line = traced.line(*node);
        matches!(inst, Inst::Store { ty, .. } if *ty != Ty::Ptr)
            && touching(case.difference, traced.side, traced.file(line), line.line).is_some()
    };
    let changed = nodes.iter().filter(|node| is_changed_store(node));
    let changed: Vec<_> = changed.map(|node| (*node, traced.slice.nodes[*node as usize].at)).collect();
    let facts = facts(traced.process, &changed);
    let at: Vec<Occurrence> = changed.iter().map(|(_, at)| *at).collect();
    let stored = align(&at, own, other, case, &stores_of);
    let both: Vec<(NodeId, (u64, u64), Arc<Stored>)> = changed
        .iter()
        .zip(stored)
        .filter_map(|((node, _), stored)| {
            let fact = facts.get(node)?;
            Some((*node, (fact.address, fact.value), stored?))
        })
        .collect();
    let shift = heap_shift(both.iter().map(|(_, own, stored)| (*own, &**stored)));
    let is_alike = |(address, value): (u64, u64), stored: &Stored| {
        stored.contains(&(address, value)) || stored.contains(&(address.wrapping_add(shift), value))
    };
    both.iter().filter(|(_, own, stored)| is_alike(*own, stored)).map(|(node, ..)| *node).collect()
}

/// The offset of the other run's heap in whole pages: the one at which most stores have a counterpart of the
/// same value.
fn heap_shift<'s>(stores: impl Iterator<Item = ((u64, u64), &'s Stored)>) -> u64 {
    let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
    // A few are enough; an activation with many stores has too many to compare.
    for ((address, value), stored) in stores.filter(|s| s.1.len() <= FEW_STORES).take(FEW_STORES) {
        let alike = stored.iter().filter(|(_, other)| *other == value);
        let shifts =
            alike.map(|(there, _)| there.wrapping_sub(address)).filter(|shift| shift % PAGE as u64 == 0);
        for shift in shifts {
            *counts.entry(shift).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(shift, count)| (*count, *shift == 0)).map_or(0, |(shift, _)| shift)
}

/// The results of instructions, as bits. Addresses are omitted: they differ between equivalent runs.
fn values(run: &Run<'_>, at: &[Occurrence]) -> HashMap<Occurrence, u64> {
    let mut all = HashMap::new();
    for (stream, loaded) in run.traced.process.streams.iter().enumerate() {
        let mut steps: Vec<u64> = at.iter().filter(|o| o.stream as usize == stream).map(|o| o.step).collect();
        steps.sort_unstable();
        steps.dedup();
        let Some(last) = steps.last().copied() else { continue };
        let mut reader = Reader { stream: stream as u32, steps, next: 0, values: &mut all };
        // Results before a divergence are valid.
        let _ = Machine::new(&run.traced.process.image, &loaded.stream).run(&mut reader, last + 1);
    }
    all
}

struct Reader<'r> {
    stream: u32,
    steps: Vec<u64>,
    next: usize,
    values: &'r mut HashMap<Occurrence, u64>,
}

impl Observer for Reader<'_> {
    #[inline]
    fn step(&mut self, view: &View<'_>, _: Effect) {
        if self.steps.get(self.next) == Some(&view.count) {
            self.next += 1;
            if let Some(value) = value(view) {
                self.values.insert(Occurrence { stream: self.stream, step: view.count }, value);
            }
        }
    }
}

/// The result of an instruction, as bits; `None` for addresses, which differ between equivalent runs.
#[must_use]
pub fn value(view: &View<'_>) -> Option<u64> {
    if let Inst::Call(call) = view.inst() {
        // A call is compared by its arguments.
        return Some(arguments(view, call));
    }
    if let Inst::Copy { dst, .. } | Inst::Select { dst, .. } = view.inst() {
        // These instructions have no type that identifies addresses.
        return Some(view.value(Operand::Reg(*dst))).filter(|value| is_no_address(*value));
    }
    let (operand, ty) = result(view.inst())?;
    // One slot is enough to distinguish values.
    (ty != Ty::Ptr).then(|| view.value(operand))
}

/// Whether a value's size rules out an address: nothing is mapped below 64 KiB, and the large ones are small
/// negative numbers of four and eight bytes.
fn is_no_address(value: u64) -> bool {
    const LEAST: u64 = 1 << 16;
    let is_small = |number: i64| number.unsigned_abs() < LEAST;
    is_small(value as i64) || u32::try_from(value).is_ok_and(|value| is_small(i64::from(value as i32)))
}

/// The value that an instruction computes, stores or branches on, if its type distinguishes numbers from
/// addresses.
pub(crate) fn result(inst: &Inst) -> Option<(Operand, Ty)> {
    let is_told = match inst {
        Inst::Bin { .. } | Inst::Float { .. } | Inst::ICmp { .. } | Inst::FCmp { .. } => true,
        Inst::Load { .. } | Inst::Store { .. } | Inst::Branch { .. } | Inst::Switch { .. } => true,
        Inst::Cast { from, .. } => *from != Ty::Ptr,
        Inst::Return { ret, .. } => ret.len() == 1,
        _ => false,
    };
    inst.value().filter(|_| is_told)
}

/// The arguments of a call, without addresses.
fn arguments(view: &View<'_>, call: &Call) -> u64 {
    let mut hasher = DefaultHasher::new();
    for arg in &call.args {
        if let ArgTy::Value(ty) = arg.ty
            && ty != Ty::Ptr
        {
            view.value(arg.value).hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_no_addresses() {
        for number in [0, 1, -1, 65_535, -65_535] {
            assert!(is_no_address(number as u64), "{number}");
            assert!(is_no_address(u64::from(number as u32)), "{number}");
        }
        for address in [0x1_0000, 0x40_1000, 0x5555_5555_5000, 0x7fff_ffff_e000] {
            assert!(!is_no_address(address), "{address:#x}");
        }
    }

    #[test]
    fn heaps_are_apart_by_pages() {
        let there = Stored::from([(0x6010, 7), (0x6020, 8), (0x9010, 7)]);
        let own = [((0x5010, 7), &there), ((0x5020, 8), &there), ((0x5031, 9), &there)];
        assert_eq!(heap_shift(own.into_iter()), 0x1000);
        let same = [((0x6010, 7), &there), ((0x6020, 8), &there)];
        assert_eq!(heap_shift(same.into_iter()), 0);
        assert_eq!(heap_shift([((0x5011, 7), &there)].into_iter()), 0);
    }
}
