//! Evaluates an expression at a moment of a run, and collects the bytes that were read.

use crate::arithmetic::{self, Scalar, int};
use crate::ast::{Binary, Expr, ExprKind, Expression, Span, TypeName, Unary};
use crate::error::{Error, Kind};
use crate::place::{Base, Place};
use crate::scope::{Form, Home, Scope};
use crate::types::{self, Shape, Type};
use program::model::{Module, TypeKind};
use program::sequences::Sequence;

/// A typed value.
#[derive(Clone, Debug)]
pub struct Evaluated<'m> {
    /// The type; of a cast or an enumerator the type as written.
    pub ty: Type<'m>,
    /// The value in little-endian order; of an object larger than 64 KiB only the beginning.
    pub bytes: Vec<u8>,
    /// Whether each byte is known.
    pub known: Vec<bool>,
    /// The reads in evaluation order, each once.
    pub reads: Vec<Read>,
}

/// Bytes that the evaluation read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// Bytes of memory.
    Memory {
        /// The first byte.
        address: u64,
        /// Number of bytes.
        len: u64,
    },
    /// Bits of up to eight bytes: a bit-field.
    Bits {
        /// The first byte.
        address: u64,
        /// The bits that are read, of the eight bytes from `address` on; bit 0 is the lowest of the first
        /// byte.
        mask: u64,
    },
    /// Bytes of a variable in registers, identified by the scope's number.
    Variable {
        /// [`crate::scope::Variable::number`]; `u32::MAX` for a part of a form's value.
        number: u32,
        /// The first byte, from the beginning of the variable.
        offset: u64,
        /// Number of bytes.
        len: u64,
    },
}

impl Evaluated<'_> {
    /// The truth value in C; `None` for a value that is not scalar.
    #[must_use]
    pub fn truth(&self) -> Option<bool> {
        Scalar::of(&self.ty, &self.bytes).map(|s| s.is_true())
    }
}

/// Maximum size of the objects of strings, sequences and smart pointers themselves.
const MAX_OBJECT_HEADER: u64 = 64;
/// Larger values are read in part.
const MAX_BYTES: u64 = 1 << 16;

/// Evaluates an expression.
///
/// # Errors
/// If a name or an operand is invalid, or there is no value at this moment
/// ([`Error::depends_on_moment`]).
pub fn evaluate<'m>(expression: &Expression, scope: &dyn Scope<'m>) -> Result<Evaluated<'m>, Error> {
    evaluate_part(expression, &expression.root, scope)
}

/// Evaluates a node of an expression.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_part<'m>(
    expression: &Expression,
    root: &Expr,
    scope: &dyn Scope<'m>,
) -> Result<Evaluated<'m>, Error> {
    let mut evaluator = Evaluator { expression, scope, reads: Vec::new() };
    let (ty, bytes, known) = match evaluator.operand(root)? {
        Operand::Place(place) => {
            let ty = place.ty.completed(scope);
            if let (Shape::Function, Base::Memory(address)) = (ty.shape(), &place.base) {
                (ty.pointer_to(), address.to_le_bytes().to_vec(), vec![true; 8])
            } else {
                let place = Place { ty: ty.clone(), ..place };
                let (bytes, known) = evaluator.load(&place, &root.span)?;
                if !known.contains(&true) && !known.is_empty() {
                    return Err(evaluator.no_value(&root.span));
                }
                (ty, bytes, known)
            }
        }
        Operand::Value(scalar, ty) => {
            let bytes = scalar.bytes();
            let known = vec![true; bytes.len()];
            (ty, bytes, known)
        }
        Operand::Text => return Err(evaluator.at(&root.span, Kind::Unsupported("a string by itself"))),
    };
    Ok(Evaluated { ty, bytes, known, reads: evaluator.reads })
}

/// The result of a node.
enum Operand<'m> {
    Place(Place<'m>),
    /// A value and its display type.
    Value(Scalar<'m>, Type<'m>),
    /// A string literal.
    Text,
}

struct Evaluator<'e, 'm> {
    expression: &'e Expression,
    scope: &'e dyn Scope<'m>,
    reads: Vec<Read>,
}

impl<'m> Evaluator<'_, 'm> {
    fn at(&self, span: &Span, kind: Kind) -> Error {
        Error { kind, span: span.clone() }
    }

    fn no_value(&self, span: &Span) -> Error {
        self.at(span, Kind::NoValue(self.expression.part(span).to_owned()))
    }

    /// Evaluates a node; dereferences a reference.
    fn operand(&mut self, e: &Expr) -> Result<Operand<'m>, Error> {
        let operand = self.operand_before_deref(e)?;
        let Operand::Place(place) = &operand else { return Ok(operand) };
        let Some(ty) = place.ty.referenced_type() else { return Ok(operand) };
        let (bytes, known) = self.load(place, &e.span)?;
        match Scalar::of(&place.ty, &bytes) {
            Some(Scalar::Pointer(address, _)) if !known.contains(&false) => {
                Ok(Operand::Place(Place { ty, base: Base::Memory(address), bits: None, null: None }))
            }
            _ => Err(self.no_value(&e.span)),
        }
    }

    fn operand_before_deref(&mut self, e: &Expr) -> Result<Operand<'m>, Error> {
        let value = |scalar: Scalar<'m>| {
            let ty = scalar.ty();
            Operand::Value(scalar, ty)
        };
        Ok(match &e.kind {
            ExprKind::Name(name) => self.name(name, &e.span)?,
            ExprKind::Integer { value: v, bytes, signed } => {
                value(Scalar::Integer { value: *v, bytes: *bytes, signed: *signed })
            }
            ExprKind::Float { value: v, bytes } => value(Scalar::Float { value: *v, bytes: *bytes }),
            ExprKind::Text(_) => Operand::Text,
            ExprKind::Null => value(Scalar::Pointer(0, Type::Void)),
            ExprKind::Unary(Unary::Dereference, of) => Operand::Place(self.pointed(of, &e.span)?),
            ExprKind::Unary(Unary::AddressOf, of) => match self.operand(of)? {
                Operand::Place(Place { ty, base: Base::Memory(address), bits: None, .. }) => {
                    value(Scalar::Pointer(address, ty))
                }
                _ => return Err(self.at(&of.span, Kind::NoAddress)),
            },
            ExprKind::Unary(operator, of) => {
                let scalar = self.scalar(of)?;
                value(arithmetic::unary(*operator, scalar).map_err(|kind| self.at(&e.span, kind))?)
            }
            ExprKind::Binary(operator, a, b) => return self.binary(e, *operator, a, b),
            ExprKind::Conditional(parts) => {
                let [condition, then, otherwise] = parts.as_ref();
                let taken = if self.scalar(condition)?.is_true() { then } else { otherwise };
                return self.operand(taken);
            }
            ExprKind::Member { of, name, name_span, arrow } => {
                Operand::Place(self.member(of, name, name_span, *arrow)?)
            }
            ExprKind::Index(a, b) => Operand::Place(self.element(a, b, &e.span)?),
            ExprKind::Cast(ty, of) => return self.cast(ty, of),
            ExprKind::SizeOf(of) => value(size(self.type_of(of)?.completed(self.scope).size())),
            ExprKind::SizeOfType(name) => {
                value(size(types::named(self.scope, name)?.completed(self.scope).size()))
            }
            ExprKind::Call(function, arguments) => {
                match (self.parenthesised_type(function), &arguments[..]) {
                    (Some(ty), [of]) => return self.cast(&ty, of),
                    _ if let Some(name) = function.name()
                        && let Some(operand) = self.form(name, arguments, &e.span) =>
                    {
                        return operand;
                    }
                    _ => return Err(self.at(&e.span, Kind::Unsupported("a call"))),
                }
            }
        })
    }

    /// The type named in parentheses, if the name is a type and not a variable.
    fn parenthesised_type(&self, e: &Expr) -> Option<TypeName> {
        let name = e.name().filter(|n| e.parenthesised && self.scope.variable(n).is_none())?;
        types::base(self.scope, name)?;
        Some(TypeName { base: name.to_owned(), pointers: 0, span: e.span.clone() })
    }

    /// Evaluates a form that is not part of C.
    fn form(&self, name: &str, arguments: &[Expr], span: &Span) -> Option<Result<Operand<'m>, Error>> {
        if !name.starts_with('$') {
            return None;
        }
        let value = self.scope.form(&Form { expression: self.expression, name, arguments, span })?;
        Some(value.map(|Evaluated { ty, bytes, known, .. }| {
            let base = Base::Registers { number: u32::MAX, bytes, known, offset: 0 };
            Operand::Place(Place { ty, base, bits: None, null: None })
        }))
    }

    fn name(&mut self, name: &str, span: &Span) -> Result<Operand<'m>, Error> {
        if let Some(operand) = self.form(name, &[], span) {
            return operand;
        }
        if let Some(variable) = self.scope.variable(name) {
            let base = match variable.home {
                Home::Memory(address) => Base::Memory(address),
                Home::Registers { bytes, known } => {
                    Base::Registers { number: variable.number, bytes, known, offset: 0 }
                }
                Home::Nowhere => Base::Nowhere,
            };
            return Ok(Operand::Place(Place { ty: variable.ty, base, bits: None, null: None }));
        }
        if let Some(place) = self.implicit_this_member(name) {
            return Ok(Operand::Place(place));
        }
        let modules = std::iter::once(self.scope.module()).chain(self.scope.modules());
        for module in modules {
            for (index, ty) in module.types.iter().enumerate() {
                let TypeKind::Enum { values } = &ty.kind else { continue };
                if let Some((_, value)) = values.iter().find(|(n, _)| n == name) {
                    let bytes = if i32::try_from(*value).is_ok() { 4 } else { 8 };
                    let scalar = Scalar::Integer { value: (*value).into(), bytes, signed: true };
                    return Ok(Operand::Value(scalar, Type::Declared(module, index as u32)));
                }
            }
        }
        Err(self.at(span, Kind::NoName(name.to_owned())))
    }

    /// In a member function the members of the object need no `this->`.
    fn implicit_this_member(&mut self, name: &str) -> Option<Place<'m>> {
        let this = self.scope.variable("this")?;
        let Shape::Pointer(to) = this.ty.shape() else { return None };
        let to = to.completed(self.scope);
        let nowhere = Place { ty: to.clone(), base: Base::Nowhere, bits: None, null: None };
        nowhere.member(name)?;
        let address = match this.home {
            Home::Registers { bytes, known } if !known.contains(&false) => {
                u64::from_le_bytes(bytes.get(..8)?.try_into().ok()?)
            }
            Home::Memory(at) => {
                let mut bytes = [0; 8];
                self.scope.read(at, &mut bytes).then(|| u64::from_le_bytes(bytes))?
            }
            _ => return nowhere.member(name),
        };
        Place { base: Base::Memory(address), ..nowhere }.member(name)
    }

    /// Locates the content of a string, sequence or smart pointer of the standard library.
    fn sequence(&mut self, place: &Place<'m>, span: &Span) -> Result<Option<(&'m Module, Sequence)>, Error> {
        let ty = place.ty.completed(self.scope);
        if !matches!(ty.shape(), Shape::Record(..)) || ty.size() > MAX_OBJECT_HEADER {
            return Ok(None);
        }
        let (bytes, known) = self.load(&Place { ty: ty.clone(), ..place.clone() }, span)?;
        Ok(ty.sequence(&bytes).filter(|_| !known.contains(&false)))
    }

    /// The target of a pointer.
    fn pointed(&mut self, e: &Expr, span: &Span) -> Result<Place<'m>, Error> {
        let scalar = self.scalar(e)?;
        let Scalar::Pointer(address, to) = scalar else {
            return Err(self.at(&e.span, Kind::NotAPointer { ty: scalar.ty().name() }));
        };
        if let Shape::Void = to.shape() {
            return Err(self.at(span, Kind::Incomplete { ty: to.name() }));
        }
        let null = (address == 0).then(|| self.expression.part(&e.span).to_owned());
        Ok(Place { ty: to, base: Base::Memory(address), bits: None, null })
    }

    fn member(&mut self, of: &Expr, name: &str, span: &Span, arrow: bool) -> Result<Place<'m>, Error> {
        let place = if arrow {
            self.pointed(of, &of.span)?
        } else {
            match self.operand(of)? {
                Operand::Place(place) => place,
                Operand::Value(scalar, _) => {
                    return Err(self.at(&of.span, Kind::NotARecord { ty: scalar.ty().name() }));
                }
                Operand::Text => {
                    return Err(self.at(&of.span, Kind::NotARecord { ty: "a string".to_owned() }));
                }
            }
        };
        let ty = place.ty.completed(self.scope);
        match ty.shape() {
            Shape::Record(..) => {}
            Shape::Pointer(to) if matches!(to.shape(), Shape::Record(..)) && !arrow => {
                return Err(self.at(&of.span, Kind::Arrow { ty: ty.name() }));
            }
            _ => return Err(self.at(&of.span, Kind::NotARecord { ty: ty.name() })),
        }
        if ty.size() == 0 {
            return Err(self.at(&of.span, Kind::Incomplete { ty: ty.name() }));
        }
        let place = Place { ty: ty.clone(), ..place };
        place.member(name).ok_or_else(|| {
            let members = crate::place::members(&ty);
            self.at(span, Kind::NoMember { ty: ty.name(), name: name.to_owned(), members })
        })
    }

    fn element(&mut self, a: &Expr, b: &Expr, span: &Span) -> Result<Place<'m>, Error> {
        if let Operand::Place(place) = self.operand(a)? {
            // The only member of `std::array` is a built-in array.
            let array = place.member("_M_elems").unwrap_or_else(|| place.clone());
            if let Shape::Array(of, _) = array.ty.shape() {
                let offset = self.index(b)?.wrapping_mul(of.size());
                return Ok(array.part(offset, of));
            }
            let (base, len, of) = match self.sequence(&place, &a.span)? {
                Some((module, Sequence::Elements { at, len, of })) => (at, len, Type::of(module, of)),
                // The terminating zero can be read.
                Some((module, Sequence::Text { at, len })) => {
                    (at, len.saturating_add(1), types::character(module))
                }
                _ => return self.pointer_element(a, b, span),
            };
            let index = self.index(b)?;
            if index >= len {
                return Err(self.no_value(span));
            }
            let address = base.wrapping_add(index.wrapping_mul(of.size()));
            return Ok(Place { ty: of, base: Base::Memory(address), bits: None, null: None });
        }
        self.pointer_element(a, b, span)
    }

    fn index(&mut self, e: &Expr) -> Result<u64, Error> {
        let index = self.scalar(e)?;
        match index.clone().promoted() {
            Scalar::Integer { value, .. } => Ok(value as u64),
            _ => Err(self.at(&e.span, Kind::Operands { operator: "[]", ty: index.ty().name() })),
        }
    }

    /// An element relative to a pointer.
    fn pointer_element(&mut self, a: &Expr, b: &Expr, span: &Span) -> Result<Place<'m>, Error> {
        let (x, y) = (self.scalar(a)?, self.scalar(b)?);
        let (pointer, index) = if matches!(y, Scalar::Pointer(..)) { (y, x) } else { (x, y) };
        if !matches!(pointer, Scalar::Pointer(..)) {
            return Err(self.at(&a.span, Kind::NotAPointer { ty: pointer.ty().name() }));
        }
        let null = matches!(pointer, Scalar::Pointer(0, _)).then(|| self.expression.part(&a.span).to_owned());
        match arithmetic::binary(Binary::Add, pointer, index) {
            Ok(Scalar::Pointer(address, to)) => {
                Ok(Place { ty: to, base: Base::Memory(address), bits: None, null })
            }
            Ok(other) => Err(self.at(span, Kind::NotAPointer { ty: other.ty().name() })),
            Err(_) => Err(self.at(&b.span, Kind::Operands { operator: "[]", ty: "its index".to_owned() })),
        }
    }

    fn cast(&mut self, name: &TypeName, of: &Expr) -> Result<Operand<'m>, Error> {
        let ty = types::named(self.scope, name)?;
        let scalar = self.scalar(of)?;
        let from = scalar.ty().name();
        match scalar.converted(&ty) {
            Some(scalar) => Ok(Operand::Value(scalar, ty)),
            None => Err(self.at(
                &name.span,
                Kind::Operands { operator: "a cast", ty: format!("{from} to {}", ty.name()) },
            )),
        }
    }

    /// The type of an operand that is not evaluated.
    fn type_of(&mut self, e: &Expr) -> Result<Type<'m>, Error> {
        if let Some(ty) = self.parenthesised_type(e) {
            return types::named(self.scope, &ty);
        }
        let before = self.reads.len();
        let operand = self.operand(e)?;
        self.reads.truncate(before);
        Ok(match operand {
            Operand::Place(place) => place.ty,
            Operand::Value(_, ty) => ty,
            Operand::Text => return Err(self.at(&e.span, Kind::Unsupported("sizeof a string"))),
        })
    }

    fn binary(&mut self, e: &Expr, operator: Binary, a: &Expr, b: &Expr) -> Result<Operand<'m>, Error> {
        // `(t)*p`, where `t` is a type.
        let prefix = match operator {
            Binary::Multiply => Some(Unary::Dereference),
            Binary::BitAnd => Some(Unary::AddressOf),
            Binary::Add => Some(Unary::Plus),
            Binary::Subtract => Some(Unary::Minus),
            _ => None,
        };
        let binds_less =
            matches!(b.kind, ExprKind::Binary(..) | ExprKind::Conditional(_)) && !b.parenthesised;
        if let (Some(prefix), Some(ty), false) = (prefix, self.parenthesised_type(a), binds_less) {
            let kind = ExprKind::Unary(prefix, Box::new(b.clone()));
            let of = Expr { kind, span: a.span.end..b.span.end, parenthesised: false };
            return self.cast(&ty, &of);
        }
        let truth = |t: bool| Operand::Value(int(t.into()), types::INT);
        if let Binary::And | Binary::Or = operator {
            let first = self.scalar(a)?.is_true();
            let decided = first == (operator == Binary::Or);
            return Ok(truth(if decided { first } else { self.scalar(b)?.is_true() }));
        }
        if let Binary::Equal | Binary::NotEqual = operator
            && let Some(equal) = self.texts(a, b)?
        {
            return Ok(truth(equal == (operator == Binary::Equal)));
        }
        let (x, y) = (self.scalar(a)?, self.scalar(b)?);
        if let Binary::Equal | Binary::NotEqual = operator
            && let (Scalar::Pointer(one, of), Scalar::Pointer(other, to)) = (&x, &y)
            && let Some(equal) = self.scope.same((*one, of), (*other, to))
        {
            return Ok(truth(equal == (operator == Binary::Equal)));
        }
        let scalar = arithmetic::binary(operator, x, y).map_err(|kind| self.at(&e.span, kind))?;
        let ty = scalar.ty();
        Ok(Operand::Value(scalar, ty))
    }

    /// Whether characters in memory equal a string literal; `None` if neither operand is one.
    fn texts(&mut self, a: &Expr, b: &Expr) -> Result<Option<bool>, Error> {
        let (text, other) = match (&a.kind, &b.kind) {
            (ExprKind::Text(text), _) => (text, b),
            (_, ExprKind::Text(text)) => (text, a),
            _ => return Ok(None),
        };
        let operator = || Kind::Operands { operator: "comparison with a string", ty: String::new() };
        let operand = self.operand(other)?;
        let (place, end) = match operand {
            Operand::Place(place) => match place.ty.shape() {
                Shape::Array(of, count) if of.is_character() => (place.part(0, of), Some(count)),
                Shape::Record(..)
                    if let Some((module, Sequence::Text { at, len })) =
                        self.sequence(&place, &other.span)? =>
                {
                    if len != text.len() as u64 {
                        return Ok(Some(false));
                    }
                    let base = Base::Memory(at);
                    (Place { ty: types::character(module), base, bits: None, null: None }, Some(len))
                }
                _ => (self.pointed(other, &other.span)?, None),
            },
            Operand::Value(Scalar::Pointer(address, to), _) => {
                let null = (address == 0).then(|| self.expression.part(&other.span).to_owned());
                (Place { ty: to, base: Base::Memory(address), bits: None, null }, None)
            }
            _ => return Err(self.at(&other.span, operator())),
        };
        if !place.ty.is_character() {
            let kind =
                Kind::Operands { operator: "comparison with a string", ty: place.ty.pointer_to().name() };
            return Err(self.at(&other.span, kind));
        }
        // Reads like strcmp: up to the first difference.
        for (n, wanted) in text.iter().copied().chain([0]).enumerate() {
            if end.is_some_and(|end| n as u64 >= end) {
                return Ok(Some(wanted == 0));
            }
            let byte = place.clone().part(n as u64, place.ty.clone());
            let (bytes, known) = self.load(&byte, &other.span)?;
            if known != [true] {
                return Err(self.no_value(&other.span));
            }
            if bytes != [wanted] {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }

    /// The value of a node as an operand: arrays and functions decay to pointers.
    fn scalar(&mut self, e: &Expr) -> Result<Scalar<'m>, Error> {
        let place = match self.operand(e)? {
            Operand::Place(place) => place,
            Operand::Value(scalar, _) => return Ok(scalar),
            Operand::Text => {
                return Err(
                    self.at(&e.span, Kind::Unsupported("a string that is not compared with == or !="))
                );
            }
        };
        match (place.ty.shape(), &place.base) {
            (Shape::Array(of, _), Base::Memory(address)) => return Ok(Scalar::Pointer(*address, of)),
            (Shape::Function, Base::Memory(address)) => {
                return Ok(Scalar::Pointer(*address, place.ty.clone()));
            }
            _ => {}
        }
        if let Some((module, Sequence::Pointer { to, of })) = self.sequence(&place, &e.span)? {
            return Ok(Scalar::Pointer(to, Type::of(module, of)));
        }
        let (bytes, known) = self.load(&place, &e.span)?;
        let Some(scalar) = Scalar::of(&place.ty, &bytes) else {
            return Err(self.at(&e.span, Kind::Operands { operator: "an operator", ty: place.ty.name() }));
        };
        if known.contains(&false) {
            return Err(self.no_value(&e.span));
        }
        Ok(match (scalar, &place.base) {
            (Scalar::Pointer(address, to), Base::Memory(at)) => {
                Scalar::Pointer(self.scope.loaded_pointer(*at, address), to)
            }
            (scalar, _) => scalar,
        })
    }

    /// Loads the bytes of an object, and whether each is known.
    fn load(&mut self, place: &Place<'m>, span: &Span) -> Result<(Vec<u8>, Vec<bool>), Error> {
        if let Some(pointer) = &place.null {
            return Err(self.at(span, Kind::Null(pointer.clone())));
        }
        let size = place.ty.size().min(MAX_BYTES);
        if size == 0 && !matches!(place.ty.shape(), Shape::Array(..)) {
            return Err(self.at(span, Kind::Incomplete { ty: place.ty.name() }));
        }
        let Some((read, bytes, known)) = place.load(self.scope, size as usize) else {
            return Err(self.no_value(span));
        };
        if !self.reads.contains(&read) {
            self.reads.push(read);
        }
        Ok((bytes, known))
    }
}

fn size<'m>(bytes: u64) -> Scalar<'m> {
    Scalar::Integer { value: bytes.into(), bytes: 8, signed: false }
}
