//! Detects blocks that were moved and statements that were swapped.

use super::super::{Difference, NameUse};
use super::{Unassigned, Unit, UnitKind};
use crate::change::{Change, ChangeId, ChangeKind};
use imara_diff::{Algorithm, Diff, InternedInput};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Minimum number of lines with code, or of bytes of code, in a block: shorter ones may be equal by chance.
const MIN_LINES: usize = 3;
const MIN_BYTES: usize = 24;
/// Minimum number of tokens of a statement: `break;` is equal by chance.
const MIN_TOKENS: usize = 3;
/// A token that occurs in more blocks than this does not identify a block.
const MAX_BLOCKS: usize = 32;

/// Lines that exist in only one version.
struct Block {
    changes: Vec<ChangeId>,
    tokens: Vec<u64>,
    gone: bool,
}

/// The block formed by these changes of a hunk.
fn block(difference: &Difference, changes: &[ChangeId], free: &Unassigned) -> Option<Block> {
    let all = || changes.iter().map(|id| difference.change(*id));
    if !all().all(|change| change.kind == ChangeKind::Lines && free.has(change.id)) {
        return None;
    }
    let tokens = |old: bool| -> Vec<u64> {
        let details = changes.iter().map(|id| &difference.details[id.0 as usize]);
        details.flat_map(|detail| if old { &detail.old } else { &detail.new }).copied().collect()
    };
    let (old, new) = (tokens(true), tokens(false));
    match (old.is_empty(), new.is_empty()) {
        (false, true) => Some(Block { changes: changes.to_vec(), tokens: old, gone: true }),
        (true, false) => Some(Block { changes: changes.to_vec(), tokens: new, gone: false }),
        _ => None,
    }
}

/// File and function of statements, and their tokens.
type Place<'d> = (&'d str, &'d str, Vec<u64>);

/// Pairs of a deletion and an insertion of the same statements within one function, nearest first.
pub(super) fn swapped(difference: &Difference, free: &mut Unassigned) -> Vec<Unit> {
    let mut places: BTreeMap<Place, [Vec<ChangeId>; 2]> = BTreeMap::new();
    for change in &difference.changes {
        let Some(block) = block(difference, &[change.id], free) else { continue };
        let Some(function) = function(difference, change) else { continue };
        // `return 0;` mentions no name and is equal by chance.
        let named = difference.names(change.id).is_none_or(|names| !names.is_empty());
        if named && block.tokens.len() >= MIN_TOKENS {
            let place = places.entry((&change.file, function, block.tokens)).or_default();
            place[usize::from(block.gone)].push(change.id);
        }
    }
    let mut units = Vec::new();
    for [added, gone] in places.into_values() {
        let mut pairs: Vec<(u32, ChangeId, ChangeId)> = Vec::new();
        // Both sides are in order, so the nearest counterparts are the neighbours.
        for from in &gone {
            let next = added.partition_point(|to| to < from);
            let near = added[..next].last().into_iter().chain(added.get(next));
            pairs.extend(near.map(|to| (to.0.abs_diff(from.0), *from, *to)));
        }
        pairs.sort_unstable();
        for (_, from, to) in pairs {
            if free.has(from) && free.has(to) {
                free.take([from, to]);
                units.push(Unit { changes: [from, to].into(), kind: UnitKind::Swapped });
            }
        }
    }
    units
}

/// The function around a change; its heading where the syntax is not known.
fn function<'d>(difference: &'d Difference, change: &'d Change) -> Option<&'d str> {
    let detail = &difference.details[change.id.0 as usize];
    match &detail.names {
        Some(_) => change.function.as_deref().filter(|_| detail.enclosed),
        None => Some(change.heading.as_str()).filter(|heading| !heading.is_empty()),
    }
}

/// Pairs of a deleted and an added block that are equal or nearly so: whole hunks first, then their parts.
pub(super) fn moved(difference: &Difference, free: &mut Unassigned) -> Vec<Unit> {
    let mut units = Vec::new();
    for by_hunk in [true, false] {
        let mut blocks: Vec<Block> = Vec::new();
        for hunk in &difference.hunks {
            let size = if by_hunk { hunk.changes.len() } else { 1 };
            let found = hunk.changes.chunks(size).filter_map(|part| block(difference, part, free));
            blocks.extend(found.filter(|block| is_large(difference, block)));
        }
        let mut pairs = alike(&blocks, |from, to| same_names(difference, from, to));
        pairs.extend(redefined(difference, &blocks, &pairs));
        for (from, to) in pairs {
            let changes = blocks[from].changes.iter().chain(&blocks[to].changes).copied();
            let changes: crate::change::ChangeSet = changes.collect();
            free.take(changes.iter().copied());
            units.push(Unit { changes, kind: UnitKind::Moved });
        }
    }
    units
}

/// Pairs of blocks that declare the same names at file scope, however different they are: with only one of
/// them undone, a name would be defined twice or not at all.
fn redefined(difference: &Difference, blocks: &[Block], pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut is_taken = vec![false; blocks.len()];
    for (from, to) in pairs {
        (is_taken[*from], is_taken[*to]) = (true, true);
    }
    let names: Vec<BTreeSet<&str>> = blocks.iter().map(|block| declared(difference, block)).collect();
    let mut found = Vec::new();
    for from in (0..blocks.len()).filter(|at| blocks[*at].gone) {
        let common = |to: &usize| names[from].intersection(&names[*to]).count();
        let free = (0..blocks.len()).filter(|to| !blocks[*to].gone && !is_taken[*to]);
        let best = free.max_by_key(|to| (common(to), std::cmp::Reverse(*to)));
        if let Some(to) = best.filter(|to| !is_taken[from] && common(to) > 0) {
            (is_taken[from], is_taken[to]) = (true, true);
            found.push((from, to));
        }
    }
    found
}

fn is_large(difference: &Difference, block: &Block) -> bool {
    let all = block.changes.iter().map(|id| difference.change(*id));
    let texts = all.flat_map(|change| if block.gone { &change.old_lines } else { &change.new_lines });
    let (mut lines, mut bytes) = (0, 0);
    for text in texts.map(|line| line.trim()).filter(|line| !line.is_empty()) {
        lines += 1;
        bytes += text.len();
    }
    lines >= MIN_LINES || bytes >= MIN_BYTES
}

/// Whether two blocks declare a common name outside functions, or one of them declares none. A function with
/// another name is another function, even if most of its tokens are the same.
fn same_names(difference: &Difference, from: &Block, to: &Block) -> bool {
    let (from, to) = (declared(difference, from), declared(difference, to));
    from.is_empty() || to.is_empty() || !from.is_disjoint(&to)
}

/// Names that a block declares outside functions.
fn declared<'d>(difference: &'d Difference, block: &Block) -> BTreeSet<&'d str> {
    let names = block.changes.iter().filter_map(|id| difference.names(*id)).flatten();
    let here = |name_use: &NameUse| if block.gone { name_use.old_declares } else { name_use.new_declares };
    names
        .filter(|(_, name_use)| name_use.beyond_function && here(name_use))
        .map(|(name, _)| name.as_str())
        .collect()
}

/// Pairs of deleted and added blocks, most similar first; each block occurs at most once.
fn alike(blocks: &[Block], may: impl Fn(&Block, &Block) -> bool) -> Vec<(usize, usize)> {
    let mut index: HashMap<u64, Vec<usize>> = HashMap::new();
    for (number, block) in blocks.iter().enumerate().filter(|(_, block)| !block.gone) {
        for token in &block.tokens {
            let places = index.entry(*token).or_default();
            if places.last() != Some(&number) && places.len() <= MAX_BLOCKS {
                places.push(number);
            }
        }
    }
    let mut found: Vec<(usize, usize, usize)> = Vec::new();
    for (from, block) in blocks.iter().enumerate().filter(|(_, block)| block.gone) {
        let known = block.tokens.iter().filter_map(|token| index.get(token));
        let mut near: Vec<usize> =
            known.filter(|places| places.len() <= MAX_BLOCKS).flatten().copied().collect();
        near.sort_unstable();
        near.dedup();
        for to in near {
            let other = &blocks[to].tokens;
            let (less, more) = (block.tokens.len().min(other.len()), block.tokens.len().max(other.len()));
            // The lengths differ too much for the blocks to be similar.
            if 2 * less * 10 < 8 * (less + more) {
                continue;
            }
            if !may(block, &blocks[to]) {
                continue;
            }
            let common = common(&block.tokens, other);
            if 2 * common * 10 >= 8 * (less + more) {
                found.push((2 * common * 10_000 / (less + more), from, to));
            }
        }
    }
    found.sort_unstable_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut taken = vec![false; blocks.len()];
    let mut pairs = Vec::new();
    for (_, from, to) in found {
        if !taken[from] && !taken[to] {
            (taken[from], taken[to]) = (true, true);
            pairs.push((from, to));
        }
    }
    pairs
}

/// Length of the common subsequence of tokens.
fn common(old: &[u64], new: &[u64]) -> usize {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let diff = Diff::compute(Algorithm::Myers, &input);
    old.len() - diff.count_removals() as usize
}
