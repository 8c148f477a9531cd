//! Translates lines between the versions and finds the changes at a line.

use super::Difference;
use super::pair::{Group, Pair};
use crate::change::{Change, ChangeId};
use std::ops::Range;

/// The direction of a translation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    ToGood,
    ToBad,
}

impl Direction {
    /// The lines of a group (from 0) on the source side and on the target side.
    fn sides(self, group: &Group) -> (&Range<u32>, &Range<u32>) {
        match self {
            Direction::ToGood => (&group.new, &group.old),
            Direction::ToBad => (&group.old, &group.new),
        }
    }
}

impl Difference {
    /// The position in good of an unchanged line of bad: file, and line from 1.
    #[must_use]
    pub fn map_line_to_good(&self, file: &str, line: u32) -> Option<(String, u32)> {
        self.map(Direction::ToGood, file, line, false)
    }

    /// The position in bad of an unchanged line of good.
    #[must_use]
    pub fn map_line_to_bad(&self, file: &str, line: u32) -> Option<(String, u32)> {
        self.map(Direction::ToBad, file, line, false)
    }

    /// Like [`Difference::map_line_to_good`], but also maps a replaced line to the line it replaced. None for
    /// lines that were only added.
    #[must_use]
    pub fn counterpart_in_good(&self, file: &str, line: u32) -> Option<(String, u32)> {
        self.map(Direction::ToGood, file, line, true)
    }

    /// The same from good to bad.
    #[must_use]
    pub fn counterpart_in_bad(&self, file: &str, line: u32) -> Option<(String, u32)> {
        self.map(Direction::ToBad, file, line, true)
    }

    /// The change that added this line of bad.
    #[must_use]
    pub fn touching(&self, file: &str, line: u32) -> Option<&Change> {
        self.at(Direction::ToGood, file, line)
    }

    /// The change that removed this line of good.
    #[must_use]
    pub fn touching_old(&self, file: &str, line: u32) -> Option<&Change> {
        self.at(Direction::ToBad, file, line)
    }

    /// Changes that deleted lines directly before or after this line of bad without replacing them.
    pub fn deleted_near(&self, file: &str, line: u32) -> impl Iterator<Item = &Change> {
        let groups = self.by_new.get(file).map_or(&[][..], |number| &self.pairs[*number].groups);
        // Between lines `start` and `start + 1`, counted from 1.
        let at = move |group: &&Group| group.new.start == line || group.new.start + 1 == line;
        let first = groups.partition_point(|group| group.new.end + 1 < line);
        groups[first..]
            .iter()
            .take_while(move |group| group.new.start <= line)
            .filter(|group| group.new.is_empty())
            .filter(at)
            .map(|group| self.change(group.id))
    }

    /// All changes of a file, by its name in bad (in good if it does not exist in bad).
    pub fn changes_of(&self, file: &str) -> impl Iterator<Item = &Change> {
        let first = self.changes.partition_point(|change| change.file.as_str() < file);
        self.changes[first..].iter().take_while(move |change| change.file == file)
    }

    fn pair(&self, way: Direction, file: &str) -> Option<&Pair> {
        let names = if way == Direction::ToGood { &self.by_new } else { &self.by_old };
        names.get(file).map(|number| &self.pairs[*number])
    }

    fn map(&self, way: Direction, file: &str, line: u32, replaced: bool) -> Option<(String, u32)> {
        let line = line.checked_sub(1)?;
        let Some(pair) = self.pair(way, file) else {
            // A file that was added in bad has no position in good, and vice versa.
            let elsewhere = if way == Direction::ToGood { &self.by_old } else { &self.by_new };
            return (!elsewhere.contains_key(file)).then(|| (file.to_owned(), line + 1));
        };
        if pair.whole.is_some() || pair.binary.is_some() {
            return None;
        }
        let path = if way == Direction::ToGood { &pair.old_path } else { &pair.new_path };
        let behind = pair.groups.partition_point(|group| way.sides(group).0.end <= line);
        let (mut here, mut there) = (0, 0);
        if let Some(before) = behind.checked_sub(1).map(|before| &pair.groups[before]) {
            let (mine, other) = way.sides(before);
            (here, there) = (mine.end, other.end);
        }
        let mapped = match pair.groups.get(behind).map(|group| way.sides(group)) {
            Some((mine, other)) if mine.contains(&line) => {
                if !replaced || other.is_empty() {
                    return None;
                }
                (other.start + (line - mine.start)).min(other.end - 1)
            }
            _ => there + (line - here),
        };
        Some((path.clone()?, mapped + 1))
    }

    fn at(&self, way: Direction, file: &str, line: u32) -> Option<&Change> {
        let line = line.checked_sub(1)?;
        let pair = self.pair(way, file)?;
        let id: Option<ChangeId> = pair.whole.or(pair.binary).or_else(|| {
            let behind = pair.groups.partition_point(|group| way.sides(group).0.end <= line);
            pair.groups.get(behind).filter(|group| way.sides(group).0.contains(&line)).map(|group| group.id)
        });
        id.map(|id| self.change(id))
    }
}
