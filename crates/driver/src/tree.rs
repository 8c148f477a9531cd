//! The tree being built, and how its path is kept out of products.
//!
//! Trials build the same sources in several trees (`.../worker1/tree`, `.../worker2/tree`). A
//! product of one tree must be usable in another and must not contain the tree's path: a message of
//! `assert` would otherwise differ between the good and the bad version only because of their
//! directories.
//!
//! | mode | `__FILE__` | debug information | in cache keys |
//! |---|---|---|---|
//! | plain | relative to the tree | relative to the tree | a placeholder |
//! | instrument | relative to the tree | as it is | as it is |
//!
//! An instrumented object keeps real file names because its model records the file of each source
//! location, and readers of the model open that file.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::setup::Mode;

/// Placeholder for the root in stored text. No path and no diagnostic contains a NUL byte.
const PLACEHOLDER: &[u8] = b"\0tree\0";

/// The positions in a text at which a path may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStart {
    /// After a byte that cannot be part of a path: for diagnostics and markers.
    AfterDelimiter,
    /// Anywhere: for options, as in `-I/path`.
    Anywhere,
}

/// The root of the tree, under all its known names.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The given name, then the real path if it differs.
    roots: Vec<PathBuf>,
}

impl Tree {
    /// The tree at `dir`, or `None` for a path that cannot be passed to clang or that would be a
    /// prefix of every path.
    pub fn new(dir: &Path) -> Option<Self> {
        let named: PathBuf = std::path::absolute(dir).ok()?.components().collect();
        let real = std::fs::canonicalize(&named).unwrap_or_else(|_| named.clone());
        let mut roots = vec![named];
        if roots[0] != real {
            roots.push(real);
        }
        let usable = |root: &PathBuf| root.parent().is_some() && !root.as_os_str().as_bytes().contains(&b'=');
        roots.iter().all(usable).then_some(Tree { roots })
    }

    /// Options with which clang names files relative to the tree.
    pub fn options(&self, mode: Mode) -> impl Iterator<Item = OsString> + '_ {
        let option = match mode {
            Mode::Plain => "-ffile-prefix-map=",
            Mode::Instrument => "-fmacro-prefix-map=",
        };
        self.roots.iter().map(move |root| {
            let mut word = OsString::from(option);
            word.push(root);
            word.push("=.");
            word
        })
    }

    /// `text` with the root replaced by a placeholder.
    pub fn hide(&self, text: &[u8], begins: PathStart) -> Vec<u8> {
        let mut out = Vec::with_capacity(text.len());
        let mut at = 0;
        while at < text.len() {
            let before = at.checked_sub(1).map(|n| text[n]);
            let apart = begins == PathStart::Anywhere || before.is_none_or(|byte| !is_path_byte(byte));
            match self.root_len_at(&text[at..]) {
                Some(length) if apart => {
                    out.extend_from_slice(PLACEHOLDER);
                    at += length;
                }
                _ => {
                    out.push(text[at]);
                    at += 1;
                }
            }
        }
        out
    }

    /// The length of the root at the start of `text`, if it starts with one.
    fn root_len_at(&self, text: &[u8]) -> Option<usize> {
        if text.first() != Some(&b'/') {
            return None;
        }
        self.roots.iter().map(|root| root.as_os_str().as_bytes()).find_map(|root| {
            let rest = text.strip_prefix(root)?;
            rest.first().is_none_or(|&byte| !is_path_byte(byte)).then_some(root.len())
        })
    }

    /// `text` with placeholders replaced by this tree's root.
    pub fn show(&self, text: &[u8]) -> Vec<u8> {
        let root = self.roots[0].as_os_str().as_bytes();
        let mut out = Vec::with_capacity(text.len());
        let mut rest = text;
        while let [first, tail @ ..] = rest {
            if let Some(after) = rest.strip_prefix(PLACEHOLDER) {
                out.extend_from_slice(root);
                rest = after;
            } else {
                out.push(*first);
                rest = tail;
            }
        }
        out
    }
}

/// Replaces the root in a path.
pub fn hidden_path(tree: Option<&Tree>, path: &Path) -> OsString {
    let bytes = path.as_os_str().as_bytes();
    tree.map_or_else(|| path.into(), |tree| OsString::from_vec(tree.hide(bytes, PathStart::AfterDelimiter)))
}

/// Whether this byte next to a path makes it a different path.
fn is_path_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"._-+~@%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(root: &str) -> Tree {
        Tree { roots: vec![PathBuf::from(root)] }
    }

    #[test]
    fn the_root_is_hidden_at_the_borders_of_names_only() {
        let tree = tree("/w/1");
        let hide = |text: &str, begins| {
            String::from_utf8(tree.hide(text.as_bytes(), begins)).unwrap().replace("\0tree\0", "@")
        };
        assert_eq!(hide("/w/1/a.c:3: warning", PathStart::AfterDelimiter), "@/a.c:3: warning");
        assert_eq!(hide("in '/w/1'", PathStart::AfterDelimiter), "in '@'");
        assert_eq!(
            hide("/w/10/a.c /x/w/1/a.c /w/1.c", PathStart::AfterDelimiter),
            "/w/10/a.c /x/w/1/a.c /w/1.c"
        );
        assert_eq!(hide("-I/w/1/include", PathStart::AfterDelimiter), "-I/w/1/include");
        assert_eq!(hide("-I/w/1/include", PathStart::Anywhere), "-I@/include");
        assert_eq!(hide("-I/w/12", PathStart::Anywhere), "-I/w/12");
    }

    #[test]
    fn what_one_tree_hides_another_shows_as_its_own() {
        let text = b"/w/1/a.c:3: warning: x\nIn file included from /w/1/b.h:1:\n";
        let hidden = tree("/w/1").hide(text, PathStart::AfterDelimiter);
        let shown = tree("/other").show(&hidden);
        assert_eq!(shown, b"/other/a.c:3: warning: x\nIn file included from /other/b.h:1:\n");
    }

    #[test]
    fn a_root_is_known_by_its_real_path_too() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap().join("real");
        let link = dir.path().join("link");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let tree = Tree::new(&link).unwrap();
        for path in [&link, &real] {
            let hidden = hidden_path(Some(&tree), &path.join("a.c"));
            assert_eq!(hidden.as_bytes(), b"\0tree\0/a.c");
        }
        assert_eq!(tree.options(Mode::Plain).count(), 2);
    }

    #[test]
    fn roots_that_clang_could_not_be_told_are_no_trees() {
        assert!(Tree::new(Path::new("/")).is_none());
        assert!(Tree::new(Path::new("/a=b")).is_none());
        assert!(Tree::new(Path::new("/a/b/")).is_some_and(|tree| tree.roots == [PathBuf::from("/a/b")]));
    }
}
