//! The observer that executes symbolically: its state, and operations that all instructions share.

use crate::condition::{At, Condition, Imprecision, Kind, Reason, Site};
use crate::frames::Frame;
use crate::inputs::{Origin, Sources, Variables};
use crate::libc::copy::SortSnapshot;
use crate::libc::ctype::TableKind;
use crate::libc::scan::LookaheadRanges;
use crate::libc::token::PatchedBytes;
use crate::objects::Objects;
use crate::observer::{StepObserver, SymbolicState};
use crate::output::Output;
use crate::path::Options;
use crate::regions::Regions;
use crate::semantics;
use crate::shadow::{Shadow, TermByte};
use crate::transfer::Transfer;
use program::inst::{Operand, Ty};
use recording::event::{Event, Position};
use replay::code::Op;
use replay::memory::Memory;
use replay::observer::{Effect, EventContext, ExternalCall, Observer, View};
use solver::{Binary, Node, Pool, Term};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The terms and variables of one analysis, shared by all its runs.
#[derive(Clone, Debug, Default)]
pub struct TermContext {
    /// The terms.
    pub pool: Pool,
    /// The input bytes that the terms are made of.
    pub variables: Variables,
}

impl TermContext {
    /// A term as text over the names of input bytes. Large terms are truncated.
    #[must_use]
    pub fn text(&self, term: Term) -> String {
        self.pool.text(term, &|v| self.variables.name(v), MAX_TEXT)
    }
}

impl TermContext {
    /// The conditions that bytes of arguments and environment variables are not NUL, because such strings end
    /// at their first NUL.
    pub fn nul_free_conditions(&mut self) -> Vec<Term> {
        let TermContext { pool, variables } = self;
        let is_text = |origin: u32| {
            let origin = variables.origins.get(origin as usize);
            matches!(origin, Some(Origin::Argument(_) | Origin::Environment(_)))
        };
        let bytes = variables.list.iter().enumerate().filter(|(_, v)| v.value != 0 && is_text(v.origin));
        let bytes: Vec<u32> = bytes.map(|(n, _)| n as u32).collect();
        let zero = pool.constant(8, 0);
        let mut conditions = Vec::with_capacity(bytes.len());
        for byte in bytes {
            let byte = pool.variable(byte, 8);
            let is_nul = pool.binary(Binary::Eq, byte, zero);
            conditions.push(pool.not(is_nul));
        }
        conditions
    }
}

/// Maximum length of the text of a term.
const MAX_TEXT: usize = 120;

/// The results of a replay so far.
#[derive(Debug, Default)]
pub(crate) struct ReplayResults {
    pub conditions: Vec<Condition>,
    pub losses: Vec<Imprecision>,
    pub outputs: Vec<Output>,
    pub status: Option<Term>,
    /// The environment at program start.
    pub environment: Vec<(String, Vec<u8>)>,
    /// Files that were read.
    pub read: BTreeSet<String>,
    /// Number of steps that touched input-dependent values.
    pub touched: u64,
}

/// See the module's documentation.
pub(crate) struct Engine<'a, W> {
    pub world: &'a mut TermContext,
    pub options: &'a Options,
    pub directory: &'a str,
    pub stream: u32,
    pub frames: Vec<Frame>,
    pub memory: Shadow,
    pub regions: Regions,
    pub objects: Objects,
    /// Terms of the slots of each argument of the pending call, if any.
    pub arguments: Vec<[Option<Term>; 2]>,
    /// By-value arguments of the pending call: number and address.
    pub by_value: Vec<(u32, u64)>,
    /// Terms of the result of the function that just returned.
    pub returning: Vec<Option<Term>>,
    pub sources: Sources,
    /// The bytes that the next store replaces, if its address is input-dependent.
    pub before: Option<(u64, [u8; 16])>,
    /// Transfers of the current external call.
    pub open: Vec<Transfer>,
    /// Address and length of the input that the current call delivered last.
    pub last_delivery: Option<(u64, u64)>,
    /// Pointers that were loaded from an input-dependent address.
    pub chosen: HashSet<Term>,
    /// What the patches of the current external call replaced.
    pub replaced: PatchedBytes,
    /// Where `strtok` continues, by the address of its pointer (0: its internal one).
    pub tokens: HashMap<u64, u64>,
    /// Where the pointers to the character tables are stored.
    pub pointers: Vec<(u64, TableKind)>,
    /// Lookahead bytes: input bytes that a function inspected without consuming them, with the ranges that
    /// they are not in. The conditions are added when the bytes are read.
    pub expected: HashMap<(u32, u64), Vec<LookaheadRanges>>,
    /// Arrays that are being sorted, with their content before.
    pub sorting: Vec<SortSnapshot>,
    /// Files that the program wrote.
    pub written: HashSet<String>,
    pub found: ReplayResults,
    asserted: HashSet<Term>,
    /// Where each truth value was last computed.
    computed: HashMap<Term, Site>,
    occurrences: HashMap<(u32, u32), u32>,
    lost: HashSet<(u32, u32, Reason)>,
    pub observer: W,
}

impl<'a, W: StepObserver> Engine<'a, W> {
    pub fn new(
        world: &'a mut TermContext,
        options: &'a Options,
        directory: &'a str,
        stream: u32,
        objects: Objects,
        observer: W,
    ) -> Engine<'a, W> {
        let mut memory = Shadow::default();
        for (address, len) in objects.watched() {
            memory.pin(address, len, true);
        }
        Engine {
            world,
            options,
            directory,
            stream,
            frames: Vec::new(),
            memory,
            regions: Regions::default(),
            objects,
            arguments: Vec::new(),
            by_value: Vec::new(),
            returning: Vec::new(),
            sources: Sources::default(),
            before: None,
            open: Vec::new(),
            last_delivery: None,
            chosen: HashSet::new(),
            replaced: PatchedBytes::default(),
            tokens: HashMap::new(),
            pointers: Vec::new(),
            expected: HashMap::new(),
            sorting: Vec::new(),
            written: HashSet::new(),
            found: ReplayResults::default(),
            asserted: HashSet::new(),
            computed: HashMap::new(),
            occurrences: HashMap::new(),
            lost: HashSet::new(),
            observer,
        }
    }

    pub fn pool(&mut self) -> &mut Pool {
        &mut self.world.pool
    }

    pub fn constant(&mut self, width: u32, value: u128) -> Term {
        self.world.pool.constant(width, value)
    }

    /// Resizes a term: truncates it, or zero-extends it.
    pub fn fit(&mut self, term: Term, width: u32) -> Term {
        semantics::fit(&mut self.world.pool, term, width)
    }

    fn top(&self, view: &View<'_>) -> Option<&Frame> {
        self.frames.get(view.depth as usize - 1)
    }

    /// The term of an operand, if it depends on input.
    pub fn operand(&mut self, view: &View<'_>, operand: Operand, bits: u16) -> Option<Term> {
        let Operand::Reg(r) = operand else { return None };
        let frame = self.top(view)?;
        if frame.live == 0 {
            return None;
        }
        let (low, high) = (frame.get(r), frame.get(r + 1));
        self.joined(view, r, low, if bits > 64 { high } else { None }, bits)
    }

    /// Joins the slots of a value, if one of them has a term.
    pub fn joined(
        &mut self,
        view: &View<'_>,
        slot: u32,
        low: Option<Term>,
        high: Option<Term>,
        bits: u16,
    ) -> Option<Term> {
        if bits <= 64 {
            return low.map(|t| self.fit(t, bits.into()));
        }
        if low.is_none() && high.is_none() {
            return None;
        }
        let value = |k: u32| view.regs.get((slot + k) as usize).copied().unwrap_or(0).into();
        let low = match low {
            Some(t) => self.fit(t, 64),
            None => self.constant(64, value(0)),
        };
        let above = u32::from(bits) - 64;
        let high = match high {
            Some(t) => self.fit(t, above),
            None => self.constant(above, value(1)),
        };
        Some(self.pool().concat(high, low))
    }

    /// The term of an operand; a constant if it does not depend on input.
    pub fn term(&mut self, view: &View<'_>, operand: Operand, bits: u16) -> Term {
        match self.operand(view, operand, bits) {
            Some(term) => term,
            None => {
                let value = if bits > 64 { view.wide(operand) } else { view.value(operand).into() };
                self.constant(bits.into(), value)
            }
        }
    }

    /// Assigns a term to a register. A term that simplified to a constant clears the register's term.
    pub fn assign(&mut self, view: &View<'_>, dst: u32, bits: u16, term: Option<Term>) {
        let term = term.filter(|t| self.world.pool.as_constant(*t).is_none());
        if term.is_some() && self.options.check {
            self.verify(view, dst, bits, term);
        }
        let (low, high) = match term {
            Some(t) if bits > 64 => {
                let low = self.world.pool.extract(t, 0, 64);
                (Some(low), Some(self.world.pool.extract(t, 64, u32::from(bits) - 64)))
            }
            other => (other, None),
        };
        let live = |pool: &Pool, t: Option<Term>| t.filter(|t| pool.as_constant(*t).is_none());
        let (low, high) = (live(&self.world.pool, low), live(&self.world.pool, high));
        let Some(frame) = self.frames.get_mut(view.depth as usize - 1) else { return };
        frame.set(dst, low);
        if bits > 64 {
            frame.set(dst + 1, high);
        }
        self.found.touched += u64::from(term.is_some());
    }

    /// Makes slots concrete.
    pub fn forget(&mut self, view: &View<'_>, dst: u32, slots: u32) {
        let Some(frame) = self.frames.get_mut(view.depth as usize - 1) else { return };
        if frame.live > 0 {
            for k in 0..slots {
                frame.set(dst + k, None);
            }
        }
    }

    /// Checks that the term evaluates to the concrete value of the run.
    fn verify(&self, view: &View<'_>, dst: u32, bits: u16, term: Option<Term>) {
        let Some(term) = term else { return };
        let variables = &self.world.variables;
        let ours = self.world.pool.evaluate(term, &|v| variables.value(v));
        let mask = if bits >= 128 { u128::MAX } else { (1 << bits) - 1 };
        let real = if bits > 64 {
            view.wide(Operand::Reg(dst))
        } else {
            view.regs.get(dst as usize).copied().unwrap_or(0).into()
        };
        assert_eq!(
            ours,
            real & mask,
            "{}:{} {:?}: a term has another value than the run",
            view.function().name,
            view.place().line,
            view.inst()
        );
    }

    pub fn at(&mut self, view: &View<'_>) -> At {
        At {
            stream: self.stream,
            step: view.count,
            time: view.time,
            module: view.code.module,
            function: view.code.function,
            index: view.index,
            occurrence: 0,
        }
    }

    /// Records where a comparison was computed. One that only tests whether a truth value is set has the site
    /// of the instruction that computed the truth value.
    pub fn compared(&mut self, view: &View<'_>, (a, b): (Term, Term), result: Term) {
        let pool = &mut self.world.pool;
        let truth = match (pool.as_constant(a), pool.as_constant(b)) {
            (None, Some(_)) => truth_value(pool, a),
            (Some(_), None) => truth_value(pool, b),
            _ => None,
        };
        let known = truth.and_then(|t| {
            let opposite = pool.not(t);
            self.computed.get(&t).or_else(|| self.computed.get(&opposite)).copied()
        });
        let here = Site { module: view.code.module, function: view.code.function, index: view.index };
        self.computed.insert(result, known.unwrap_or(here));
    }

    /// Where a truth value was computed.
    pub fn computed(&self, truth: Term) -> Option<Site> {
        self.computed.get(&truth).copied()
    }

    /// Adds a condition that is true on this run.
    pub fn assume(
        &mut self,
        view: &View<'_>,
        term: Term,
        kind: Kind,
        direction: u64,
        reason: Option<Reason>,
    ) {
        if self.world.pool.as_constant(term).is_some() {
            return;
        }
        let repeated = !self.asserted.insert(term);
        // Only decisions of the program are recorded more than once.
        if repeated && !matches!(kind, Kind::Branch | Kind::Switch) {
            return;
        }
        let mut at = self.at(view);
        let count = self.occurrences.entry((at.module, view.site())).or_default();
        at.occurrence = *count;
        *count += 1;
        if self.options.check {
            let variables = &self.world.variables;
            let truth = self.world.pool.evaluate(term, &|v| variables.value(v));
            assert_eq!(
                truth,
                1,
                "{}:{} {kind:?}: a condition is false on its own run",
                view.function().name,
                view.place().line
            );
        }
        let computed = None;
        self.found.conditions.push(Condition { term, kind, at, computed, direction, reason, repeated });
    }

    /// Records where the truth value of the last condition was computed, if this step added the condition.
    pub fn set_computed_site(&mut self, view: &View<'_>, site: Option<Site>) {
        if let Some(last) = self.found.conditions.last_mut()
            && last.at.step == view.count
            && last.kind == Kind::Branch
        {
            last.computed = site;
        }
    }

    /// Adds the condition that a term has its concrete value of this run.
    pub fn concretise(&mut self, view: &View<'_>, term: Term, value: u128, reason: Reason) {
        let width = self.world.pool.width(term);
        let value = self.constant(width, value);
        let same = self.pool().binary(Binary::Eq, term, value);
        self.assume(view, same, Kind::Concretised, 0, Some(reason));
    }

    /// Records that an effect of input is not followed, once per instruction and reason.
    pub fn note_imprecision(&mut self, view: &View<'_>, reason: Reason) {
        if self.lost.insert((view.code.module, view.site(), reason)) {
            let at = self.at(view);
            self.found.losses.push(Imprecision { at, reason });
        }
    }

    /// The term of a byte of memory.
    pub fn byte(&mut self, address: u64) -> Option<Term> {
        if let Some(region) = self.regions.at(address) {
            let (array, index) = (region.array, address - region.start);
            let index = self.constant(64, index.into());
            let term = self.world.pool.read(array, index);
            return Some(term).filter(|t| self.world.pool.as_constant(*t).is_none());
        }
        let piece = self.memory.get(address)?;
        Some(self.piece(piece))
    }

    /// The term of one byte of a term.
    pub fn piece(&mut self, piece: TermByte) -> Term {
        self.world.pool.extract(piece.term, 8 * u32::from(piece.byte), 8)
    }

    /// The term of a byte of memory; a constant if it does not depend on input.
    pub fn byte_term(&mut self, memory: &Memory, address: u64) -> Term {
        match self.byte(address) {
            Some(term) => term,
            None => {
                let mut value = [0];
                memory.peek(address, &mut value);
                self.objects.fill_in(address, &mut value);
                self.constant(8, value[0].into())
            }
        }
    }

    /// Stores a term to memory; without a term, the range becomes concrete.
    pub fn put(&mut self, memory: &Memory, address: u64, len: u64, term: Option<Term>) {
        let term = term.filter(|t| self.world.pool.as_constant(*t).is_none());
        let in_region = self.regions.overlap(address, len);
        for i in 0..len {
            let at = address.wrapping_add(i);
            if in_region {
                let byte = term.map(|t| self.world.pool.extract(t, 8 * i as u32, 8));
                self.put_byte(memory, at, byte);
            } else {
                self.memory.set(at, term.map(|term| TermByte { term, byte: i as u8 }));
            }
        }
    }

    /// The same for one byte; `memory` already has its value.
    pub fn put_byte(&mut self, memory: &Memory, address: u64, term: Option<Term>) {
        if self.regions.at(address).is_some() {
            let value = match term {
                Some(term) => term,
                None => {
                    let mut value = [0];
                    memory.peek(address, &mut value);
                    self.constant(8, value[0].into())
                }
            };
            self.regions.store(&mut self.world.pool, address, value);
            return;
        }
        let term = term.filter(|t| self.world.pool.as_constant(*t).is_none());
        self.memory.set(address, term.map(|term| TermByte { term, byte: 0 }));
    }

    /// Whether any byte of a range depends on input.
    pub fn any(&self, address: u64, len: u64) -> bool {
        self.regions.overlap(address, len) || self.memory.any(address, len)
    }

    /// A range was overwritten by something that does not depend on input.
    pub fn overwritten(&mut self, address: u64, len: u64) {
        self.dissolve(address, len);
        self.memory.clear(address, len);
        self.objects.touched(address, len);
    }

    /// A range was copied; memory already has its new content.
    pub fn moved(&mut self, to: u64, from: u64, len: u64) {
        self.dissolve(to, len);
        self.dissolve(from, len);
        self.memory.copy(to, from, len);
        self.objects.touched(to, len);
    }

    /// Converts regions that overlap a range back into individual bytes.
    pub fn dissolve(&mut self, address: u64, len: u64) {
        while let Some(region) = self.regions.take(address, len) {
            self.memory.pin(region.start, region.len, false);
            for i in 0..region.len {
                let index = self.constant(64, i.into());
                let term = self.world.pool.read(region.array, index);
                let term = Some(term).filter(|t| self.world.pool.as_constant(*t).is_none());
                self.memory.set(region.start + i, term.map(|term| TermByte { term, byte: 0 }));
            }
        }
    }

    /// Concretises every input-dependent byte of a range.
    pub fn concretise_range(&mut self, view: &View<'_>, address: u64, len: u64, reason: Reason) {
        self.dissolve(address, len);
        for (offset, piece) in self.memory.find(address, len) {
            let term = self.piece(piece);
            let mut value = [0];
            view.memory.peek(address.wrapping_add(offset), &mut value);
            self.concretise(view, term, value[0].into(), reason);
            self.memory.set(address.wrapping_add(offset), None);
        }
    }
}

impl<W: StepObserver> Observer for Engine<'_, W> {
    fn step(&mut self, view: &View<'_>, effect: Effect) {
        let op = view.code.ops[view.index as usize];
        let touches = self.top(view).is_some_and(|f| f.live > 0 && f.touches(op));
        let interesting = touches
            || match effect {
                Effect::None => matches!(op, Op::Call { .. }),
                Effect::Load { address, len }
                | Effect::Store { address, len }
                | Effect::Update { address, len, .. } => self.memory.may_have_terms(address, len.into()),
                Effect::Copy { .. } | Effect::Fill { .. } => true,
            };
        if interesting {
            self.instruction(view, effect);
        }
        if self.top(view).is_some_and(|f| f.live > 0) {
            self.save_overwritten(view, view.index + 1);
        }
        if W::STEPS {
            self.observer.step(&mut SymbolicState {
                world: self.world,
                frames: &self.frames,
                memory: &self.memory,
                regions: &self.regions,
                view,
            });
        }
    }

    fn edge(&mut self, view: &View<'_>, from: u32, to: u32) {
        if self.top(view).is_some_and(|f| f.live > 0) {
            match view.code.ops[view.index as usize] {
                Op::Jump { edge } => self.moves(view, edge),
                Op::Branch { then, otherwise, .. } => {
                    let taken = view.code.edges[then as usize].to == to;
                    self.moves(view, if taken { then } else { otherwise });
                }
                _ => self.phis(view, from, to),
            }
            if let Some(block) = view.function().blocks.get(to as usize) {
                self.save_overwritten(view, block.start);
            }
        }
    }

    fn enter(&mut self, view: &View<'_>, outside: bool) {
        if outside {
            self.finish_transfers(view.memory, None);
        }
        self.entered(view, outside);
        if W::STEPS {
            self.observer.enter(&mut SymbolicState {
                world: self.world,
                frames: &self.frames,
                memory: &self.memory,
                regions: &self.regions,
                view,
            });
        }
    }

    fn returned(&mut self, view: &View<'_>) {
        self.call_returned(view);
        self.save_overwritten(view, view.index + 1);
    }

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.library_call(view, call);
        self.save_overwritten(view, view.index + 1);
    }

    fn landed(&mut self, view: &View<'_>) {
        if let Some((dst, slots)) = view.inst().defines() {
            self.forget(view, dst, slots);
        }
        self.arguments.clear();
        self.by_value.clear();
        self.returning.clear();
    }

    fn variadic(&mut self, view: &View<'_>, argument: u32, address: u64, len: u64) {
        self.variadic_stored(view, argument, address, len);
    }

    fn event(&mut self, moment: &EventContext<'_>, _: Position, event: &Event<'_>) {
        match *event {
            Event::Patch { address, bytes } => {
                let len = bytes.len() as u64;
                if self.any(address, len) {
                    self.dissolve(address, len);
                    let old = self.memory.find(address, len);
                    self.replaced.pieces.extend(old.into_iter().map(|(i, p)| (address + i, p)));
                }
                self.replaced.ranges.push((address, len));
                self.overwritten(address, len);
            }
            Event::Zeroed { address, length } => self.overwritten(address, length),
            Event::Moved { from, to, length } => self.moved(to, from, length),
            Event::Source { kind, fd, name } => {
                self.sources.define(moment.part, kind, fd, name, self.directory);
            }
            Event::Io { out, source, offset, address, length } => {
                if let Some((origin, skip)) = self.sources.find(moment.part, source).cloned() {
                    self.open.push(Transfer { out, origin: Some(origin), skip, offset, address, length });
                } else {
                    self.open.push(Transfer { out, origin: None, skip: 0, offset, address, length });
                }
                if moment.view.is_none() {
                    self.finish_transfers(moment.memory, None);
                }
            }
            Event::ThreadLocal { symbol, address } => {
                let symbols = moment.view.map(|v| &v.module().symbols);
                if let Some(symbol) = symbols.and_then(|s| s.get(symbol as usize)) {
                    self.thread_local(&symbol.name, address);
                }
            }
            _ => {}
        }
    }

    fn miss(&mut self, _: &View<'_>, address: u64, len: u32, _: Position, _: Option<u32>) {
        self.overwritten(address, len.into());
    }
}

/// Removes extensions from a term and returns it if it is a truth value (one bit wide).
fn truth_value(pool: &Pool, mut term: Term) -> Option<Term> {
    while let Node::Zext(inside) | Node::Sext(inside) = pool.node(term) {
        term = inside;
    }
    (pool.width(term) == 1).then_some(term)
}

/// Width of a value's type in bits.
pub(crate) fn bits(ty: Ty) -> u16 {
    ty.bits()
}
