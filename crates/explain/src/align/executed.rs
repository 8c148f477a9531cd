//! Executed lines and functions, and their counts.

use program::model::Place;
use replay::error::Result;
use replay::machine::{Frame, Machine};
use replay::observer::{Observer, View};
use replay::process::LoadedProcess;
use std::collections::{BTreeMap, BTreeSet};

/// Counts blocks: sufficient for lines, at a fraction of the cost of counting instructions.
struct Blocks {
    /// By number of the function in the image, then by block.
    counts: Vec<Vec<u64>>,
}

impl Blocks {
    #[inline]
    fn count(&mut self, view: &View<'_>, block: u32) {
        let Some(number) = view.image.function(view.code.module, view.code.function) else { return };
        let counts = &mut self.counts[number as usize];
        if counts.is_empty() {
            counts.resize(view.function().blocks.len(), 0);
        }
        counts[block as usize] += 1;
    }
}

impl Observer for Blocks {
    fn enter(&mut self, view: &View<'_>, _outside: bool) {
        self.count(view, 0);
    }

    #[inline]
    fn edge(&mut self, view: &View<'_>, _from: u32, to: u32) {
        self.count(view, to);
    }
}

/// Block counts of all streams, and the frames that did not reach the end of their block. Counts before a
/// failure to replay are valid.
fn blocks(process: &LoadedProcess) -> Result<(Blocks, Vec<Frame>)> {
    let mut blocks = Blocks { counts: vec![Vec::new(); process.image.functions() as usize] };
    let mut open = Vec::new();
    for stream in &process.streams {
        let mut machine = Machine::new(&process.image, &stream.stream);
        machine.run(&mut blocks, u64::MAX)?;
        open.extend_from_slice(machine.frames());
    }
    Ok((blocks, open))
}

/// How often each line ran, over all streams of a process: the file's path as
/// [`program::model::Module::file_path`] returns it, and the line. The count of a line with several blocks is
/// that of the most frequent one.
///
/// # Errors
/// If a stream does not replay.
pub fn executed_lines(process: &LoadedProcess) -> Result<BTreeMap<(String, u32), u64>> {
    let mut lines: BTreeMap<(String, u32), u64> = BTreeMap::new();
    executed(process, &mut |_, file, place, count| {
        let known = lines.entry((file.to_owned(), place.line)).or_default();
        *known = count.max(*known);
    })?;
    Ok(lines)
}

/// The executed locations: function, file, line and column.
///
/// # Errors
/// If a stream does not replay.
pub fn executed_places(process: &LoadedProcess) -> Result<BTreeSet<(String, String, u32, u32)>> {
    let mut places = BTreeSet::new();
    executed(process, &mut |function, file, place, _| {
        places.insert((function.to_owned(), file.to_owned(), place.line, place.column));
    })?;
    Ok(places)
}

/// Calls `with` for each location of each executed function, with the function's name, the file, and the
/// count.
fn executed(process: &LoadedProcess, with: &mut dyn FnMut(&str, &str, Place, u64)) -> Result<()> {
    let (blocks, open) = blocks(process)?;
    for (number, counts) in blocks.counts.iter().enumerate() {
        if counts.is_empty() {
            continue;
        }
        let code = process.image.code(number as u32);
        let module = process.image.module(code.module);
        let function = &module.functions[code.function as usize];
        let mut by_place: BTreeMap<(u32, u32, u32), (Place, u64)> = BTreeMap::new();
        for (block, count) in function.blocks.iter().zip(counts).filter(|x| *x.1 > 0) {
            for index in block.start..block.end {
                let unfinished = open.iter().filter(|f| {
                    f.function == number as u32 && (block.start..block.end).contains(&f.pc) && f.pc < index
                });
                let count = count.saturating_sub(unfinished.count() as u64);
                let place = function.place(index as usize);
                if place.line > 0 && count > 0 {
                    let key = (place.file, place.line, place.column);
                    let known = by_place.entry(key).or_insert((place, 0));
                    known.1 = count.max(known.1);
                }
            }
        }
        for (place, count) in by_place.into_values() {
            with(&function.name, &module.file_path(place.file), place, count);
        }
    }
    Ok(())
}

/// How often each function was entered, by name.
///
/// # Errors
/// If a stream does not replay.
pub fn executed_functions(process: &LoadedProcess) -> Result<BTreeMap<String, u64>> {
    let (blocks, _) = blocks(process)?;
    let mut functions = BTreeMap::new();
    for (number, counts) in blocks.counts.iter().enumerate() {
        if let Some(entries) = counts.first() {
            let code = process.image.code(number as u32);
            let function = &process.image.module(code.module).functions[code.function as usize];
            *functions.entry(function.name.clone()).or_default() += entries;
        }
    }
    Ok(functions)
}
