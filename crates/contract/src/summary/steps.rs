//! The effect of one instruction on a path: values, memory, and possible terminations.

use super::{End, Frame, MAX_COPY, MAX_STEPS, Place, State, Supported, Variable, Walk, integer};
use program::inst::{BinOp, CastOp, Inst, Operand, Ty};
use solver::{Binary, Term};
use symbolic::semantics;

impl<'m> Walk<'_, 'm> {
    /// Runs a path to its end, or to a fork.
    pub(super) fn run(&mut self, mut state: State<'m>) -> Supported<()> {
        loop {
            self.steps += 1;
            if self.steps > MAX_STEPS {
                return Err("it runs for too long");
            }
            let Some(frame) = state.frames.last().cloned() else { return Ok(()) };
            let inst = frame.function.code.get(frame.at).ok_or("it ends nowhere")?;
            let pool_term = match inst {
                Inst::Tick => return Err("it has a loop"),
                Inst::Fence => None,
                Inst::Bin { op, bits, dst, a, b } => {
                    let bits = integer(Ty::Int(*bits))?;
                    let (a, b) = (self.term(&frame, *a, bits)?, self.term(&frame, *b, bits)?);
                    if matches!(op, BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem) {
                        let Some(next) = self.assume_no_trap(state, *op, a, b, bits) else { return Ok(()) };
                        state = next;
                    }
                    let term = semantics::binary(&mut self.shared.pool, *op, a, b);
                    // Pointer arithmetic is also done with integer instructions.
                    if let (Some(place), Some(by)) = (self.shared.place(a), self.shared.pool.as_constant(b))
                        && *op == BinOp::Add
                    {
                        self.shared.shifted(a, place, by as i64);
                    }
                    Some((*dst, term))
                }
                Inst::ICmp { pred, bits, dst, a, b } => {
                    let bits = integer(Ty::Int(*bits))?;
                    let (a, b) = (self.term(&frame, *a, bits)?, self.term(&frame, *b, bits)?);
                    Some((*dst, semantics::compare(&mut self.shared.pool, *pred, a, b)))
                }
                Inst::Cast { op, from, to, dst, a } => {
                    let (from, to) = (integer(*from)?, integer(*to)?);
                    let a = self.term(&frame, *a, from)?;
                    let is_integer = !matches!(op, CastOp::UiToFp | CastOp::SiToFp);
                    let term = semantics::integer_cast(&mut self.shared.pool, *op, a, to);
                    Some((*dst, term.filter(|_| is_integer).ok_or("it computes with floating point")?))
                }
                Inst::Pure { op, ty, dst, args } => {
                    let bits = integer(*ty)?;
                    let mut terms = Vec::new();
                    for arg in args {
                        terms.push(self.term(&frame, *arg, bits)?);
                    }
                    let result = semantics::intrinsic(&mut self.shared.pool, *op, &terms)
                        .ok_or("it computes with floating point")?;
                    if let Some(overflow) = result.overflow {
                        self.put(&mut state, *dst + 1, overflow);
                    }
                    Some((*dst, result.value))
                }
                Inst::Select { slots: 1, dst, cond, a, b } => {
                    let cond = self.term(&frame, *cond, 1)?;
                    let (a, b) = (self.word(&frame, *a)?, self.word(&frame, *b)?);
                    Some((*dst, self.shared.pool.ite(cond, a, b)))
                }
                Inst::Copy { dst, a } => Some((*dst, self.word(&frame, *a)?)),
                Inst::Address { dst, base, index, index_bits, scale, offset } => {
                    let base = self.word(&frame, *base)?;
                    let index = self.term(&frame, *index, (*index_bits).into())?;
                    let term = semantics::address(&mut self.shared.pool, base, index, *scale, *offset);
                    let constant = self.shared.pool.sext(index, 64);
                    if let (Some(place), Some(index)) =
                        (self.shared.place(base), self.shared.pool.as_constant(constant))
                    {
                        let by = (index as i64).wrapping_mul(*scale).wrapping_add(*offset);
                        self.shared.shifted(base, place, by);
                    }
                    Some((*dst, term))
                }
                Inst::Frame { dst, offset } => {
                    let base = self.shared.variable(Variable::Address(frame.region), 64);
                    let term = self.shared.shifted(base, (frame.region, 0), offset.cast_signed());
                    Some((*dst, term))
                }
                Inst::Load { dst, addr, ty } => {
                    let bits = integer(*ty)?;
                    let address = self.word(&frame, *addr)?;
                    let (next, place) = self.follow(state, address)?;
                    let Some(next) = next else { return Ok(()) };
                    state = next;
                    let term = self.shared.load(Some(&state.memory), place, ty.bytes())?;
                    Some((*dst, semantics::fit(&mut self.shared.pool, term, bits)))
                }
                Inst::Store { addr, value, ty } => {
                    let bits = integer(*ty)?;
                    let address = self.word(&frame, *addr)?;
                    let value = self.term(&frame, *value, bits)?;
                    let (next, place) = self.follow(state, address)?;
                    let Some(next) = next else { return Ok(()) };
                    state = next;
                    self.store(&mut state, place, value, ty.bytes());
                    None
                }
                Inst::MemSet { to, byte, len } => {
                    let (to, byte) = (self.word(&frame, *to)?, self.term(&frame, *byte, 8)?);
                    let len = self.length(&frame, *len)?;
                    let (next, place) = self.follow(state, to)?;
                    let Some(next) = next else { return Ok(()) };
                    state = next;
                    state.memory.extend((0..len).map(|n| ((place.0, place.1 + n), byte)));
                    None
                }
                Inst::MemCopy { to, from, len } => {
                    let (to, from) = (self.word(&frame, *to)?, self.word(&frame, *from)?);
                    let len = self.length(&frame, *len)?;
                    let (next, source) = self.follow(state, from)?;
                    let Some(next) = next else { return Ok(()) };
                    let (next, target) = self.follow(next, to)?;
                    let Some(next) = next else { return Ok(()) };
                    state = next;
                    let mut bytes = Vec::new();
                    for n in 0..len {
                        bytes.push(self.shared.load(Some(&state.memory), (source.0, source.1 + n), 1)?);
                    }
                    let places = (0..len).map(|n| (target.0, target.1 + n));
                    state.memory.extend(places.zip(bytes));
                    None
                }
                Inst::Call(call) => {
                    let Some(next) = self.call(state, &frame, call)? else { return Ok(()) };
                    state = next;
                    continue;
                }
                Inst::Jump { to } => {
                    self.jump(&mut state, *to)?;
                    continue;
                }
                Inst::Branch { cond, then, otherwise } => {
                    let cond = self.term(&frame, *cond, 1)?;
                    let opposite = self.shared.pool.not(cond);
                    return self.fork(state, &[(cond, *then), (opposite, *otherwise)]);
                }
                Inst::Switch { bits, value, default, cases } => {
                    let bits = integer(Ty::Int(*bits))?;
                    let value = self.term(&frame, *value, bits)?;
                    let mut successors = Vec::new();
                    let mut none = self.shared.pool.constant(1, 1);
                    for (case, to) in cases {
                        let case = self.shared.pool.constant(bits, (*case).into());
                        let is = self.shared.pool.binary(Binary::Eq, value, case);
                        let is_not = self.shared.pool.not(is);
                        none = self.shared.pool.and(none, is_not);
                        successors.push((is, *to));
                    }
                    successors.push((none, *default));
                    return self.fork(state, &successors);
                }
                Inst::Return { value, ret } => {
                    let mut results = Vec::new();
                    if let Some(value) = value {
                        let [ty] = ret.as_slice() else { return Err("it returns a struct") };
                        results.push(self.term(&frame, *value, integer(*ty)?)?);
                    }
                    state.frames.pop();
                    if state.frames.is_empty() {
                        self.end(state, End::Returned(results));
                        return Ok(());
                    }
                    if let Some(term) = results.first() {
                        self.put(&mut state, frame.dst, *term);
                    }
                    self.advance(&mut state);
                    continue;
                }
                Inst::Unreachable => return Ok(()),
                Inst::Float { .. } | Inst::FCmp { .. } => return Err("it computes with floating point"),
                _ => return Err("it does something that is not followed"),
            };
            if let Some((dst, term)) = pool_term {
                self.put(&mut state, dst, term);
            }
            self.advance(&mut state);
        }
    }

    /// The target of an address. The path ends if the address may be `NULL`.
    fn follow(&mut self, state: State<'m>, address: Term) -> Supported<(Option<State<'m>>, Place)> {
        let place = self.shared.place(address).ok_or("it uses an address that hangs from a value")?;
        let Some(pointer) = self.shared.pointers.get(&place.0).copied() else {
            return Ok((Some(state), place));
        };
        self.shared.followed.insert(place.0);
        let zero = self.shared.pool.constant(64, 0);
        let is_null = self.shared.pool.binary(Binary::Eq, pointer, zero);
        Ok((self.unless(state, is_null, End::Signal(11)), place))
    }

    fn length(&mut self, frame: &Frame<'m>, operand: Operand) -> Supported<i64> {
        let term = self.word(frame, operand)?;
        let known = self.shared.pool.as_constant(term).filter(|len| *len <= MAX_COPY.into());
        known.map(|len| len as i64).ok_or("it copies as many bytes as a value says")
    }

    fn store(&mut self, state: &mut State<'m>, place: Place, value: Term, len: u32) {
        let value = semantics::fit(&mut self.shared.pool, value, 8 * len);
        for n in 0..len {
            let byte = self.shared.pool.extract(value, 8 * n, 8);
            state.memory.insert((place.0, place.1 + i64::from(n)), byte);
        }
    }

    /// The state in which a division does not trap.
    fn assume_no_trap(
        &mut self,
        state: State<'m>,
        op: BinOp,
        a: Term,
        b: Term,
        bits: u32,
    ) -> Option<State<'m>> {
        let pool = &mut self.shared.pool;
        let zero = pool.constant(bits, 0);
        let is_zero = pool.binary(Binary::Eq, b, zero);
        let state = self.unless(state, is_zero, End::Signal(8))?;
        if !matches!(op, BinOp::SDiv | BinOp::SRem) {
            return Some(state);
        }
        let pool = &mut self.shared.pool;
        let (least, minus) =
            (pool.constant(bits, 1 << (bits - 1)), pool.constant(bits, u128::MAX >> (128 - bits)));
        let is_least = pool.binary(Binary::Eq, a, least);
        let is_minus = pool.binary(Binary::Eq, b, minus);
        let overflows = pool.and(is_least, is_minus);
        self.unless(state, overflows, End::Signal(8))
    }
}
