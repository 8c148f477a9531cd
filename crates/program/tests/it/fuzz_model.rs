//! No bytes in a model section make the reader panic, nor a user of its result: the corpus is
//! mutated many thousand times, deterministically. `fuzz/` has the same target for a
//! coverage-guided fuzzer.
//!
//! The corpus also tests compatibility: it was written by the current model version, and must stay
//! readable as long as the version is the same.

use crate::common;
use crate::common::mutate::Mutator;
use program::model::Module;
use program::section::{self, HEADER_LEN, decode_all};
use proptest::prelude::*;
use std::path::Path;

/// Seeds of `common::module`, and the files generated from them.
const CORPUS: [(u64, &str); 3] = [(1, "one.model"), (2, "two.model"), (9, "nine.model")];

fn corpus() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    CORPUS.iter().map(|(_, name)| std::fs::read(root.join(name)).unwrap()).collect()
}

/// A section with a correct hash and arbitrary content.
fn sealed(plain: &[u8]) -> Vec<u8> {
    let payload = zstd::bulk::compress(plain, 1).unwrap();
    let mut bytes = section::MAGIC.to_vec();
    bytes.extend_from_slice(&u64::from(section::VERSION).to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&xxhash_rust::xxh3::xxh3_64(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    bytes
}

/// Whether the bytes were accepted. If so, the whole module is used.
fn decode(bytes: &[u8]) -> bool {
    match decode_all(bytes) {
        Ok(modules) => {
            modules.iter().for_each(|m| assert!(common::use_everything(m) > 0));
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

#[test]
fn the_corpus_is_readable() {
    for (bytes, (seed, name)) in corpus().iter().zip(CORPUS) {
        assert_eq!(decode_all(bytes).unwrap(), [common::module(seed)], "{name}");
    }
}

#[test]
fn mutated_sections_never_panic() {
    let mut mutator = Mutator::new(5);
    for seed in corpus() {
        for _ in 0..3000 {
            decode(&mutator.mutate(&seed));
        }
    }
}

#[test]
fn mutated_modules_with_the_right_hash_never_panic() {
    let mut mutator = Mutator::new(6);
    let mut accepted = 0;
    for seed in corpus() {
        let plain = zstd::bulk::decompress(&seed[HEADER_LEN..], 1 << 20).unwrap();
        for round in 0..4000 {
            let mutated = if round % 2 == 0 { mutator.mutate(&plain) } else { mutator.change_byte(&plain) };
            accepted += usize::from(decode(&sealed(&mutated)));
        }
    }
    // Some mutations change only names and numbers; the modules stay valid.
    assert!(accepted > 500 && accepted < 8000, "{accepted}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        decode(&bytes);
        decode(&sealed(&bytes));
        if let Ok(module) = postcard::from_bytes::<Module>(&bytes) {
            let _ = module.validate();
        }
        let _ = program::binary::Binary::parse(&bytes);
    }
}
