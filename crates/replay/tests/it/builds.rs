//! Models are found in binaries by the identity that the recording names.

use program::model::{Module, Symbol, SymbolKind};
use replay::error::Error;
use replay::image::{Image, ModuleRef};
use replay::library::Library;
use std::fs;
use std::process::Command;
use std::sync::Arc;

#[test]
fn a_recording_of_another_build_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let module = Module {
        id: [3; 16],
        name: "unit.c".to_owned(),
        symbols: vec![Symbol { name: "puts".to_owned(), kind: SymbolKind::External }],
        ..Module::default()
    };
    let bytes = program::section::encode(&module).unwrap();
    let (section, source, library) =
        (directory.path().join("model"), directory.path().join("unit.s"), directory.path().join("unit.so"));
    fs::write(&section, bytes).unwrap();
    let name = program::section::NAME;
    let text = format!(".section {name},\"\",@progbits\n.balign 16\n.incbin {section:?}\n");
    fs::write(&source, text).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-nostdlib", "-Wl,--build-id=0xabcd", "-o"])
        .arg(&library)
        .arg(&source)
        .status()
        .unwrap();
    assert!(built.success());

    let wanted = ModuleRef {
        index: 1,
        id: [3; 16],
        path: library.display().to_string(),
        build_id: vec![0xab, 0xcd],
        addresses: vec![0x1234],
        base: 0,
        recording: None,
    };
    let image = Image::load(std::slice::from_ref(&wanted)).unwrap();
    assert_eq!(image.module(1).name, "unit.c");
    assert_eq!(image.external_at(0x1234).unwrap().0, "puts");
    assert_eq!(image.symbol(1, 0), 0x1234);
    assert!(image.function_at(0x1234).is_none());

    let shared = Library::default();
    let image = |wanted: &ModuleRef| shared.image(std::slice::from_ref(wanted)).unwrap();
    let moved = ModuleRef { addresses: vec![0x5678], ..wanted.clone() };
    assert!(Arc::ptr_eq(&image(&wanted), &image(&wanted)));
    assert!(!Arc::ptr_eq(&image(&wanted), &image(&moved)));
    let model = |wanted: &ModuleRef| image(wanted).modules().next().unwrap().1.model.clone();
    assert!(Arc::ptr_eq(&model(&wanted), &model(&moved)));
    assert_eq!(image(&moved).symbol(1, 0), 0x5678);

    let other = ModuleRef { id: [4; 16], build_id: vec![0x12, 0x34], ..wanted.clone() };
    let Err(error @ Error::AnotherBuild { .. }) = Image::load(&[other]) else {
        panic!("another build must be refused")
    };
    let text = error.to_string();
    assert!(text.contains("1234") && text.contains("abcd"), "{text}");

    let stripped = ModuleRef { id: [4; 16], ..wanted.clone() };
    assert!(Image::load(&[stripped]).is_err_and(|e| e.to_string().contains("stripped")));
    let short = ModuleRef { addresses: vec![], ..wanted.clone() };
    assert!(Image::load(&[short]).is_err());
    let gone = ModuleRef { path: "/nonexistent/unit.so".to_owned(), ..wanted };
    assert!(Image::load(&[gone]).is_err());
}
