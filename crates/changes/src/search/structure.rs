//! What a search knows about changes without trying them: their locations and the words they mention.

use crate::change::{Change, ChangeId, ChangeKind, ChangeSet};
use crate::diff::{Difference, NameUse, Names};
use crate::words::{Word, code_of, words_of};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Locations of changes and the words they mention. All of this is hints: they make a search shorter, never
/// wrong.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    all: ChangeSet,
    places: BTreeMap<ChangeId, Place>,
    words: HashMap<String, Vec<Mention>>,
    /// Changes by the base names of their files.
    bases: HashMap<String, ChangeSet>,
    /// Line changes of each file, in order.
    files: HashMap<String, Vec<Extent>>,
    /// Groups that are one change to a person: hunks, moved blocks, renamed names. If empty, each change is a
    /// unit.
    units: Vec<Unit>,
    unit_of: BTreeMap<ChangeId, usize>,
    /// Changes that alter the number of open brackets (or `#if`s).
    unbalanced: ChangeSet,
}

/// Changes that form one change to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unit {
    changes: ChangeSet,
    /// Whether a part of it makes sense by itself.
    divisible: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    file: String,
    heading: String,
}

/// How a change mentions a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mention {
    pub id: ChangeId,
    /// Number of mentions in its old and new lines.
    pub old: u32,
    pub new: u32,
    /// Whether old (new) lines seem to declare it.
    pub old_declares: bool,
    pub new_declares: bool,
    /// Whether such a declaration seems to be visible in the whole program: it is in the first column or in a
    /// header, and is not a parameter.
    pub global: bool,
}

#[derive(Clone, Debug)]
struct Extent {
    id: ChangeId,
    new_start: u32,
    old: u32,
    new: u32,
    words: Vec<String>,
}

impl Structure {
    /// For this many changes about which nothing is known.
    #[must_use]
    pub fn flat(changes: u32) -> Structure {
        Structure { all: (0..changes).map(ChangeId).collect(), ..Structure::default() }
    }

    /// For the changes of a difference.
    #[must_use]
    pub fn new(difference: &Difference) -> Structure {
        Structure::build(difference.changes(), |change| difference.names(change.id))
    }

    /// For these changes, which should be all changes of a difference.
    #[must_use]
    pub fn of(changes: &[Change]) -> Structure {
        Structure::build(changes, |_| None)
    }

    /// Uses names from the syntax where it is known.
    fn build<'n>(changes: &[Change], names: impl Fn(&Change) -> Option<&'n Names>) -> Structure {
        let mut structure = Structure::default();
        for change in changes {
            structure.all.insert(change.id);
            let heading = change.function.as_ref().unwrap_or(&change.heading).clone();
            let place = Place { file: change.file.clone(), heading };
            structure.places.insert(change.id, place);
            for path in [Some(&change.file), change.old_file.as_ref()].into_iter().flatten() {
                let base = path.rsplit('/').next().unwrap_or(path);
                structure.bases.entry(base.to_owned()).or_default().insert(change.id);
            }
            if brackets(&change.old_lines) != brackets(&change.new_lines) {
                structure.unbalanced.insert(change.id);
            }
            let words = match names(change) {
                Some(names) => mentioned(change, names),
                None => count_words(change),
            };
            if change.kind == ChangeKind::Lines {
                let count = |lines: &[String]| u32::try_from(lines.len()).unwrap_or(u32::MAX);
                structure.files.entry(change.file.clone()).or_default().push(Extent {
                    id: change.id,
                    new_start: if change.new_lines.is_empty() {
                        change.new_start + 1
                    } else {
                        change.new_start
                    },
                    old: count(&change.old_lines),
                    new: count(&change.new_lines),
                    words: words.keys().cloned().collect(),
                });
            }
            for (word, mut mention) in words {
                mention.id = change.id;
                structure.words.entry(word).or_default().push(mention);
            }
        }
        structure
    }

    /// Replaces the functions derived from the text by more precise ones. `function` returns the function
    /// around a change, if there is one.
    pub fn set_functions(&mut self, function: impl Fn(ChangeId) -> Option<String>) {
        for (id, place) in &mut self.places {
            if let Some(name) = function(*id) {
                place.heading = name;
            }
        }
    }

    /// Sets the groups that are one change to a person, each with whether a part of it makes sense alone.
    pub fn set_units(&mut self, units: impl IntoIterator<Item = (ChangeSet, bool)>) {
        for (changes, divisible) in units {
            for id in &changes {
                self.unit_of.insert(*id, self.units.len());
            }
            self.units.push(Unit { changes, divisible });
        }
    }

    /// The listed changes in whole units, ordered by first occurrence in the list.
    pub(super) fn whole_units(&self, list: &[ChangeId]) -> Vec<Vec<ChangeId>> {
        self.grouped(list, |_| true)
    }

    /// The listed changes in groups that make sense by themselves.
    pub(super) fn parts(&self, list: &[ChangeId]) -> Vec<Vec<ChangeId>> {
        self.grouped(list, |unit| !unit.divisible)
    }

    fn grouped(&self, list: &[ChangeId], joins: impl Fn(&Unit) -> bool) -> Vec<Vec<ChangeId>> {
        let mut groups: Vec<Vec<ChangeId>> = Vec::new();
        let mut group_of: HashMap<usize, usize> = HashMap::new();
        for id in list {
            let unit = self.unit_of.get(id).filter(|unit| joins(&self.units[**unit]));
            match unit.and_then(|unit| group_of.get(unit)) {
                Some(group) => groups[*group].push(*id),
                None => {
                    if let Some(unit) = unit {
                        group_of.insert(*unit, groups.len());
                    }
                    groups.push(vec![*id]);
                }
            }
        }
        groups
    }

    /// A set with all other changes of its units.
    pub(super) fn whole(&self, set: &ChangeSet) -> ChangeSet {
        let units = set.iter().filter_map(|id| self.unit_of.get(id));
        let mut whole: ChangeSet = units.flat_map(|unit| self.units[*unit].changes.iter().copied()).collect();
        whole.extend(set);
        whole
    }

    /// All changes.
    #[must_use]
    pub fn all(&self) -> &ChangeSet {
        &self.all
    }

    /// How strong the border between two neighbouring changes is: 2 between
    /// files, 1 between functions, 0 within one.
    pub(super) fn border(&self, a: ChangeId, b: ChangeId) -> u8 {
        match (self.places.get(&a), self.places.get(&b)) {
            (Some(a), Some(b)) if a.file != b.file => 2,
            (Some(a), Some(b)) if a.heading != b.heading => 1,
            _ => 0,
        }
    }

    /// Functions with several changes, each with all of its listed changes, ordered by first occurrence in
    /// the list.
    pub(super) fn functions(&self, ranked: &[ChangeId]) -> Vec<Vec<ChangeId>> {
        self.by_place(ranked, |place| Some(place).filter(|place| !place.heading.is_empty()))
    }

    /// Files with several changes, each with all of its listed changes, ordered by first occurrence in the
    /// list.
    pub(super) fn files(&self, ranked: &[ChangeId]) -> Vec<Vec<ChangeId>> {
        self.by_place(ranked, |place| Some(&place.file))
    }

    /// The listed changes grouped by a component of their place, without groups of one.
    fn by_place<'s, K: Ord + ?Sized + 's>(
        &'s self,
        ranked: &[ChangeId],
        key: impl Fn(&'s Place) -> Option<&'s K>,
    ) -> Vec<Vec<ChangeId>> {
        let mut order: Vec<&K> = Vec::new();
        let mut members: BTreeMap<&K, Vec<ChangeId>> = BTreeMap::new();
        for id in ranked {
            let Some(key) = self.places.get(id).and_then(&key) else { continue };
            let list = members.entry(key).or_default();
            if list.is_empty() {
                order.push(key);
            }
            list.push(*id);
        }
        order.into_iter().filter_map(|key| members.remove(key)).filter(|list| list.len() > 1).collect()
    }

    /// The other changes in the functions of `set`, and the other changes in its files.
    pub(super) fn around(&self, set: &ChangeSet) -> [ChangeSet; 2] {
        let places: Vec<&Place> = set.iter().filter_map(|id| self.places.get(id)).collect();
        let near = |same: &dyn Fn(&Place) -> bool| -> ChangeSet {
            self.places
                .iter()
                .filter(|(id, place)| !set.contains(id) && same(place))
                .map(|(id, _)| *id)
                .collect()
        };
        [
            near(&|place| places.contains(&place)),
            near(&|place| places.iter().any(|other| other.file == place.file)),
        ]
    }

    /// Which changes of the list must be reverted along with which.
    pub(super) fn needs(&self, list: &[ChangeId]) -> BTreeMap<ChangeId, ChangeSet> {
        let listed: ChangeSet = list.iter().copied().collect();
        let mut needs: BTreeMap<ChangeId, ChangeSet> = BTreeMap::new();
        for mentions in self.words.values() {
            let here: Vec<&Mention> =
                mentions.iter().filter(|mention| listed.contains(&mention.id)).collect();
            for declaration in here.iter().filter(|mention| mention.old_declares != mention.new_declares) {
                let reaches = |user: &&&Mention| {
                    declaration.global || self.places.get(&user.id) == self.places.get(&declaration.id)
                };
                for user in here.iter().filter(reaches) {
                    if declaration.old_declares && user.old > user.new {
                        needs.entry(user.id).or_default().insert(declaration.id);
                    } else if declaration.new_declares && user.new > user.old {
                        needs.entry(declaration.id).or_default().insert(user.id);
                    }
                }
            }
        }
        needs
    }

    /// Units ordered so that every prefix of the list probably builds: each unit is joined by the changes
    /// that must be reverted with it, unless they came before. Old lines that use a name need the change that
    /// deleted its declaration; a declaration that bad added cannot be removed without its uses.
    pub(super) fn closed_units(&self, units: &[Vec<ChangeId>]) -> Vec<Vec<ChangeId>> {
        let list = units.concat();
        let needs = self.needs(&list);
        let listed: ChangeSet = list.iter().copied().collect();
        let mut placed = ChangeSet::new();
        let mut closed = Vec::new();
        for unit in units {
            let mut members = Vec::new();
            let mut pending: Vec<ChangeId> = unit.iter().rev().copied().collect();
            while let Some(next) = pending.pop() {
                if placed.insert(next) {
                    members.push(next);
                    let whole = self.whole(&ChangeSet::from([next]));
                    pending.extend((&whole & &listed).into_iter().rev());
                    pending.extend(needs.get(&next).into_iter().flatten().rev());
                }
            }
            if !members.is_empty() {
                closed.push(members);
            }
        }
        closed
    }

    /// Groups of changes that probably build only together: the transitive closure of using a name and
    /// declaring it in only one version. Groups, and the members of each group, keep the order of the list.
    pub(super) fn clusters(&self, list: &[ChangeId]) -> Vec<Vec<ChangeId>> {
        let position: HashMap<ChangeId, usize> = list.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let mut leader: Vec<usize> = (0..list.len()).collect();
        for unit in self.whole_units(list) {
            for id in &unit[1..] {
                join(&mut leader, position[&unit[0]], position[id]);
            }
        }
        for mentions in self.words.values() {
            let here = |mention: &&Mention| position.contains_key(&mention.id) && mention.old != mention.new;
            for declaration in mentions.iter().filter(here) {
                if declaration.old_declares == declaration.new_declares {
                    continue;
                }
                let users = mentions.iter().filter(here).filter(|user| {
                    declaration.global || self.places.get(&user.id) == self.places.get(&declaration.id)
                });
                for user in users {
                    join(&mut leader, position[&declaration.id], position[&user.id]);
                }
            }
        }
        let mut units: BTreeMap<usize, Vec<ChangeId>> = BTreeMap::new();
        for (at, id) in list.iter().enumerate() {
            units.entry(find(&mut leader, at)).or_default().push(*id);
        }
        units.into_values().collect()
    }

    /// Changes that may open or close the counterparts of the brackets in this set.
    pub(super) fn other_halves(&self, set: &ChangeSet) -> ChangeSet {
        let halves = set & &self.unbalanced;
        let file = |id: &ChangeId| self.places.get(id).map(|place| &place.file);
        let near = |id: &&ChangeId| halves.iter().any(|half| file(half) == file(id));
        self.unbalanced.iter().filter(near).copied().collect()
    }

    pub(super) fn mentions(&self, word: &str) -> &[Mention] {
        self.words.get(word).map_or(&[], Vec::as_slice)
    }

    /// Whether a mention declares its word, in either version, in the scope of another change.
    pub(super) fn declares_for(&self, mention: &Mention, user: ChangeId) -> bool {
        let declares = mention.old_declares || mention.new_declares;
        declares && (mention.global || self.places.get(&mention.id) == self.places.get(&user))
    }

    /// Changes of the files with this base name.
    pub(super) fn of_file(&self, path: &str) -> Option<&ChangeSet> {
        self.bases.get(path.rsplit('/').next().unwrap_or(path))
    }

    /// Changes at a line of a file in which some are reverted, and the words they mention.
    pub(super) fn at(&self, path: &str, line: u32, reverted: &ChangeSet) -> Vec<(ChangeId, &[String])> {
        let mut found = Vec::new();
        for extents in self.extents(path) {
            for (extent, lines) in with_positions(extents, reverted) {
                if lines.contains(&i64::from(line)) {
                    found.push((extent.id, extent.words.as_slice()));
                }
            }
        }
        found.sort();
        found
    }

    /// Changes of the function around a line of a file in which some are reverted, as far as the changes show
    /// it: the function of the change at the line, else those of the nearest changes before and after it.
    pub(super) fn near(&self, path: &str, line: u32, reverted: &ChangeSet) -> ChangeSet {
        let mut around: Vec<ChangeId> = self.at(path, line, reverted).into_iter().map(|(id, _)| id).collect();
        if around.is_empty() {
            let line = i64::from(line);
            for extents in self.extents(path) {
                let before =
                    with_positions(extents, reverted).take_while(|(_, lines)| lines.start <= line).last();
                let behind = with_positions(extents, reverted).find(|(_, lines)| lines.start > line);
                around.extend([before, behind].into_iter().flatten().map(|(extent, _)| extent.id));
            }
        }
        let places = around.iter().filter_map(|id| self.places.get(id));
        let places: Vec<&Place> = places.filter(|place| !place.heading.is_empty()).collect();
        self.places.iter().filter(|(_, place)| places.contains(place)).map(|(id, _)| *id).collect()
    }

    /// The line changes of the files that a compiler may denote by a path. Its paths are relative to the
    /// directory in which it was started.
    fn extents<'s, 'p>(&'s self, path: &'p str) -> impl Iterator<Item = &'s [Extent]> + use<'s, 'p> {
        let base = path.rsplit('/').next().unwrap_or(path);
        let meant = move |file: &str| file.rsplit('/').next() == Some(base);
        self.files.iter().filter(move |(file, _)| meant(file)).map(|(_, extents)| extents.as_slice())
    }
}

/// The line changes of a file with their line ranges when some are reverted.
fn with_positions<'s, 'r>(
    extents: &'s [Extent],
    reverted: &'r ChangeSet,
) -> impl Iterator<Item = (&'s Extent, Range<i64>)> + use<'s, 'r> {
    let mut shift: i64 = 0;
    extents.iter().map(move |extent| {
        let is_reverted = reverted.contains(&extent.id);
        let length = if is_reverted { extent.old } else { extent.new };
        let start = i64::from(extent.new_start) + shift;
        if is_reverted {
            shift += i64::from(extent.old) - i64::from(extent.new);
        }
        (extent, start..start + i64::from(length))
    })
}

/// Union-find: the smallest member represents a set.
fn join(leader: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(leader, a), find(leader, b));
    leader[a.max(b)] = a.min(b);
}

fn find(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}

/// Opened minus closed, by counting characters, which is precise enough for a hint.
fn brackets(lines: &[String]) -> [i32; 4] {
    let mut sum = [0; 4];
    for line in lines {
        for byte in line.bytes() {
            match byte {
                b'{' => sum[0] += 1,
                b'}' => sum[0] -= 1,
                b'(' => sum[1] += 1,
                b')' => sum[1] -= 1,
                b'[' => sum[2] += 1,
                b']' => sum[2] -= 1,
                _ => {}
            }
        }
        if let Some(directive) = line.trim_start().strip_prefix('#') {
            let word = directive.trim_start();
            sum[3] += i32::from(word.starts_with("if")) - i32::from(word.starts_with("endif"));
        }
    }
    sum
}

/// The mentions of each name according to the syntax trees.
fn mentioned(change: &Change, names: &Names) -> BTreeMap<String, Mention> {
    let mention = |name_use: &NameUse| Mention {
        id: change.id,
        old: name_use.old,
        new: name_use.new,
        old_declares: name_use.old_declares,
        new_declares: name_use.new_declares,
        global: name_use.beyond_function && (name_use.old_declares || name_use.new_declares),
    };
    names.iter().map(|(name, name_use)| (name.clone(), mention(name_use))).collect()
}

/// Counts the occurrences of each word in old and new lines and guesses declarations from the text, where the
/// syntax is not known.
fn count_words(change: &Change) -> BTreeMap<String, Mention> {
    let header = change.file.rsplit('.').next().is_some_and(|extension| extension.starts_with(['h', 'H']));
    let mut words = BTreeMap::new();
    for (lines, old) in [(&change.old_lines, true), (&change.new_lines, false)] {
        for line in lines {
            let margin = !line.starts_with([' ', '\t']);
            for Word { text, declared, parameter } in words_of(&code_of(line)) {
                let mention = words.entry(text.to_owned()).or_insert(Mention {
                    id: change.id,
                    old: 0,
                    new: 0,
                    old_declares: false,
                    new_declares: false,
                    global: false,
                });
                mention.global |= declared && (header || margin) && !parameter;
                if old {
                    mention.old += 1;
                    mention.old_declares |= declared;
                } else {
                    mention.new += 1;
                    mention.new_declares |= declared;
                }
            }
        }
    }
    words
}
