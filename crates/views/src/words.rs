//! Objects, values and events as text.

use crate::fleeting::words;
use crate::trace::{EventSite, Kind, NO_TEXT, NONE, Row, Shape, Trace, is_address};
use replay::vars::quoted;
use std::fmt::Write as _;

impl Trace {
    /// An object as text: `point#2`, `global_list`, `?`.
    #[must_use]
    pub fn object(&self, object: u32) -> String {
        let Some(o) = self.objects.get(object as usize) else { return "?".to_owned() };
        if o.name != 0 {
            return self.names.text(o.name).to_owned();
        }
        let ty = if o.ty == 0 { "?" } else { self.names.text(o.ty) };
        format!("{ty}#{}", o.number)
    }

    /// A value as text.
    #[must_use]
    pub fn value(&self, shape: &Shape, value: u64) -> String {
        let signed = |bytes: u8| {
            let shift = 64 - 8 * u32::from(bytes.clamp(1, 8));
            (value << shift).cast_signed() >> shift
        };
        match shape {
            Shape::Nothing => String::new(),
            Shape::Signed(8) | Shape::Unsigned(8) if is_address(value) => "<address>".to_owned(),
            Shape::Signed(bytes) => signed(*bytes).to_string(),
            Shape::Unsigned(_) => value.to_string(),
            Shape::Bool => if value & 1 != 0 { "true" } else { "false" }.to_owned(),
            Shape::Char(is_signed) => {
                let c = value as u8;
                let number = if *is_signed { i32::from(c.cast_signed()) } else { i32::from(c) };
                match c {
                    b' '..=b'~' => format!("{number} '{}'", c as char),
                    _ => number.to_string(),
                }
            }
            Shape::Float(4) => f32::from_bits(value as u32).to_string(),
            Shape::Float(8) => f64::from_bits(value).to_string(),
            Shape::Float(_) => format!("<long double {value:016x}>"),
            Shape::Enum(values, bytes) => {
                let number = signed(*bytes);
                values.iter().find(|v| v.1 == number).map_or_else(|| number.to_string(), |v| v.0.clone())
            }
            Shape::Text if value == 0 => "NULL".to_owned(),
            Shape::Text if value == NO_TEXT => "<bytes>".to_owned(),
            Shape::Text => quoted(self.names.text((value - 1) as u32)),
            Shape::Object(_) | Shape::Pointer | Shape::Function if value == 0 => "NULL".to_owned(),
            Shape::Object(_) => format!("&{}", self.object((value - 1) as u32)),
            Shape::Function => self.names.text((value - 1) as u32).to_owned(),
            Shape::Pointer => "<pointer>".to_owned(),
            Shape::Whole(0) => "<bytes>".to_owned(),
            Shape::Whole(len) => format!("<{len} bytes>"),
            Shape::Bytes => format!("{value} bytes"),
            Shape::Arguments => String::new(),
            Shape::Fleeting(1) => "<address>".to_owned(),
            Shape::Fleeting(parts) => format!("<from {}>", words(*parts).join(" and ")),
            Shape::Stack => self.names.text(value as u32).to_owned(),
        }
    }

    /// An event in one line: `set point#1.x = 3`.
    #[must_use]
    pub fn text(&self, event: usize) -> String {
        let row = self.row(event);
        let act = &self.acts[row.act as usize];
        let name = self.names.text(act.name);
        let mut out = format!("{} ", act.kind.name());
        match act.kind {
            Kind::Get | Kind::Set => {
                out += &self.field(row, act);
                out += " = ";
                out += &self.value(&act.shape, row.value);
            }
            Kind::Call => {
                out += name;
                out.push('(');
                for (i, (parameter, shape)) in act.arguments.iter().enumerate() {
                    if i > 0 {
                        out += ", ";
                    }
                    if *parameter != 0 {
                        let _ = write!(out, "{} = ", self.names.text(*parameter));
                    }
                    out += &self.value(shape, self.arguments.get(row.value as usize + i));
                }
                out.push(')');
            }
            Kind::Return => {
                out += name;
                let value = self.value(&act.shape, row.value);
                if !value.is_empty() {
                    let _ = write!(out, " = {value}");
                }
            }
            Kind::Init => {
                let _ = write!(out, "{} ({})", self.object(row.target), self.value(&act.shape, row.value));
            }
            Kind::Fork | Kind::End => out += &self.value(&act.shape, row.value),
        }
        out
    }

    /// The field that an event accesses, with its object: `point#1.x`.
    #[must_use]
    pub fn field(&self, row: Row, act: &EventSite) -> String {
        let name = self.names.text(act.name);
        let object = if row.target == NONE { String::new() } else { self.object(row.target) };
        match (object.is_empty(), name.is_empty(), name.starts_with('[')) {
            (true, true, _) => format!("*{}", self.names.text(act.owner)),
            (true, ..) => name.to_owned(),
            (_, true, _) => object,
            (_, _, true) => format!("{object}{name}"),
            _ => format!("{object}.{name}"),
        }
    }

    /// The value of an event alone, if it has one.
    #[must_use]
    pub fn value_text(&self, event: usize) -> Option<String> {
        let row = self.row(event);
        let act = &self.acts[row.act as usize];
        match act.shape {
            Shape::Nothing | Shape::Arguments => None,
            _ => Some(self.value(&act.shape, row.value)),
        }
    }
}
