//! Keys for lines and instructions that agree between both versions.

use super::{LineMap, Side};
use program::cfg::Graph;
use program::inst::{Inst, Operand};
use program::loop_nest::LoopNest;
use program::model::{Function, Module};
use replay::activations::mix;
use replay::image::Image;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// Lines after the last one with code that may still be relevant to an edit between functions.
const SLACK: u32 = 64;

/// The lines of both versions, and their correspondence.
pub struct Lines<'a> {
    map: &'a LineMap<'a>,
    good_root: PathBuf,
    bad_root: PathBuf,
    /// Lines of good that bad still contains.
    kept: HashSet<(String, u32)>,
    /// Keys of a file's lines, computed on demand.
    known: RefCell<HashMap<(Side, String), Vec<u64>>>,
}

impl<'a> Lines<'a> {
    /// `bad` supplies the files; `map` takes lines of bad to those of good.
    #[must_use]
    pub fn new(map: &'a LineMap<'a>, good_root: &Path, bad_root: &Path, bad: &Image) -> Lines<'a> {
        let mut lines = Lines {
            map,
            good_root: tidy(good_root),
            bad_root: tidy(bad_root),
            kept: HashSet::new(),
            known: RefCell::default(),
        };
        let mut last: BTreeMap<String, u32> = BTreeMap::new();
        for (_, loaded) in bad.modules() {
            let module = &*loaded.model;
            let mut in_file = vec![0; module.files.len()];
            for place in module.functions.iter().flat_map(|f| &f.places) {
                if let Some(line) = in_file.get_mut(place.file as usize) {
                    *line = place.line.max(*line);
                }
            }
            for (file, line) in in_file.into_iter().enumerate().filter(|x| x.1 > 0) {
                let known =
                    last.entry(lines.relative(Side::Bad, &module.file_path(file as u32))).or_default();
                *known = line.max(*known);
            }
        }
        for (file, last) in last {
            for line in 1..=last.saturating_add(SLACK) {
                lines.kept.extend(lines.in_good(&file, line));
            }
        }
        lines
    }

    /// A path in the form of the answer: relative to the version's root if it is below it.
    #[must_use]
    pub fn relative(&self, side: Side, path: &str) -> String {
        let path = tidy(Path::new(path));
        let root = match side {
            Side::Good => &self.good_root,
            Side::Bad => &self.bad_root,
        };
        path.strip_prefix(root).unwrap_or(&path).display().to_string()
    }

    /// The line of good that corresponds to a line of bad. Files outside of the versions are the same for
    /// both.
    #[must_use]
    pub fn in_good(&self, file: &str, line: u32) -> Option<(String, u32)> {
        if Path::new(file).is_absolute() { Some((file.to_owned(), line)) } else { (self.map)(file, line) }
    }

    /// The key of a line; `file` as [`Lines::relative`] returns it.
    fn key(&self, side: Side, file: &str, line: u32) -> u64 {
        let mut known = self.known.borrow_mut();
        let keys = known.entry((side, file.to_owned())).or_insert_with(|| vec![changed(file, 0)]);
        while keys.len() <= line as usize {
            let next = keys.len() as u32;
            let before = keys[keys.len() - 1];
            let same = match side {
                Side::Bad => self.in_good(file, next),
                Side::Good => Some((file.to_owned(), next))
                    .filter(|at| self.kept.contains(at) || Path::new(file).is_absolute()),
            };
            keys.push(match same {
                Some((file, line)) => kept(&file, line),
                // The first edited line gets the odd key after the kept line before it, the others repeat
                // that key.
                None if before & 1 == 0 => before | 1,
                None => before,
            });
        }
        keys[line as usize]
    }
}

/// The key of a kept line, an even number; edited lines after it have the odd number that follows.
fn kept(file: &str, line: u32) -> u64 {
    mix(text(file), u64::from(line)) as u64 & !1
}

fn changed(file: &str, line: u32) -> u64 {
    kept(file, line) | 1
}

/// Removes `.` and `..` lexically: the files may no longer exist.
pub fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

pub(crate) fn text(text: &str) -> u128 {
    let mut hash = mix(0x9e37_79b9_7f4a_7c15, text.len() as u64);
    for chunk in text.as_bytes().chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash, u64::from_le_bytes(word));
    }
    hash
}

/// The static information of a function that alignment uses.
pub struct FunctionKeys {
    pub(crate) name: u64,
    /// The key of each instruction.
    pub(crate) instruction: Vec<u64>,
    pub(crate) line: Vec<u64>,
    pub(crate) loop_nest: LoopNest,
}

impl FunctionKeys {
    /// The keys of all instructions of a function.
    #[must_use]
    pub fn of(module: &Module, function: &Function, side: Side, lines: &Lines<'_>) -> FunctionKeys {
        let mut by_place: HashMap<u32, u64> = HashMap::new();
        let mut files: HashMap<u32, String> = HashMap::new();
        let mut line = Vec::with_capacity(function.code.len());
        let mut instruction = Vec::with_capacity(function.code.len());
        // The number of instructions seen so far, by line and kind.
        let mut seen: HashMap<(u64, u64), u64> = HashMap::new();
        for (i, inst) in function.code.iter().enumerate() {
            let number = function.code_places.get(i).copied().unwrap_or(0);
            let key = *by_place.entry(number).or_insert_with(|| {
                let place = function.place(i);
                let file = files
                    .entry(place.file)
                    .or_insert_with(|| lines.relative(side, &module.file_path(place.file)));
                lines.key(side, file, place.line)
            });
            let kind = kind(module, inst);
            let nth = seen.entry((key, kind)).or_default();
            instruction.push(mix(mix(u128::from(key), kind), *nth) as u64);
            *nth += 1;
            line.push(key);
        }
        FunctionKeys {
            name: text(&function.name) as u64,
            instruction,
            line,
            loop_nest: LoopNest::of(&Graph::of(function)),
        }
    }
}

/// The kind of an instruction. All comparisons have one kind: an edit that inverts one should not hide that
/// it is the same condition.
fn kind(module: &Module, inst: &Inst) -> u64 {
    let (number, more) = match inst {
        Inst::Bin { op, .. } => (1, *op as u64),
        Inst::Float { op, .. } => (2, *op as u64),
        Inst::ICmp { .. } | Inst::FCmp { .. } => (3, 0),
        Inst::Cast { op, .. } => (4, *op as u64),
        Inst::Pure { op, .. } => (5, *op as u64),
        Inst::Select { .. } => (6, 0),
        Inst::Copy { .. } => (7, 0),
        Inst::Address { .. } => (8, 0),
        Inst::Frame { .. } => (9, 0),
        Inst::Alloca { .. } => (10, 0),
        Inst::StackSave { .. } => (11, 0),
        Inst::StackRestore { .. } => (12, 0),
        Inst::Load { .. } => (13, 0),
        Inst::Store { .. } => (14, 0),
        Inst::Rmw { .. } => (15, 0),
        Inst::CmpXchg { .. } => (16, 0),
        Inst::Fence => (17, 0),
        Inst::MemCopy { .. } => (18, 0),
        Inst::MemSet { .. } => (19, 0),
        Inst::Call(call) => (
            20,
            match call.callee {
                Operand::Symbol { symbol, .. } => {
                    module.symbols.get(symbol as usize).map_or(0, |s| text(&s.name) as u64)
                }
                _ => 0,
            },
        ),
        Inst::VaStart { .. } => (21, 0),
        Inst::VaCopy { .. } => (22, 0),
        Inst::ThreadLocal { .. } => (23, 0),
        Inst::Unknown { .. } => (24, 0),
        Inst::Tick => (25, 0),
        Inst::Jump { .. } => (26, 0),
        Inst::Branch { .. } => (27, 0),
        Inst::Switch { .. } => (28, 0),
        Inst::Return { .. } => (29, 0),
        Inst::Trap => (30, 0),
        Inst::Unreachable => (31, 0),
        Inst::Landing { .. } => (32, 0),
    };
    mix(number, more) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys<'a>(map: &'a LineMap<'a>, kept: &[u32]) -> Lines<'a> {
        Lines {
            map,
            good_root: PathBuf::from("/good"),
            bad_root: PathBuf::from("/bad"),
            kept: kept.iter().map(|l| ("a.c".to_owned(), *l)).collect(),
            known: RefCell::default(),
        }
    }

    #[test]
    fn edited_lines_are_named_by_the_line_before() {
        // Good 1 2 3 4 5; in bad, 3 was replaced by two lines.
        let map = |file: &str, line: u32| match line {
            1 | 2 => Some((file.to_owned(), line)),
            5 | 6 => Some((file.to_owned(), line - 1)),
            _ => None,
        };
        let lines = keys(&map, &[1, 2, 4, 5]);
        let bad: Vec<u64> = (0..7).map(|l| lines.key(Side::Bad, "a.c", l)).collect();
        let good: Vec<u64> = (0..6).map(|l| lines.key(Side::Good, "a.c", l)).collect();
        assert_eq!(
            [bad[1], bad[2], bad[3], bad[4], bad[5], bad[6]],
            [good[1], good[2], good[3], good[3], good[4], good[5]]
        );
        let different: HashSet<u64> = good.iter().copied().collect();
        assert_eq!(different.len(), 6);
    }

    #[test]
    fn files_elsewhere_are_the_same_for_both() {
        let map = |_: &str, _: u32| None;
        let lines = keys(&map, &[]);
        let (a, b) = ("/usr/include/x.h", "/usr/include/x.h");
        assert_eq!(lines.key(Side::Bad, a, 3), lines.key(Side::Good, b, 3));
        assert_ne!(lines.key(Side::Bad, a, 3), lines.key(Side::Good, b, 4));
    }

    #[test]
    fn paths_are_relative_to_their_root() {
        let map = |_: &str, _: u32| None;
        let lines = keys(&map, &[]);
        assert_eq!(lines.relative(Side::Good, "/good/src/../a.c"), "a.c");
        assert_eq!(lines.relative(Side::Bad, "/bad/./lib/b.c"), "lib/b.c");
        assert_eq!(lines.relative(Side::Bad, "/good/a.c"), "/good/a.c");
    }
}
