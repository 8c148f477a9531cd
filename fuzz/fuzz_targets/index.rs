//! The index of a process, read from memory, and the pieces of its columns.

#![no_main]

use index::column::{Back, Kind};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let mut file = b"RLPSINDX".to_vec();
    file.extend_from_slice(&index::file::VERSION.to_le_bytes());
    file.extend_from_slice(&[0; 8]);
    file.extend_from_slice(&xxhash_rust::xxh3::xxh3_64(data).to_le_bytes());
    file.extend_from_slice(data);
    if let Ok(index) = index::Index::parse(file, Path::new("index")) {
        let mut stream = 0;
        while let Some(stored) = index.stored(stream) {
            for record in stored.records {
                let _ = index::extra::unpack(record);
            }
            for pieces in stored.functions.into_iter().flat_map(|f| f.1) {
                walk(pieces);
            }
            if let Some(outputs) = index.outputs(stream) {
                let _ = outputs.last(|_| true, u64::MAX);
            }
            stream += 1;
        }
    }
    let _ = index::extra::decode(data);
    for output in index::outputs::decode(data, 3).unwrap_or_default() {
        let _ = (output.made(0), output.made(u64::MAX));
    }
    walk(vec![data]);
});

/// Some way back through a column, then to its beginning.
fn walk(pieces: Vec<&[u8]>) {
    let mut back = Back::new(Kind::Delta, pieces);
    for _ in 0..10_000 {
        if back.back_near().is_none() {
            break;
        }
    }
    back.seek(u64::MAX);
}
