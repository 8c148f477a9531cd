//! Texts that stand in the program itself.
//!
//! A recording has only what was loaded. A string constant that is merely handed
//! on was never loaded, so its text is taken from the binary.

use object::{Object as _, ObjectSection, ObjectSymbol, SectionKind};
use program::model::SymbolKind;
use recording::Process;
use replay::image::Image;
use std::collections::{HashMap, HashSet};

/// Sections that cannot change, at their addresses in the process.
#[derive(Debug, Default)]
pub struct Constants {
    sections: Vec<(u64, Vec<u8>)>,
}

impl Constants {
    /// Reads the binaries of a process. What cannot be read is left out.
    #[must_use]
    pub fn read(image: &Image, process: &Process) -> Constants {
        let mut constants = Constants::default();
        let mut done = HashSet::new();
        for module in &process.modules {
            if done.contains(&module.path) {
                continue;
            }
            let Some((_, loaded)) = image.modules().find(|(i, _)| *i == module.index) else { continue };
            let Ok(bytes) = std::fs::read(&module.path) else { continue };
            let Ok(file) = object::File::parse(&*bytes) else { continue };
            let by_name: HashMap<&str, u64> =
                file.symbols().filter_map(|s| Some((s.name().ok()?, s.address()))).collect();
            // Only functions: two files may have variables of one name.
            let bias = loaded.model.symbols.iter().zip(&loaded.addresses).find_map(|(s, address)| {
                let known = matches!(s.kind, SymbolKind::Function(_)) && *address != 0;
                let in_file = by_name.get(s.name.as_str()).filter(|a| known && **a != 0)?;
                Some(address.wrapping_sub(*in_file)).filter(|bias| bias % 4096 == 0)
            });
            let Some(bias) = bias else { continue };
            done.insert(module.path.clone());
            for section in file.sections() {
                if matches!(section.kind(), SectionKind::ReadOnlyData | SectionKind::ReadOnlyString)
                    && let Ok(data) = section.uncompressed_data()
                {
                    constants.sections.push((section.address().wrapping_add(bias), data.into_owned()));
                }
            }
        }
        constants
    }

    /// The bytes from an address to the end of its section.
    #[must_use]
    pub fn at(&self, address: u64) -> Option<&[u8]> {
        self.sections.iter().find_map(|(start, bytes)| {
            let offset = usize::try_from(address.checked_sub(*start)?).ok()?;
            bytes.get(offset..).filter(|b| !b.is_empty())
        })
    }
}
