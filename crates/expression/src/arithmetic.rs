//! C conversions and operators on numbers and pointers.

use crate::ast::{Binary, Unary};
use crate::error::Kind;
use crate::types::{Shape, Type};

/// An operand value.
#[derive(Clone, Debug)]
pub(crate) enum Scalar<'m> {
    /// Always in the range of its type.
    Integer {
        value: i128,
        bytes: u8,
        signed: bool,
    },
    Float {
        value: f64,
        bytes: u8,
    },
    /// An address, and the type of its target.
    Pointer(u64, Type<'m>),
}

pub(crate) fn int<'m>(value: i128) -> Scalar<'m> {
    Scalar::Integer { value, bytes: 4, signed: true }
}

/// Wraps a number to the range of a type.
pub(crate) fn wrapped(value: i128, bytes: u8, signed: bool) -> i128 {
    let bits = 8 * u32::from(bytes.clamp(1, 16));
    if bits >= 128 {
        return value;
    }
    let low = value & ((1 << bits) - 1);
    if signed && low >> (bits - 1) & 1 != 0 { low - (1 << bits) } else { low }
}

impl<'m> Scalar<'m> {
    /// Decodes a value from its bytes; `None` if the type is not scalar.
    pub fn of(ty: &Type<'m>, bytes: &[u8]) -> Option<Scalar<'m>> {
        let mut wide = [0; 16];
        let n = bytes.len().min(16);
        wide[..n].copy_from_slice(&bytes[..n]);
        let raw = i128::from_le_bytes(wide);
        Some(match ty.shape() {
            Shape::Integer { bytes, signed } => {
                Scalar::Integer { value: wrapped(raw, bytes, signed), bytes, signed }
            }
            Shape::Character { signed } => {
                Scalar::Integer { value: wrapped(raw, 1, signed), bytes: 1, signed }
            }
            Shape::Bool => Scalar::Integer { value: raw & 1, bytes: 1, signed: false },
            Shape::Float { bytes: 4 } => Scalar::Float { value: f32::from_bits(raw as u32).into(), bytes: 4 },
            Shape::Float { bytes: 8 } => Scalar::Float { value: f64::from_bits(raw as u64), bytes: 8 },
            Shape::Pointer(to) => Scalar::Pointer(raw as u64, to),
            // The sixteen bytes of `long double` would lose precision in any other type.
            Shape::Float { .. } | Shape::Array(..) | Shape::Record(..) | Shape::Function | Shape::Void => {
                return None;
            }
        })
    }

    pub fn ty(&self) -> Type<'m> {
        match self {
            Scalar::Integer { bytes, signed, .. } => Type::Integer { bytes: *bytes, signed: *signed },
            Scalar::Float { bytes, .. } => Type::Float { bytes: *bytes },
            Scalar::Pointer(_, to) => to.clone().pointer_to(),
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Scalar::Integer { value, bytes, .. } => value.to_le_bytes()[..usize::from(*bytes)].to_vec(),
            Scalar::Float { value, bytes: 4 } => (*value as f32).to_le_bytes().to_vec(),
            Scalar::Float { value, .. } => value.to_le_bytes().to_vec(),
            Scalar::Pointer(address, _) => address.to_le_bytes().to_vec(),
        }
    }

    pub fn is_true(&self) -> bool {
        match self {
            Scalar::Integer { value, .. } => *value != 0,
            Scalar::Float { value, .. } => *value != 0.0,
            Scalar::Pointer(address, _) => *address != 0,
        }
    }

    /// Converts to the type of a cast; `None` if C has no such conversion.
    pub fn converted(self, ty: &Type<'m>) -> Option<Scalar<'m>> {
        let number = match &self {
            Scalar::Integer { value, .. } => *value,
            // An out-of-range conversion is undefined in C; this one saturates.
            Scalar::Float { value, .. } => *value as i128,
            Scalar::Pointer(address, _) => i128::from(*address),
        };
        Some(match (ty.shape(), &self) {
            (Shape::Integer { bytes, signed }, _) => {
                Scalar::Integer { value: wrapped(number, bytes, signed), bytes, signed }
            }
            (Shape::Character { signed }, _) => {
                Scalar::Integer { value: wrapped(number, 1, signed), bytes: 1, signed }
            }
            (Shape::Bool, _) => Scalar::Integer { value: self.is_true().into(), bytes: 1, signed: false },
            (Shape::Float { bytes: bytes @ (4 | 8) }, Scalar::Integer { value, .. }) => {
                Scalar::Float { value: rounded(*value as f64, bytes), bytes }
            }
            (Shape::Float { bytes: bytes @ (4 | 8) }, Scalar::Float { value, .. }) => {
                Scalar::Float { value: rounded(*value, bytes), bytes }
            }
            (Shape::Pointer(to), Scalar::Integer { .. } | Scalar::Pointer(..)) => {
                Scalar::Pointer(number as u64, to)
            }
            _ => return None,
        })
    }

    /// The integer promotions.
    pub fn promoted(self) -> Scalar<'m> {
        match self {
            Scalar::Integer { value, bytes: 0..4, .. } => int(value),
            other => other,
        }
    }
}

fn rounded(value: f64, bytes: u8) -> f64 {
    if bytes == 4 { f64::from(value as f32) } else { value }
}

fn wrong<'m>(operator: &'static str, scalar: &Scalar<'m>) -> Kind {
    Kind::Operands { operator, ty: scalar.ty().name() }
}

pub(crate) fn unary<'m>(operator: Unary, a: Scalar<'m>) -> Result<Scalar<'m>, Kind> {
    match (operator, a.promoted()) {
        (Unary::Not, a) => Ok(int((!a.is_true()).into())),
        (Unary::Plus, a @ (Scalar::Integer { .. } | Scalar::Float { .. })) => Ok(a),
        (Unary::Minus, Scalar::Integer { value, bytes, signed }) => {
            Ok(Scalar::Integer { value: wrapped(value.wrapping_neg(), bytes, signed), bytes, signed })
        }
        (Unary::Minus, Scalar::Float { value, bytes }) => Ok(Scalar::Float { value: -value, bytes }),
        (Unary::Complement, Scalar::Integer { value, bytes, signed }) => {
            Ok(Scalar::Integer { value: wrapped(!value, bytes, signed), bytes, signed })
        }
        (Unary::Plus, a) => Err(wrong("unary +", &a)),
        (Unary::Minus, a) => Err(wrong("unary -", &a)),
        (_, a) => Err(wrong("~", &a)),
    }
}

pub(crate) fn binary<'m>(operator: Binary, a: Scalar<'m>, b: Scalar<'m>) -> Result<Scalar<'m>, Kind> {
    let name = text(operator);
    match (a.promoted(), b.promoted()) {
        (a @ Scalar::Pointer(..), b) | (a, b @ Scalar::Pointer(..)) => pointers(operator, a, b),
        (
            Scalar::Integer { value: a, bytes: n, signed: s },
            Scalar::Integer { value: b, bytes: m, signed: t },
        ) => {
            if let Binary::ShiftLeft | Binary::ShiftRight = operator {
                // As the processor shifts: by the low bits of the count.
                let by = (b & (8 * i128::from(n) - 1)) as u32;
                let value = if operator == Binary::ShiftLeft { a << by } else { a >> by };
                return Ok(Scalar::Integer { value: wrapped(value, n, s), bytes: n, signed: s });
            }
            // The usual arithmetic conversions.
            let bytes = n.max(m);
            let signed = (s || n < bytes) && (t || m < bytes);
            let (a, b) = (wrapped(a, bytes, signed), wrapped(b, bytes, signed));
            integers(operator, a, b).map(|result| match result {
                Number::Truth(truth) => int(truth.into()),
                Number::Value(v) => Scalar::Integer { value: wrapped(v, bytes, signed), bytes, signed },
            })
        }
        (a, b) => {
            let (x, n) = float(&a).ok_or_else(|| wrong(name, &a))?;
            let (y, m) = float(&b).ok_or_else(|| wrong(name, &b))?;
            let bytes = n.max(m);
            let value = match operator {
                Binary::Add => x + y,
                Binary::Subtract => x - y,
                Binary::Multiply => x * y,
                Binary::Divide => x / y,
                Binary::Less => return Ok(int((x < y).into())),
                Binary::LessOrEqual => return Ok(int((x <= y).into())),
                Binary::Greater => return Ok(int((x > y).into())),
                Binary::GreaterOrEqual => return Ok(int((x >= y).into())),
                Binary::Equal => return Ok(int((x == y).into())),
                Binary::NotEqual => return Ok(int((x != y).into())),
                _ => return Err(wrong(name, &Scalar::Float { value: x, bytes })),
            };
            Ok(Scalar::Float { value: rounded(value, bytes), bytes })
        }
    }
}

/// A number as a float, and its size in bytes: 4, the minimum, for an integer. `None` for a
/// pointer.
fn float(scalar: &Scalar<'_>) -> Option<(f64, u8)> {
    match scalar {
        Scalar::Float { value, bytes } => Some((*value, *bytes)),
        Scalar::Integer { value, .. } => Some((*value as f64, 4)),
        Scalar::Pointer(..) => None,
    }
}

enum Number {
    Truth(bool),
    Value(i128),
}

fn integers(operator: Binary, a: i128, b: i128) -> Result<Number, Kind> {
    let division = || if b == 0 { Err(Kind::DivisionByZero) } else { Ok(()) };
    Ok(Number::Value(match operator {
        Binary::Add => a.wrapping_add(b),
        Binary::Subtract => a.wrapping_sub(b),
        Binary::Multiply => a.wrapping_mul(b),
        Binary::Divide => {
            division()?;
            a.wrapping_div(b)
        }
        Binary::Remainder => {
            division()?;
            a.wrapping_rem(b)
        }
        Binary::BitAnd => a & b,
        Binary::BitOr => a | b,
        Binary::BitXor => a ^ b,
        Binary::Less => return Ok(Number::Truth(a < b)),
        Binary::LessOrEqual => return Ok(Number::Truth(a <= b)),
        Binary::Greater => return Ok(Number::Truth(a > b)),
        Binary::GreaterOrEqual => return Ok(Number::Truth(a >= b)),
        Binary::Equal => return Ok(Number::Truth(a == b)),
        Binary::NotEqual => return Ok(Number::Truth(a != b)),
        Binary::And => return Ok(Number::Truth(a != 0 && b != 0)),
        Binary::Or => return Ok(Number::Truth(a != 0 || b != 0)),
        // Handled above: the count is not converted to the type of the other operand.
        Binary::ShiftLeft => a << (b & 63),
        Binary::ShiftRight => a >> (b & 63),
    }))
}

/// Operators with at least one pointer.
fn pointers<'m>(operator: Binary, a: Scalar<'m>, b: Scalar<'m>) -> Result<Scalar<'m>, Kind> {
    let address = |s: &Scalar<'m>| match s {
        Scalar::Pointer(address, _) => Some(*address),
        Scalar::Integer { value, .. } => Some(*value as u64),
        Scalar::Float { .. } => None,
    };
    let name = text(operator);
    let (Some(x), Some(y)) = (address(&a), address(&b)) else {
        let float = if address(&a).is_none() { &a } else { &b };
        return Err(wrong(name, float));
    };
    let truth = |t: bool| Ok(int(t.into()));
    let step = |to: &Type<'_>| to.size().max(1);
    match (operator, &a, &b) {
        (Binary::Add, Scalar::Pointer(p, to), Scalar::Integer { value, .. })
        | (Binary::Add, Scalar::Integer { value, .. }, Scalar::Pointer(p, to)) => {
            Ok(Scalar::Pointer(p.wrapping_add((*value as u64).wrapping_mul(step(to))), to.clone()))
        }
        (Binary::Subtract, Scalar::Pointer(p, to), Scalar::Integer { value, .. }) => {
            Ok(Scalar::Pointer(p.wrapping_sub((*value as u64).wrapping_mul(step(to))), to.clone()))
        }
        (Binary::Subtract, Scalar::Pointer(p, to), Scalar::Pointer(q, _)) => {
            let bytes = i128::from(p.wrapping_sub(*q).cast_signed());
            Ok(Scalar::Integer { value: bytes / i128::from(step(to)), bytes: 8, signed: true })
        }
        (Binary::Less, ..) => truth(x < y),
        (Binary::LessOrEqual, ..) => truth(x <= y),
        (Binary::Greater, ..) => truth(x > y),
        (Binary::GreaterOrEqual, ..) => truth(x >= y),
        (Binary::Equal, ..) => truth(x == y),
        (Binary::NotEqual, ..) => truth(x != y),
        (_, Scalar::Pointer(..), _) => Err(wrong(name, &a)),
        _ => Err(wrong(name, &b)),
    }
}

pub(crate) fn text(operator: Binary) -> &'static str {
    match operator {
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::Less => "<",
        Binary::LessOrEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterOrEqual => ">=",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::And => "&&",
        Binary::Or => "||",
    }
}
