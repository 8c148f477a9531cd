//! Recognises the files that define how a program is built.
//!
//! When one of them changes, an incremental build is not reliable: most makefiles do not rebuild anything
//! because a flag in them changed.

use std::path::Path;

const NAMES: [&str; 22] = [
    "makefile",
    "gnumakefile",
    "cmakelists.txt",
    "configure",
    "config.status",
    "meson.build",
    "meson_options.txt",
    "meson.options",
    "sconstruct",
    "sconscript",
    "build",
    "build.bazel",
    "workspace",
    "module.bazel",
    "jamfile",
    "jamroot",
    "kbuild",
    "kconfig",
    "rules",
    "premake5.lua",
    "xmake.lua",
    "build.zig",
];

const ENDINGS: [&str; 16] = [
    "mk", "mak", "make", "cmake", "am", "ac", "m4", "ninja", "bzl", "gn", "gni", "pro", "pri", "gyp", "gypi",
    "bp",
];

/// Files that compilers read. A build command that names one compiles it.
const SOURCES: [&str; 12] = ["c", "cc", "cpp", "cxx", "c++", "h", "hh", "hpp", "hxx", "inc", "s", "rs"];

/// Whether a file defines the build, by its name or because the build command runs it.
pub(crate) fn is_build_file(path: &Path, build: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    // `Makefile.in`, `configure.ac`, `Makefile.linux`
    let stem = name.split('.').next().unwrap_or_default();
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    NAMES.contains(&name.as_str())
        || matches!(stem, "makefile" | "gnumakefile" | "configure")
        || ENDINGS.contains(&ending.as_str())
        || !SOURCES.contains(&ending.as_str()) && is_named(path, build)
}

fn is_named(path: &Path, build: &str) -> bool {
    let words = build.split(|c: char| c.is_whitespace() || "'\"`;&|()<>=$".contains(c));
    words.map(Path::new).any(|word| word.file_name().is_some() && word.file_name() == path.file_name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_and_others() {
        for plan in
            ["Makefile", "src/Makefile.am", "makefile.linux", "a/CMakeLists.txt", "cmake/x.cmake", "rules.mk"]
        {
            assert!(is_build_file(Path::new(plan), "make"), "{plan}");
        }
        for other in ["makefile_parser.c", "src/main.c", "config.h", "data/rules.txt", "README.md", "make.c"]
        {
            assert!(!is_build_file(Path::new(other), "make"), "{other}");
        }
        assert!(is_build_file(Path::new("tools/do-it.sh"), "sh ./tools/do-it.sh --fast && make"));
        assert!(!is_build_file(Path::new("tools/do-it.sh"), "make do-it"));
        assert!(!is_build_file(Path::new("src/main.c"), "cc -o main src/main.c"));
    }
}
