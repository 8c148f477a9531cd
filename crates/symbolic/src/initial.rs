//! The initial content of a program's variables, read from its binaries.
//!
//! A recording has only bytes that the run accessed. A table that is indexed by input is needed as a whole,
//! including entries that this run never read. A bitset, kept only for writable sections, marks the bytes
//! that were written or read since program start.

use object::{Object as _, ObjectSection, ObjectSymbol, RelocationTarget, SectionKind};
use recording::modules::LoadedModule;
use replay::image::Image;
use std::collections::HashMap;

struct Section {
    start: u64,
    bytes: Vec<u8>,
    /// One bit per byte: written or read. Empty for sections that cannot change.
    touched: Vec<u64>,
}

/// See the module's documentation.
#[derive(Default)]
pub struct Initial {
    sections: Vec<Section>,
    /// Start and end of the bytes that may change.
    writable: (u64, u64),
}

impl Initial {
    /// Reads the binaries of a process's modules. Binaries that cannot be read, or were rebuilt since, are
    /// skipped; then only the bytes that the run accessed are known.
    #[must_use]
    pub fn read(image: &Image, modules: &[LoadedModule]) -> Initial {
        let mut initial = Initial::default();
        let mut done: Vec<&str> = Vec::new();
        for LoadedModule { index, path, build_id, .. } in modules {
            if done.contains(&path.as_str()) {
                continue;
            }
            let Some((_, loaded)) = image.modules().find(|(i, _)| i == index) else { continue };
            let Ok(bytes) = std::fs::read(path) else { continue };
            let Ok(file) = object::File::parse(&*bytes) else { continue };
            if file.build_id().ok().flatten().unwrap_or_default() != build_id {
                done.push(path);
                continue;
            }
            let mut by_name: HashMap<&str, Option<u64>> = HashMap::new();
            for symbol in file.symbols().chain(file.dynamic_symbols()) {
                if let (Ok(name), true) = (symbol.name(), symbol.address() != 0) {
                    // A name with several addresses cannot be used.
                    let place = by_name.entry(name).or_insert(Some(symbol.address()));
                    if *place != Some(symbol.address()) {
                        *place = None;
                    }
                }
            }
            let pairs = loaded.model.symbols.iter().zip(&loaded.addresses);
            let bias = pairs
                .filter(|(_, address)| **address != 0)
                .filter(|(s, _)| !matches!(s.kind, program::model::SymbolKind::External))
                .find_map(|(s, address)| Some(address.wrapping_sub((*by_name.get(s.name.as_str())?)?)));
            let Some(bias) = bias.filter(|b| b % 4096 == 0) else { continue };
            done.push(path);
            initial.add(&file, bias);
        }
        let may_change = || initial.sections.iter().filter(|s| !s.touched.is_empty());
        let low = may_change().map(|s| s.start).min().unwrap_or(0);
        let high = may_change().map(|s| s.start + s.bytes.len() as u64).max().unwrap_or(0);
        initial.writable = (low, high);
        initial
    }

    fn add(&mut self, file: &object::File<'_>, bias: u64) {
        for section in file.sections() {
            let writable = match section.kind() {
                SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => false,
                // Relocated once, then read-only.
                SectionKind::ReadOnlyDataWithRel => false,
                SectionKind::Data => section.name() != Ok(".data.rel.ro"),
                _ => continue,
            };
            let Ok(data) = section.uncompressed_data() else { continue };
            let mut bytes = data.into_owned();
            let start = section.address();
            for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
                // Relative relocations: the base is added to the addend.
                if relocation.target() == RelocationTarget::Absolute
                    && let Some(offset) = at.checked_sub(start)
                    && let Some(place) = bytes.get_mut(offset as usize..offset as usize + 8)
                {
                    let value = relocation.addend().cast_unsigned().wrapping_add(bias);
                    place.copy_from_slice(&value.to_le_bytes());
                }
            }
            let touched = if writable { vec![0; bytes.len().div_ceil(64)] } else { Vec::new() };
            self.sections.push(Section { start: start.wrapping_add(bias), bytes, touched });
        }
    }

    #[must_use]
    pub fn watched(&self) -> Vec<(u64, u64)> {
        let may_change = self.sections.iter().filter(|s| !s.touched.is_empty());
        may_change.map(|s| (s.start, s.bytes.len() as u64)).collect()
    }

    #[inline]
    pub fn touched(&mut self, address: u64, len: u64) {
        if address < self.writable.1 && address.saturating_add(len) > self.writable.0 {
            self.mark(address, len);
        }
    }

    fn mark(&mut self, address: u64, len: u64) {
        let end = address.saturating_add(len);
        for s in self.sections.iter_mut().filter(|s| !s.touched.is_empty()) {
            let last = s.start + s.bytes.len() as u64;
            for at in address.max(s.start)..end.min(last) {
                let i = (at - s.start) as usize;
                s.touched[i / 64] |= 1 << (i % 64);
            }
        }
    }

    /// Replaces bytes that were neither written nor read.
    pub fn fill_in(&self, start: u64, bytes: &mut [u8]) {
        let end = start + bytes.len() as u64;
        for s in &self.sections {
            let last = s.start + s.bytes.len() as u64;
            for at in start.max(s.start)..end.min(last) {
                let i = (at - s.start) as usize;
                let place = &mut bytes[(at - start) as usize];
                let seen = match s.touched.get(i / 64) {
                    Some(word) => word >> (i % 64) & 1 == 1,
                    // Constant section: a nonzero byte was read; a zero may be a byte that was not.
                    None => *place != 0,
                };
                if !seen {
                    *place = s.bytes[i];
                }
            }
        }
    }
}
