//! Values of states as text, without addresses.

use crate::compare::{Half, is_text, number};
use expression::types::{Shape, Type};
use replay::memory::Memory;
use replay::vars::{self, Data, Limits, Value, quoted};

/// The text for a byte that the program never set.
pub(crate) const NOT_SET: &str = "not set";

/// The name of a function.
pub(crate) fn function_at(half: &Half<'_, '_>, address: u64) -> String {
    let image = half.version.image;
    if let Some(number) = image.function_at(address) {
        let code = image.code(number);
        let function = &image.module(code.module).functions[code.function as usize];
        return program::names::readable(&function.name).into_owned();
    }
    image.external_at(address).map_or_else(|| "a function".to_owned(), |e| e.0.to_owned())
}

/// The target of a pointer, as text.
pub(crate) fn pointed(half: &Half<'_, '_>, address: u64, ty: &Type<'_>) -> String {
    if is_text(ty)
        && let Some(text) = half.state.string(address, 200)
    {
        return quoted(&String::from_utf8_lossy(&text));
    }
    match ty.shape() {
        Shape::Function => function_at(half, address),
        Shape::Record(..) if half.state.read(address, 1).is_some() => {
            format!("pointer to {}", show(half, address, ty))
        }
        _ => "a pointer".to_owned(),
    }
}

/// The value at an address, as text without addresses.
#[must_use]
pub fn show(half: &Half<'_, '_>, address: u64, ty: &Type<'_>) -> String {
    let size = ty.size().min(1 << 12) as usize;
    let limits = Limits { depth: 2, elements: 8, string: 80, addresses: false };
    if let Shape::Pointer(to) = ty.shape() {
        let Some(bytes) = half.state.read(address, 8) else { return NOT_SET.to_owned() };
        let target = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        return if target == 0 { "NULL".to_owned() } else { pointed(half, target, &to) };
    }
    let mut bytes = vec![0; size];
    let mut known = vec![false; size];
    for n in 0..size {
        if let Some(byte) = half.state.read(address + n as u64, 1) {
            (bytes[n], known[n]) = (byte[0], true);
        }
    }
    if !known.contains(&true) && size > 0 {
        return NOT_SET.to_owned();
    }
    let shape = ty.shape();
    let memory = match shape {
        Shape::Record(..) | Shape::Array(..) => half.state.memory(),
        _ => Memory::default(),
    };
    match ty.stripped() {
        Type::Declared(module, index) => {
            let data = Data { memory: &memory, image: Some(half.version.image) };
            let text = vars::show(module, data, Some(index), &Value::Bytes { bytes, known }, limits);
            text.replace("<optimised out>", NOT_SET)
        }
        other => number(&other, &bytes).map_or_else(|| format!("{bytes:?}"), |n| n.to_string()),
    }
}
