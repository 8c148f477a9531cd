//! Compilations that bypass the cache.
//!
//! A cached result must contain everything that the compiler would produce from everything that it
//! would read. Options that write further files, read files that preprocessing does not show, or
//! print more than diagnostics are not cached; neither is anything that is not known to be safe.
//! Such a command is compiled without the cache.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use super::super::command::{Command, Goal, Input, Kind};
use super::super::options::Role;

/// Whole words.
const WORDS: &[&str] = &[
    "-v",
    "--verbose",
    "-H",
    "--trace-includes",
    "-P",
    "-MG",
    "-MJ",
    "-mllvm",
    "-fno-integrated-as",
    "-fuse-line-directives",
    "-fkeep-system-includes",
    "-fminimize-whitespace",
    "-fdirectives-only",
    "-ftime-report",
    "-fstack-usage",
    "-working-directory",
];

/// Word prefixes.
const PREFIXES: &[&str] = &[
    "-Xclang",
    "-Xpreprocessor",
    "-Xassembler",
    "-Xanalyzer",
    "-Xarch",
    "-Xopenmp",
    "-B",
    "-d",
    "-fplugin",
    "-fpass-plugin",
    "-include-pch",
    "-fmodule",
    "-fcxx-modules",
    "-fprebuilt",
    "-fimplicit-module",
    "-fbuild-session",
    "-fprofile",
    "-fcs-profile",
    "-fauto-profile",
    "-fmemory-profile",
    "--coverage",
    "-coverage",
    "-ftest-coverage",
    "-fcoverage",
    "-fxray",
    "-fsanitize-ignorelist",
    "-fsanitize-blacklist",
    "-fsanitize-system",
    "-fsanitize-coverage",
    "-save-temps",
    "--save-temps",
    "-gsplit-dwarf",
    "-gembed-source",
    "-grecord",
    "-frecord",
    "-serialize-diagnostics",
    "--serialize-diagnostics",
    "-dependency",
    "-ftime-trace",
    "-fsave-optimization-record",
    "-foptimization-record",
    "-fproc-stat-report",
    "-fbasic-block",
    "-fthinlto",
    "-fthin-link",
    "-fembed",
    "-fopenmp-targets",
    "-foffload",
    "--offload",
    "-fsycl",
    "--config",
    "-specs",
    "--specs",
    "-wrapper",
    "-frewrite",
    "-traditional",
    "-ivfsoverlay",
    "-vfsoverlay",
    "-fcrash",
    "-fdepscan",
];

/// The reason why compiling `input` into `product` cannot be cached, if there is one.
pub fn by_command(command: &Command, input: &Input, product: &Path) -> Option<String> {
    if command.goal == Goal::Assembly {
        return Some("-S".to_owned());
    }
    if input.kind != Kind::Source {
        return Some("not C or C++".to_owned());
    }
    if input.path.as_os_str() == "-" {
        return Some("standard input".to_owned());
    }
    let preprocessed = match &input.language {
        Some(language) => language.to_string_lossy().ends_with("cpp-output"),
        None => input.path.extension().is_some_and(|extension| extension == "i" || extension == "ii"),
    };
    if preprocessed {
        return Some("preprocessed already".to_owned());
    }
    // A device or a symbolic link must not be replaced by a regular file.
    if fs::symlink_metadata(product).is_ok_and(|meta| !meta.is_file()) {
        return Some("the product is not a plain file".to_owned());
    }
    command
        .items
        .iter()
        .filter(|item| !matches!(item.role, Role::Link | Role::Input | Role::Output | Role::GccOnly))
        .find_map(|item| {
            by_option(&item.words[0].to_string_lossy(), item.words.get(1).map(|w| w.as_os_str()))
        })
}

fn by_option(word: &str, value: Option<&OsStr>) -> Option<String> {
    if WORDS.contains(&word) || PREFIXES.iter().any(|prefix| word.starts_with(prefix)) {
        return Some(word.to_owned());
    }
    if let Some(list) = word.strip_prefix("-Wa,") {
        // Other options may print listings.
        return (list != "--noexecstack").then(|| word.to_owned());
    }
    if let Some(list) = word.strip_prefix("-Wp,") {
        let usual =
            |part: &str| !part.starts_with('-') || ["-D", "-U", "-M"].iter().any(|p| part.starts_with(p));
        return (!list.split(',').all(usual)).then(|| word.to_owned());
    }
    if matches!(word, "-include" | "--include")
        && let Some(header) = value
    {
        // Clang uses a precompiled header beside it instead, whose content preprocessing does not
        // show.
        let beside = |extension| Path::new(header).with_added_extension(extension).exists();
        return (beside("gch") || beside("pch")).then(|| "a precompiled header".to_owned());
    }
    None
}

/// The reason in the preprocessed text that prevents caching.
pub fn by_text(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    // Directives for files that the assembler or the front end reads later.
    ["incbin", "#embed", "#pragma clang module"]
        .into_iter()
        .find(|word| text.contains(word))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn judge(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let command = Command::parse(&words);
        let input = command.inputs.iter().find(|input| input.kind != Kind::Linkable).unwrap();
        by_command(&command, input, Path::new("/not/there.o"))
    }

    #[test]
    fn ordinary_commands_are_for_the_cache() {
        for line in [
            "-c a.c",
            "-O2 -g -Wall -Werror -fPIC -march=native -c a.cc -o x.o",
            "-MD -MP -MF a.d -MT a.o -c a.c",
            "-Wp,-MMD,a.d -Wp,-D_FORTIFY_SOURCE=2 -Wa,--noexecstack -c a.c",
            "-include config.h -Iinclude -isystem x -DX=1 -c -x c a.foo",
            "a.c b.o -lm -Wl,-d -o prog",
            "-fsanitize=undefined -c a.c",
        ] {
            assert_eq!(judge(line), None, "{line}");
        }
    }

    #[test]
    fn uncacheable_commands_are_not() {
        for line in [
            "-S a.c",
            "-c -x c -",
            "-c a.i",
            "-c a.s",
            "-c -x assembler a.c",
            "-c -x cpp-output a.c",
            "-save-temps=obj -c a.c",
            "--coverage -c a.c",
            "-fprofile-use=x -c a.c",
            "-gsplit-dwarf -c a.c",
            "-Xclang -load -Xclang x.so -c a.c",
            "-Wa,-ahl -c a.c",
            "-Wp,-P -c a.c",
            "-dM -c a.c",
            "-v -c a.c",
            "-fmodules -c a.c",
        ] {
            assert!(judge(line).is_some(), "{line}");
        }
    }

    #[test]
    fn devices_and_precompiled_headers_are_odd() {
        let command = Command::parse(&["-c".into(), "a.c".into()]);
        assert!(by_command(&command, &command.inputs[0], Path::new("/dev/null")).is_some());

        let dir = tempfile::tempdir().unwrap();
        let header = dir.path().join("all.h");
        let line = format!("-include {} -c a.c", header.display());
        assert_eq!(judge(&line), None);
        fs::write(dir.path().join("all.h.pch"), "").unwrap();
        assert!(judge(&line).is_some());
    }
}
