//! The key of a compilation: all inputs that determine its result.
//!
//! These are the preprocessed text (with line markers, since they determine debug information), the
//! options, the compiler, and in instrumented builds the instrumenter. A program model and some
//! options also depend on source columns, which preprocessing does not preserve; then the sources
//! themselves are part of the key.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use super::super::command::{Command, Input};
use super::super::options::Role;
use super::super::setup::Mode;
use super::super::tree::{PathStart, Tree, hidden_path};
use super::super::{Session, compile};

/// Must change with the meaning of keys or entries.
const VERSION: &str = "relapse object cache 2";

/// Words in a source whose value depends on their column.
const COLUMN_WORDS: &[&str] = &["__builtin_COLUMN", "__builtin_source_location"];

/// Computes the key of compiling `input`. `text` is its preprocessed form.
pub fn key(session: &Session, command: &Command, input: &Input, first: bool, text: &[u8]) -> u128 {
    // An instrumented object contains real file names. A plain one contains no path of its tree.
    let tree = session.tree.as_ref().filter(|_| session.mode == Mode::Plain);
    let mut hash = Fields(Xxh3::new());
    hash.add(VERSION);
    hash.add(env!("CARGO_PKG_VERSION"));
    hash.add(match session.mode {
        Mode::Plain => "plain",
        Mode::Instrument => "instrument",
    });
    hash.add_program(&session.clang);
    if session.mode == Mode::Instrument {
        hash.add_program(&session.instrumenter);
    }
    let mut options = compile::mode(session);
    options.extend(compile::options_without(session, command, first, &[Role::Depend]));
    let mut native = false;
    for option in &options {
        native |= option.as_bytes().ends_with(b"=native");
        match tree {
            Some(tree) => hash.add(tree.hide(option.as_bytes(), PathStart::Anywhere)),
            None => hash.add(option.as_bytes()),
        }
    }
    hash.add(if native { processor() } else { String::new() });
    hash.add(input.language.as_deref().unwrap_or_default().as_bytes());
    hash.add(hidden_path(tree, &input.path).as_bytes());
    if session.mode == Mode::Instrument || command.debug_is_wanted {
        for folder in &session.working_dirs {
            hash.add(hidden_path(tree, folder).as_bytes());
        }
    }
    hash.add_text(tree, text);
    if depends_on_columns(session, &options, text) {
        for path in sources(text) {
            hash.add(hidden_path(tree, &path).as_bytes());
            hash.add(fs::read(&path).unwrap_or_default());
        }
    }
    hash.0.digest128()
}

/// Whether the result depends on parts of the source that preprocessing does not show.
fn depends_on_columns(session: &Session, options: &[OsString], text: &[u8]) -> bool {
    let by_option = |option: &OsString| {
        let word = option.to_string_lossy();
        word.starts_with("-fsanitize=")
            || word.starts_with("-fdebug-macro")
            || matches!(&*word, "-g3" | "-ggdb3")
            || word.starts_with("-Wdocumentation")
    };
    session.mode == Mode::Instrument || options.iter().any(by_option) || {
        let text = String::from_utf8_lossy(text);
        COLUMN_WORDS.iter().any(|word| text.contains(word))
    }
}

/// A hash of fields. It includes the field boundaries.
struct Fields(Xxh3);

impl Fields {
    fn add(&mut self, field: impl AsRef<[u8]>) {
        let bytes = field.as_ref();
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Adds a program, identified by path, size and time: hashing its content at every compilation
    /// would cost too much.
    fn add_program(&mut self, path: &Path) {
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        self.add(path.as_os_str().as_bytes());
        if let Ok(meta) = fs::metadata(&path) {
            self.add(format!("{} {} {}", meta.len(), meta.mtime(), meta.mtime_nsec()));
        }
    }

    /// Adds the preprocessed text. The path of the tree is hidden only in line markers: in a string
    /// it is part of the program.
    fn add_text(&mut self, tree: Option<&Tree>, text: &[u8]) {
        let Some(tree) = tree else { return self.add(text) };
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if line.starts_with(b"# ") {
                self.0.update(&tree.hide(line, PathStart::AfterDelimiter));
            } else {
                self.0.update(line);
            }
        }
        self.add("");
    }
}

/// The processor, which determines the meaning of `-march=native`.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = |name: &str| info.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    format!("{}\n{}", line("model name"), line("flags"))
}

/// The files of `text`, from its line markers, without system headers.
pub fn sources(text: &[u8]) -> BTreeSet<PathBuf> {
    text.split(|&byte| byte == b'\n').filter_map(marker).collect()
}

/// The file that a line marker names: `# LINE "FILE" FLAGS`. System headers (flag 3) and names that
/// are not files (`<built-in>`) are excluded.
fn marker(line: &[u8]) -> Option<PathBuf> {
    let number = line.strip_prefix(b"# ")?;
    let digits = number.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut bytes = number[digits..].strip_prefix(b" \"")?.iter().copied();
    let mut name = Vec::new();
    loop {
        match bytes.next()? {
            b'"' => break,
            b'\\' => match bytes.next()? {
                b'n' => name.push(b'\n'),
                b't' => name.push(b'\t'),
                first @ b'0'..=b'7' => {
                    let digits = [first, bytes.next()?, bytes.next()?];
                    let value = std::str::from_utf8(&digits).ok()?;
                    name.push(u8::from_str_radix(value, 8).ok()?);
                }
                other => name.push(other),
            },
            byte => name.push(byte),
        }
    }
    let system = bytes.any(|flag| flag == b'3');
    (!system && !name.is_empty() && name[0] != b'<').then(|| PathBuf::from(OsString::from_vec(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_name_the_users_files() {
        let text = "# 1 \"a.c\"\n# 1 \"<built-in>\" 1\n# 1 \"/usr/include/stdio.h\" 1 3 4\n# 2 \"a.c\" 2\n\
                    int x;\n# 1 \"./b \\\"c\\\\.h\" 1\n# 1 \"\\303\\244.h\" 1\n# not a marker\n#pragma once\n# 7 \"open\n";
        let names: Vec<PathBuf> = sources(text.as_bytes()).into_iter().collect();
        assert_eq!(names, ["./b \"c\\.h", "a.c", "ä.h"].map(PathBuf::from));
    }

    #[test]
    fn fields_are_kept_apart() {
        let hash = |fields: &[&str]| {
            let mut hash = Fields(Xxh3::new());
            fields.iter().for_each(|field| hash.add(*field));
            hash.0.digest128()
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["a"]), hash(&["a", ""]));
    }

    #[test]
    fn the_tree_is_hidden_in_markers_and_nowhere_else() {
        let of = |root: &str, text: &str| {
            let tree = Tree::new(Path::new(root)).unwrap();
            let mut hash = Fields(Xxh3::new());
            hash.add_text(Some(&tree), text.replace("ROOT", root).as_bytes());
            hash.0.digest128()
        };
        let marked = "# 1 \"ROOT/a.c\"\nint x;\n";
        assert_eq!(of("/w/1", marked), of("/w/2", marked));
        let printed = "# 1 \"ROOT/a.c\"\nchar *x = \"ROOT\";\n";
        assert_ne!(of("/w/1", printed), of("/w/2", printed));
    }
}
