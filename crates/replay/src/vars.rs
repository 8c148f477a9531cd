//! Source-level variables: their locations at an instruction, and their values as text.

use crate::arith;
use crate::decimal::{Class, Real, digits};
use crate::image::Image;
use crate::memory::Memory;
use crate::observer::View;
use program::inst::{FloatKind, Ty};
use program::model::{Binding, Function, Home, Module, Type, TypeKind};
use program::sequences::{self, Sequence};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The bindings that are valid at each instruction of a function: a forward dataflow analysis.
///
/// A binding is valid from its instruction on, along every path, until another one of the same variable.
/// Where paths with different bindings meet, the variable has none.
pub struct Bindings<'m> {
    function: &'m Function,
    /// At the start of each block: binding index of each (variable, part).
    in_states: Vec<State>,
}

type Part = Option<(u32, u32)>;
type State = HashMap<(u32, Part), u32>;

impl<'m> Bindings<'m> {
    /// Analyses a function.
    #[must_use]
    pub fn of(function: &'m Function) -> Bindings<'m> {
        let n = function.blocks.len();
        let mut ends: Vec<Option<State>> = vec![None; n];
        let mut in_states = vec![State::new(); n];
        let mut predecessors = vec![Vec::new(); n];
        for (b, block) in function.blocks.iter().enumerate() {
            if let Some(last) = function.code.get(block.end as usize - 1) {
                for s in last.successors() {
                    predecessors[s as usize].push(b);
                }
            }
        }
        // A few passes suffice: a block that no pass has reached restricts nothing, so states only shrink.
        let mut changed = true;
        while changed {
            changed = false;
            for b in 0..n {
                let mut state: Option<State> = (b == 0).then(State::new);
                for p in &predecessors[b] {
                    let Some(end) = &ends[*p] else { continue };
                    state = Some(match state {
                        None => end.clone(),
                        Some(mut s) => {
                            s.retain(|k, v| end.get(k) == Some(v));
                            s
                        }
                    });
                }
                let Some(state) = state else { continue };
                let block = &function.blocks[b];
                let mut end = state.clone();
                apply(function, block.start, block.end, &mut end);
                in_states[b] = state;
                if ends[b].as_ref() != Some(&end) {
                    ends[b] = Some(end);
                    changed = true;
                }
            }
        }
        Bindings { function, in_states }
    }

    /// The bindings of a variable that are valid before instruction `index`; none where it is out of scope,
    /// or hidden by another of the same name.
    #[must_use]
    pub fn at(&self, index: u32, variable: u32) -> Vec<&'m Binding> {
        if !self.function.is_visible(variable, index) {
            return Vec::new();
        }
        self.before(index, index + 1, variable)
    }

    /// The bindings that are valid after instruction `index` has run, before control enters another block or
    /// leaves the scope.
    #[must_use]
    pub fn after(&self, index: u32, variable: u32) -> Vec<&'m Binding> {
        self.before(index, index.saturating_add(2), variable)
    }

    /// Within the block of instruction `index`, only bindings at instructions before `end` apply.
    fn before(&self, index: u32, end: u32, variable: u32) -> Vec<&'m Binding> {
        let f = self.function;
        let b = f.blocks.partition_point(|b| b.end <= index);
        let Some(block) = f.blocks.get(b) else { return Vec::new() };
        let mut state = self.in_states[b].clone();
        state.retain(|k, _| k.0 == variable);
        apply(f, block.start, end.min(block.end), &mut state);
        let mut found: Vec<u32> =
            state.iter().filter(|(k, _)| k.0 == variable).map(|(_, binding)| *binding).collect();
        found.sort_unstable();
        // A location in the fixed frame is valid everywhere.
        let all = f.bindings.iter().filter(|x| x.variable == variable);
        if let Some(frame) = all.clone().find(|x| matches!(x.home, Home::Frame(_)))
            && found.is_empty()
        {
            return vec![frame];
        }
        found.into_iter().map(|i| &f.bindings[i as usize]).collect()
    }
}

/// Transfer function: applies the bindings at instructions `first..last`.
fn apply(f: &Function, first: u32, last: u32, state: &mut State) {
    let start = f.bindings.partition_point(|b| b.at < first);
    for (i, b) in f.bindings.iter().enumerate().skip(start).take_while(|(_, b)| b.at < last) {
        if b.part.is_none() {
            state.retain(|k, _| k.0 != b.variable);
        } else {
            state.remove(&(b.variable, None));
        }
        state.insert((b.variable, b.part), i as u32);
    }
}

/// The bytes of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// In memory.
    At(u64),
    /// In registers; `known` marks the available bytes.
    Bytes {
        /// As many as the variable's type has, at most 65,536.
        bytes: Vec<u8>,
        /// For each byte whether it is available.
        known: Vec<bool>,
    },
    /// Optimised away, or not yet assigned.
    Gone,
}

/// The value of a variable before the instruction of `view`.
#[must_use]
pub fn value(view: &View<'_>, bindings: &Bindings<'_>, variable: u32) -> Value {
    described(view, &bindings.at(view.index, variable), variable)
}

/// The value of a variable after the instruction of `view`, even if the next one is out of the variable's
/// scope.
#[must_use]
pub fn value_after(view: &View<'_>, bindings: &Bindings<'_>, variable: u32) -> Value {
    described(view, &bindings.after(view.index, variable), variable)
}

fn described(view: &View<'_>, bindings: &[&Binding], variable: u32) -> Value {
    let module = view.module();
    let Some(v) = view.function().variables.get(variable as usize) else { return Value::Gone };
    let size = v.ty.and_then(|t| module.types.get(t as usize)).map_or(8, |t| t.size.min(1 << 16)) as usize;
    let (mut bytes, mut known) = (vec![0; size], vec![false; size]);
    for b in bindings {
        let (offset, len) = b.part.map_or((0, size), |(o, n)| (o as usize / 8, n.div_ceil(8) as usize));
        let part: Vec<u8> = match b.home {
            Home::Nowhere => continue,
            Home::Memory(o, d) if b.part.is_none() => return Value::At(view.value(o).wrapping_add_signed(d)),
            Home::Frame(d) if b.part.is_none() => return Value::At(view.frame.wrapping_add(d)),
            Home::Memory(o, d) => read(view.memory, view.value(o).wrapping_add_signed(d), len),
            Home::Frame(d) => read(view.memory, view.frame.wrapping_add(d), len),
            Home::Value(o, ty) => view.wide(o).to_le_bytes()[..value_bytes(ty)].to_vec(),
        };
        for (i, byte) in part.iter().take(len).enumerate() {
            if let (Some(to), Some(k)) = (bytes.get_mut(offset + i), known.get_mut(offset + i)) {
                (*to, *k) = (*byte, true);
            }
        }
        // A value smaller than the variable fills it: registers hold it zero-extended.
        if b.part.is_none() {
            known.fill(true);
        }
    }
    if known.iter().any(|k| *k) { Value::Bytes { bytes, known } } else { Value::Gone }
}

fn value_bytes(ty: Ty) -> usize {
    (ty.bytes() as usize).min(16)
}

fn read(memory: &Memory, at: u64, len: usize) -> Vec<u8> {
    let mut b = vec![0; len];
    memory.peek(at, &mut b);
    b
}

/// Limits on the text of a value.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Levels of structs, arrays and references below the value itself.
    pub depth: u32,
    /// Elements of an array, members of a struct.
    pub elements: usize,
    /// Bytes of a string.
    pub string: usize,
    /// Whether pointers are also shown as numbers. Otherwise a pointer is replaced by the string that it
    /// points to, or by [`POINTER`].
    pub addresses: bool,
}

/// The text for a pointer where no addresses are shown.
pub const POINTER: &str = "pointer";

impl Default for Limits {
    fn default() -> Self {
        Limits { depth: 3, elements: 16, string: 80, addresses: true }
    }
}

/// Readable data: memory as known to the program, and constants that the program may only have passed on.
#[derive(Clone, Copy)]
pub struct Data<'v> {
    /// The thread's memory.
    pub memory: &'v Memory,
    /// Where constants are read; if `None`, memory is read instead.
    pub image: Option<&'v Image>,
}

impl<'v> Data<'v> {
    /// The data that is readable at an instruction.
    #[must_use]
    pub fn of(view: &View<'v>) -> Data<'v> {
        Data { memory: view.memory, image: Some(view.image) }
    }

    /// Bytes at an address.
    #[must_use]
    pub fn read(&self, at: u64, len: usize) -> Vec<u8> {
        match self.image.and_then(|i| i.constant(at)).and_then(|c| c.get(..len)) {
            Some(constant) => constant.to_vec(),
            None => read(self.memory, at, len),
        }
    }

    fn string(&self, at: u64, limit: usize) -> Vec<u8> {
        match self.image.and_then(|i| i.constant(at)) {
            Some(constant) => constant.iter().take(limit).take_while(|b| **b != 0).copied().collect(),
            None => self.memory.peek_string(at, limit),
        }
    }
}

/// A value as text.
#[must_use]
pub fn show(module: &Module, data: Data<'_>, ty: Option<u32>, value: &Value, limits: Limits) -> String {
    let shower = ValueFormatter { module, data, limits };
    match value {
        Value::Gone => "<optimised out>".to_owned(),
        Value::At(address) => {
            let size = shower.size(ty).min(1 << 16);
            shower.show(ty, &data.read(*address, size), None, 0)
        }
        Value::Bytes { bytes, known } => shower.show(ty, bytes, Some(known), 0),
    }
}

/// A pointer as text, by the type of what it points to.
#[must_use]
pub fn show_pointer(
    module: &Module,
    data: Data<'_>,
    to: Option<u32>,
    address: u64,
    limits: Limits,
) -> String {
    ValueFormatter { module, data, limits }.pointer(address, to)
}

/// [`value`] and [`show`] in one.
#[must_use]
pub fn show_variable(view: &View<'_>, bindings: &Bindings<'_>, variable: u32) -> String {
    let ty = view.function().variables.get(variable as usize).and_then(|v| v.ty);
    show(view.module(), Data::of(view), ty, &value(view, bindings, variable), Limits::default())
}

/// Numbers of at least this size are addresses, or structures that are copied as a word.
const LARGE: u128 = 1 << 48;
/// The range in which Linux places position-independent programs, their heap, libraries and stacks.
const ADDRESSES: std::ops::Range<u64> = 0x5500_0000_0000..0x8000_0000_0000;

/// A value without a declared type as text, by the type that the instruction uses.
#[must_use]
pub fn show_untyped(ty: Ty, raw: u128) -> String {
    match ty {
        Ty::Int(1) => (raw & 1 != 0).to_string(),
        Ty::Int(bits) => {
            let raw = raw & arith::mask(bits);
            let number = arith::signed(raw, bits);
            if number.unsigned_abs() < LARGE { number.to_string() } else { format!("{raw:#x}") }
        }
        Ty::Ptr if raw as u64 == 0 => "NULL".to_owned(),
        Ty::Ptr => format!("{:#x}", raw as u64),
        Ty::Float(_) => float(ty.bytes() as usize, raw),
    }
}

/// Whether a value without a declared type is a number.
#[must_use]
pub fn is_number(ty: Ty, raw: u128) -> bool {
    match ty {
        // A one-word object is passed as a number, whatever it contains: often a pointer.
        Ty::Int(64) if ADDRESSES.contains(&(raw as u64)) => false,
        Ty::Int(bits) => bits <= 64 && arith::signed(raw & arith::mask(bits), bits).unsigned_abs() < LARGE,
        Ty::Float(kind) => kind != FloatKind::F80,
        Ty::Ptr => false,
    }
}

/// A string or vector with more content was never constructed, or is destroyed.
const MAX_CONTENT: u64 = 1 << 40;
/// Maximal size of a string or vector object itself.
const MAX_OBJECT_HEADER: usize = 64;

struct ValueFormatter<'v> {
    module: &'v Module,
    data: Data<'v>,
    limits: Limits,
}

impl ValueFormatter<'_> {
    fn size(&self, ty: Option<u32>) -> usize {
        ty.and_then(|t| self.module.types.get(t as usize)).map_or(8, |t| t.size as usize)
    }

    /// The type without typedefs and qualifiers.
    fn strip(&self, ty: Option<u32>) -> Option<u32> {
        sequences::stripped(self.module, ty).map(|found| found.0)
    }

    /// The content of a string or a vector. None if the type is neither, or the object is invalid: its memory
    /// may have been reused.
    fn sequence(&self, ty: &Type, bytes: &[u8], depth: u32) -> Option<String> {
        match sequences::of_object(self.module, ty, bytes)? {
            Sequence::Text { at, len } if len <= MAX_CONTENT => {
                let shown = len.min(self.limits.string as u64 + 1) as usize;
                Some(quote(&self.data.read(at, shown), self.limits.string))
            }
            Sequence::Elements { at, len, of } if len <= MAX_CONTENT => {
                let shown = len.min(self.limits.elements as u64 + 1) as usize;
                let bytes = self.data.read(at, shown.saturating_mul(self.size(of)).min(1 << 16));
                Some(self.array(of, &bytes, None, depth))
            }
            Sequence::Pointer { to, of } => Some(self.pointer(to, of)),
            _ => None,
        }
    }

    fn show(&self, ty: Option<u32>, bytes: &[u8], known: Option<&[bool]>, depth: u32) -> String {
        if known.is_some_and(|k| !k.is_empty() && !k.iter().any(|k| *k)) {
            return "<optimised out>".to_owned();
        }
        let Some(t) = self.strip(ty).and_then(|t| self.module.types.get(t as usize)) else {
            return hex(bytes);
        };
        let bits = (8 * bytes.len().min(16)) as u16;
        let mut wide = [0; 16];
        let n = bytes.len().min(16);
        wide[..n].copy_from_slice(&bytes[..n]);
        let raw = u128::from_le_bytes(wide);
        match &t.kind {
            TypeKind::Bool => if raw & 1 != 0 { "true" } else { "false" }.to_owned(),
            TypeKind::Signed => arith::signed(raw, bits.max(8)).to_string(),
            TypeKind::Unsigned => raw.to_string(),
            TypeKind::Char { signed } => {
                let c = bytes.first().copied().unwrap_or(0);
                let number = if *signed { i32::from(c.cast_signed()) } else { i32::from(c) };
                if c.is_ascii_graphic() || c == b' ' {
                    format!("{number} '{}'", c as char)
                } else {
                    number.to_string()
                }
            }
            TypeKind::Float => float(bytes.len(), raw),
            TypeKind::Pointer { to } => self.pointer(raw as u64, *to),
            TypeKind::Reference { to } => self.referred(raw as u64, *to, depth),
            TypeKind::Enum { values } => {
                let v = arith::signed(raw, bits.max(8)) as i64;
                values
                    .iter()
                    .find(|x| x.1 == v || x.1 == raw as i64)
                    .map_or_else(|| v.to_string(), |x| x.0.clone())
            }
            TypeKind::Array { of, .. } => self.array(*of, bytes, known, depth),
            TypeKind::Record { members, .. } => {
                let all_known = known.is_none_or(|known| known.iter().all(|known| *known));
                if let Some(text) = self.sequence(t, bytes, depth).filter(|_| all_known) {
                    return text;
                }
                if depth >= self.limits.depth {
                    return "{...}".to_owned();
                }
                let mut out = String::from("{");
                for (i, m) in members.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    if i == self.limits.elements {
                        out.push_str("...");
                        break;
                    }
                    let text = self.member(m, bytes, known, depth);
                    // A base class has the name of its type, with all that it is made of.
                    let name = m.name.split('<').next().unwrap_or_default();
                    let _ = write!(out, "{name} = {text}");
                }
                out.push('}');
                out
            }
            TypeKind::Void | TypeKind::Function | TypeKind::Unknown | TypeKind::Alias { .. } => hex(bytes),
        }
    }

    fn member(&self, m: &program::model::Member, bytes: &[u8], known: Option<&[bool]>, depth: u32) -> String {
        let whole = m.bit_offset.is_multiple_of(8) && m.bits.is_multiple_of(8);
        if whole {
            let from = (m.bit_offset / 8).min(bytes.len() as u64) as usize;
            let to = (m.bit_offset / 8 + m.bits / 8).min(bytes.len() as u64) as usize;
            return self.show(m.ty, &bytes[from..to], known.map(|k| &k[from..to]), depth + 1);
        }
        // A bit field: shifted down, then as wide as its type.
        let mut v = 0u128;
        for i in 0..m.bits.min(64) {
            let bit = m.bit_offset + i;
            let byte = bytes.get((bit / 8) as usize).copied().unwrap_or(0);
            v |= u128::from(byte >> (bit % 8) & 1) << i;
        }
        let strict = self.strip(m.ty).and_then(|t| self.module.types.get(t as usize));
        if strict.is_some_and(|t| matches!(t.kind, TypeKind::Signed)) {
            v = arith::signed(v, m.bits.clamp(1, 64) as u16).cast_unsigned();
        }
        let size = self.size(m.ty).min(16);
        self.show(m.ty, &v.to_le_bytes()[..size], None, depth + 1)
    }

    fn array(&self, of: Option<u32>, bytes: &[u8], known: Option<&[bool]>, depth: u32) -> String {
        let element = self.strip(of);
        let kind = element.and_then(|t| self.module.types.get(t as usize)).map(|t| &t.kind);
        if let Some(TypeKind::Char { .. }) = kind {
            let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
            return quote(&bytes[..end], self.limits.string);
        }
        if depth >= self.limits.depth {
            return "{...}".to_owned();
        }
        let size = self.size(of).max(1);
        let mut out = String::from("{");
        for (i, chunk) in bytes.chunks(size).enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            if i == self.limits.elements {
                out.push_str("...");
                break;
            }
            let k = known.map(|k| &k[i * size..(i * size + chunk.len()).min(k.len())]);
            out.push_str(&self.show(of, chunk, k, depth + 1));
        }
        out.push('}');
        out
    }

    /// The object that a reference refers to; if it is large, shown as a pointer.
    fn referred(&self, address: u64, to: Option<u32>, depth: u32) -> String {
        let size = self.strip(to).and_then(|t| self.module.types.get(t as usize)).map_or(0, |ty| ty.size);
        match usize::try_from(size) {
            Ok(size @ 1..=MAX_OBJECT_HEADER) if address != 0 && depth < self.limits.depth => {
                self.show(to, &self.data.read(address, size), None, depth + 1)
            }
            _ => self.pointer(address, to),
        }
    }

    fn pointer(&self, address: u64, to: Option<u32>) -> String {
        if address == 0 {
            return "NULL".to_owned();
        }
        let target = self.strip(to).and_then(|t| self.module.types.get(t as usize));
        if target.is_some_and(|t| matches!(t.kind, TypeKind::Char { .. })) {
            let text = self.data.string(address, self.limits.string + 1);
            if text.iter().all(|c| c.is_ascii_graphic() || c.is_ascii_whitespace() || *c >= 0x80) {
                let text = quote(&text, self.limits.string);
                return if self.limits.addresses { format!("{address:#x} {text}") } else { text };
            }
        }
        let content = target.and_then(|ty| {
            let size = usize::try_from(ty.size).ok().filter(|size| *size <= MAX_OBJECT_HEADER)?;
            self.sequence(ty, &self.data.read(address, size), 0)
        });
        match content {
            Some(text) if self.limits.addresses => format!("{address:#x} {text}"),
            Some(text) => text,
            None if self.limits.addresses => format!("{address:#x}"),
            None => POINTER.to_owned(),
        }
    }
}

/// A text in quotes, escaped where necessary.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn quote(text: &[u8], limit: usize) -> String {
    let mut out = quoted(&String::from_utf8_lossy(&text[..text.len().min(limit)]));
    if text.len() > limit {
        out.push_str("...");
    }
    out
}

fn hex(bytes: &[u8]) -> String {
    let mut out = String::from("0x");
    for b in bytes.iter().take(16).rev() {
        let _ = write!(out, "{b:02x}");
    }
    out
}

/// The shortest digits that read back as the same value, with an exponent instead of many zeros; `long
/// double` with 21 digits.
fn float(bytes: usize, raw: u128) -> String {
    match bytes {
        4 => {
            let value = f32::from_bits(raw as u32);
            if has_exponent(value.into()) { format!("{value:e}") } else { value.to_string() }
        }
        8 => {
            let value = f64::from_bits(raw as u64);
            if has_exponent(value) { format!("{value:e}") } else { value.to_string() }
        }
        _ => {
            let real = Real::from_f80(raw & arith::mask(Ty::Float(FloatKind::F80).bits()));
            let sign = if real.negative { "-" } else { "" };
            match real.class {
                Class::Nan => format!("{sign}NaN"),
                Class::Infinite => format!("{sign}inf"),
                Class::Finite { mantissa, exponent } => {
                    format!("{sign}{}", digits(mantissa, exponent).general(21, false, false))
                }
            }
        }
    }
}

fn has_exponent(value: f64) -> bool {
    value.is_finite() && value != 0.0 && !(1e-5..1e17).contains(&value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::model::{Member, Type};

    fn module() -> Module {
        let t = |name: &str, size, kind| Type { name: name.to_owned(), size, kind };
        let member = |name: &str, bit_offset, bits, ty| Member {
            name: name.to_owned(),
            bit_offset,
            bits,
            ty: Some(ty),
        };
        Module {
            types: vec![
                t("int", 4, TypeKind::Signed),
                t("char", 1, TypeKind::Char { signed: true }),
                t("char *", 8, TypeKind::Pointer { to: Some(1) }),
                t("colour", 4, TypeKind::Enum { values: vec![("RED".into(), 0), ("BLUE".into(), -1)] }),
                t("int[3]", 12, TypeKind::Array { of: Some(0), count: 3 }),
                t(
                    "s",
                    24,
                    TypeKind::Record {
                        union: false,
                        members: vec![
                            member("a", 0, 32, 0),
                            member("low", 32, 3, 0),
                            member("high", 35, 5, 7),
                            member("name", 64, 64, 2),
                        ],
                    },
                ),
                t("double", 8, TypeKind::Float),
                t("unsigned", 4, TypeKind::Unsigned),
                t("long double", 16, TypeKind::Float),
                t("char[6]", 6, TypeKind::Array { of: Some(1), count: 6 }),
                t("alias", 4, TypeKind::Alias { of: Some(0) }),
            ],
            ..Module::default()
        }
    }

    fn text(ty: u32, bytes: &[u8], memory: &Memory) -> String {
        let known = vec![true; bytes.len()];
        let value = Value::Bytes { bytes: bytes.to_vec(), known };
        show(&module(), Data { memory, image: None }, Some(ty), &value, Limits::default())
    }

    #[test]
    fn values_read_like_source() {
        let mut m = Memory::default();
        m.write(0x1000, b"hi \"there\"\n\0");
        let minus_5 = (-5i32).to_le_bytes();
        assert_eq!(text(0, &minus_5, &m), "-5");
        assert_eq!(text(10, &minus_5, &m), "-5");
        assert_eq!(text(7, &minus_5, &m), "4294967291");
        assert_eq!(text(1, b"A", &m), "65 'A'");
        assert_eq!(text(2, &0x1000u64.to_le_bytes(), &m), r#"0x1000 "hi \"there\"\n""#);
        assert_eq!(text(2, &[0; 8], &m), "NULL");
        assert_eq!(text(3, &[255; 4], &m), "BLUE");
        assert_eq!(text(3, &[7, 0, 0, 0], &m), "7");
        assert_eq!(text(4, &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0], &m), "{1, 2, 3}");
        assert_eq!(text(6, &0.1f64.to_le_bytes(), &m), "0.1");
        let third = crate::f80::op(
            program::inst::FloatOp::Div,
            crate::f80::from_signed(1),
            crate::f80::from_signed(3),
        );
        assert_eq!(text(8, &third.to_le_bytes(), &m), "0.333333333333333333342");
        assert_eq!(text(9, b"abc\0zz", &m), "\"abc\"");
        let mut s = vec![0; 24];
        s[0] = 9;
        s[4] = 0b1010_1110; // low = -2, high = 21
        s[8..16].copy_from_slice(&0x1000u64.to_le_bytes());
        assert_eq!(text(5, &s, &m), r#"{a = 9, low = -2, high = 21, name = 0x1000 "hi \"there\"\n"}"#);
    }

    #[test]
    fn values_without_a_declared_type_read_like_numbers() {
        assert_eq!(show_untyped(Ty::Int(1), 1), "true");
        assert_eq!(show_untyped(Ty::Int(32), 0xffff_fffe), "-2");
        assert_eq!(show_untyped(Ty::Int(64), 0xffff_fffe), "4294967294");
        assert_eq!(show_untyped(Ty::Int(64), 0x7fff_0000_1234_5678), "0x7fff000012345678");
        assert_eq!(show_untyped(Ty::Int(128), 1 << 64 | 1), "0x10000000000000001");
        assert_eq!(show_untyped(Ty::Float(FloatKind::F64), 1.5f64.to_bits().into()), "1.5");
        assert_eq!(show_untyped(Ty::Float(FloatKind::F64), 4.63e-310f64.to_bits().into()), "4.63e-310");
        assert_eq!(show_untyped(Ty::Float(FloatKind::F64), (-1e300f64).to_bits().into()), "-1e300");
        assert_eq!(show_untyped(Ty::Float(FloatKind::F32), 1e-9f32.to_bits().into()), "1e-9");
        assert_eq!(show_untyped(Ty::Float(FloatKind::F32), 0.25f32.to_bits().into()), "0.25");
        assert_eq!(show_untyped(Ty::Float(FloatKind::F80), crate::f80::from_signed(3)), "3");
        assert_eq!((show_untyped(Ty::Ptr, 0), show_untyped(Ty::Ptr, 16)), ("NULL".into(), "0x10".into()));
        assert!(is_number(Ty::Int(32), 0xffff_fffe) && !is_number(Ty::Int(64), 1 << 50));
        assert!(is_number(Ty::Int(64), 1 << 40) && !is_number(Ty::Int(64), 0x5555_5575_1000));
    }

    #[test]
    fn unknown_parts_are_named() {
        let m = Memory::default();
        let value = Value::Bytes {
            bytes: vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            known: {
                let mut k = vec![false; 12];
                k[..4].fill(true);
                k
            },
        };
        let data = Data { memory: &m, image: None };
        let got = show(&module(), data, Some(4), &value, Limits::default());
        assert_eq!(got, "{1, <optimised out>, <optimised out>}");
        assert_eq!(show(&module(), data, Some(0), &Value::Gone, Limits::default()), "<optimised out>");
    }

    /// A function of fences, without variables.
    fn fences(count: u32) -> Function {
        Function {
            name: "f".to_owned(),
            symbol: 0,
            params: Vec::new(),
            ret: Vec::new(),
            result: None,
            variadic: false,
            slots: 0,
            frame_size: 0,
            frame_align: 16,
            first_site: 0,
            code: vec![program::Inst::Fence; count as usize],
            code_places: vec![0; count as usize],
            places: vec![program::model::Place::default()],
            blocks: vec![program::model::Block { start: 0, end: count, phis: Vec::new() }],
            variables: Vec::new(),
            scopes: Vec::new(),
            bindings: Vec::new(),
            bits: Vec::new(),
            file: 0,
            line: 0,
        }
    }

    #[test]
    fn bindings_hold_until_ways_disagree() {
        use program::inst::{Inst, Operand};
        use program::model::{Block, Variable};
        let block = |start, end| Block { start, end, phis: Vec::new() };
        let bind = |at, home| Binding { at, variable: 0, home, part: None };
        let value = |n| Home::Value(Operand::Const(n), Ty::Int(32));
        // 0: branch to 1 or 2; both go to 3.
        let f = Function {
            code: vec![
                Inst::Fence,
                Inst::Branch { cond: Operand::Const(1), then: 1, otherwise: 2 },
                Inst::Fence,
                Inst::Jump { to: 3 },
                Inst::Jump { to: 3 },
                Inst::Fence,
                Inst::Return { value: None, ret: Vec::new() },
            ],
            blocks: vec![block(0, 2), block(2, 4), block(4, 5), block(5, 7)],
            variables: vec![Variable {
                name: "x".to_owned(),
                ty: None,
                file: 0,
                line: 0,
                arg: 0,
                scope: None,
            }],
            bindings: vec![bind(1, value(10)), bind(3, value(20)), bind(6, Home::Nowhere)],
            ..fences(7)
        };
        let b = Bindings::of(&f);
        let at = |i| b.at(i, 0).first().map(|b| b.home);
        assert_eq!(at(0), None);
        assert_eq!(at(1), Some(value(10)));
        assert_eq!(at(2), Some(value(10)));
        assert_eq!(at(3), Some(value(20)));
        assert_eq!(at(4), Some(value(10)));
        assert_eq!(at(5), None);
        assert_eq!(at(6), Some(Home::Nowhere));
        // The binding before the jump, not the one after the paths meet.
        assert_eq!(b.after(3, 0).first().map(|b| b.home), Some(value(20)));
        assert_eq!(b.after(0, 0).first().map(|b| b.home), Some(value(10)));
    }

    #[test]
    fn a_name_stands_for_the_innermost_variable_in_scope() {
        use program::inst::{Inst, Operand};
        use program::model::{Scope, Variable};
        let value = |n| Home::Value(Operand::Const(n), Ty::Int(32));
        let bind = |at, variable| Binding { at, variable, home: value(u64::from(variable)), part: None };
        let x = |scope| Variable { name: "x".to_owned(), ty: None, file: 0, line: 0, arg: 0, scope };
        // { x0; { x1; { x2 } } { x3 } }
        let mut code = vec![Inst::Fence; 7];
        code.push(Inst::Return { value: None, ret: Vec::new() });
        let scope = |first, last| Scope { ranges: vec![(first, last)] };
        let f = Function {
            code,
            variables: vec![x(None), x(Some(0)), x(Some(1)), x(Some(2))],
            scopes: vec![scope(1, 5), scope(2, 4), scope(5, 7)],
            bindings: (0..4).map(|n| bind(0, n)).collect(),
            ..fences(8)
        };
        let b = Bindings::of(&f);
        let visible = |i| (0..4).filter(|v| !b.at(i, *v).is_empty()).collect::<Vec<u32>>();
        assert_eq!((0..8).map(visible).collect::<Vec<_>>().concat(), [0, 1, 2, 2, 1, 3, 3, 0]);
        assert_eq!(f.variable_named("x", 3), Some(2));
        assert_eq!(f.variable_named("y", 3), None);
        // The last value assigned in a scope is available when control leaves it.
        assert_eq!(b.after(6, 3).first().map(|b| b.home), Some(value(3)));
    }

    #[test]
    fn a_binding_holds_where_all_paths_keep_it() {
        use program::inst::{Inst, Operand};
        use program::model::{Block, Place, Variable};
        // Blocks: 0 entry, 1, 2, 3, 4 return; the loop 2, 1, 3 is entered at 2, behind a block that precedes it.
        let branch = |then, otherwise| Inst::Branch { cond: Operand::Const(1), then, otherwise };
        let code = vec![
            Inst::Jump { to: 2 },
            Inst::Jump { to: 3 },
            branch(1, 4),
            Inst::Jump { to: 2 },
            Inst::Return { value: None, ret: Vec::new() },
        ];
        let binding = |at, variable| Binding { at, variable, home: Home::Nowhere, part: None };
        let variable =
            |name: &str| Variable { name: name.to_owned(), ty: None, file: 0, line: 1, arg: 0, scope: None };
        let function = Function {
            name: "f".to_owned(),
            symbol: 0,
            params: Vec::new(),
            ret: Vec::new(),
            result: None,
            variadic: false,
            slots: 0,
            frame_size: 0,
            frame_align: 16,
            first_site: 0,
            blocks: (0..5).map(|b| Block { start: b, end: b + 1, phis: Vec::new() }).collect(),
            code_places: vec![0; code.len()],
            code,
            places: vec![Place::default()],
            variables: vec![variable("kept"), variable("changed")],
            scopes: Vec::new(),
            bindings: vec![binding(0, 0), binding(0, 1), binding(3, 1)],
            bits: Vec::new(),
            file: 0,
            line: 1,
        };
        let bindings = Bindings::of(&function);
        for index in 1..5 {
            assert_eq!(bindings.at(index, 0).len(), 1, "kept at {index}");
        }
        // In the loop it is one of two.
        assert_eq!(bindings.at(2, 1), Vec::<&Binding>::new());
    }
}
