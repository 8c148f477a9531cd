//! Which branches turn out differently with another input, by aligning the traces of both runs.

use crate::align::{align, effort};
use program::inst::{BlockId, Inst};
use replay::error::Error;
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Observer, View};
use replay::process::LoadedProcess;

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
/// the first run. None if the traces are too long to be aligned.
///
/// # Errors
/// As a replay.
pub(crate) fn turned(
    first: (&LoadedProcess, u32),
    second: (&LoadedProcess, u32),
) -> Result<Option<Vec<Turned>>, Error> {
    let (a, b) = (trace(first.0, first.1)?, trace(second.0, second.1)?);
    if effort(&a, &b) > MOST {
        return Ok(None);
    }
    let mut found: Vec<(Instance, u64)> = Vec::new();
    for pair in align(&a, &b) {
        let (Some(x), Some(y)) = pair else { continue };
        if a[x] == b[y] && a[x].to != b[y].to {
            match found.iter_mut().find(|(known, _)| *known == a[x]) {
                Some((_, times)) => *times += 1,
                None => found.push((a[x], 1)),
            }
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
    Ok(Some(places))
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
