//! Represents values in a form that means the same in another run: never an address.

use crate::fleeting::Fleeting;
use crate::names::Names;
use crate::own::RunNames;
use crate::trace::{Encoding, NO_TEXT, is_address};
use program::names::readable;
use replay::image::Image;
use replay::memory::Memory;
use xxhash_rust::xxh3::xxh3_64;

/// The length at which strings are cut.
pub const MAX_TEXT_LENGTH: usize = 128;

/// Replaces an address in a hash.
pub(crate) const ADDRESS: u64 = 0xADD2_E550;
/// Replaces a fleeting value in a hash.
pub(crate) const FLEETING: u64 = 0xF1EE_7199;

/// Reads values during a replay.
pub struct Reader<'r> {
    /// The texts of the trace, to which new ones are added.
    pub names: &'r mut Names,
    /// The program, for names of functions and string literals.
    pub image: &'r Image,
    /// Names that are replaced by their role in this run.
    pub own: &'r RunNames,
}

impl Reader<'_> {
    /// Represents a value: returns the number stored in the event's row and the one that enters its key.
    pub(crate) fn represent(
        &mut self,
        take: Encoding,
        raw: u64,
        memory: &Memory,
        fleeting: &Fleeting,
    ) -> (u64, u64) {
        match take {
            Encoding::Nothing => (0, 0),
            Encoding::Wide if is_address(raw) => (raw, ADDRESS),
            Encoding::Text if raw == 0 => (0, 0),
            Encoding::Text => match text(memory, self.image, raw, fleeting) {
                Some(bytes) => {
                    let number = match self.own.mapped(&bytes) {
                        Some(says) => self.names.intern_as(&bytes, &says),
                        None => self.names.intern_bytes(&bytes),
                    };
                    (u64::from(number) + 1, self.names.hash(number))
                }
                None => (NO_TEXT, ADDRESS),
            },
            Encoding::Pointer | Encoding::Object(_) => (u64::from(raw != 0), u64::from(raw != 0)),
            Encoding::Function if raw == 0 => (0, 0),
            Encoding::Function => {
                let name = self.function(raw);
                let number = self.names.intern(&name);
                (u64::from(number) + 1, self.names.hash(number))
            }
            _ => (raw, raw),
        }
    }

    fn function(&self, address: u64) -> String {
        if let Some(number) = self.image.function_at(address) {
            let code = self.image.code(number);
            let name = &self.image.module(code.module).functions[code.function as usize].name;
            return readable(name).into_owned();
        }
        let external = self.image.external_at(address);
        external.map_or_else(|| "<function>".to_owned(), |e| readable(e.0).into_owned())
    }
}

/// The string at an address, if the bytes look like text.
fn text(memory: &Memory, image: &Image, address: u64, fleeting: &Fleeting) -> Option<Vec<u8>> {
    if let Some(constant) = image.constant(address) {
        let constant = &constant[..constant.len().min(MAX_TEXT_LENGTH)];
        let end = constant.iter().position(|b| *b == 0).unwrap_or(constant.len());
        return looks_like_text(&constant[..end]).then(|| constant[..end].to_vec());
    }
    let mut bytes = Vec::with_capacity(32);
    let mut piece = [0; 32];
    while bytes.len() < MAX_TEXT_LENGTH {
        memory.peek(address.wrapping_add(bytes.len() as u64), &mut piece);
        let end = piece.iter().position(|b| *b == 0);
        bytes.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
        if end.is_some() || !looks_like_text(&bytes) {
            break;
        }
    }
    let bytes = fleeting.masked_text(address, &bytes).unwrap_or(bytes);
    looks_like_text(&bytes).then_some(bytes)
}

/// Allows some control characters; binary numbers and addresses have many.
fn looks_like_text(bytes: &[u8]) -> bool {
    let control = bytes.iter().filter(|c| c.is_ascii_control() && !c.is_ascii_whitespace()).count();
    3 * control <= bytes.len()
}

/// A hash of memory, without words that look like addresses.
pub(crate) fn bytes_hash(memory: &Memory, address: u64, len: u64, fleeting: &Fleeting) -> u64 {
    let mut bytes = vec![0; len as usize];
    memory.peek(address, &mut bytes);
    fleeting.mask_bytes(address, &mut bytes);
    for word in bytes.chunks_exact_mut(8) {
        let mut value = [0; 8];
        value.copy_from_slice(word);
        if is_address(u64::from_le_bytes(value)) {
            word.fill(0xAD);
        }
    }
    xxh3_64(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_cut_and_other_bytes_are_none() {
        let none = Image::new(std::collections::BTreeMap::new());
        let steady = Fleeting::default();
        let mut m = Memory::default();
        m.write(0x1000, b"hello\n\0rest");
        m.write(0x2000, &[b'x'; 500]);
        m.write(0x3000, &[1, 2, 3, 0]);
        assert_eq!(text(&m, &none, 0x1000, &steady).as_deref(), Some(&b"hello\n"[..]));
        assert_eq!(text(&m, &none, 0x2000, &steady).map(|t| t.len()), Some(MAX_TEXT_LENGTH));
        assert_eq!(text(&m, &none, 0x3000, &steady), None);
        m.write(0x4000, b"a\x01b\0");
        assert_eq!(text(&m, &none, 0x4000, &steady).as_deref(), Some(&b"a\x01b"[..]));
        assert_eq!(text(&m, &none, 0x9000, &steady).as_deref(), Some(&b""[..]));
    }

    #[test]
    fn content_does_not_depend_on_addresses() {
        let none = Fleeting::default();
        let mut m = Memory::default();
        for (at, pointer, number) in [(0x1000, 0x7fff_1234_5678u64, 5u64), (0x2000, 0x5555_5555_0000, 5)] {
            m.write(at, &number.to_le_bytes());
            m.write(at + 8, &pointer.to_le_bytes());
        }
        assert_eq!(bytes_hash(&m, 0x1000, 16, &none), bytes_hash(&m, 0x2000, 16, &none));
        m.write(0x2000, &[6]);
        assert_ne!(bytes_hash(&m, 0x1000, 16, &none), bytes_hash(&m, 0x2000, 16, &none));
    }
}
