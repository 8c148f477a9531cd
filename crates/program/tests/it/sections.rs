//! Modules round-trip through their section, and only valid ones are accepted.

use crate::common;
use program::binary::{self, Binary, BinaryError};
use program::section::{self, SectionError, decode_all, encode};
use proptest::prelude::*;

proptest! {
    #[test]
    fn modules_come_back(seeds in prop::collection::vec(any::<u64>(), 0..4), padding in 0usize..40) {
        let modules: Vec<_> = seeds.iter().map(|s| common::module(*s)).collect();
        let mut bytes = vec![0; padding];
        for module in &modules {
            bytes.extend(encode(module).unwrap());
            bytes.resize(bytes.len() + padding, 0);
        }
        prop_assert_eq!(decode_all(&bytes).unwrap(), modules);
    }

    #[test]
    fn every_changed_byte_is_noticed(seed in 0u64..20, at in any::<prop::sample::Index>(), bit in 0u32..8) {
        let module = common::module(seed);
        let mut bytes = encode(&module).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        // Only the flags field is unused.
        match decode_all(&bytes) {
            Ok(found) => prop_assert!((12..16).contains(&at) && found == [module]),
            Err(_) => prop_assert!(!(12..16).contains(&at)),
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    let bytes = encode(&common::module(1)).unwrap();
    let two = [&bytes[..], &[0; 5], &bytes[..]].concat();
    let at = bytes.len() + 5;
    let fault = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = two.clone();
        change(&mut bytes);
        decode_all(&bytes).unwrap_err()
    };
    assert!(matches!(fault(&|b| b[at] = 1), SectionError::Magic { at: a } if a == at));
    assert!(matches!(fault(&|b| b[at + 8] = 9), SectionError::Version { at: a, found: 9 } if a == at));
    assert!(matches!(fault(&|b| b.truncate(b.len() - 1)), SectionError::Cut { at: a } if a == at));
    assert!(matches!(fault(&|b| b.truncate(at + 10)), SectionError::Cut { .. }));
    assert!(matches!(fault(&|b| b[at + 23] = 0xff), SectionError::Cut { .. }));
    assert!(matches!(fault(&|b| *b.last_mut().unwrap() ^= 1), SectionError::Checksum { at: a } if a == at));
    let message = fault(&|b| b[at + 8] = 9).to_string();
    let ours = format!("version {}", program::section::VERSION);
    assert!(message.contains("version 9") && message.contains(&ours), "{message}");
    let mut unsound = common::module(1);
    unsound.functions[0].slots = 3;
    let error = decode_all(&encode(&unsound).unwrap()).unwrap_err();
    assert!(matches!(error, SectionError::Invalid { at: 0, .. }), "{error}");
}

/// An ELF object with the sections given, written by hand: 64-bit,
/// little-endian, section names in the last section.
fn elf(sections: &[(&str, u32, &[u8])]) -> Vec<u8> {
    let mut names = vec![0];
    let mut body = vec![0; 64];
    let mut headers = vec![0; 64];
    let names_name = ".shstrtab";
    let mut all: Vec<(usize, u32, Vec<u8>)> = Vec::new();
    for (name, kind, data) in sections {
        all.push((names.len(), *kind, data.to_vec()));
        names.extend(name.bytes().chain([0]));
    }
    let last = names.len();
    names.extend(names_name.bytes().chain([0]));
    all.push((last, 3, names));
    for (name, kind, data) in &all {
        let offset = body.len() as u64;
        body.extend_from_slice(data);
        for word in [*name as u32, *kind] {
            headers.extend_from_slice(&word.to_le_bytes());
        }
        for long in [0, 0, offset, data.len() as u64, 0, 4, 0] {
            headers.extend_from_slice(&u64::to_le_bytes(long));
        }
    }
    // link and info share one 8-byte word above; the table is 64 bytes an entry.
    assert_eq!(headers.len(), 64 * (all.len() + 1));
    let table = body.len() as u64;
    body.extend(headers);
    body[..16].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    body[16..24].copy_from_slice(&[1, 0, 62, 0, 1, 0, 0, 0]); // relocatable, x86-64, version 1
    body[40..48].copy_from_slice(&table.to_le_bytes());
    body[52..54].copy_from_slice(&64u16.to_le_bytes());
    body[58..60].copy_from_slice(&64u16.to_le_bytes());
    body[60..62].copy_from_slice(&(all.len() as u16 + 1).to_le_bytes());
    body[62..64].copy_from_slice(&(all.len() as u16).to_le_bytes());
    body
}

#[test]
fn models_and_build_id_are_found_in_elf_files() {
    let (a, b) = (common::module(1), common::module(2));
    let (first, second) = (encode(&a).unwrap(), encode(&b).unwrap());
    let note =
        [&4u32.to_le_bytes()[..], &3u32.to_le_bytes(), &3u32.to_le_bytes(), b"GNU\0", &[7, 8, 9]].concat();
    let file = elf(&[
        (".text", 1, &[0x90; 3]),
        (".note.gnu.build-id", 7, &note),
        (section::NAME, 1, &first),
        (section::NAME, 1, &second),
    ]);
    let binary = Binary::parse(&file).unwrap();
    assert_eq!(binary.build_id.as_deref(), Some(&[7, 8, 9][..]));
    assert_eq!(binary.modules, [a, b]);
    assert_eq!(binary::build_id(&file).unwrap().as_deref(), Some(&[7, 8, 9][..]));
    let plain = Binary::parse(&elf(&[(".text", 1, &[0x90; 3])])).unwrap();
    assert_eq!(plain, Binary::default());
    assert!(matches!(Binary::parse(b"#!/bin/sh\n"), Err(BinaryError::Object(_))));
    let broken = elf(&[(section::NAME, 1, &first[..50])]);
    assert!(matches!(Binary::parse(&broken), Err(BinaryError::Section(SectionError::Cut { at: 0 }))));
}
