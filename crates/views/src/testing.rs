//! Traces out of thin air, for tests.

use crate::column::{Budget, Column};
use crate::names::{Names, mix};
use crate::trace::{Act, Kind, Method, Object, Row, Shape, Thread, Trace, act_hash};
use std::sync::Arc;

/// An event: the function it is in, the object it accesses, what it says.
pub type Said = (u32, u32, u64);

/// A run of one thread.
pub fn trace(events: &[Said], budget: &Arc<Budget>) -> Trace {
    let mut names = Names::new();
    let methods: Vec<Method> = (0..8)
        .map(|m| {
            let name = names.intern(&format!("f{m}"));
            Method { name, signature: name, file: 0, line: 0 }
        })
        .collect();
    let acts = (0..8)
        .map(|method| Act {
            kind: Kind::Set,
            method,
            owner: 0,
            name: 0,
            shape: Shape::Unsigned(4),
            arguments: Arc::new([]),
            file: 0,
            line: 0,
            column: 0,
            hash: act_hash(Kind::Set, 0, 0),
        })
        .collect();
    let ty = names.intern("thing");
    let objects =
        (0..8).map(|n| Object { ty, name: 0, number: n + 1, born: 0, birth: n.into(), written: 0 }).collect();
    let mut rows = Column::new(budget);
    let mut keys = Column::new(budget);
    for (method, target, value) in events {
        rows.push(Row { act: *method % 8, target: *target % 8, active: *target % 8, value: *value }.into());
        keys.push(mix(*value, 7));
    }
    rows.settle().unwrap();
    keys.settle().unwrap();
    Trace {
        names,
        acts,
        methods,
        objects,
        threads: vec![Thread { stream: 0, signal: false, first: 0, last: events.len(), spawned: Vec::new() }],
        rows,
        keys,
        arguments: Column::new(budget),
        instructions: 0,
        seconds: 0.0,
        untyped: Vec::new(),
        notes: Vec::new(),
        budget: budget.clone(),
    }
}
