//! Ranks the changes by the recordings: the distance of each change to the failure.
//!
//! The search tries near changes first, and changes at which the runs of good and bad began to differ. From
//! near to far:
//!
//! 1. changes whose lines are in the slice of the observed failure, by the number
//!    of decisions on the path, then by lines ([`Distance`]); nodes of good's
//!    slice count one decision more;
//! 2. changes that a slice refers to without executing their lines: the initial
//!    value of a variable, a file that was read, a macro, type or field that a
//!    line in the slice names;
//! 3. changes whose lines were executed in either version;
//! 4. the rest;
//! 5. white space and comments.

use crate::align::Side;
use crate::names::Meanings;
use crate::semantic::layers::Layers;
use crate::sources::{Sources, identifiers};
use crate::traced::{Line, Traced};
use crate::ways::{Distance, Ways};
use changes::{Change, ChangeClass, ChangeId, ChangeSet, Difference};
use program::inst::Inst;
use slice::{NodeId, Origin};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The class and distance of a change; smaller is nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// In a slice, or referred to by one.
    Near(Distance),
    /// Its lines were executed in either version.
    Executed,
    /// Neither in a slice nor executed.
    Rest,
    /// Only white space or comments.
    Immaterial,
}

/// The evidence for one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clue {
    /// How near the change is to the failure.
    pub rank: Rank,
    /// The nearest node of a slice that is evidence for it.
    pub node: Option<(Side, NodeId)>,
    /// The node's line belongs to the change and is not only near it.
    pub exact: bool,
    /// The node copies the bytes of the criterion.
    pub copies: bool,
    /// Some line of the change is in a slice, not necessarily at the nearest node.
    pub in_slice: bool,
    /// The nearest node at which the runs began to differ, with its distance, if it is evidence for the
    /// change.
    pub origin: Option<(Distance, Side, NodeId)>,
    /// The latest of bad's nodes on a line of the change.
    pub latest: Option<NodeId>,
}

/// The evidence for all changes.
pub struct Evidence {
    clues: BTreeMap<ChangeId, Clue>,
}

/// Lines after a decision that may be controlled by it.
const BEHIND: u32 = 16;

/// Execution counts of lines; files are named as in the version.
pub type Executed = BTreeMap<(String, u32), u64>;

/// A file that was read, and the bytes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRead {
    /// Index of the stream in its process.
    pub stream: u32,
    /// The instruction that read it.
    pub step: u64,
    /// In the form of [`Traced::files`].
    pub file: String,
    /// Offset in the file of the first byte that was read.
    pub offset: u64,
    /// Number of bytes that were read.
    pub length: u64,
}

/// The parts of a run that the evidence uses.
pub struct Witness<'a> {
    /// The run with its slice.
    pub traced: &'a Traced<'a>,
    /// The shortest paths from the failure to the nodes of the slice.
    pub ways: &'a Ways,
    /// The reads of files in the run.
    pub inputs: &'a [InputRead],
    /// Causes by formulas.
    pub layers: Option<&'a Layers>,
}

impl Witness<'_> {
    /// The distance of a node. If causes are known, its decisions are counted along them; a node that is no
    /// cause counts one decision more than in the slice.
    fn distance(&self, node: NodeId) -> Option<Distance> {
        let distance = self.ways.distance(node)?;
        let decisions = match self.layers {
            None => distance.decisions,
            Some(layers) => layers.of(node).unwrap_or(distance.decisions + 1),
        };
        Some(Distance { decisions, ..distance })
    }

    /// For each line the node nearest to the failure.
    fn nearest(&self) -> BTreeMap<Line, (Distance, NodeId)> {
        let mut nearest = BTreeMap::new();
        for node in 0..self.traced.slice.nodes.len() as NodeId {
            if let Some(distance) = self.distance(node) {
                let known = nearest.entry(self.traced.line(node)).or_insert((distance, node));
                *known = (*known).min((distance, node));
            }
        }
        nearest
    }
}

impl Evidence {
    /// Collects the evidence; `executed` holds the lines of good and of bad.
    #[must_use]
    pub fn gather(
        difference: &Difference,
        bad: Option<&Witness<'_>>,
        good: Option<&Witness<'_>>,
        executed: [&Executed; 2],
        sources: &Sources,
    ) -> Evidence {
        let mut evidence = Evidence { clues: BTreeMap::new() };
        for change in difference.changes() {
            let ran = |executed: &Executed, file: &str, range: std::ops::Range<u32>| {
                range.into_iter().any(|line| executed.contains_key(&(file.to_owned(), line)))
            };
            let old_file = change.old_file.as_deref().unwrap_or(&change.file);
            let rank = if matches!(change.matter, ChangeClass::Space | ChangeClass::Comment) {
                Rank::Immaterial
            } else if ran(executed[0], old_file, change.old_range())
                || ran(executed[1], &change.file, change.new_range())
            {
                Rank::Executed
            } else {
                Rank::Rest
            };
            evidence.clues.insert(
                change.id,
                Clue {
                    rank,
                    node: None,
                    exact: false,
                    copies: false,
                    in_slice: false,
                    origin: None,
                    latest: None,
                },
            );
        }
        for witness in [bad, good].into_iter().flatten() {
            evidence.lines(difference, witness);
            evidence.variables(difference, witness, sources);
            evidence.inputs(difference, witness, sources);
        }
        let code: Vec<(Side, HashSet<(String, u32)>)> =
            [bad, good].into_iter().flatten().map(|w| (w.traced.side, w.traced.code_lines())).collect();
        // Code gives evidence by its execution; only a change without code can be referred to by its names.
        let is_code = |change: &Change| {
            code.iter().any(|(side, lines)| {
                let (file, mut range) = match side {
                    Side::Bad => (&change.file, change.new_range()),
                    Side::Good => (change.old_file.as_ref().unwrap_or(&change.file), change.old_range()),
                };
                range.any(|line| lines.contains(&(file.clone(), line)))
            })
        };
        for witness in [bad, good].into_iter().flatten() {
            evidence.names(difference, witness, sources, &is_code);
        }
        evidence
    }

    /// All changes, the most suspicious first. Takes in turn the next one nearest to the failure, nearest to
    /// where the runs began to differ, and executed last.
    #[must_use]
    pub fn ranked(&self) -> Vec<ChangeId> {
        let mut near: Vec<(Rank, ChangeId)> = self.clues.iter().map(|(id, c)| (c.rank, *id)).collect();
        near.sort_unstable();
        let mut origins: Vec<(Distance, ChangeId)> =
            self.clues.iter().filter_map(|(id, c)| Some((c.origin?.0, *id))).collect();
        origins.sort_unstable();
        let mut latest: Vec<(NodeId, ChangeId)> =
            self.clues.iter().filter_map(|(id, c)| Some((c.latest?, *id))).collect();
        latest.sort_unstable();
        let (mut origins, mut latest) = (origins.into_iter(), latest.into_iter());
        let mut known = BTreeSet::new();
        let mut list = Vec::new();
        for (_, id) in near {
            let turn = [Some(id), origins.next().map(|x| x.1), latest.next().map(|x| x.1)];
            list.extend(turn.into_iter().flatten().filter(|id| known.insert(*id)));
        }
        list
    }

    /// The target node of the path from the failure: the node where the runs began to differ, or the nearest
    /// one. If the change's own line copied the bytes, nodes further away are less informative: they mostly
    /// explain the address of the buffer.
    #[must_use]
    pub fn goal(&self, id: ChangeId) -> Option<(Side, NodeId)> {
        let clue = self.clue(id)?;
        let without_hops = |distance: Distance| Distance { hops: 0, ..distance };
        let is_as_near = |distance: Distance| match clue.rank {
            Rank::Near(nearest) if clue.exact && clue.copies => {
                without_hops(distance) <= without_hops(nearest)
            }
            Rank::Near(nearest) => distance.dull <= nearest.dull,
            _ => true,
        };
        let origin = clue.origin.filter(|(distance, ..)| is_as_near(*distance));
        origin.map(|(_, side, node)| (side, node)).or(clue.node)
    }

    /// The evidence for a change; `None` if the change is not in the difference.
    #[must_use]
    pub fn clue(&self, id: ChangeId) -> Option<Clue> {
        self.clues.get(&id).copied()
    }

    /// Changes with evidence in a slice, the nearest first.
    #[must_use]
    pub fn candidates(&self) -> Vec<ChangeId> {
        self.up_to(|rank| matches!(rank, Rank::Near(_)))
    }

    /// Changes whose own lines are in a slice, or at which the runs began to differ.
    #[must_use]
    pub fn on_chain(&self) -> ChangeSet {
        let on_chain = |clue: &Clue| clue.origin.is_some() || clue.in_slice;
        self.clues.iter().filter(|(_, clue)| on_chain(clue)).map(|(id, _)| *id).collect()
    }

    /// Changes that were executed or have evidence in a slice.
    #[must_use]
    pub fn executed(&self) -> Vec<ChangeId> {
        self.up_to(|rank| rank <= Rank::Executed)
    }

    fn up_to(&self, keep: impl Fn(Rank) -> bool) -> Vec<ChangeId> {
        self.ranked().into_iter().filter(|id| self.clues.get(id).is_some_and(|c| keep(c.rank))).collect()
    }

    fn speak(&mut self, id: ChangeId, distance: Distance, w: &Witness<'_>, node: NodeId, exact: bool) {
        let side = w.traced.side;
        let decisions = distance.decisions + u32::from(side == Side::Good);
        let distance = Distance { decisions, ..distance };
        let Some(clue) = self.clues.get_mut(&id).filter(|c| c.rank != Rank::Immaterial) else { return };
        clue.in_slice |= exact;
        // Node numbers increase backwards from the failure.
        if exact && side == Side::Bad {
            clue.latest = Some(clue.latest.map_or(node, |known| known.min(node)));
        }
        if w.traced.compared.origins.contains(&node) && clue.origin.is_none_or(|known| distance < known.0) {
            clue.origin = Some((distance, side, node));
        }
        if Rank::Near(distance) < clue.rank {
            let copies = w.traced.copies_bytes(node);
            *clue = Clue { rank: Rank::Near(distance), node: Some((side, node)), exact, copies, ..*clue };
        }
    }

    /// Adds evidence for the lines of the slice.
    fn lines(&mut self, difference: &Difference, w: &Witness<'_>) {
        let mut known: HashMap<Line, Option<ChangeId>> = HashMap::new();
        for node in 0..w.traced.slice.nodes.len() as NodeId {
            let (Some(distance), line) = (w.distance(node), w.traced.line(node)) else { continue };
            let change = *known.entry(line).or_insert_with(|| {
                touching(difference, w.traced.side, w.traced.file(line), line.line).map(|c| c.id)
            });
            if let Some(id) = change {
                self.speak(id, distance, w, node, true);
            }
        }
        if w.traced.side == Side::Good {
            self.behind_decisions(difference, w);
            return;
        }
        // Deleted lines have no line in bad; their neighbours do.
        for (line, (distance, node)) in w.nearest() {
            let distance = Distance { hops: distance.hops + 1, ..distance };
            for change in difference.deleted_near(w.traced.file(line), line.line) {
                self.speak(change.id, distance, w, node, false);
            }
        }
    }

    /// At a criterion of good's slice, good took another branch than bad. Deleted lines after that branch,
    /// such as a `continue`, may have prevented it.
    fn behind_decisions(&mut self, difference: &Difference, w: &Witness<'_>) {
        let bodies = w.traced.bodies();
        for node in w.traced.slice.criteria.iter().flatten().copied() {
            let (line, site) = (w.traced.line(node), w.traced.slice.nodes[node as usize].site);
            if !matches!(w.traced.inst(site), Inst::Branch { .. } | Inst::Switch { .. }) {
                continue;
            }
            let file = w.traced.file(line);
            let body = bodies.get(file).into_iter().flatten().find(|body| body.contains(&line.line));
            let end = body.map_or(line.line, |body| body.end).min(line.line + BEHIND);
            let near = difference.changes().iter().filter(|c| of_file(c, Side::Good, file));
            for change in near.filter(|c| (line.line..end).contains(&c.old_range().start)) {
                let apart = change.old_range().start - line.line;
                let hops = 1 + apart.div_ceil(4);
                self.speak(change.id, Distance { hops, ..Distance::default() }, w, node, false);
            }
        }
    }

    /// Adds evidence for variables whose initial value is a leaf of the slice.
    fn variables(&mut self, difference: &Difference, w: &Witness<'_>, sources: &Sources) {
        for leaf in &w.traced.slice.leaves {
            let (Origin::Outside { variable: Some(v), .. } | Origin::Unwritten { variable: Some(v), .. }) =
                &leaf.origin
            else {
                continue;
            };
            let Some(distance) = w.distance(leaf.needed_by) else { continue };
            let distance = Distance { hops: distance.hops + 1, ..distance };
            let file = w.traced.relative(&v.file);
            for line in sources.definition(w.traced.side, &file, v.line) {
                if let Some(change) = touching(difference, w.traced.side, &file, line) {
                    self.speak(change.id, distance, w, leaf.needed_by, false);
                }
            }
        }
    }

    /// Adds evidence for files that nodes of the slice read.
    fn inputs(&mut self, difference: &Difference, w: &Witness<'_>, sources: &Sources) {
        if w.inputs.is_empty() {
            return;
        }
        let by_step: HashMap<(u32, u64), Vec<&InputRead>> =
            w.inputs.iter().fold(HashMap::new(), |mut map, read| {
                map.entry((read.stream, read.step)).or_insert_with(Vec::new).push(read);
                map
            });
        for (node, at) in w.traced.slice.nodes.iter().enumerate() {
            let node = node as NodeId;
            let Some(reads) = by_step.get(&(at.at.stream, at.at.step)) else { continue };
            let Some(distance) = w.distance(node) else { continue };
            for read in reads {
                let all = difference.changes().iter().filter(|c| of_file(c, w.traced.side, &read.file));
                for change in all {
                    let range = match w.traced.side {
                        Side::Bad => change.new_range(),
                        Side::Good => change.old_range(),
                    };
                    let bytes = sources.bytes_of(w.traced.side, &read.file, range);
                    let met =
                        bytes.is_none_or(|b| b.start <= read.offset + read.length && read.offset <= b.end);
                    let hops = distance.hops + if met { 1 } else { 3 };
                    self.speak(change.id, Distance { hops, ..distance }, w, node, false);
                }
            }
        }
    }

    /// Adds evidence for names that a change defines (macros, types, fields, constants) and that lines of the
    /// slice use.
    fn names(
        &mut self,
        difference: &Difference,
        w: &Witness<'_>,
        sources: &Sources,
        is_code: &dyn Fn(&Change) -> bool,
    ) {
        let bodies = w.traced.bodies();
        let mut wanted = Meanings::default();
        for change in difference.changes() {
            let exact = self.clue(change.id).is_some_and(|c| c.exact || c.rank == Rank::Immaterial);
            if !exact && sources.is_code(&change.file) && !is_code(change) {
                wanted.add(change, w.traced.side, sources, &bodies);
            }
        }
        if wanted.is_empty() {
            return;
        }
        for (line, (distance, node)) in w.nearest() {
            let file = w.traced.file(line);
            let Some(text) = sources.line(w.traced.side, file, line.line) else { continue };
            for name in identifiers(&text) {
                for (id, doubt) in wanted.of(name, file, line.line) {
                    // The dependence on the definition of the name counts as one decision.
                    let decisions = distance.decisions + 1;
                    let distance = Distance { decisions, hops: distance.hops + doubt, ..distance };
                    self.speak(id, distance, w, node, false);
                }
            }
        }
    }
}

/// The change that contains a line of a version.
pub(crate) fn touching<'d>(
    difference: &'d Difference,
    side: Side,
    file: &str,
    line: u32,
) -> Option<&'d Change> {
    match side {
        Side::Bad => difference.touching(file, line),
        Side::Good => difference.touching_old(file, line),
    }
}

fn of_file(change: &Change, side: Side, file: &str) -> bool {
    match side {
        Side::Bad => change.file == file,
        Side::Good => change.old_file.as_deref().unwrap_or(&change.file) == file,
    }
}
