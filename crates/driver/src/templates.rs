//! Compiles `std::string` as part of the program.
//!
//! libstdc++ declares `extern template class basic_string<char>`: its members are compiled into the
//! library, not into the program. Their reads and writes would be unknown, and a string would be
//! displayed with the value it had before the library changed it. The header with this declaration,
//! `bits/c++config.h`, has a value with which only strings are compiled into the program. Clang
//! uses a copy with that value in place of the header, under the header's own name, so that
//! dependency files and debug information are unchanged.
//!
//! Input and output (`std::cout`) stay in the library: the table of externals describes them.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

const LIBRARY_INSTANTIATES: &str = "# define _GLIBCXX_EXTERN_TEMPLATE 1";
const ALL_BUT_STRINGS: &str = "# define _GLIBCXX_EXTERN_TEMPLATE -1";

/// Options with which clang compiles the members of `std::string`, if an installed header would
/// leave them to the library; otherwise none. The copies are written into `dir`.
///
/// # Errors
/// If a copy cannot be written.
pub fn string_options(dir: &Path) -> io::Result<Vec<OsString>> {
    let mut files = Vec::new();
    for header in headers(Path::new("/usr/include")) {
        // If a header cannot be read, clang reports the error.
        let Ok(text) = std::fs::read_to_string(&header) else { continue };
        if text.contains(LIBRARY_INSTANTIATES) {
            let copy = dir.join(format!("config{}.h", files.len()));
            std::fs::write(&copy, text.replace(LIBRARY_INSTANTIATES, ALL_BUT_STRINGS))?;
            files.push(serde_json::json!({ "type": "file", "name": header, "external-contents": copy }));
        }
    }
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let overlay = serde_json::json!({ "version": 0, "use-external-names": false, "roots": files });
    let path = dir.join("overlay.json");
    std::fs::write(&path, overlay.to_string())?;
    Ok(vec!["-ivfsoverlay".into(), path.into()])
}

/// Whether precompiled headers are used: they were compiled with the original header, and clang
/// rejects them with another.
pub fn is_precompiled(args: &[OsString]) -> bool {
    let is_option = |arg: &OsString| {
        let arg = arg.to_string_lossy();
        arg == "-include-pch" || arg.starts_with("-fmodule") || arg == "-fcxx-modules"
    };
    // `-include x.h` uses `x.h.pch` or `x.h.gch` if it exists.
    let has_image = |header: &OsString| {
        let image = |extension| Path::new(header).with_added_extension(extension).exists();
        image("pch") || image("gch")
    };
    let included = args.windows(2).filter(|pair| pair[0] == "-include").map(|pair| &pair[1]);
    args.iter().any(is_option) || included.into_iter().any(has_image)
}

/// The configuration header of every installed version of libstdc++: `TARGET/c++/VERSION` in
/// Debian, `c++/VERSION/TARGET` elsewhere.
fn headers(include: &Path) -> Vec<PathBuf> {
    let entries = |dir: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let debian = entries(include).into_iter().map(|target| target.join("c++"));
    let debian = debian.filter(|path| path.is_dir()).flat_map(|path| entries(&path));
    let others = entries(&include.join("c++")).into_iter().flat_map(|version| entries(&version));
    let mut found: Vec<PathBuf> = debian
        .chain(others)
        .map(|path| path.join("bits/c++config.h"))
        .filter(|path| path.is_file())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precompiled_headers_need_the_header_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let header = dir.path().join("all.h").into_os_string();
        let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(is_precompiled(&args("-c -Xclang -include-pch -Xclang all.pch a.cc")));
        assert!(!is_precompiled(&args("-c a.cc")));
        let included = [OsString::from("-include"), header.clone()];
        assert!(!is_precompiled(&included));
        std::fs::write(Path::new(&header).with_added_extension("gch"), "").unwrap();
        assert!(is_precompiled(&included));
    }

    #[test]
    fn a_copy_stands_in_for_the_header() {
        let root = tempfile::tempdir().unwrap();
        for place in ["x86_64-linux-gnu/c++/12/bits", "c++/14/x86_64-redhat-linux/bits", "c++/14/bits"] {
            std::fs::create_dir_all(root.path().join(place)).unwrap();
            std::fs::write(root.path().join(place).join("c++config.h"), "").unwrap();
        }
        let found = headers(root.path());
        let found: Vec<_> = found.iter().map(|path| path.strip_prefix(root.path()).unwrap()).collect();
        assert_eq!(
            found,
            [
                Path::new("c++/14/x86_64-redhat-linux/bits/c++config.h"),
                Path::new("x86_64-linux-gnu/c++/12/bits/c++config.h")
            ]
        );
    }
}
