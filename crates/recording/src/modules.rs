//! The modules file: the translation units of a process, and the addresses of their symbols.

use crate::damage::{Damage, RecordingError};
use crate::event::{VERSION, modules};
use crate::frames::{KIND_MODULES, Packed};
use crate::open::{read_optional, unusable};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

/// A module that the recorded process registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedModule {
    /// Registration index, as in events; starts at 1.
    pub index: u32,
    /// Hash of the model; equals `program::Module::id`.
    pub id: [u8; 16],
    /// The executable or shared library it was linked into.
    pub path: String,
    /// Load address of that file.
    pub load_address: u64,
    /// GNU build id of that file.
    pub build_id: Vec<u8>,
    /// Address of each of the module's symbols.
    pub addresses: Vec<u64>,
}

impl LoadedModule {
    /// Appends the record to a modules file.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.index.to_le_bytes());
        out.extend_from_slice(&self.id);
        out.extend_from_slice(&(self.path.len() as u32).to_le_bytes());
        out.extend_from_slice(self.path.as_bytes());
        out.extend_from_slice(&self.load_address.to_le_bytes());
        out.extend_from_slice(&(self.build_id.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.build_id);
        out.extend_from_slice(&(self.addresses.len() as u32).to_le_bytes());
        for address in &self.addresses {
            out.extend_from_slice(&address.to_le_bytes());
        }
    }
}

/// The header before the first record.
#[must_use]
pub fn file_start() -> Vec<u8> {
    [&modules::MAGIC[..], &VERSION.to_le_bytes()].concat()
}

/// Parses the complete records, sorted by index.
#[must_use]
pub fn parse(bytes: &[u8]) -> (Vec<LoadedModule>, Option<Damage>) {
    let mut list = Vec::new();
    let mut rest = bytes;
    let damage = |what: &str, usable: usize| {
        Some(Damage {
            what: format!("modules: {what}"),
            usable_bytes: usable as u64,
            total_bytes: bytes.len() as u64,
        })
    };
    if take(&mut rest, 8) != Some(&modules::MAGIC[..]) {
        return (list, damage("it is not a modules file", 0));
    }
    match half(&mut rest) {
        Some(VERSION) => {}
        Some(other) => return (list, damage(&format!("it has format version {other}"), 0)),
        None => return (list, damage("it is cut short", 0)),
    }
    while !rest.is_empty() {
        let before = bytes.len() - rest.len();
        let Some(module) = record(&mut rest) else {
            list.sort_by_key(|m: &LoadedModule| m.index);
            return (list, damage("its last record is cut short", before));
        };
        list.push(module);
    }
    list.sort_by_key(|m| m.index);
    (list, None)
}

fn record(rest: &mut &[u8]) -> Option<LoadedModule> {
    let index = half(rest)?;
    let id = take(rest, 16)?.try_into().ok()?;
    let path = counted(rest)?;
    let load_address = word(rest)?;
    let build_id = counted(rest)?.to_vec();
    let symbols = half(rest)? as usize;
    let table = take(rest, symbols.checked_mul(8)?)?;
    let addresses = table.chunks_exact(8).filter_map(|mut chunk| word(&mut chunk)).collect();
    Some(LoadedModule {
        index,
        id,
        path: String::from_utf8_lossy(path).into_owned(),
        load_address,
        build_id,
        addresses,
    })
}

/// Modules by the hash of their file. Forks and repeated runs of a program have the same file.
pub(crate) type ModuleCache = HashMap<u128, Arc<[LoadedModule]>>;

/// Reads the modules of the process in a directory.
pub(crate) fn open(
    path: &Path,
    damage: &mut Vec<Damage>,
    known: &mut ModuleCache,
) -> Result<Arc<[LoadedModule]>, RecordingError> {
    let packed = path.join("modules");
    let before = damage.len();
    let (file, is_packed) = match read_optional(&packed)? {
        Some(bytes) => (Some(bytes), true),
        None => (read_optional(&path.join("modules.raw"))?, false),
    };
    let Some(file) = file else {
        let what = format!("{}: it is missing", packed.display());
        damage.push(Damage { what, usable_bytes: 0, total_bytes: 0 });
        return Ok(Arc::default());
    };
    let key = xxh3_128(&file);
    if let Some(modules) = known.get(&key) {
        return Ok(Arc::clone(modules));
    }
    let bytes = if is_packed {
        match Packed::new(&file[..], &packed, KIND_MODULES) {
            Ok(file) => {
                let length = file.header.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
                let (bytes, fault) = file.content(length, &packed.display().to_string());
                damage.extend(fault);
                bytes
            }
            Err(e) => {
                damage.push(unusable(&packed, &e));
                return Ok(Arc::default());
            }
        }
    } else {
        file
    };
    let (modules, fault) = parse(&bytes);
    damage.extend(fault);
    let modules: Arc<[LoadedModule]> = modules.into();
    // A damaged file is not shared, so that the damage is reported for every process that has it.
    if damage.len() == before {
        known.insert(key, Arc::clone(&modules));
    }
    Ok(modules)
}

pub(crate) fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

pub(crate) fn half(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(take(rest, 4)?.try_into().ok()?))
}

pub(crate) fn word(rest: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?))
}

pub(crate) fn counted<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = half(rest)? as usize;
    take(rest, length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_file_keeps_its_whole_records() {
        let module = |index| LoadedModule {
            index,
            id: [index as u8; 16],
            path: format!("/bin/tool{index}"),
            load_address: 0x5555_0000,
            build_id: vec![1, 2, 3],
            addresses: vec![7, 8],
        };
        let mut bytes = file_start();
        module(2).write(&mut bytes);
        let first = bytes.len();
        module(1).write(&mut bytes);
        assert_eq!(parse(&bytes), (vec![module(1), module(2)], None));
        for cut in 0..bytes.len() {
            let (list, damage) = parse(&bytes[..cut]);
            assert_eq!(list.len(), usize::from(cut >= first), "{cut}");
            assert_eq!(damage.is_none(), cut == first || cut == 12, "{cut}");
        }
    }
}
