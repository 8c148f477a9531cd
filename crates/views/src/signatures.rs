//! Functions whose parameters differ between versions.
//!
//! A call event contains the arguments. If a version adds, drops or renames a parameter, every call of the
//! function would differ, whatever its arguments. So if a function of one name has different parameters in
//! the compared runs, its calls contain only the arguments whose names all runs share.

use crate::names::mix;
use crate::trace::{Encoding, Kind, NO_TEXT, Shape, Trace, is_address};
use crate::values::{ADDRESS, FLEETING};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Reduces calls of functions with different parameters to the parameters that all of these runs share.
/// Returns the functions' names.
pub fn reconcile(traces: &mut [Trace]) -> Vec<String> {
    let mut shared: HashMap<String, HashSet<String>> = HashMap::new();
    let mut different: BTreeSet<String> = BTreeSet::new();
    let mut unclear: HashSet<String> = HashSet::new();
    for trace in &*traces {
        let mut own: HashMap<String, Vec<String>> = HashMap::new();
        for (name, parameters) in trace.acts.iter().filter_map(|act| signature(trace, act)) {
            let known = own.entry(name.clone()).or_insert_with(|| parameters.clone());
            // Functions of several files may share a name.
            if *known != parameters {
                unclear.insert(name);
            }
        }
        for (name, parameters) in own {
            let parameters: HashSet<String> = parameters.into_iter().collect();
            match shared.get_mut(&name) {
                None => drop(shared.insert(name, parameters)),
                Some(known) if *known == parameters => {}
                Some(known) => {
                    known.retain(|p| parameters.contains(p));
                    different.insert(name);
                }
            }
        }
    }
    different.retain(|name| !unclear.contains(name));
    if !different.is_empty() {
        for trace in traces {
            drop_arguments(trace, &different, &shared);
        }
    }
    different.into_iter().collect()
}

/// The callee of a call of a function of the program, and the names of its parameters.
fn signature(trace: &Trace, act: &crate::trace::EventSite) -> Option<(String, Vec<String>)> {
    let own = act.kind == Kind::Call && !act.arguments.is_empty();
    if !own || act.arguments.iter().any(|(parameter, _)| *parameter == 0) {
        return None;
    }
    let parameters = act.arguments.iter().map(|(p, _)| trace.names.text(*p).to_owned());
    Some((trace.names.text(act.name).to_owned(), parameters.collect()))
}

fn drop_arguments(
    trace: &mut Trace,
    different: &BTreeSet<String>,
    shared: &HashMap<String, HashSet<String>>,
) {
    // For each event site, the arguments that count, sorted by name: their order may differ too.
    let counting: Vec<Option<Vec<(usize, Shape)>>> = trace
        .acts
        .iter()
        .map(|act| {
            let (name, parameters) = signature(trace, act)?;
            let common = shared.get(&name).filter(|_| different.contains(&name))?;
            let mut list: Vec<(String, usize, Shape)> = parameters
                .into_iter()
                .zip(act.arguments.iter())
                .enumerate()
                .filter(|(_, (parameter, _))| common.contains(parameter))
                .map(|(n, (parameter, (_, shape)))| (parameter, n, shape.clone()))
                .collect();
            list.sort_by(|a, b| a.0.cmp(&b.0));
            Some(list.into_iter().map(|(_, n, shape)| (n, shape)).collect())
        })
        .collect();
    for event in 0..trace.len() {
        let row = trace.row(event);
        let Some(arguments) = &counting[row.act as usize] else { continue };
        let mut key = trace.acts[row.act as usize].hash;
        for (n, shape) in arguments {
            key = mix(key, said(trace, shape, trace.arguments.get(row.value as usize + n)));
        }
        trace.keys.set(event, key);
    }
}

/// Recomputes the number that a stored value contributed to its event's key.
fn said(trace: &Trace, shape: &Shape, value: u64) -> u64 {
    match (shape, shape.take()) {
        (Shape::Fleeting(1), _) => ADDRESS,
        (Shape::Fleeting(_), _) => FLEETING,
        (_, Encoding::Nothing) => 0,
        (_, Encoding::Text | Encoding::Object(_) | Encoding::Function) if value == 0 => 0,
        (_, Encoding::Text) if value == NO_TEXT => ADDRESS,
        (_, Encoding::Text | Encoding::Function) => trace.names.hash((value - 1) as u32),
        (_, Encoding::Object(ty)) => trace.names.hash(ty) | 1,
        (_, Encoding::Wide) if is_address(value) => ADDRESS,
        _ => value,
    }
}
