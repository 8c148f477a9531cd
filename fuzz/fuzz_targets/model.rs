//! The model section. A mutator that knows the seal (length and hash) changes
//! what is inside and seals it again; otherwise nearly every input would end at
//! the hash.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use program::section::{self, HEADER_LEN};

/// Room for what is inside: larger than any seed.
const MAX_PLAIN: usize = 1 << 20;

fn sealed(plain: &[u8]) -> Option<Vec<u8>> {
    let payload = zstd::bulk::compress(plain, 1).ok()?;
    let mut bytes = section::MAGIC.to_vec();
    bytes.extend_from_slice(&u64::from(section::VERSION).to_le_bytes());
    bytes.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&xxhash_rust::xxh3::xxh3_64(&payload).to_le_bytes());
    bytes.extend_from_slice(&payload);
    Some(bytes)
}

fn mutate_inside(data: &[u8], max_size: usize) -> Option<Vec<u8>> {
    let mut plain = zstd::bulk::decompress(data.get(HEADER_LEN..)?, MAX_PLAIN).ok()?;
    let size = plain.len();
    plain.resize(size + 64, 0);
    let room = plain.len();
    let size = fuzzer_mutate(&mut plain, size, room);
    sealed(&plain[..size]).filter(|bytes| bytes.len() <= max_size)
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    // One time in eight the seal itself is what changes.
    if seed % 8 != 0
        && let Some(bytes) = mutate_inside(&data[..size], max_size)
    {
        data[..bytes.len()].copy_from_slice(&bytes);
        return bytes.len();
    }
    fuzzer_mutate(data, size, max_size)
});

fuzz_target!(|data: &[u8]| {
    let _ = program::binary::Binary::parse(data);
    let _ = program::kept::StoredBinary::decode(data).map(|kept| kept.modules());
    let Ok(modules) = section::decode_all(data) else { return };
    for module in &modules {
        let _ = module.to_string();
        for function in &module.functions {
            let graph = program::cfg::Graph::of(function);
            let _ = (graph.control_dependence(), graph.loops());
            for inst in &function.code {
                if let Some((dst, slots)) = inst.defines() {
                    assert!(dst + slots <= function.slots);
                }
            }
        }
    }
});
