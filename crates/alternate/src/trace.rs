//! Which branches turn out differently with another input, by aligning the traces of both runs.
//!
//! Aligning takes time with the product of the lengths of what differs. Beyond a limit, branch
//! instances are paired by their execution indices instead: that finds no counterpart for what moved
//! to another place of the program's structure, but takes no longer than replay.

use crate::align::{align, effort};
use program::inst::{BlockId, Inst};
use replay::error::Error;
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Observer, View};
use replay::process::LoadedProcess;
use std::collections::HashMap;

/// An alignment that takes more steps is not begun: it would take minutes.
const MOST: u64 = 20_000_000_000;

/// A branch that went another way than its counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    pub file: String,
    pub line: u32,
    pub function: String,
    /// How many of its instances did.
    pub times: u64,
}

/// One branch instance.
#[derive(Clone, Copy, Debug)]
struct Instance {
    module: u32,
    function: u32,
    index: u32,
    to: BlockId,
}

/// Two are the same if they are of the same branch, whichever way they went.
impl PartialEq for Instance {
    fn eq(&self, other: &Instance) -> bool {
        (self.index, self.function, self.module) == (other.index, other.function, other.module)
    }
}

#[derive(Default)]
struct Trace {
    instances: Vec<Instance>,
}

impl Observer for Trace {
    fn edge(&mut self, view: &View<'_>, _: BlockId, to: BlockId) {
        if matches!(view.inst(), Inst::Branch { .. } | Inst::Switch { .. }) {
            let (module, function) = (view.code.module, view.code.function);
            self.instances.push(Instance { module, function, index: view.index, to });
        }
    }
}

fn trace(process: &LoadedProcess, stream: u32) -> Result<Vec<Instance>, Error> {
    let mut trace = Trace::default();
    if let Some(stream) = process.stream(stream) {
        Machine::new(&process.image, &stream.stream).run(&mut trace, u64::MAX)?;
    }
    Ok(trace.instances)
}

/// The branches of two runs of one program that correspond but went different ways, in the order of
/// the first run.
///
/// # Errors
/// As a replay.
pub(crate) fn turned(
    first: (&LoadedProcess, u32),
    second: (&LoadedProcess, u32),
) -> Result<Vec<Turned>, symbolic::Error> {
    let (a, b) = (trace(first.0, first.1)?, trace(second.0, second.1)?);
    let pairs: Vec<(Instance, Instance)> = if effort(&a, &b) > MOST {
        let (names, others) =
            (symbolic::branch_sums(first.0, first.1)?, symbolic::branch_sums(second.0, second.1)?);
        let others: HashMap<u128, Instance> = others.into_iter().zip(b).collect();
        names.iter().zip(a).filter_map(|(name, x)| Some((x, *others.get(name)?))).collect()
    } else {
        align(&a, &b).into_iter().filter_map(|(x, y)| Some((a[x?], b[y?]))).collect()
    };
    let mut found: Vec<(Instance, u64)> = Vec::new();
    let mut known: HashMap<(u32, u32, u32), usize> = HashMap::new();
    for (x, y) in pairs {
        if x == y && x.to != y.to {
            let at = *known.entry((x.module, x.function, x.index)).or_insert_with(|| {
                found.push((x, 0));
                found.len() - 1
            });
            found[at].1 += 1;
        }
    }
    let mut places: Vec<Turned> = Vec::new();
    for (instance, times) in found {
        // A line may have several branches.
        let next = place(&first.0.image, instance, times);
        let same =
            |t: &&mut Turned| (&t.file, t.line, &t.function) == (&next.file, next.line, &next.function);
        match places.iter_mut().find(same) {
            Some(known) => known.times += times,
            None => places.push(next),
        }
    }
    Ok(places)
}

fn place(image: &Image, instance: Instance, times: u64) -> Turned {
    let module = image.module(instance.module);
    let function = module.functions.get(instance.function as usize);
    let place = function.map(|f| f.place(instance.index as usize)).unwrap_or_default();
    Turned {
        file: module.file_path(place.file),
        line: place.line,
        function: function.map_or_else(String::new, |f| f.name.clone()),
        times,
    }
}
