//! Groups hunks that are one change to a person.
//!
//! Moving a block, swapping two statements or renaming a variable is one edit, but a diff shows it as several
//! hunks. Undoing one of them alone gives code that was never written. `renames` and `moves` find such hunks;
//! each remaining hunk is a unit by itself.
//!
//! The cost is about one operation per token of the changes.

mod moves;
mod renames;

use super::Difference;
use crate::change::{ChangeId, ChangeSet};

/// Changes that a person makes, and undoes, together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The changes, of one or more hunks and files.
    pub changes: ChangeSet,
    /// Why they belong together.
    pub kind: UnitKind,
}

/// Why the changes form a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnitKind {
    /// They are the parts of one hunk.
    Hunk,
    /// A block, or the definition it contains, was moved, perhaps with a small edit.
    Moved,
    /// Two adjacent statements were swapped.
    Swapped,
    /// An identifier was renamed, and nothing else was changed.
    Renamed {
        /// The name in good.
        old: String,
        /// The name in bad.
        new: String,
    },
}

/// Changes that are not yet in a unit.
struct Unassigned(Vec<bool>);

impl Unassigned {
    fn has(&self, id: ChangeId) -> bool {
        self.0[id.0 as usize]
    }

    fn take(&mut self, ids: impl IntoIterator<Item = ChangeId>) {
        for id in ids {
            self.0[id.0 as usize] = false;
        }
    }
}

impl Difference {
    /// All changes in units, each in exactly one, ordered by their first changes.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        let mut free = Unassigned(vec![true; self.changes.len()]);
        let mut units = renames::find(self, &mut free);
        units.extend(moves::swapped(self, &mut free));
        units.extend(moves::moved(self, &mut free));
        for hunk in &self.hunks {
            let changes: ChangeSet = hunk.changes.iter().copied().filter(|id| free.has(*id)).collect();
            if !changes.is_empty() {
                units.push(Unit { changes, kind: UnitKind::Hunk });
            }
        }
        units.sort_by(|a, b| a.changes.first().cmp(&b.changes.first()));
        units
    }
}

#[cfg(test)]
mod tests {
    use super::super::pair::Pair;
    use super::super::{Difference, FileState};
    use super::UnitKind;

    fn compare(files: &[(&str, &str, &str)]) -> Difference {
        let pairs = files.iter().map(|(path, old, new)| {
            let side = |text: &str| {
                (Some((*path).to_owned()), FileState::Content { bytes: text.as_bytes().into(), mode: 0o644 })
            };
            Pair::new(side(old), side(new)).unwrap()
        });
        Difference::new(pairs.collect())
    }

    /// Kinds of units, and the number of changes in each.
    fn units(files: &[(&str, &str, &str)]) -> Vec<(UnitKind, usize)> {
        let difference = compare(files);
        let units = difference.units();
        let mut all: Vec<_> = units.iter().flat_map(|unit| unit.changes.iter().copied()).collect();
        all.sort_unstable();
        assert!(all.iter().copied().eq(difference.all()), "each change is in one unit");
        units.into_iter().map(|unit| (unit.kind, unit.changes.len())).collect()
    }

    fn renamed(old: &str, new: &str) -> UnitKind {
        UnitKind::Renamed { old: old.to_owned(), new: new.to_owned() }
    }

    const LOCAL: &str = "int f(int n)\n{\n  int sum = 0;\n  start();\n  sum += n;\n  stop();\n  return sum;\n}\nint g(int sum)\n{\n  return sum;\n}\n";

    #[test]
    fn a_local_renamed_is_one_unit() {
        let renamed_local = LOCAL.replacen("sum", "total", 3);
        assert_eq!(units(&[("a.c", LOCAL, &renamed_local)]), [(renamed("sum", "total"), 3)]);
        // Both functions: two variables.
        let both = LOCAL.replace("sum", "total");
        let kinds = units(&[("a.c", LOCAL, &both)]);
        assert_eq!(kinds, [(renamed("sum", "total"), 3), (renamed("sum", "total"), 2)]);
    }

    #[test]
    fn a_hunk_with_other_edits_is_not_part_of_a_renaming() {
        let edited = LOCAL.replacen("sum", "total", 3).replace("total += n", "total -= n");
        assert_eq!(units(&[("a.c", LOCAL, &edited)]), [(renamed("sum", "total"), 2), (UnitKind::Hunk, 1)]);
        // Only some of the uses.
        let partly = LOCAL.replacen("sum", "total", 1).replace("sum += n", "total += n + sum");
        assert!(units(&[("a.c", LOCAL, &partly)]).contains(&(UnitKind::Hunk, 1)));
    }

    #[test]
    fn the_use_of_another_variable_is_no_renaming() {
        let old = "int f(int a, int b)\n{\n  start(a);\n  go();\n  return a;\n}\n";
        let new = old.replace("start(a)", "start(b)").replace("return a", "return b");
        assert_eq!(units(&[("a.c", old, &new)]), [(UnitKind::Hunk, 1), (UnitKind::Hunk, 1)]);
        // Replacing the declaration by a different one is not a rename either.
        let old = "int f(int a)\n{\n  int m;\n  start(a);\n  return g(a, m);\n}\n";
        let new = "int f(int a)\n{\n  int n;\n  start(a);\n  return n;\n}\n";
        assert_eq!(units(&[("a.c", old, new)]), [(UnitKind::Hunk, 1), (UnitKind::Hunk, 1)]);
    }

    #[test]
    fn a_global_is_renamed_in_all_files() {
        let header = "int count_all(int n);\n";
        let source = "int count_all(int n)\n{\n  return n;\n}\n";
        let user = "int f(void)\n{\n  return count_all(1);\n}\n";
        let new = |text: &str| text.replace("count_all", "count");
        let found =
            units(&[("a.c", source, &new(source)), ("a.h", header, &new(header)), ("b.c", user, &new(user))]);
        assert_eq!(found, [(renamed("count_all", "count"), 3)]);
    }

    #[test]
    fn a_static_name_is_renamed_in_its_file() {
        let source = "static int level;\nint other;\nint f(void)\n{\n  return level;\n}\n";
        let new = source.replace("level", "depth");
        let found = units(&[("a.c", source, &new), ("b.c", source, &new)]);
        assert_eq!(found, [(renamed("level", "depth"), 2), (renamed("level", "depth"), 2)]);
    }

    #[test]
    fn swapped_statements_are_one_unit() {
        let old = "void f(int n)\n{\n  begin(n);\n  lock(n);\n  check(n);\n  end(n);\n}\n";
        let new = "void f(int n)\n{\n  begin(n);\n  check(n);\n  lock(n);\n  end(n);\n}\n";
        assert_eq!(units(&[("a.c", old, new)]), [(UnitKind::Swapped, 2)]);
        // The same statement removed from one function and added to another.
        let old = "void f(int n)\n{\n  lock(n);\n  x();\n}\nvoid g(int n)\n{\n  x();\n}\n";
        let new = "void f(int n)\n{\n  x();\n}\nvoid g(int n)\n{\n  x();\n  lock(n);\n}\n";
        assert_eq!(units(&[("a.c", old, new)]), [(UnitKind::Hunk, 1), (UnitKind::Hunk, 1)]);
    }

    const BLOCK: &str =
        "static int helper(int x)\n{\n  int y = x * 2 + 1;\n  if (y > 9)\n    y = 9;\n  return y;\n}\n";

    #[test]
    fn moved_blocks_are_one_unit() {
        let rest = "int a(int n)\n{\n  return n;\n}\n";
        let (before, after) = (format!("{BLOCK}{rest}"), format!("{rest}{BLOCK}"));
        assert_eq!(units(&[("a.c", &before, &after)]), [(UnitKind::Moved, 2)]);
        // With a small edit, to another file.
        let edited = format!("{rest}{}", BLOCK.replace("y > 9", "y >= 9"));
        assert_eq!(units(&[("a.c", &before, rest), ("b.c", rest, &edited)]), [(UnitKind::Moved, 2)]);
        // With a large edit: the name cannot be defined twice.
        let other = format!(
            "{rest}{}",
            BLOCK.replace("y > 9", "table[x] != limit(x, y, 3)").replace("= 9", "-= step(x, y)")
        );
        assert_eq!(units(&[("a.c", &before, rest), ("b.c", rest, &other)]), [(UnitKind::Moved, 2)]);
    }

    #[test]
    fn a_function_of_another_name_is_not_moved() {
        let round = "long money_round(double amount)\n{\n  return lround(amount * 100.0);\n}\n";
        let truncate = "long money_truncate(double amount)\n{\n  return floor(amount * 100.0);\n}\n";
        let rest = "int a(int n)\n{\n  return n;\n}\n";
        let found = units(&[("a.c", &format!("{round}{rest}"), &format!("{rest}{truncate}"))]);
        assert_eq!(found, [(UnitKind::Hunk, 1), (UnitKind::Hunk, 1)]);
    }

    #[test]
    fn several_functions_moved_together_are_one_unit() {
        let rest = "int a(int n)\n{\n  return n;\n}\n";
        let two = format!("{BLOCK}\n{}", BLOCK.replace("helper", "second").replace("* 2", "* 3"));
        let (before, after) = (format!("{two}\n{rest}"), format!("{rest}\n{two}"));
        let found = units(&[("a.c", &before, &after)]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, UnitKind::Moved);
    }
}
