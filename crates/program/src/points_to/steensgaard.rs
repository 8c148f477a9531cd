//! Unification-based solver: variables that may hold the same pointer are merged into one class,
//! and all targets of a class form one class.

use super::constraints::{Constraint, Constraints};
use super::instances::Var;
use super::{Limits, Place, Solver};
use crate::objects::ObjectId;
use std::collections::HashMap;

/// See the module documentation.
#[derive(Default)]
pub struct Steensgaard {
    /// Union-find forest of classes. The number of variables grows while calls are linked, so a
    /// variable gets a class on first use.
    parent: Vec<u32>,
    class: Vec<Option<u32>>,
    /// The class of the targets of each class.
    pointee: HashMap<u32, u32>,
    taken: usize,
    /// The content variable of each object.
    contents: Vec<Var>,
    /// Objects by the class of their content; computed after solving.
    objects: Option<HashMap<u32, Vec<ObjectId>>>,
}

impl Steensgaard {
    fn find(&mut self, mut at: u32) -> u32 {
        while self.parent[at as usize] != at {
            let up = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = up;
            at = up;
        }
        at
    }

    fn fresh(&mut self) -> u32 {
        let new = self.parent.len() as u32;
        self.parent.push(new);
        new
    }

    fn class_of(&mut self, var: Var) -> u32 {
        if self.class.len() <= var as usize {
            self.class.resize(var as usize + 1, None);
        }
        match self.class[var as usize] {
            Some(class) => self.find(class),
            None => {
                let new = self.fresh();
                self.class[var as usize] = Some(new);
                new
            }
        }
    }

    /// The class of the targets of a class.
    fn target(&mut self, class: u32) -> u32 {
        let class = self.find(class);
        if let Some(pointee) = self.pointee.get(&class).copied() {
            return self.find(pointee);
        }
        let new = self.fresh();
        self.pointee.insert(class, new);
        new
    }

    /// The class of the targets of a variable.
    fn pointed(&mut self, var: Var) -> u32 {
        let class = self.class_of(var);
        self.target(class)
    }

    fn unify(&mut self, a: u32, b: u32) {
        let mut work = vec![(a, b)];
        while let Some((a, b)) = work.pop() {
            let (a, b) = (self.find(a), self.find(b));
            if a == b {
                continue;
            }
            self.parent[b as usize] = a;
            match (self.pointee.get(&a).copied(), self.pointee.remove(&b)) {
                (Some(x), Some(y)) => work.push((x, y)),
                (None, Some(y)) => {
                    self.pointee.insert(a, y);
                }
                _ => {}
            }
        }
    }
}

impl Solver for Steensgaard {
    fn solve(&mut self, all: &Constraints<'_, '_>, limits: Limits<'_>) -> bool {
        self.objects = None;
        for constraint in &all.list[self.taken..] {
            if limits.is_stopped() {
                return false;
            }
            match *constraint {
                Constraint::Points { to, object, .. } => {
                    let (target, content) = (self.pointed(to), self.class_of(all.contents[object as usize]));
                    self.unify(target, content);
                }
                Constraint::Copy { to, from } | Constraint::Shift { to, from, .. } => {
                    let (a, b) = (self.pointed(to), self.pointed(from));
                    self.unify(a, b);
                }
                Constraint::Load { to, at } => {
                    let content = self.pointed(at);
                    let (a, b) = (self.pointed(to), self.target(content));
                    self.unify(a, b);
                }
                Constraint::Store { at, from } => {
                    let content = self.pointed(at);
                    let (a, b) = (self.target(content), self.pointed(from));
                    self.unify(a, b);
                }
            }
        }
        self.taken = all.list.len();
        self.contents.clone_from(&all.contents);
        true
    }

    fn class(&mut self, var: Var) -> u32 {
        self.pointed(var)
    }

    fn places(&mut self, var: Var) -> Vec<Place> {
        let target = self.pointed(var);
        if self.objects.is_none() {
            let mut by_class: HashMap<u32, Vec<ObjectId>> = HashMap::new();
            for object in 0..self.contents.len() {
                let class = self.class_of(self.contents[object]);
                by_class.entry(class).or_default().push(object as ObjectId);
            }
            self.objects = Some(by_class);
        }
        let objects = self.objects.as_ref().and_then(|o| o.get(&target));
        objects.into_iter().flatten().map(|o| Place { object: *o, offset: None }).collect()
    }
}
