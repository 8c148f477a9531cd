//! Computes the effect of a function without loops on any state: a formula for each of its paths.
//!
//! The model's instructions are executed over terms, and the state is forked at every branch with two
//! feasible successors. The inputs of the function (parameters, global variables, targets of pointers) are
//! variables, shared by both versions: identified by the name of the parameter, and by the position of a
//! byte, such as four bytes after the target of the parameter `p`. Calls of functions with a model are
//! followed. Anything unsupported (a loop, an external call, a value-dependent address) makes the function
//! unsupported; it is never ignored.
//!
//! *Assumptions*: different pointers have disjoint targets, and pointers that are followed are `NULL` or
//! valid.

mod regions;
mod steps;

use crate::version::{ObservedFunction, Version};
use program::inst::{ArgTy, BlockId, Operand, Ty};
use program::model::Function;
pub(crate) use regions::{Place, Region, Shared, Variable};
use rustc_hash::FxHashMap;
use solver::Term;
use symbolic::semantics;

/// Maximum number of paths of a function.
const MAX_PATHS: usize = 128;
/// Maximum number of instructions of all paths.
const MAX_STEPS: usize = 50_000;
/// Maximum call depth.
const MAX_DEPTH: usize = 12;
/// Maximum number of bytes of one copy.
const MAX_COPY: u64 = 512;

/// The result of an analysis step, or why the function is unsupported.
pub(crate) type Supported<T> = Result<T, &'static str>;

/// How a path terminates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// With the slots of the result.
    Returned(Vec<Term>),
    Signal(u32),
    Abort,
    Exit(u32),
}

/// One path: its condition, and its effect.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub conditions: Vec<Term>,
    pub end: End,
    /// Bytes that were written outside of frames.
    pub written: FxHashMap<Place, Term>,
}

/// An activation.
#[derive(Clone)]
struct Frame<'m> {
    module: u32,
    function: &'m Function,
    slots: Vec<Option<Term>>,
    at: usize,
    block: BlockId,
    region: usize,
    /// The caller's register for the result.
    dst: u32,
}

#[derive(Clone)]
struct State<'m> {
    frames: Vec<Frame<'m>>,
    conditions: Vec<Term>,
    memory: FxHashMap<Place, Term>,
}

struct Walk<'w, 'm> {
    version: &'w Version<'m>,
    shared: &'w mut Shared,
    todo: Vec<State<'m>>,
    paths: Vec<Path>,
    steps: usize,
}

/// The paths of a function.
pub(crate) fn paths<'m>(
    version: &Version<'m>,
    watched: &ObservedFunction<'m>,
    shared: &mut Shared,
) -> Supported<Vec<Path>> {
    let mut walk = Walk { version, shared, todo: Vec::new(), paths: Vec::new(), steps: 0 };
    let mut arguments = Vec::new();
    if watched.parameters.len() != watched.function.params.len() {
        return Err("its parameters are not passed one by one");
    }
    for (parameter, passed) in watched.parameters.iter().zip(&watched.function.params) {
        let ArgTy::Value(ty) = passed.ty else { return Err("a struct is passed by value") };
        let bits = integer(ty)?;
        if parameter.ty.size() != u64::from(ty.bytes()) {
            return Err("its parameters are not passed one by one");
        }
        let term = walk.shared.variable(Variable::Parameter(parameter.name.clone()), bits);
        if walk.shared.pool.width(term) != bits {
            return Err("a parameter has another size");
        }
        if ty == Ty::Ptr {
            walk.shared.pointer(term, Region::Parameter(parameter.name.clone()));
        }
        arguments.push(term);
    }
    let mut state = State { frames: Vec::new(), conditions: Vec::new(), memory: FxHashMap::default() };
    walk.enter(&mut state, watched.module, watched.function, &arguments, 0)?;
    walk.todo.push(state);
    while let Some(state) = walk.todo.pop() {
        walk.run(state)?;
        if walk.paths.len() + walk.todo.len() > MAX_PATHS {
            return Err("it has too many paths");
        }
    }
    Ok(walk.paths)
}

/// The width of a type that is not floating-point and fits into a slot.
fn integer(ty: Ty) -> Supported<u32> {
    match ty {
        Ty::Int(bits) if bits <= 64 => Ok(bits.into()),
        Ty::Ptr => Ok(64),
        Ty::Int(_) => Err("it computes with more than 64 bits"),
        Ty::Float(_) => Err("it computes with floating point"),
    }
}

impl<'m> Walk<'_, 'm> {
    fn enter(
        &mut self,
        state: &mut State<'m>,
        module: u32,
        function: &'m Function,
        arguments: &[Term],
        dst: u32,
    ) -> Supported<()> {
        if state.frames.len() >= MAX_DEPTH {
            return Err("it calls too deep");
        }
        if function.variadic || function.params.len() != arguments.len() {
            return Err("it calls with other arguments than the function has");
        }
        self.shared.frames += 1;
        let region = self.shared.region(Region::Frame(self.shared.frames));
        let mut slots = vec![None; function.slots as usize];
        for (parameter, term) in function.params.iter().zip(arguments) {
            if !matches!(parameter.ty, ArgTy::Value(_)) {
                return Err("a struct is passed by value");
            }
            slots[parameter.reg as usize] = Some(semantics::fit(&mut self.shared.pool, *term, 64));
        }
        state.frames.push(Frame { module, function, slots, at: 0, block: 0, region, dst });
        Ok(())
    }

    fn end(&mut self, state: State<'_>, end: End) {
        let shared = &self.shared;
        let outside = |place: &Place| !matches!(shared.of(place.0), Region::Frame(_));
        let written = state.memory.into_iter().filter(|(place, _)| outside(place)).collect();
        self.paths.push(Path { conditions: state.conditions, end, written });
    }

    /// The state with an additional condition; none if they contradict each other.
    fn assume(&mut self, mut state: State<'m>, condition: Term) -> Option<State<'m>> {
        match self.shared.pool.as_constant(condition) {
            Some(0) => None,
            Some(_) => Some(state),
            None => {
                let opposite = self.shared.pool.not(condition);
                if state.conditions.contains(&opposite) {
                    return None;
                }
                if !state.conditions.contains(&condition) {
                    state.conditions.push(condition);
                }
                Some(state)
            }
        }
    }

    /// Ends the path where the condition holds, and continues it where it does not.
    fn unless(&mut self, state: State<'m>, condition: Term, end: End) -> Option<State<'m>> {
        if let Some(state) = self.assume(state.clone(), condition) {
            self.end(state, end);
        }
        let opposite = self.shared.pool.not(condition);
        self.assume(state, opposite)
    }

    /// A slot, 64 bits wide.
    fn word(&mut self, frame: &Frame<'m>, operand: Operand) -> Supported<Term> {
        match operand {
            Operand::Reg(r) => {
                frame.slots.get(r as usize).copied().flatten().ok_or("it uses a value that is not known")
            }
            Operand::Const(value) => Ok(self.shared.pool.constant(64, value.into())),
            Operand::Symbol { symbol, offset } => {
                let address = self.version.image.symbol(frame.module, symbol);
                let number = self.version.global_at(address);
                let number = number.ok_or("it uses the address of something that has no name")?;
                let global = &self.version.globals[number];
                if self.version.global(&global.name) != Some(number) {
                    return Err("several variables have the name of one that it uses");
                }
                let inside = address.wrapping_sub(global.address).cast_signed();
                Ok(self.shared.address(Region::Global(global.name.clone()), inside + offset))
            }
        }
    }

    fn term(&mut self, frame: &Frame<'m>, operand: Operand, bits: u32) -> Supported<Term> {
        let word = self.word(frame, operand)?;
        Ok(semantics::fit(&mut self.shared.pool, word, bits))
    }

    fn advance(&self, state: &mut State<'m>) {
        if let Some(frame) = state.frames.last_mut() {
            frame.at += 1;
        }
    }

    fn put(&mut self, state: &mut State<'m>, dst: u32, term: Term) {
        let word = semantics::fit(&mut self.shared.pool, term, 64);
        if let Some(slot) = state.frames.last_mut().and_then(|frame| frame.slots.get_mut(dst as usize)) {
            *slot = Some(word);
        }
    }

    fn fork(&mut self, state: State<'m>, successors: &[(Term, BlockId)]) -> Supported<()> {
        for (condition, to) in successors {
            if let Some(mut next) = self.assume(state.clone(), *condition) {
                self.jump(&mut next, *to)?;
                self.todo.push(next);
            }
        }
        Ok(())
    }

    fn jump(&mut self, state: &mut State<'m>, to: BlockId) -> Supported<()> {
        let Some(mut frame) = state.frames.pop() else { return Ok(()) };
        let block = frame.function.blocks.get(to as usize).ok_or("it jumps nowhere")?;
        let mut assigned = Vec::new();
        for phi in &block.phis {
            let from = phi.incoming.iter().find(|(from, _)| *from == frame.block);
            let (_, operand) = from.ok_or("it jumps nowhere")?;
            if phi.slots != 1 {
                return Err("it computes with more than 64 bits");
            }
            assigned.push((phi.dst, self.word(&frame, *operand).ok()));
        }
        for (dst, term) in assigned {
            frame.slots[dst as usize] = term;
        }
        (frame.block, frame.at) = (to, block.start as usize);
        state.frames.push(frame);
        Ok(())
    }

    /// Enters a function, or ends the path.
    fn call(
        &mut self,
        mut state: State<'m>,
        frame: &Frame<'m>,
        call: &'m program::inst::Call,
    ) -> Supported<Option<State<'m>>> {
        let Operand::Symbol { symbol, .. } = call.callee else { return Err("it calls through a pointer") };
        let model = self.version.image.module(frame.module);
        let name = model.symbols.get(symbol as usize).map_or("", |symbol| symbol.name.as_str());
        let address = self.version.image.symbol(frame.module, symbol);
        let found = self.version.function_at(address);
        let Some((module, function)) = found else {
            let end = match name {
                "abort" => End::Abort,
                "exit" | "_exit" => {
                    let arg = call.args.first().ok_or("it calls a function outside")?;
                    let status = self.term(frame, arg.value, 8)?;
                    let status = self.shared.pool.as_constant(status);
                    End::Exit(status.ok_or("it exits with a status that hangs from a value")? as u32)
                }
                _ => return Err("it calls a function outside"),
            };
            self.end(state, end);
            return Ok(None);
        };
        let mut arguments = Vec::new();
        for arg in &call.args {
            let ArgTy::Value(ty) = arg.ty else { return Err("a struct is passed by value") };
            arguments.push(self.term(frame, arg.value, integer(ty)?)?);
        }
        if call.ret.len() > 1 {
            return Err("a function that it calls returns a struct");
        }
        self.enter(&mut state, module, function, &arguments, call.dst)?;
        Ok(Some(state))
    }
}
