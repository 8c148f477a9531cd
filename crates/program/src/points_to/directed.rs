//! Inclusion: a worklist over a graph of who flows to whom.
//!
//! Only what is new at a variable is sent on. Addresses are places in objects, of which each
//! object has a limited number; a pointer that is moved on and on ends as "anywhere in it".

use super::constraints::{Constraint, Constraints, Var};
use super::{Place, Solver};
use crate::objects::Objects;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Distinct places of one object that are kept apart.
const MAX_PLACES: u32 = 64;
/// Objects of unknown size are taken apart up to here.
const MAX_OFFSET: u64 = 1 << 16;

#[derive(Default)]
struct Node {
    all: BTreeSet<Place>,
    /// What has not been sent on.
    fresh: Vec<Place>,
    /// Where it flows to, moved by how much.
    to: Vec<(Var, Move)>,
    loads: Vec<Var>,
    stores: Vec<Var>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Move {
    Not,
    By(i64),
    Anywhere,
}

/// See the module's documentation.
#[derive(Default)]
pub struct Directed {
    nodes: Vec<Node>,
    edges: HashSet<(Var, Var, Move)>,
    taken: usize,
    /// Places of each object so far.
    places: HashMap<u32, BTreeSet<u64>>,
    work: Vec<Var>,
}

impl Directed {
    fn moved(&mut self, place: Place, by: Move, objects: &Objects) -> Place {
        let anywhere = Place { offset: None, ..place };
        let offset = match (by, place.offset) {
            (Move::Not, _) => return place,
            (Move::By(by), Some(offset)) => offset.wrapping_add_signed(by),
            _ => return anywhere,
        };
        // One past the end is no place to store at; keep it so that it can move back.
        if offset > objects.size(place.object).unwrap_or(MAX_OFFSET) {
            return anywhere;
        }
        let known = self.places.entry(place.object).or_default();
        if known.len() < MAX_PLACES as usize || known.contains(&offset) {
            known.insert(offset);
            Place { offset: Some(offset), ..place }
        } else {
            anywhere
        }
    }

    fn add(&mut self, to: Var, place: Place) {
        let node = &mut self.nodes[to as usize];
        if node.all.contains(&Place { offset: None, ..place }) || !node.all.insert(place) {
            return;
        }
        if node.fresh.is_empty() {
            self.work.push(to);
        }
        self.nodes[to as usize].fresh.push(place);
    }

    fn edge(&mut self, from: Var, to: Var, by: Move, objects: &Objects) {
        if from == to && by == Move::Not || !self.edges.insert((from, to, by)) {
            return;
        }
        self.nodes[from as usize].to.push((to, by));
        let now: Vec<Place> = self.nodes[from as usize].all.iter().copied().collect();
        for place in now {
            let place = self.moved(place, by, objects);
            self.add(to, place);
        }
    }
}

impl Solver for Directed {
    fn solve(&mut self, all: &Constraints<'_, '_>) {
        self.nodes.resize_with(all.vars as usize, Node::default);
        let objects = &all.objects;
        for constraint in &all.list[self.taken..] {
            match *constraint {
                Constraint::Points { to, object, offset } => {
                    let place = match offset {
                        Some(offset) if offset <= objects.size(object).unwrap_or(MAX_OFFSET) => {
                            Place { object, offset: Some(offset) }
                        }
                        _ => Place { object, offset: None },
                    };
                    self.add(to, place);
                }
                Constraint::Copy { to, from } => self.edge(from, to, Move::Not, objects),
                Constraint::Shift { to, from, by } => {
                    self.edge(from, to, by.map_or(Move::Anywhere, Move::By), objects);
                }
                Constraint::Load { to, at } => {
                    self.nodes[at as usize].loads.push(to);
                    for place in self.places(at) {
                        self.edge(all.contents[place.object as usize], to, Move::Not, objects);
                    }
                }
                Constraint::Store { at, from } => {
                    self.nodes[at as usize].stores.push(from);
                    for place in self.places(at) {
                        self.edge(from, all.contents[place.object as usize], Move::Not, objects);
                    }
                }
            }
        }
        self.taken = all.list.len();
        while let Some(var) = self.work.pop() {
            let fresh = std::mem::take(&mut self.nodes[var as usize].fresh);
            let to = self.nodes[var as usize].to.clone();
            let objects_of: BTreeSet<u32> = fresh.iter().map(|p| p.object).collect();
            let (loads, stores) =
                (self.nodes[var as usize].loads.clone(), self.nodes[var as usize].stores.clone());
            for object in objects_of {
                let content = all.contents[object as usize];
                for to in &loads {
                    self.edge(content, *to, Move::Not, objects);
                }
                for from in &stores {
                    self.edge(*from, content, Move::Not, objects);
                }
            }
            for (to, by) in to {
                for place in &fresh {
                    let place = self.moved(*place, by, objects);
                    self.add(to, place);
                }
            }
        }
    }

    fn places(&mut self, var: Var) -> Vec<Place> {
        let Some(node) = self.nodes.get(var as usize) else { return Vec::new() };
        let anywhere = |p: &Place| p.offset.is_some() && node.all.contains(&Place { offset: None, ..*p });
        node.all.iter().filter(|p| !anywhere(p)).copied().collect()
    }
}
