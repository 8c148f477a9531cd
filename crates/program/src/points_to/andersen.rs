//! Inclusion-based solver: a constraint graph, processed by wave propagation.
//!
//! The nodes of a strongly connected component have equal sets and are merged into one (Pereira and
//! Berlin, *Wave Propagation and Deep Propagation for Pointer Analysis*). Then each node, in
//! topological order, propagates the difference between its set and what it propagated before; its
//! loads and stores add edges for the new targets. This repeats until a fixpoint. All values read
//! through an address flow through one node of its own, and so do all values written, so that the
//! number of edges grows with targets plus uses and not with their product.
//!
//! Targets are offsets in objects, of which each object has a limited number; a pointer that is
//! advanced repeatedly is widened to "any offset". A value stored at an offset is visible to loads
//! at that offset and to loads at any offset. A value stored at any offset is visible at every offset.

use super::constraints::{Constraint, Constraints};
use super::instances::Var;
use super::places::{OffsetStep, PlaceInterner};
use super::{Limits, Place, Solver};
use crate::bits::{Bits, BitsBuilder};
use crate::objects::ObjectId;
use std::collections::{HashMap, HashSet};

/// Index of a node.
type Id = u32;

#[derive(Default)]
struct Node {
    all: Bits,
    /// The part of `all` that has been propagated.
    sent: Bits,
    /// Successors: nodes that include this one.
    to: Vec<Id>,
    /// Successors that receive the set with an offset added.
    shifts: Vec<(Id, OffsetStep)>,
    /// The node that receives all values stored at the targets.
    read: Option<Id>,
    /// The node whose values are stored at the targets.
    written: Option<Id>,
}

/// See the module documentation.
#[derive(Default)]
pub struct Andersen {
    nodes: Vec<Node>,
    /// Union-find parent: the node that a node was merged into, or itself.
    up: Vec<Id>,
    node_of: Vec<Id>,
    edges: HashSet<(Id, Id)>,
    taken: usize,
    places: PlaceInterner,
    /// Nodes of the values stored at known offsets: object, and index of the eight bytes.
    fields: HashMap<(ObjectId, u64), Id>,
    collector: BitsBuilder,
    /// After solving, the numbers of distinct sets, and the set of each node.
    sets: HashMap<Bits, u32>,
    classes: HashMap<Id, u32>,
    /// Approximate work so far, in set words processed.
    work: u64,
}

impl Andersen {
    fn new_node(&mut self) -> Id {
        let id = self.nodes.len() as Id;
        self.nodes.push(Node::default());
        self.up.push(id);
        id
    }

    fn find(&mut self, mut id: Id) -> Id {
        while self.up[id as usize] != id {
            let next = self.up[self.up[id as usize] as usize];
            self.up[id as usize] = next;
            id = next;
        }
        id
    }

    fn of(&mut self, var: Var) -> Id {
        self.find(self.node_of[var as usize])
    }

    /// Adds an edge: the set of `to` includes that of `from`.
    fn flow(&mut self, from: Id, to: Id) {
        let (from, to) = (self.find(from), self.find(to));
        if from == to || !self.edges.insert((from, to)) {
            return;
        }
        self.nodes[from as usize].to.push(to);
        let sent = std::mem::take(&mut self.nodes[from as usize].sent);
        self.nodes[to as usize].all.extend(&sent);
        self.nodes[from as usize].sent = sent;
    }

    fn shift(&mut self, from: Id, to: Id, by: OffsetStep, all: &Constraints<'_, '_>) {
        let (from, to) = (self.find(from), self.find(to));
        if self.nodes[from as usize].shifts.contains(&(to, by)) {
            return;
        }
        self.nodes[from as usize].shifts.push((to, by));
        let sent = std::mem::take(&mut self.nodes[from as usize].sent);
        let moved = self.moved(&sent, by, all);
        self.nodes[from as usize].sent = sent;
        self.nodes[to as usize].all.extend(&moved);
    }

    fn moved(&mut self, set: &Bits, by: OffsetStep, all: &Constraints<'_, '_>) -> Bits {
        for place in set.iter() {
            self.collector.insert(self.places.moved(place, by, &all.objects));
        }
        self.work += 64 * set.words() as u64;
        self.collector.take()
    }

    /// The node of all values that are read (or written) through an address.
    fn through(&mut self, at: Id, written: bool, all: &Constraints<'_, '_>) -> Id {
        let at = self.find(at);
        let node = &self.nodes[at as usize];
        if let Some(there) = if written { node.written } else { node.read } {
            return there;
        }
        let new = self.new_node();
        let node = &mut self.nodes[at as usize];
        *if written { &mut node.written } else { &mut node.read } = Some(new);
        let sent = &self.nodes[at as usize].sent;
        for place in self.places.list(sent, sent) {
            self.connect(all, place, (!written).then_some(new), written.then_some(new));
        }
        new
    }

    /// The node of the values in eight bytes of an object.
    fn field(&mut self, all: &Constraints<'_, '_>, object: ObjectId, number: u64) -> Id {
        if let Some(known) = self.fields.get(&(object, number)) {
            return *known;
        }
        let new = self.new_node();
        self.fields.insert((object, number), new);
        let (anywhere, stored) = (
            self.node_of[all.contents[object as usize] as usize],
            self.node_of[all.stored[object as usize] as usize],
        );
        self.flow(anywhere, new);
        self.flow(new, stored);
        new
    }

    /// Adds the edges of a load or store at a target. A load includes the values stored at that
    /// offset and at any offset. A pointer that straddles two fields is in both.
    fn connect(&mut self, all: &Constraints<'_, '_>, at: Place, read: Option<Id>, written: Option<Id>) {
        let Place { object, offset } = at;
        let Some(offset) = offset else {
            if let Some(read) = read {
                self.flow(self.node_of[all.stored[object as usize] as usize], read);
            }
            if let Some(written) = written {
                self.flow(written, self.node_of[all.contents[object as usize] as usize]);
            }
            return;
        };
        for number in offset / 8..=offset.saturating_add(7) / 8 {
            let field = self.field(all, object, number);
            if let Some(read) = read {
                self.flow(field, read);
            }
            if let Some(written) = written {
                self.flow(written, field);
            }
        }
    }

    /// Merges cycles and returns the nodes in topological order.
    fn collapse_cycles(&mut self) -> Vec<Id> {
        let mut search = Search::new(self.nodes.len());
        for id in 0..self.nodes.len() as Id {
            if self.up[id as usize] == id && search.index[id as usize] == 0 {
                search.from(self, id);
            }
        }
        let Search { components, mut order, .. } = search;
        let mut pairs: Vec<(Id, Id)> =
            components.iter().flat_map(|c| c[1..].iter().map(|other| (c[0], *other))).collect();
        let any = !pairs.is_empty();
        while let Some((a, b)) = pairs.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a != b {
                self.unite(a, b, &mut pairs);
            }
        }
        if any {
            for id in 0..self.nodes.len() as Id {
                if self.up[id as usize] != id {
                    continue;
                }
                let mut to = std::mem::take(&mut self.nodes[id as usize].to);
                to.iter_mut().for_each(|t| *t = self.find(*t));
                to.sort_unstable();
                to.dedup();
                to.retain(|t| *t != id);
                self.nodes[id as usize].to = to;
            }
        }
        order.reverse();
        if any {
            // Merging a cycle also merges the read (or written) nodes of its members, so several
            // entries may now have the same representative.
            let mut met = HashSet::new();
            order.iter_mut().for_each(|id| *id = self.find(*id));
            order.retain(|id| met.insert(*id));
        }
        order
    }

    fn unite(&mut self, a: Id, b: Id, pairs: &mut Vec<(Id, Id)>) {
        self.up[b as usize] = a;
        let other = std::mem::take(&mut self.nodes[b as usize]);
        let node = &mut self.nodes[a as usize];
        node.all.extend(&other.all);
        // A part that only one of the nodes propagated has not reached the successors of the other.
        node.sent = node.sent.common(&other.sent);
        node.to.extend(other.to);
        node.shifts.extend(other.shifts);
        for (own, others) in [(&mut node.read, other.read), (&mut node.written, other.written)] {
            match (*own, others) {
                (Some(x), Some(y)) => pairs.push((x, y)),
                (None, there) => *own = there,
                (Some(_), None) => {}
            }
        }
    }

    /// Propagates the difference since the last propagation. Returns whether there was any.
    fn send(&mut self, id: Id, all: &Constraints<'_, '_>) -> bool {
        let node = &mut self.nodes[id as usize];
        let new = node.all.without(&node.sent);
        if new.is_empty() {
            return false;
        }
        node.sent = node.all.clone();
        let (read, written) = (node.read, node.written);
        let to = std::mem::take(&mut node.to);
        let shifts = std::mem::take(&mut node.shifts);
        for to in &to {
            let to = self.find(*to);
            if to != id {
                self.nodes[to as usize].all.extend(&new);
                self.work += (new.words() + self.nodes[to as usize].all.words()) as u64;
            }
        }
        for (to, by) in &shifts {
            let to = self.find(*to);
            let moved = self.moved(&new, *by, all);
            self.nodes[to as usize].all.extend(&moved);
        }
        // No edges were added meanwhile: only sets changed.
        self.nodes[id as usize].to = to;
        self.nodes[id as usize].shifts = shifts;
        if read.is_some() || written.is_some() {
            for place in self.places.list(&new, &self.nodes[id as usize].all) {
                self.connect(all, place, read, written);
            }
        }
        true
    }
}

impl Solver for Andersen {
    fn solve(&mut self, all: &Constraints<'_, '_>, limits: Limits<'_>) -> bool {
        while self.node_of.len() < all.vars as usize {
            let node = self.new_node();
            self.node_of.push(node);
        }
        for constraint in &all.list[self.taken..] {
            if limits.is_stopped() {
                return false;
            }
            match *constraint {
                Constraint::Points { to, object, offset } => {
                    let place = self.places.of(object, offset, &all.objects);
                    let to = self.of(to);
                    self.nodes[to as usize].all.insert(place);
                }
                Constraint::Copy { to, from } | Constraint::Shift { to, from, by: Some(0) } => {
                    self.flow(self.node_of[from as usize], self.node_of[to as usize]);
                }
                Constraint::Shift { to, from, by } => {
                    let by = self.places.step(by);
                    self.shift(self.node_of[from as usize], self.node_of[to as usize], by, all);
                }
                Constraint::Load { to, at } => {
                    let read = self.through(self.node_of[at as usize], false, all);
                    self.flow(read, self.node_of[to as usize]);
                }
                Constraint::Store { at, from } => {
                    let written = self.through(self.node_of[at as usize], true, all);
                    self.flow(self.node_of[from as usize], written);
                }
            }
        }
        self.taken = all.list.len();
        loop {
            let order = self.collapse_cycles();
            let mut changed = false;
            for id in order {
                changed |= self.send(id, all);
                if self.work > limits.most || limits.is_stopped() {
                    return false;
                }
            }
            if !changed {
                return true;
            }
        }
    }

    fn class(&mut self, var: Var) -> u32 {
        let id = self.of(var);
        if let Some(class) = self.classes.get(&id) {
            return *class;
        }
        let next = self.sets.len() as u32;
        let class = *self.sets.entry(self.nodes[id as usize].all.clone()).or_insert(next);
        self.classes.insert(id, class);
        class
    }

    fn places(&mut self, var: Var) -> Vec<Place> {
        if var as usize >= self.node_of.len() {
            return Vec::new();
        }
        let id = self.of(var);
        let set = &self.nodes[id as usize].all;
        self.places.list(set, set)
    }
}

/// Tarjan's algorithm for strongly connected components.
struct Search {
    /// Visit order of a node; 0 if not visited.
    index: Vec<u32>,
    low: Vec<u32>,
    open: Vec<bool>,
    stack: Vec<Id>,
    met: u32,
    components: Vec<Vec<Id>>,
    /// Postorder: the successors of a node precede it.
    order: Vec<Id>,
}

impl Search {
    fn new(n: usize) -> Search {
        Search {
            index: vec![0; n],
            low: vec![0; n],
            open: vec![false; n],
            stack: Vec::new(),
            met: 0,
            components: Vec::new(),
            order: Vec::new(),
        }
    }

    fn meet(&mut self, id: Id) {
        self.met += 1;
        self.index[id as usize] = self.met;
        self.low[id as usize] = self.met;
        self.open[id as usize] = true;
        self.stack.push(id);
    }

    fn from(&mut self, graph: &mut Andersen, start: Id) {
        self.meet(start);
        let mut work: Vec<(Id, usize)> = vec![(start, 0)];
        while let Some((id, next)) = work.pop() {
            if let Some(to) = graph.nodes[id as usize].to.get(next).copied() {
                work.push((id, next + 1));
                let to = graph.find(to);
                if self.index[to as usize] == 0 {
                    self.meet(to);
                    work.push((to, 0));
                } else if self.open[to as usize] {
                    self.low[id as usize] = self.low[id as usize].min(self.index[to as usize]);
                }
                continue;
            }
            if let Some((parent, _)) = work.last() {
                let p = *parent as usize;
                self.low[p] = self.low[p].min(self.low[id as usize]);
            }
            if self.low[id as usize] == self.index[id as usize] {
                let at = self.stack.iter().rposition(|n| *n == id).unwrap_or(0);
                let circle = self.stack.split_off(at);
                circle.iter().for_each(|n| self.open[*n as usize] = false);
                self.order.push(id);
                if circle.len() > 1 {
                    self.components.push(circle);
                }
            }
        }
    }
}
