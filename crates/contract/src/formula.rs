//! Translates predicates to formulas over the states of a pair of paths.
//!
//! The forms of contracts have the same meaning as for values ([`crate::moment`]), the operators the same as
//! in C: operands are promoted and converted to a common type. Integers, pointers and members through
//! pointers are supported. Anything else makes the function unsupported.

use crate::summary::{End, Path, Place, Region, Shared, Supported, Variable};
use crate::version::{ObservedFunction, Version};
use explain::align::Side;
use expression::ast::{Binary as Operator, Expr, ExprKind, Expression, Unary as Sign};
use expression::types::{Shape, Type};
use solver::{Binary, Term};
use symbolic::semantics;

const UNSUPPORTED: &str = "its contract says what is not followed";

/// The version and the end of the call that an expression refers to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub side: Side,
    pub after: bool,
}

pub(crate) struct Formulas<'f, 'm> {
    pub shared: &'f mut Shared,
    pub versions: [&'f Version<'m>; 2],
    pub functions: [&'f ObservedFunction<'m>; 2],
    pub paths: [&'f Path; 2],
}

/// A value with its signedness.
#[derive(Clone)]
struct Value<'m> {
    term: Term,
    signed: bool,
    ty: Option<Type<'m>>,
}

impl<'m> Formulas<'_, 'm> {
    /// The condition under which a predicate holds.
    pub fn truth(&mut self, expression: &Expression, moment: Moment) -> Supported<Term> {
        let value = self.value(&expression.root, moment)?;
        Ok(self.is_true(value.term))
    }

    fn is_true(&mut self, term: Term) -> Term {
        let width = self.shared.pool.width(term);
        let zero = self.shared.pool.constant(width, 0);
        let is_zero = self.shared.pool.binary(Binary::Eq, term, zero);
        self.shared.pool.not(is_zero)
    }

    fn int(&mut self, truth: Term) -> Value<'m> {
        Value { term: semantics::fit(&mut self.shared.pool, truth, 32), signed: true, ty: None }
    }

    fn side(&self, moment: Moment) -> usize {
        usize::from(moment.side == Side::Bad)
    }

    fn value(&mut self, e: &Expr, moment: Moment) -> Supported<Value<'m>> {
        match &e.kind {
            ExprKind::Integer { value, bytes, signed } => {
                let term =
                    self.shared.pool.constant(8 * u32::from(*bytes), value.cast_unsigned() & mask(*bytes));
                Ok(Value { term, signed: *signed, ty: None })
            }
            ExprKind::Null => Ok(Value { term: self.shared.pool.constant(64, 0), signed: false, ty: None }),
            ExprKind::Name(name) if name == "$result" => self.result(moment),
            ExprKind::Name(name) => {
                let n = self.side(moment);
                let parameter = self.functions[n].parameters.iter().find(|p| p.name == *name);
                let Some(parameter) = parameter else {
                    let (place, ty) = self.place(e, moment)?;
                    return self.load(place, ty, moment);
                };
                let ty = parameter.ty.clone();
                let known =
                    self.shared.variables.iter().any(|(v, _)| *v == Variable::Parameter(name.clone()));
                if !known {
                    return Err(UNSUPPORTED);
                }
                let term = self.shared.variable(Variable::Parameter(name.clone()), 0);
                Ok(Value { term, signed: is_signed(&ty), ty: Some(ty) })
            }
            ExprKind::Unary(Sign::Dereference, _) | ExprKind::Member { .. } => {
                let (place, ty) = self.place(e, moment)?;
                self.load(place, ty, moment)
            }
            ExprKind::Unary(sign, a) => self.unary(*sign, a, moment),
            ExprKind::Binary(operator, a, b) => self.binary(*operator, a, b, moment),
            ExprKind::Conditional(three) => {
                let cond = self.value(&three[0], moment)?;
                let cond = self.is_true(cond.term);
                let (a, b) = (self.value(&three[1], moment)?, self.value(&three[2], moment)?);
                let (a, b, signed) = self.common(a, b);
                Ok(Value { term: self.shared.pool.ite(cond, a, b), signed, ty: None })
            }
            ExprKind::Call(f, arguments) => match (f.name(), arguments.as_slice()) {
                (Some("$old"), [part]) => self.value(part, Moment { after: false, ..moment }),
                (Some("$prev"), [part]) => self.value(part, Moment { side: Side::Good, ..moment }),
                _ => Err(UNSUPPORTED),
            },
            _ => Err(UNSUPPORTED),
        }
    }

    fn result(&mut self, moment: Moment) -> Supported<Value<'m>> {
        let n = self.side(moment);
        let ty = self.functions[n].result().ok_or(UNSUPPORTED)?;
        match &self.paths[n].end {
            End::Returned(results) if moment.after => {
                let term = *results.first().ok_or(UNSUPPORTED)?;
                Ok(Value { term, signed: is_signed(&ty), ty: Some(ty) })
            }
            _ => Err("its contract speaks of a result that is not there"),
        }
    }

    fn load(&mut self, place: Place, ty: Type<'m>, moment: Moment) -> Supported<Value<'m>> {
        let is_scalar = matches!(
            ty.shape(),
            Shape::Integer { .. } | Shape::Character { .. } | Shape::Pointer(_) | Shape::Bool
        );
        if !is_scalar || ty.size() > 8 {
            return Err(UNSUPPORTED);
        }
        let n = self.side(moment);
        let written = moment.after.then_some(&self.paths[n].written);
        let term = self.shared.load(written, place, ty.size() as u32)?;
        Ok(Value { term, signed: is_signed(&ty), ty: Some(ty) })
    }

    /// A location in memory, and its type.
    fn place(&mut self, e: &Expr, moment: Moment) -> Supported<(Place, Type<'m>)> {
        let n = self.side(moment);
        match &e.kind {
            ExprKind::Name(name) => {
                let version = self.versions[n];
                let inner = format!("{}.{name}", self.functions[n].function.name);
                let global = version.global(&inner).or_else(|| version.global(name)).ok_or(UNSUPPORTED)?;
                let global = &version.globals[global];
                let region = self.shared.region(Region::Global(global.name.clone()));
                Ok(((region, 0), global.ty.clone()))
            }
            ExprKind::Unary(Sign::Dereference, pointer) => self.behind(pointer, moment),
            ExprKind::Member { of, name, arrow, .. } => {
                let (place, ty) = if *arrow { self.behind(of, moment)? } else { self.place(of, moment)? };
                let ty = ty.completed_in(|| self.versions[n].modules.clone());
                let Shape::Record(module, members) = ty.shape() else { return Err(UNSUPPORTED) };
                let member = members.iter().find(|m| m.name == *name).ok_or(UNSUPPORTED)?;
                let of = Type::of(module, member.ty);
                if member.bit_offset % 8 != 0 || member.bits != 8 * of.size() && member.bits != 0 {
                    return Err(UNSUPPORTED);
                }
                Ok(((place.0, place.1 + (member.bit_offset / 8).cast_signed()), of))
            }
            ExprKind::Call(f, arguments) => match (f.name(), arguments.as_slice()) {
                (Some("$old"), [part]) => self.place(part, Moment { after: false, ..moment }),
                (Some("$prev"), [part]) => self.place(part, Moment { side: Side::Good, ..moment }),
                _ => Err(UNSUPPORTED),
            },
            _ => Err(UNSUPPORTED),
        }
    }

    fn behind(&mut self, pointer: &Expr, moment: Moment) -> Supported<(Place, Type<'m>)> {
        let value = self.value(pointer, moment)?;
        let Some(Shape::Pointer(to)) = value.ty.map(|ty| ty.shape()) else { return Err(UNSUPPORTED) };
        Ok((self.shared.place(value.term).ok_or(UNSUPPORTED)?, to))
    }

    fn unary(&mut self, sign: Sign, a: &Expr, moment: Moment) -> Supported<Value<'m>> {
        let a = self.value(a, moment)?;
        if sign == Sign::Not {
            let is = self.is_true(a.term);
            let not = self.shared.pool.not(is);
            return Ok(self.int(not));
        }
        let signed = a.signed || self.shared.pool.width(a.term) < 32;
        let term = self.promoted(&a, 32);
        let width = self.shared.pool.width(term);
        let term = match sign {
            Sign::Plus => term,
            Sign::Minus => {
                let zero = self.shared.pool.constant(width, 0);
                self.shared.pool.binary(Binary::Sub, zero, term)
            }
            Sign::Complement => {
                let ones = self.shared.pool.constant(width, u128::MAX >> (128 - width));
                self.shared.pool.binary(Binary::Xor, term, ones)
            }
            _ => return Err(UNSUPPORTED),
        };
        Ok(Value { term, signed, ty: None })
    }

    /// Extended to at least this width.
    fn promoted(&mut self, value: &Value<'m>, width: u32) -> Term {
        let pool = &mut self.shared.pool;
        match pool.width(value.term) {
            own if own >= width => value.term,
            _ if value.signed => pool.sext(value.term, width),
            _ => pool.zext(value.term, width),
        }
    }

    /// Both operands in C's common type, and whether that is signed.
    fn common(&mut self, a: Value<'m>, b: Value<'m>) -> (Term, Term, bool) {
        let widths = (self.shared.pool.width(a.term), self.shared.pool.width(b.term));
        let width = widths.0.max(widths.1).max(32);
        let is_unsigned = |value: &Value<'m>, own: u32| !value.signed && own == width;
        let signed = !(is_unsigned(&a, widths.0) || is_unsigned(&b, widths.1));
        (self.promoted(&a, width), self.promoted(&b, width), signed)
    }

    fn binary(&mut self, operator: Operator, a: &Expr, b: &Expr, moment: Moment) -> Supported<Value<'m>> {
        let (a, b) = (self.value(a, moment)?, self.value(b, moment)?);
        if let Operator::And | Operator::Or = operator {
            let (a, b) = (self.is_true(a.term), self.is_true(b.term));
            let pool = &mut self.shared.pool;
            let term = if operator == Operator::And { pool.and(a, b) } else { pool.or(a, b) };
            return Ok(self.int(term));
        }
        let is_pointer =
            |value: &Value<'m>| matches!(value.ty.as_ref().map(Type::shape), Some(Shape::Pointer(_)));
        // Both versions begin with the same memory, so equal pointers are equal numbers. Pointer differences
        // and ordering are not supported.
        let is_equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        if (is_pointer(&a) || is_pointer(&b)) && !is_equality && !self.is_null(&a) && !self.is_null(&b) {
            return Err(UNSUPPORTED);
        }
        let (a, b, signed) = self.common(a, b);
        let pool = &mut self.shared.pool;
        let (less, less_or_equal) =
            if signed { (Binary::Slt, Binary::Sle) } else { (Binary::Ult, Binary::Ule) };
        let truth = match operator {
            Operator::Equal => pool.binary(Binary::Eq, a, b),
            Operator::NotEqual => {
                let same = pool.binary(Binary::Eq, a, b);
                pool.not(same)
            }
            Operator::Less => pool.binary(less, a, b),
            Operator::LessOrEqual => pool.binary(less_or_equal, a, b),
            Operator::Greater => pool.binary(less, b, a),
            Operator::GreaterOrEqual => pool.binary(less_or_equal, b, a),
            _ => {
                let operator = match operator {
                    Operator::Add => Binary::Add,
                    Operator::Subtract => Binary::Sub,
                    Operator::Multiply => Binary::Mul,
                    Operator::BitAnd => Binary::And,
                    Operator::BitOr => Binary::Or,
                    Operator::BitXor => Binary::Xor,
                    _ => return Err(UNSUPPORTED),
                };
                return Ok(Value { term: pool.binary(operator, a, b), signed, ty: None });
            }
        };
        Ok(self.int(truth))
    }

    fn is_null(&self, value: &Value<'m>) -> bool {
        self.shared.pool.as_constant(value.term) == Some(0)
    }
}

fn mask(bytes: u8) -> u128 {
    u128::MAX >> (128 - 8 * u32::from(bytes.clamp(1, 16)))
}

fn is_signed(ty: &Type<'_>) -> bool {
    matches!(ty.shape(), Shape::Integer { signed: true, .. } | Shape::Character { signed: true })
}
