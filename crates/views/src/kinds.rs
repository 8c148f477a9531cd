//! View types: how events are grouped, and which views of two runs correspond.
//!
//! A view type is a *naming* function, which maps an event to its view, and a *correlation* function, which
//! returns a view's labels in order of preference: views of two runs correspond if they share a label.
//! Everything else (index, listing, differencing, the command line) follows from these. [`FILE`] shows how
//! little a further view type needs.

use crate::names::{NumberMap, mix};
use crate::trace::{NONE, Row, Trace};

/// See the module's documentation.
#[derive(Clone, Copy)]
pub struct ViewType {
    /// Its name, a single word.
    pub name: &'static str,
    /// The view that an event belongs to, if any, as a number.
    pub naming: fn(&Trace, Row) -> Option<u32>,
    /// The title of a view.
    pub title: fn(&Trace, u32) -> String,
    /// Labels by which a view corresponds to views of another run.
    pub correlation: fn(&Trace, u32) -> [u64; 2],
}

/// Events made while a function was on top of the stack.
pub const METHOD: ViewType = ViewType {
    name: "method",
    naming: |trace, row| Some(trace.acts[row.act as usize].method),
    title: |trace, view| trace.names.text(trace.methods[view as usize].signature).to_owned(),
    correlation: |trace, view| {
        let method = &trace.methods[view as usize];
        [trace.names.hash(method.signature), mix(trace.names.hash(method.name), 1)]
    },
};

/// Events that access an object or call a function on it.
pub const TARGET: ViewType = ViewType {
    name: "target",
    naming: |_, row| (row.target != NONE).then_some(row.target),
    title: Trace::object,
    correlation: object_labels,
};

/// Events made while a function worked on an object: the object is its first pointer to a record.
pub const ACTIVE: ViewType = ViewType {
    name: "active",
    naming: |_, row| (row.active != NONE).then_some(row.active),
    title: Trace::object,
    correlation: object_labels,
};

/// Events of the functions of a source file.
pub const FILE: ViewType = ViewType {
    name: "file",
    naming: |trace, row| Some(trace.acts[row.act as usize].file).filter(|file| *file != 0),
    title: |trace, view| trace.names.text(view).to_owned(),
    correlation: |trace, view| {
        // Versions are in different directories.
        let path = trace.names.text(view);
        let mut tail = path.rsplit('/').take(2);
        let (file, directory) = (tail.next().unwrap_or(path), tail.next().unwrap_or(""));
        let hash = |text: &str| xxhash_rust::xxh3::xxh3_64(text.as_bytes());
        [mix(hash(directory), hash(file)), hash(file)]
    },
};

/// All view types but threads, which need no index: a thread's events are contiguous.
pub const ALL: [ViewType; 4] = [METHOD, TARGET, ACTIVE, FILE];

/// The view types used to find moved events.
pub const SECONDARY: [ViewType; 3] = [TARGET, ACTIVE, METHOD];

/// The labels of an object: a variable's name; else the first values written to it, or its number among the
/// objects of its type.
fn object_labels(trace: &Trace, view: u32) -> [u64; 2] {
    let Some(object) = trace.objects.get(view as usize) else { return [0, 0] };
    let ty = trace.names.hash(object.ty);
    if object.name != 0 {
        let label = mix(ty, trace.names.hash(object.name));
        return [label, mix(label, 1)];
    }
    [mix(ty, object.birth), mix(ty, u64::from(object.number))]
}

/// For each view of the left run the corresponding view of the right run. Views with the same label are
/// paired in order.
#[must_use]
pub fn correlate(
    kind: &ViewType,
    left: &Trace,
    left_views: impl Iterator<Item = u32>,
    right: &Trace,
    right_views: impl Iterator<Item = u32>,
) -> NumberMap<u32, u32> {
    let left_views: Vec<u32> = left_views.collect();
    let right_views: Vec<u32> = right_views.collect();
    let mut map: NumberMap<u32, u32> = NumberMap::default();
    let mut taken: NumberMap<u32, ()> = NumberMap::default();
    for level in 0..2 {
        let mut by_label: NumberMap<u64, Vec<u32>> = NumberMap::default();
        for view in right_views.iter().rev().filter(|v| !taken.contains_key(v)) {
            by_label.entry((kind.correlation)(right, *view)[level]).or_default().push(*view);
        }
        for view in &left_views {
            if map.contains_key(view) {
                continue;
            }
            let label = (kind.correlation)(left, *view)[level];
            if let Some(found) = by_label.get_mut(&label).and_then(Vec::pop) {
                map.insert(*view, found);
                taken.insert(found, ());
            }
        }
    }
    map
}
