//! Parses clang's diagnostics.

use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// The severity of a diagnostic, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Also clang's "fatal error".
    Error,
    /// A warning; a general `-Werror` of the unit does not make it an error here.
    Warning,
    /// A note, which belongs to another diagnostic.
    Note,
}

/// A diagnostic of clang about one place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Diagnostic {
    /// Relative to the tree, if it is inside.
    pub file: PathBuf,
    /// From 1.
    pub line: u32,
    /// From 1, in bytes.
    pub column: u32,
    /// How severe it is.
    pub severity: Severity,
    /// The option that enables it, without `-W`.
    pub option: Option<String>,
    /// Without the path of the tree.
    pub message: String,
    /// The function that contains the line.
    pub function: Option<String>,
    /// The notes that follow it; a note has none.
    pub notes: Vec<Diagnostic>,
}

impl Diagnostic {
    /// Whether it reports a missing include file. The build may generate that file.
    pub(super) fn is_missing_include(&self) -> bool {
        self.severity == Severity::Error && self.message.ends_with("file not found")
    }
}

/// The diagnostics in clang's output, in order, without their functions. `directory` is the directory in
/// which clang ran, `tree` the root of the tree, both absolute.
pub(super) fn parse(said: &str, directory: &Path, tree: &Path) -> Vec<Diagnostic> {
    let mut root = tree.display().to_string();
    root.push('/');
    let mut found: Vec<Diagnostic> = Vec::new();
    for line in said.lines() {
        let Some(mut diagnostic) = located(line) else { continue };
        diagnostic.file = in_tree(&diagnostic.file, directory, tree);
        diagnostic.message = diagnostic.message.replace(&root, "");
        match found.last_mut() {
            Some(last) if diagnostic.severity == Severity::Note => last.notes.push(diagnostic),
            // A note without a diagnostic.
            None if diagnostic.severity == Severity::Note => {}
            _ => found.push(diagnostic),
        }
    }
    found
}

/// `FILE:LINE:COLUMN: KIND: MESSAGE [-WOPTION]`
fn located(line: &str) -> Option<Diagnostic> {
    const KINDS: [(&str, Severity); 4] = [
        (": fatal error: ", Severity::Error),
        (": error: ", Severity::Error),
        (": warning: ", Severity::Warning),
        (": note: ", Severity::Note),
    ];
    // The first match: a message may quote another one.
    let (at, word, severity) = KINDS
        .iter()
        .filter_map(|(word, severity)| Some((line.find(word)?, *word, *severity)))
        .min_by_key(|(at, ..)| *at)?;
    let mut parts = line[..at].rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line_number = parts.next()?.parse().ok()?;
    let file = PathBuf::from(parts.next()?);
    let (message, option) = without_option(&line[at + word.len()..]);
    Some(Diagnostic {
        file,
        line: line_number,
        column,
        severity,
        option: option.map(str::to_owned),
        message: message.to_owned(),
        function: None,
        notes: Vec::new(),
    })
}

/// Splits `text [-Werror,-Wname]` into `text` and `name`.
fn without_option(message: &str) -> (&str, Option<&str>) {
    let option = message
        .strip_suffix(']')
        .and_then(|text| text.rsplit_once(" ["))
        .and_then(|(text, list)| Some((text, list.rsplit(',').next()?.strip_prefix("-W")?)));
    option.map_or((message, None), |(text, name)| (text, Some(name)))
}

/// A file named relative to `directory`; relative to the tree if it is inside.
pub(super) fn in_tree(file: &Path, directory: &Path, tree: &Path) -> PathBuf {
    let whole = normal(&directory.join(file));
    whole.strip_prefix(tree).map_or_else(|_| whole.clone(), Path::to_path_buf)
}

/// Removes `.` and `..` lexically.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = out.pop(),
            _ => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_clang() {
        let said = "In file included from a.c:1:\n\
            ../inc/h.h:1:36: warning: variable 'q' is \"x: error: y\" [-Wuninitialized]\n\
            /t/src/a.c:3:2: note: see /t/src/b.c\n\
            a.c:4:1: fatal error: 'no.h' file not found\n\
            a.c:9:1: error: no [-Werror,-Wreturn-type]\n\
            clang: error: linker command failed\nwarning: unknown warning option '-Wx' [-Wunknown-warning-option]\n2 warnings and 1 error generated.\n";
        let found = parse(said, Path::new("/t/src"), Path::new("/t"));
        let shown: Vec<_> = found
            .iter()
            .map(|d| (d.file.to_str().unwrap(), d.line, d.severity, d.option.as_deref(), d.notes.len()))
            .collect();
        assert_eq!(
            shown,
            [
                ("inc/h.h", 1, Severity::Warning, Some("uninitialized"), 1),
                ("src/a.c", 4, Severity::Error, None, 0),
                ("src/a.c", 9, Severity::Error, Some("return-type"), 0),
            ]
        );
        assert_eq!(found[0].column, 36);
        assert_eq!(found[0].message, "variable 'q' is \"x: error: y\"");
        assert_eq!(found[0].notes[0].message, "see src/b.c");
        assert!(found[1].is_missing_include() && !found[2].is_missing_include());
        let outside = parse("/usr/include/x.h:1:1: warning: x\n", Path::new("/t/src"), Path::new("/t"));
        assert_eq!(outside[0].file, Path::new("/usr/include/x.h"));
    }
}
