//! The contracts of the worked examples with damaged bytes: each text is parsed, or rejected with a sentence
//! that has its location.

use contract::find::{in_comments, in_file};
use contract::language::Source;
use proptest::prelude::*;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// The programs of the worked contracts, and the parts of them that could be in a file of contracts.
static TEXTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/contracts");
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let folder = entry.unwrap().path();
        let of = |name: &str| std::fs::read_to_string(folder.join(name)).ok();
        let text = of("right.c").or_else(|| of("right.cpp")).unwrap();
        let lines = text.lines().filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("//@").or_else(|| line.strip_prefix("/*@")).or_else(|| line.strip_prefix("@ "))
        });
        let contract = format!("function f\n{}\n", lines.collect::<Vec<_>>().join("\n"));
        texts.push(text.into_bytes());
        texts.push(contract.into_bytes());
    }
    texts.sort();
    texts
});

fn source(bytes: &[u8]) -> Arc<Source> {
    Arc::new(Source { file: "a.c".to_owned(), text: String::from_utf8_lossy(bytes).into_owned() })
}

#[test]
fn without_damage_they_are_read() {
    let read = TEXTS.iter().filter(|text| {
        let source = source(text);
        in_comments(&source).is_ok_and(|found| !found.is_empty()) || in_file(&source).is_ok()
    });
    assert!(read.count() >= 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_contract_is_read_or_refused(
        which in any::<usize>(),
        edits in prop::collection::vec((any::<usize>(), any::<u8>(), 0..3usize), 1..8),
        cut in prop::option::weighted(0.2, any::<usize>()),
    ) {
        let mut bytes = TEXTS[which % TEXTS.len()].clone();
        for (at, byte, kind) in &edits {
            let at = at % bytes.len().max(1);
            match kind {
                0 => bytes[at] = *byte,
                1 => bytes.insert(at, *byte),
                _ => drop(bytes.remove(at)),
            }
        }
        if let Some(cut) = cut {
            bytes.truncate(cut % bytes.len());
        }
        let source = source(&bytes);
        for error in [in_comments(&source).err(), in_file(&source).err()].into_iter().flatten() {
            let told = error.to_string();
            prop_assert!(told.starts_with("a.c:"), "{}", told);
            prop_assert!(told.lines().count() >= 2, "{}", told);
        }
    }
}
