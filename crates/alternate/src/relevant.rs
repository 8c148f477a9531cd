//! What the outputs of a run depend on: the relevant slice of all its outputs.
//!
//! Outputs are writes to standard output and files, and the exit status. An output that is written only
//! because a branch took this edge depends on that branch. So does the absence of an output: every executed
//! branch with an edge not taken on which an output could be written, or the program could end, is part of
//! the criterion. The slice is the plain closure of data, control and potential dependence: a run with equal
//! values of everything in it has the same output (Qi, Nguyen and Roychoudhury, *Path exploration based on
//! symbolic output*).

use externals::{Direction, flag};
use program::branch_edges::BranchEdges;
use program::inst::{BlockId, Inst, Operand};
use replay::image::Image;
use replay::machine::Machine;
use replay::observer::{Observer, View};
use replay::process::LoadedProcess;
use slice::{
    Among, Criterion, Error, Occurrence, Precision, Relevance, Request, Slice, Slicer, Variant, Wanted,
};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicBool;
use symbolic::{At, Kind};

/// An edge of a branch: module, function, block, and successor.
pub type Edge = (u32, u32, BlockId, BlockId);

/// Maximum number of executed branches in the criterion that omitted an output.
const MAX_SILENT_BRANCHES: usize = 50_000;

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub struct OutputSlice {
    /// The executed instructions in it, by their steps.
    pub steps: HashSet<u64>,
    /// Whether steps are missing because it was truncated.
    pub cut: bool,
    /// Whether steps are missing because it was stopped.
    pub stopped: bool,
    /// The branch edges that the run took.
    pub taken: HashSet<Edge>,
    /// The instruction at which the run ended: module, function and index.
    pub end: Option<(u32, u32, u32)>,
    /// The dependences among the steps passed as `among`.
    pub among: Among,
}

/// How a relevant slice is computed.
#[derive(Clone, Copy, Debug)]
pub struct SliceRequest<'r> {
    /// The stream, by its index.
    pub stream: u32,
    /// Executed instructions whose dependences among each other are requested.
    pub among: &'r [u64],
    /// Precision of the points-to analysis. With a coarse one the slice may be larger.
    pub precision: Precision,
    /// Set by another thread on a timeout.
    pub stop: &'r AtomicBool,
}

impl OutputSlice {
    /// The slice of all outputs of a stream.
    ///
    /// # Errors
    /// If the run does not replay.
    pub fn of(slicer: &Slicer<'_>, request: &SliceRequest<'_>) -> Result<OutputSlice, Error> {
        let stream = request.stream;
        let process = slicer.process();
        // An event of a call comes when the call has run.
        let written = slicer.io(stream)?.events.iter().filter(|e| e.out);
        let mut criteria: HashSet<u64> = written.map(|e| e.instruction.saturating_sub(1)).collect();
        let mut silent = OutputBranches {
            may_output: output_functions(&process.image),
            ways: HashMap::new(),
            steps: Vec::new(),
            taken: HashSet::new(),
        };
        let mut end = None;
        if let Some(loaded) = process.streams.get(stream as usize) {
            let mut machine = Machine::new(&process.image, &loaded.stream);
            machine.run(&mut silent, u64::MAX)?;
            end = machine.frames().last().map(|frame| {
                let code = process.image.code(frame.function);
                (code.module, code.function, frame.pc)
            });
        }
        criteria.extend(silent.steps);
        criteria.insert(slicer.steps(stream)?.saturating_sub(1));
        let mut criteria: Vec<u64> = criteria.into_iter().collect();
        criteria.sort_unstable();
        let slice = sliced(slicer, &criteria, request)?;
        Ok(OutputSlice {
            steps: steps_of(&slice, stream),
            cut: slice.truncated || slice.asked_back_to.is_some(),
            stopped: slice.incomplete,
            taken: silent.taken,
            end,
            among: slice.among,
        })
    }
}

/// The steps of the relevant slice (closure) of some steps. Some are missing if it was stopped.
///
/// # Errors
/// If the run does not replay.
pub fn closure(
    slicer: &Slicer<'_>,
    steps: &[u64],
    request: &SliceRequest<'_>,
) -> Result<HashSet<u64>, Error> {
    sliced(slicer, steps, request).map(|slice| steps_of(&slice, request.stream))
}

fn sliced(slicer: &Slicer<'_>, steps: &[u64], request: &SliceRequest<'_>) -> Result<Slice, Error> {
    let SliceRequest { stream, precision, .. } = *request;
    let at = |step: &u64| Occurrence { stream, step: *step };
    let criteria: Vec<Criterion> =
        steps.iter().map(|step| Criterion { at: at(step), wanted: vec![Wanted::All] }).collect();
    let among: Vec<Occurrence> = request.among.iter().map(at).collect();
    let relevance = Relevance { variant: Variant::Closure, precision, ..Relevance::default() };
    let stop = Some(request.stop);
    let request = Request { criteria: &criteria, relevance: Some(relevance), among: &among, stop };
    slicer.ask(&request, &mut |_| {})
}

fn steps_of(slice: &Slice, stream: u32) -> HashSet<u64> {
    slice.nodes.iter().filter(|n| n.at.stream == stream).map(|n| n.at.step).collect()
}

/// The step of a condition's instruction. The conditions of a library function are recorded when the call has
/// returned, one step later.
#[must_use]
pub fn executed(process: &LoadedProcess, at: &At, kind: Kind) -> u64 {
    let function = process.image.module(at.module).functions.get(at.function as usize);
    let inst = function.and_then(|f| f.code.get(at.index as usize));
    let came_back = matches!(inst, Some(Inst::Call(_))) && kind != Kind::CallTarget;
    at.step.saturating_sub(came_back.into())
}

/// Whether each function may write output or end the program, directly or through its callees (a fixpoint).
fn output_functions(image: &Image) -> Vec<bool> {
    let count = image.functions() as usize;
    let mut may_output = vec![false; count];
    loop {
        let mut changed = false;
        for number in 0..count {
            let code = image.code(number as u32);
            let function = &image.module(code.module).functions[code.function as usize];
            if !may_output[number]
                && function.code.iter().any(|inst| may_write_output(image, code.module, inst, &may_output))
            {
                may_output[number] = true;
                changed = true;
            }
        }
        if !changed {
            return may_output;
        }
    }
}

fn may_write_output(image: &Image, module: u32, inst: &Inst, may_output: &[bool]) -> bool {
    let Inst::Call(call) = inst else { return matches!(inst, Inst::Trap) };
    let Operand::Symbol { symbol, offset: 0 } = call.callee else { return true };
    let address = image.symbol(module, symbol);
    if let Some(number) = image.function_at(address) {
        return may_output.get(number as usize).copied().unwrap_or(true);
    }
    match image.external_at(address) {
        Some((_, Some(known))) => {
            let writes = known.io.is_some_and(|io| io.direction == Direction::Out);
            writes || known.flags & (flag::EXITS | flag::NORETURN) != 0
        }
        // Unknown function: conservative.
        _ => true,
    }
}

struct OutputBranches {
    may_output: Vec<bool>,
    /// For each function (module and index), the branch edges on which output may be written.
    ways: HashMap<(u32, u32), HashSet<(BlockId, BlockId)>>,
    steps: Vec<u64>,
    taken: HashSet<Edge>,
}

impl Observer for OutputBranches {
    fn edge(&mut self, view: &View<'_>, from: BlockId, to: BlockId) {
        let successors = match view.inst() {
            Inst::Branch { then, otherwise, .. } => vec![*then, *otherwise],
            switch @ Inst::Switch { .. } => switch.successors(),
            _ => return,
        };
        self.taken.insert((view.code.module, view.code.function, from, to));
        let may_output = &self.may_output;
        let ways = self.ways.entry((view.code.module, view.code.function)).or_insert_with(|| {
            let function = view.function();
            let all = BranchEdges::of(function);
            let mut output_edges = HashSet::new();
            for (block, b) in function.blocks.iter().enumerate() {
                let Some(last) = function.code.get((b.end as usize).saturating_sub(1)) else { continue };
                let targets = last.successors();
                if targets.len() < 2 {
                    continue;
                }
                for target in targets {
                    let branch_edge = (block as BlockId, target);
                    let said = all.region(branch_edge).blocks().any(|inside| {
                        let range =
                            function.blocks.get(inside as usize).map(|b| b.start as usize..b.end as usize);
                        let code = range.and_then(|r| function.code.get(r)).unwrap_or_default();
                        code.iter()
                            .any(|inst| may_write_output(view.image, view.code.module, inst, may_output))
                    });
                    if said {
                        output_edges.insert(branch_edge);
                    }
                }
            }
            output_edges
        });
        let other_says = successors.iter().any(|other| *other != to && ways.contains(&(from, *other)));
        if other_says && self.steps.len() < MAX_SILENT_BRANCHES {
            self.steps.push(view.count);
        }
    }
}
