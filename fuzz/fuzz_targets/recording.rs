//! Everything a recording consists of, read from memory.

#![no_main]

use libfuzzer_sys::fuzz_target;
use recording::decode::usable_prefix;
use recording::frames::{KIND_MODULES, KIND_STREAM, Packed};
use recording::header::StreamHeader;
use recording::process::ProcessInfo;
use recording::{Manifest, modules};
use std::path::Path;

fuzz_target!(|data: &[u8]| {
    let (usable, fault) = usable_prefix(data);
    assert!(usable <= data.len());
    assert_eq!(usable_prefix(&data[..usable]), (usable, None));
    assert_eq!(fault.is_none(), usable == data.len());
    if let Ok(header) = StreamHeader::parse(data) {
        assert_eq!(StreamHeader::parse(&header.to_page()).as_ref(), Ok(&header));
    }
    let _ = modules::parse(data);
    let _ = ProcessInfo::default().read_raw(data);
    let _ = serde_json::from_slice::<ProcessInfo>(data);
    let _ = serde_json::from_slice::<Manifest>(data);
    for kind in [KIND_STREAM, KIND_MODULES] {
        if let Ok(packed) = Packed::new(data, Path::new("t0"), kind) {
            let (content, _) = packed.content(data.len() as u64, "t0");
            let _ = usable_prefix(&content);
        }
    }
});
