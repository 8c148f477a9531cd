//! A recorded environment. A mutator that knows the seal (length and hash) changes what is inside and
//! seals it again; otherwise nearly every input would end at the hash. Seeds are files that
//! `relapse environment record` wrote.

#![no_main]

use environment::{file, secrets};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

/// Magic, version, length and hash.
const HEADER: usize = 8 + 4 + 8 + 8;
/// Room for what is inside.
const MAX_PLAIN: usize = 1 << 20;

fn sealed(plain: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = b"RLPSENV\0".to_vec();
    bytes.extend_from_slice(&file::VERSION.to_le_bytes());
    bytes.extend_from_slice(&(plain.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&xxhash_rust::xxh3::xxh3_64(plain).to_le_bytes());
    bytes.extend_from_slice(&zstd::bulk::compress(plain, 1).ok()?);
    Some(bytes)
}

fn mutate_inside(data: &[u8], max_size: usize) -> Option<Vec<u8>> {
    let mut plain = zstd::bulk::decompress(data.get(HEADER..)?, MAX_PLAIN).ok()?;
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
    let Ok(mut record) = file::decode(data) else { return };
    assert!(record.is_sound());
    let names: Vec<String> = record.keys.iter().map(secrets::name).collect();
    let _ = secrets::secrets(&record);
    let _ = secrets::redact(&mut record, &names);
    assert!(record.is_sound());
});
