//! A recorded process, prepared for slicing.

use crate::backward::{Backward, InterThreadUse, OmittedOutput, Relevant, Sink};
use crate::criterion::{Criterion, Occurrence};
use crate::facts::ProgramFacts;
use crate::heap::{Allocated, Heap};
use crate::live::LiveRange;
use crate::output_effects::StandardStream;
use crate::outputs;
use crate::pipeline::pipeline;
use crate::prepared::Prepared;
use crate::relevance::{AlternativeEffects, Precision, Relevance};
use crate::segment_trace::{SegmentTrace, Starts};
use crate::slice::{Dependence, Origin, Slice};
use crate::uses::UseList;
use crate::{Error, Result};
use replay::checkpoint::{Checkpoints, Segment};
use replay::io::IoList;
use replay::machine::{End, Machine};
use replay::process::LoadedProcess;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bounds on memory and time, and options of a slicer.
#[derive(Clone, Copy, Debug)]
pub struct SlicerOptions {
    /// Instructions per segment: the trace of this many steps is in memory at a time.
    pub segment: u64,
    /// Maximum number of nodes in a slice; further executions are only counted.
    pub max_nodes: usize,
    /// Store the results of the first pass beside the recording, for the next question.
    pub keep_timeline: bool,
}

impl Default for SlicerOptions {
    fn default() -> SlicerOptions {
        SlicerOptions { segment: 1 << 20, max_nodes: 2_000_000, keep_timeline: false }
    }
}

/// Progress of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Index of the stream that is visited.
    pub stream: u32,
    /// Number of instructions visited, out of at most `of`.
    pub walked: u64,
    /// Number of instructions of the stream before the last criterion.
    pub of: u64,
    /// Nodes so far.
    pub nodes: usize,
}

/// A request for a slice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'r> {
    /// Where the slice begins; they may be in different streams.
    pub criteria: &'r [Criterion],
    /// Options of a relevant slice; `None` for a dynamic one.
    pub relevance: Option<Relevance>,
    /// Executed instructions whose dependences among each other are requested: see [`crate::among`].
    /// Those that are not in the slice of the criteria have none.
    pub among: &'r [Occurrence],
    /// Set by another thread when the result so far is enough.
    pub stop: Option<&'r AtomicBool>,
}

/// See the module's documentation. A stream is replayed when it is first needed.
pub struct Slicer<'p> {
    pub(crate) process: &'p LoadedProcess,
    pub(crate) options: SlicerOptions,
    pub(crate) facts: ProgramFacts<'p>,
    starts: Starts<'p>,
    prepared: Vec<OnceLock<Prepared<'p>>>,
    /// Static effects of branch alternatives, by precision.
    potentials: [OnceLock<AlternativeEffects<'p>>; 2],
    heap: OnceLock<Heap>,
}

impl<'p> Slicer<'p> {
    /// A slicer that has replayed nothing yet.
    #[must_use]
    pub fn new(process: &'p LoadedProcess, options: SlicerOptions) -> Slicer<'p> {
        Slicer {
            process,
            options,
            facts: ProgramFacts::new(&process.image),
            starts: Starts::new(&process.image),
            prepared: process.streams.iter().map(|_| OnceLock::new()).collect(),
            potentials: [OnceLock::new(), OnceLock::new()],
            heap: OnceLock::new(),
        }
    }

    /// `None` if another thread set `stop` before they were known.
    fn potentials(
        &self,
        precision: Precision,
        stop: Option<&AtomicBool>,
    ) -> Result<Option<&AlternativeEffects<'p>>> {
        let place = match precision {
            Precision::Steensgaard => &self.potentials[0],
            Precision::Andersen => &self.potentials[1],
        };
        if let Some(known) = place.get() {
            return Ok(Some(known));
        }
        let mut entries = BTreeSet::new();
        for stream in 0..self.process.streams.len() as u32 {
            entries.extend(&self.prepared(stream)?.seen.entries);
        }
        let new = AlternativeEffects::new(&self.facts, precision, &entries, stop);
        Ok(new.map(|new| place.get_or_init(|| new)))
    }

    /// Computes the static analysis that relevant slices need; otherwise the first such slice does.
    ///
    /// # Errors
    /// If a stream cannot be replayed.
    pub fn prepare_relevant(&self, precision: Precision) -> Result<()> {
        self.potentials(precision, None).map(|_| ())
    }

    /// The heap blocks of all streams.
    fn heap(&self) -> Result<&Heap> {
        if let Some(heap) = self.heap.get() {
            return Ok(heap);
        }
        let mut heap = Heap::default();
        for stream in 0..self.process.streams.len() as u32 {
            let prepared = &self.prepared(stream)?.seen;
            let first = heap.add_chains(&prepared.chains);
            for (address, block) in &prepared.allocated {
                heap.add(*address, Allocated { stream, chain: first + block.chain, ..*block });
            }
        }
        Ok(self.heap.get_or_init(|| heap))
    }

    /// The process that it was made for.
    #[must_use]
    pub fn process(&self) -> &'p LoadedProcess {
        self.process
    }

    pub(crate) fn prepared(&self, stream: u32) -> Result<&Prepared<'p>> {
        let count = self.prepared.len();
        let place = self.prepared.get(stream as usize).ok_or(Error::NoStream(stream, count))?;
        Ok(place.get_or_init(|| {
            let stream = &self.process.streams[stream as usize];
            Prepared::new(self.process, stream, self.options.segment, self.options.keep_timeline)
        }))
    }

    /// The number of instructions that a stream executed, as far as it can be replayed.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn steps(&self, stream: u32) -> Result<u64> {
        Ok(self.prepared(stream)?.checkpoints.counters().instructions)
    }

    /// How a stream ended; `None` if its replay fails before.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn end(&self, stream: u32) -> Result<Option<End>> {
        Ok(self.prepared(stream)?.checkpoints.end())
    }

    /// Why a stream cannot be replayed to its end, if it cannot.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn trouble(&self, stream: u32) -> Result<Option<String>> {
        Ok(self.prepared(stream)?.checkpoints.error().map(ToString::to_string))
    }

    /// Input and output of a stream. An event's call is step
    /// `event.instruction - 1`.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn io(&self, stream: u32) -> Result<&IoList> {
        Ok(&self.prepared(stream)?.seen.io)
    }

    /// The machine just before a step, or at the end of the stream.
    ///
    /// # Errors
    /// If there is no such step, or replay fails.
    pub fn machine_at(&self, at: Occurrence) -> Result<Machine<'p>> {
        Ok(self.prepared(at.stream)?.checkpoints.machine_at(at.step)?)
    }

    /// The dynamic slice of some criteria.
    ///
    /// # Errors
    /// If a criterion refers to a step that does not exist, or replay fails.
    pub fn slice(&self, criteria: &[Criterion], progress: &mut dyn FnMut(Progress)) -> Result<Slice> {
        self.ask(&Request { criteria, ..Request::default() }, progress)
    }

    /// The relevant slice of some criteria: see [`crate::relevance`].
    ///
    /// # Errors
    /// If a criterion refers to a step that does not exist, or replay fails.
    pub fn relevant(
        &self,
        criteria: &[Criterion],
        relevance: Relevance,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Slice> {
        self.ask(&Request { criteria, relevance: Some(relevance), ..Request::default() }, progress)
    }

    /// A slice of any kind.
    ///
    /// # Errors
    /// If a criterion refers to a step that does not exist, or replay fails.
    pub fn ask(&self, request: &Request<'_>, progress: &mut dyn FnMut(Progress)) -> Result<Slice> {
        let criteria = request.criteria;
        let mut all = Sink::new(&self.facts, self.options.max_nodes, request.among);
        all.slice.criteria = vec![None; criteria.len()];
        let mut todo: BTreeMap<u32, PassQueries<'_>> = BTreeMap::new();
        for (n, c) in criteria.iter().enumerate() {
            let steps = self.steps(c.at.stream)?;
            if c.at.step > steps {
                return Err(Error::NoStep { stream: c.at.stream, step: c.at.step, steps });
            }
            todo.entry(c.at.stream).or_default().asked.push((n, c));
        }
        let mut done = Visited::default();
        while let Some((stream, asked)) = todo.pop_first() {
            if !done.streams.insert(stream) {
                all.index_nodes();
            }
            let (inter_thread, start_uses) = self.run_pass(&mut all, stream, asked, request, progress)?;
            if all.slice.incomplete {
                break;
            }
            if let (Some((other, step)), true) = (self.starting_call(stream)?, start_uses.is_live()) {
                todo.entry(other).or_default().starts.push((step, start_uses));
            }
            self.follow(&mut all, stream, inter_thread, &mut done, &mut todo)?;
        }
        Ok(all.finish())
    }

    /// One backward pass over a stream, from the last step with a query.
    fn run_pass(
        &self,
        all: &mut Sink<'_, '_>,
        stream: u32,
        todo: PassQueries<'_>,
        request: &Request<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Vec<InterThreadUse>, UseList)> {
        let checkpoints = &self.prepared(stream)?.checkpoints;
        let total = checkpoints.counters().instructions;
        let is_thread = self.starting_call(stream)?.is_some();
        let mut relevant = None;
        if let Some(relevance) = request.relevance.filter(|_| all.slice.asked_back_to.is_none()) {
            let Some(facts) = self.potentials(relevance.precision, request.stop)? else {
                all.slice.incomplete = true;
                return Ok((Vec::new(), UseList::default()));
            };
            all.slice.coarse = facts.is_coarse();
            let omitted = OmittedOutput::new(self.standard_outputs(stream)?);
            relevant = Some(Relevant::new(facts, self.heap()?, relevance, omitted));
        }
        let mut pass = Backward::new(all, stream, is_thread);
        let prepared = &self.prepared(stream)?.seen;
        (pass.errno, pass.memory_streams) = (prepared.errno, &prepared.memory_streams);
        todo.give(&mut pass, total);
        let Some(last) = pass.last_query() else { return Ok((Vec::new(), UseList::default())) };
        (pass.relevant, pass.stop) = (relevant, request.stop);
        if last == total {
            let machine = checkpoints.machine_at(total)?;
            if let Some(v) = machine.view()
                && let Some(function) = v.image.function(v.code.module, v.code.function)
            {
                pass.unfinished(function, v.index, v.depth, total)?;
            }
        }
        let mut walked = 0;
        let mut stopped = false;
        let segments: Vec<Segment> = (0..checkpoints.len())
            .rev()
            .map(|index| checkpoints.segment(index))
            .filter(|s| s.instructions.start <= last && (s.index == 0 || !s.instructions.is_empty()))
            .collect();
        let summary = |n: usize| prepared.summaries.get(segments[n].index);
        // Segments before this one need neither be replayed nor visited.
        let needed = AtomicUsize::new(0);
        let replay = |n: usize, used| match n < needed.load(Ordering::Relaxed) {
            true => Ok(Option::flatten(used)),
            false => self.replay_segment(checkpoints, segments[n].index, used.flatten()).map(Some),
        };
        pipeline(segments.len(), replay, |n, trace| {
            let steps = &segments[n].instructions;
            match (trace, summary(n)) {
                (_, Some(summary)) if n < needed.load(Ordering::Relaxed) => pass.skip(summary, steps.start),
                (Some(trace), _) => {
                    pass.segment(trace, (steps.start, steps.end))?;
                    pass.check_limit();
                    let matters = |n: &usize| {
                        let steps = &segments[*n].instructions;
                        summary(*n).is_none_or(|s| !pass.can_skip(s, (steps.start, steps.end)))
                    };
                    let next = (n + 1..segments.len()).find(matters).unwrap_or(segments.len());
                    needed.store(next, Ordering::Relaxed);
                }
                (None, _) => {}
            }
            walked += steps.end - steps.start;
            progress(Progress { stream, walked, of: last, nodes: pass.nodes() });
            stopped = pass.is_stopped();
            Ok(!stopped && !pass.is_done())
        })?;
        if !stopped {
            pass.finish();
        }
        let inter_thread = std::mem::take(&mut pass.inter_thread);
        let start_uses = pass.uses_of_thread_start;
        all.slice.walked += walked;
        all.slice.incomplete |= stopped;
        Ok((inter_thread, start_uses))
    }

    /// The calls of a stream that wrote to standard output or error, with their steps.
    fn standard_outputs(&self, stream: u32) -> Result<Vec<(u64, StandardStream)>> {
        let io = self.io(stream)?;
        let outputs = io.events.iter().filter(|e| e.out && e.length > 0);
        let calls = outputs.filter_map(|e| {
            let stream = StandardStream::of_kind(io.sources[e.source].kind)?;
            Some((outputs::whole(e).step, stream))
        });
        Ok(calls.collect())
    }

    /// Replays a segment for a backward pass. The trace of an earlier segment can be recycled.
    fn replay_segment<'s>(
        &'s self,
        checkpoints: &Checkpoints<'_>,
        index: usize,
        used: Option<SegmentTrace<'s>>,
    ) -> Result<SegmentTrace<'s>> {
        let mut trace = used.unwrap_or_else(|| SegmentTrace::new(&self.starts));
        trace.begin(checkpoints.frames(index)?);
        let machine = checkpoints.replayed(index, &mut trace)?;
        trace.finish(&machine);
        Ok(trace)
    }

    /// The call that started a stream's thread: its stream and step.
    pub(crate) fn starting_call(&self, stream: u32) -> Result<Option<(u32, u64)>> {
        let Some(this) = self.process.streams.get(stream as usize) else { return Ok(None) };
        let Some((function, argument)) = self.prepared(stream)?.seen.entry else { return Ok(None) };
        let mut unnamed = Vec::new();
        for other in 0..self.process.streams.len() as u32 {
            if other == stream {
                continue;
            }
            for start in &self.prepared(other)?.seen.starts {
                match start.stream {
                    Some(number) if number == this.number => return Ok(Some((other, start.step))),
                    Some(_) => {}
                    // The thread first ran later: its function and argument identify it.
                    None => {
                        let same = self.process.image.function_at(start.routine) == Some(function);
                        if same && start.argument == argument {
                            unnamed.push((other, start.step));
                        }
                    }
                }
            }
        }
        // Several matching calls are equivalent: take the first.
        Ok(unnamed.first().copied())
    }

    /// Continues from a stream's inter-thread reads at the stores in other streams.
    fn follow(
        &self,
        all: &mut Sink<'_, '_>,
        stream: u32,
        mut inter_thread: Vec<InterThreadUse>,
        done: &mut Visited,
        todo: &mut BTreeMap<u32, PassQueries<'_>>,
    ) -> Result<()> {
        let number = self.process.streams[stream as usize].number;
        if inter_thread.is_empty() {
            return Ok(());
        }
        self.find_writers(number, &mut inter_thread)?;
        for use_of in inter_thread {
            let (address, len) = (use_of.read.address, use_of.read.bytes.len() as u64);
            let Some((index, step)) = use_of.store else {
                let origin = Origin::Stream { stream: use_of.read.writer, address, len };
                for range in use_of.ranges {
                    all.leaf(range.uses, &origin);
                }
                continue;
            };
            let mut ranges = use_of.ranges;
            for range in &mut ranges {
                range.uses = all.uses.rewrite(range.uses, |how| match how {
                    Dependence::Memory { address, len } => Dependence::Thread { address, len },
                    other => other,
                });
            }
            if done.followed.insert((stream, index, step, address, len)) {
                todo.entry(index).or_default().after.push((step, ranges));
            }
        }
        Ok(())
    }

    /// Finds the stores that a stream's inter-thread uses read, by replay.
    fn find_writers(&self, number: u32, inter_thread: &mut [InterThreadUse]) -> Result<()> {
        let streams = self.process.streams.iter().map(|s| (s.number, &s.stream)).collect();
        let reads: Vec<replay::writers::Read> = inter_thread.iter().map(|c| c.read.clone()).collect();
        let found = replay::writers(&self.process.image, &streams, number, &reads)?;
        for (use_of, write) in inter_thread.iter_mut().zip(found) {
            use_of.store = write.and_then(|w| {
                let index = self.process.streams.iter().position(|s| s.number == w.stream)?;
                Some((index as u32, w.instruction))
            });
        }
        Ok(())
    }

    /// Source lines of a slice: the file's path as in the debug information, and the line.
    #[must_use]
    pub fn lines(&self, slice: &Slice) -> BTreeSet<(String, u32)> {
        let mut lines = BTreeSet::new();
        for site in slice.sites.keys() {
            let module = self.process.image.module(site.module);
            let place = module.functions[site.function as usize].place(site.index as usize);
            if place.line > 0 {
                lines.insert((module.file_path(place.file), place.line));
            }
        }
        lines
    }
}

/// The queries of a pass over a stream.
#[derive(Default)]
pub(crate) struct PassQueries<'c> {
    asked: Vec<(usize, &'c Criterion)>,
    after: Vec<(u64, Vec<LiveRange>)>,
    /// Calls that started threads, and their uses.
    starts: Vec<(u64, UseList)>,
}

impl<'c> PassQueries<'c> {
    /// Adds the queries to the pass over a stream with `total` steps.
    pub fn give(self, pass: &mut Backward<'c, '_, '_>, total: u64) {
        for (n, criterion) in self.asked {
            pass.ask(n, criterion);
        }
        for (step, list) in self.starts {
            pass.add_start_use(step, list);
        }
        for (step, pieces) in self.after {
            pass.add_live_after(step.min(total.saturating_sub(1)), pieces);
        }
    }
}

/// What was already done, so that threads that depend on each other do not cause endless passes.
#[derive(Default)]
struct Visited {
    streams: HashSet<u32>,
    followed: HashSet<(u32, u32, u64, u64, u64)>,
}
