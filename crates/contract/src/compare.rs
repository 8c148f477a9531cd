//! Computes the differences between states of the two versions, by declared shape.
//!
//! Roots are paired by name, and so are members of structs; those that only one version has are skipped.
//! Pointers are followed, never compared as numbers. It is a difference if two pointers have the same target
//! in one version and different targets in the other. Bytes that the program never set are not compared,
//! except that it is a difference if good set them and bad did not.

use crate::capture::{completed, extent, is_union};
use crate::shown::{NOT_SET, function_at, pointed, show};
use crate::state::{Root, RootKind, State};
use crate::version::Version;
use expression::types::{Shape, Type};
use program::model::{Member, TypeKind};
use replay::vars::quoted;
use std::collections::{HashMap, VecDeque};

/// A location in both states, and its values.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Difference {
    /// The location in terms of the source, such as `list->head.size`.
    pub path: String,
    /// The value in good.
    pub good: String,
    /// The value in bad.
    pub bad: String,
}

/// One version's side of a comparison.
#[derive(Clone, Copy)]
pub struct Half<'s, 'm> {
    /// The program, for types and names.
    pub version: &'s Version<'m>,
    /// The state before or after one of its calls.
    pub state: &'s State,
}

/// Maximum number of differences to search for.
const MAX_DIFFERENCES: usize = 8;
/// Maximum number of locations to visit.
const MAX_PLACES: usize = 100_000;
/// Maximum number of bytes of a string.
const MAX_TEXT: usize = 4096;

/// The state that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Before the call: bytes that only one version has set are a difference.
    Entry,
    /// After the call: bytes that good has not set may have any value.
    Exit,
}

pub(crate) enum Task<'m> {
    Typed {
        path: String,
        good: (u64, Type<'m>),
        bad: (u64, Type<'m>),
    },
    /// Targets of pointers of unknown type.
    Untyped {
        path: String,
        good: u64,
        bad: u64,
    },
}

pub(crate) struct Comparison<'s, 'm> {
    pub(crate) good: Half<'s, 'm>,
    pub(crate) bad: Half<'s, 'm>,
    pub(crate) what: What,
    pub(crate) queue: VecDeque<Task<'m>>,
    /// Maps targets of good to their partners in bad, and vice versa.
    partners: [HashMap<(u64, u64), u64>; 2],
    found: Vec<Difference>,
    /// Only whether there is a difference is needed, so no texts are made.
    silent: bool,
}

/// Compares everything reachable from the roots.
#[must_use]
pub fn compare<'m>(
    good: (Half<'_, 'm>, &[Root<'m>]),
    bad: (Half<'_, 'm>, &[Root<'m>]),
    what: What,
) -> Vec<Difference> {
    let mut comparing = Comparison::new(good.0, bad.0, what);
    comparing.begin(good.1, bad.1);
    comparing.run()
}

/// Whether [`compare`] finds no difference; faster than computing the differences.
#[must_use]
pub fn are_same<'m>(good: (Half<'_, 'm>, &[Root<'m>]), bad: (Half<'_, 'm>, &[Root<'m>]), what: What) -> bool {
    let mut comparing = Comparison::new(good.0, bad.0, what);
    comparing.silent = true;
    comparing.begin(good.1, bad.1);
    comparing.run().is_empty()
}

/// Compares the targets of two pointers.
#[must_use]
pub fn compare_targets<'m>(
    good: (Half<'_, 'm>, u64, &Type<'m>),
    bad: (Half<'_, 'm>, u64, &Type<'m>),
) -> Vec<Difference> {
    let mut comparing = Comparison::new(good.0, bad.0, What::Exit);
    comparing.targets("p", (good.1, good.2.clone()), (bad.1, bad.2.clone()));
    comparing.run()
}

/// Pairs the roots of both versions by name, and renamed parameters by position.
fn paired<'r, 'm>(good: &'r [Root<'m>], bad: &'r [Root<'m>]) -> Vec<(&'r Root<'m>, &'r Root<'m>)> {
    let mut pairs = Vec::new();
    for root in bad {
        let same_kind = |other: &&Root<'m>| match (root.kind, other.kind) {
            (RootKind::Parameter(_), RootKind::Parameter(_)) => other.name == root.name,
            (a, b) => a == b && other.name == root.name,
        };
        let renamed = |other: &&Root<'m>| {
            matches!(root.kind, RootKind::Parameter(_))
                && other.kind == root.kind
                && !bad.iter().any(|b| b.name == other.name)
                && other.ty.name() == root.ty.name()
        };
        if let Some(partner) = good.iter().find(same_kind).or_else(|| good.iter().find(renamed)) {
            pairs.push((partner, root));
        }
    }
    pairs
}

impl<'s, 'm> Comparison<'s, 'm> {
    fn new(good: Half<'s, 'm>, bad: Half<'s, 'm>, what: What) -> Self {
        Comparison {
            good,
            bad,
            what,
            queue: VecDeque::new(),
            partners: Default::default(),
            found: Vec::new(),
            silent: false,
        }
    }

    fn begin(&mut self, good: &[Root<'m>], bad: &[Root<'m>]) {
        for (one, other) in paired(good, bad) {
            self.queue.push_back(Task::Typed {
                path: other.name.clone(),
                good: (one.address, one.ty.clone()),
                bad: (other.address, other.ty.clone()),
            });
        }
    }

    /// A text that is needed only for a difference.
    fn text(&self, text: impl FnOnce() -> String) -> String {
        if self.silent { String::new() } else { text() }
    }

    fn show(&self, half: Half<'_, 'm>, at: &(u64, Type<'m>)) -> String {
        self.text(|| show(&half, at.0, &at.1))
    }

    fn run(mut self) -> Vec<Difference> {
        let mut places = 0;
        while let Some(task) = self.queue.pop_front() {
            places += 1;
            let enough = if self.silent { 1 } else { MAX_DIFFERENCES };
            if places > MAX_PLACES || self.found.len() >= enough {
                break;
            }
            match task {
                Task::Typed { path, good, bad } => self.place(path, good, bad),
                Task::Untyped { path, good, bad } => self.untyped(&path, good, bad),
            }
        }
        self.found
    }

    pub(crate) fn differ(&mut self, path: &str, good: impl Into<String>, bad: impl Into<String>) {
        self.found.push(Difference { path: inner(path).to_owned(), good: good.into(), bad: bad.into() });
    }

    /// Bytes of both states; none if there is nothing to compare.
    fn bytes(&mut self, path: &str, good: (u64, usize), bad: (u64, usize)) -> Option<(Vec<u8>, Vec<u8>)> {
        match (self.good.state.read(good.0, good.1), self.bad.state.read(bad.0, bad.1)) {
            (Some(a), Some(b)) => Some((a, b)),
            (Some(_), None) if (0..good.1 as u64).all(|n| self.good.state.is_set(good.0 + n)) => {
                self.differ(path, "set", NOT_SET);
                None
            }
            (None, Some(_))
                if self.what == What::Entry
                    && (0..bad.1 as u64).all(|n| self.bad.state.is_set(bad.0 + n)) =>
            {
                self.differ(path, NOT_SET, "set");
                None
            }
            _ => None,
        }
    }

    fn place(&mut self, path: String, good: (u64, Type<'m>), bad: (u64, Type<'m>)) {
        let good = (good.0, completed(&good.1, &self.good.version.modules));
        let bad = (bad.0, completed(&bad.1, &self.bad.version.modules));
        match (good.1.shape(), bad.1.shape()) {
            (Shape::Record(of, ours), Shape::Record(to, theirs)) => {
                if is_union(&good.1) || is_union(&bad.1) {
                    return self.union(&path, &good, &bad);
                }
                let mut nameless = 0;
                for member in theirs {
                    let partner = if member.name.is_empty() {
                        nameless += 1;
                        ours.iter().filter(|m| m.name.is_empty()).nth(nameless - 1)
                    } else {
                        ours.iter().find(|m| m.name == member.name)
                    };
                    // Pointers to virtual tables are addresses.
                    let Some(partner) = partner.filter(|_| !member.name.starts_with("_vptr")) else {
                        continue;
                    };
                    self.member(&path, (good.0, of, partner), (bad.0, to, member));
                }
            }
            (Shape::Array(of, count), Shape::Array(to, other)) => {
                self.elements(&path, (good.0, of, count), (bad.0, to, other));
            }
            (Shape::Pointer(of), Shape::Pointer(to)) => {
                let Some((a, b)) = self.bytes(&path, (good.0, 8), (bad.0, 8)) else { return };
                let word = |bytes: Vec<u8>| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
                self.targets(&path, (word(a), of), (word(b), to));
            }
            (Shape::Void | Shape::Function, _) | (_, Shape::Void | Shape::Function) => {}
            _ => self.scalars(&path, &good, &bad),
        }
    }

    fn member(
        &mut self,
        path: &str,
        good: (u64, &'m program::model::Module, &'m Member),
        bad: (u64, &'m program::model::Module, &'m Member),
    ) {
        let name =
            self.text(|| if bad.2.name.is_empty() { path.to_owned() } else { joined(path, &bad.2.name) });
        let (one, other) = (Type::of(good.1, good.2.ty), Type::of(bad.1, bad.2.ty));
        let is_bits = |m: &Member, ty: &Type<'_>| {
            !m.bit_offset.is_multiple_of(8)
                || !m.bits.is_multiple_of(8)
                || (m.bits > 0 && m.bits != 8 * ty.size() && ty.size() <= 8)
        };
        if is_bits(good.2, &one) || is_bits(bad.2, &other) {
            let at = |(record, _, m): (u64, &program::model::Module, &Member)| record + m.bit_offset / 8;
            if self.good.state.is_address(at(good)) && self.bad.state.is_address(at(bad)) {
                return;
            }
            let a = bits(self.good.state, good.0, good.2);
            let b = bits(self.bad.state, bad.0, bad.2);
            if let (Some(a), Some(b)) = (a, b)
                && a != b
            {
                self.differ(&name, a.to_string(), b.to_string());
            }
            return;
        }
        self.queue.push_back(Task::Typed {
            path: name,
            good: (good.0 + good.2.bit_offset / 8, one),
            bad: (bad.0 + bad.2.bit_offset / 8, other),
        });
    }

    /// Compares unions with pointers word by word, others byte by byte.
    fn union(&mut self, path: &str, good: &(u64, Type<'m>), bad: &(u64, Type<'m>)) {
        if has_pointers(&good.1, 0) || has_pointers(&bad.1, 0) {
            return self.words(path, (good.0, good.1.size()), (bad.0, bad.1.size()));
        }
        for n in 0..good.1.size().min(bad.1.size()) {
            let (a, b) = (self.good.state.read(good.0 + n, 1), self.bad.state.read(bad.0 + n, 1));
            if let (Some(a), Some(b)) = (a, b)
                && a != b
            {
                let (a, b) = (self.show(self.good, good), self.show(self.bad, bad));
                return self.differ(path, a, b);
            }
        }
    }

    fn elements(&mut self, path: &str, good: (u64, Type<'m>, u64), bad: (u64, Type<'m>, u64)) {
        if is_text(&good.1) && is_text(&bad.1) {
            return self.texts(path, (good.0, good.2), (bad.0, bad.2));
        }
        let count = good.2.min(bad.2);
        let (of, to) = (good.1.size().max(1), bad.1.size().max(1));
        // Most arrays are equal.
        let has = |ty: &Type<'m>, half: &Half<'_, 'm>| has_pointers(&completed(ty, &half.version.modules), 0);
        if of == to
            && !has(&good.1, &self.good)
            && !has(&bad.1, &self.bad)
            && self.good.state.is_same(good.0, self.bad.state, bad.0, count * of)
        {
            return;
        }
        for n in 0..count {
            self.queue.push_back(Task::Typed {
                path: self.text(|| format!("{}[{n}]", inner(path))),
                good: (good.0 + n * of, good.1.clone()),
                bad: (bad.0 + n * to, bad.1.clone()),
            });
        }
    }

    /// Compares strings up to their NUL, with the given maximum lengths.
    pub(crate) fn texts(&mut self, path: &str, good: (u64, u64), bad: (u64, u64)) {
        let limit = |n: u64| usize::try_from(n).unwrap_or(MAX_TEXT).min(MAX_TEXT);
        let a = self.good.state.string(good.0, limit(good.1));
        let b = self.bad.state.string(bad.0, limit(bad.1));
        let text = |t: &[u8]| quoted(&String::from_utf8_lossy(&t[..t.len().min(200)]));
        match (a, b) {
            (Some(a), Some(b)) if a != b => self.differ(path, text(&a), text(&b)),
            (Some(a), None) if self.good.state.is_set(good.0) => self.differ(path, text(&a), NOT_SET),
            (None, Some(b)) if self.what == What::Entry && self.bad.state.is_set(bad.0) => {
                self.differ(path, NOT_SET, text(&b));
            }
            _ => {}
        }
    }

    fn targets(&mut self, path: &str, good: (u64, Type<'m>), bad: (u64, Type<'m>)) {
        let good = (good.0, completed(&good.1, &self.good.version.modules));
        let bad = (bad.0, completed(&bad.1, &self.bad.version.modules));
        match (good.0, bad.0) {
            (0, 0) => return,
            (0, _) => {
                let bad = self.text(|| pointed(&self.bad, bad.0, &bad.1));
                return self.differ(path, "NULL", bad);
            }
            (_, 0) => {
                let good = self.text(|| pointed(&self.good, good.0, &good.1));
                return self.differ(path, good, "NULL");
            }
            _ => {}
        }
        if let (Shape::Function, Shape::Function) = (good.1.shape(), bad.1.shape()) {
            let (a, b) = (function_at(&self.good, good.0), function_at(&self.bad, bad.0));
            if a != b {
                self.differ(path, a, b);
            }
            return;
        }
        if is_text(&good.1) && is_text(&bad.1) {
            let objects = (self.good.state.object(good.0, 1), self.bad.state.object(bad.0, 1));
            if let (Some(a), Some(b)) = objects {
                // The memory after the string belongs to its block.
                self.adjacent(path, (good.0, bad.0), [a, b], u64::MAX);
            }
            return self.texts(path, (good.0, MAX_TEXT as u64), (bad.0, MAX_TEXT as u64));
        }
        let sizes = (good.1.size().max(1), bad.1.size().max(1));
        if matches!(good.1.shape(), Shape::Void) || matches!(bad.1.shape(), Shape::Void) {
            return self.anything(path, &good, &bad);
        }
        if self.match_targets(path, (good.0, sizes.0), (bad.0, sizes.1)) != Some(true) {
            return;
        }
        let objects = (self.good.state.object(good.0, sizes.0), self.bad.state.object(bad.0, sizes.1));
        if let (Some(a), Some(b)) = objects
            && (good.0 - a.0) / sizes.0 != (bad.0 - b.0) / sizes.1
            && !matches!(good.1.shape(), Shape::Record(..))
        {
            let element = |at: u64, start: u64, size: u64| format!("at element {}", (at - start) / size);
            self.differ(path, element(good.0, a.0, sizes.0), element(bad.0, b.0, sizes.1));
        }
        let count = |ty: &Type<'m>, at: u64, object, size: u64| extent(ty, at, object, size) / size;
        let counts = (count(&good.1, good.0, objects.0, sizes.0), count(&bad.1, bad.0, objects.1, sizes.1));
        if let (Some(a), Some(b)) = objects {
            let typed = (counts.0 * sizes.0).max(counts.1 * sizes.1);
            self.adjacent(path, (good.0, bad.0), [a, b], typed);
        }
        if counts.0.min(counts.1) == 1 {
            let is_record = matches!(good.1.shape(), Shape::Record(..));
            let path = self.text(|| if is_record { format!("{path}->") } else { format!("*{path}") });
            self.queue.push_back(Task::Typed { path, good, bad });
        } else {
            self.elements(path, (good.0, good.1, counts.0), (bad.0, bad.1, counts.1));
        }
    }

    /// Records that two targets correspond. `None` if one of them has another partner, which is a difference;
    /// otherwise whether the pair is new.
    pub(crate) fn match_targets(&mut self, path: &str, good: (u64, u64), bad: (u64, u64)) -> Option<bool> {
        let mut is_new = false;
        for (side, target, partner) in [(0, good, bad.0), (1, bad, good.0)] {
            match self.partners[side].get(&target) {
                Some(earlier) if *earlier != partner => {
                    let texts = ["what another pointer points to", "something else"];
                    self.differ(path, texts[side], texts[1 - side]);
                    return None;
                }
                Some(_) => {}
                None => {
                    self.partners[side].insert(target, partner);
                    is_new = true;
                }
            }
        }
        Some(is_new)
    }

    fn scalars(&mut self, path: &str, good: &(u64, Type<'m>), bad: &(u64, Type<'m>)) {
        let sizes = (good.1.size().min(16) as usize, bad.1.size().min(16) as usize);
        if self.good.state.is_address(good.0) && self.bad.state.is_address(bad.0) {
            return;
        }
        let Some((a, b)) = self.bytes(path, (good.0, sizes.0), (bad.0, sizes.1)) else { return };
        let same = match (enumerator(&good.1, &a), enumerator(&bad.1, &b)) {
            (Some(a), Some(b)) => a == b,
            _ if sizes.0 == sizes.1 => a == b,
            _ => number(&good.1, &a).is_some() && number(&good.1, &a) == number(&bad.1, &b),
        };
        if !same {
            let (a, b) = (self.show(self.good, good), self.show(self.bad, bad));
            self.differ(path, a, b);
        }
    }
}

/// The path of a member.
fn joined(path: &str, member: &str) -> String {
    if path.ends_with("->") { format!("{path}{member}") } else { format!("{path}.{member}") }
}

/// The path of a struct without the arrow before its members.
fn inner(path: &str) -> &str {
    path.strip_suffix("->").unwrap_or(path)
}

/// Whether pointers to it and arrays of it are strings: `char`, but not `unsigned char`.
pub(crate) fn is_text(ty: &Type<'_>) -> bool {
    matches!(ty.shape(), Shape::Character { signed: true })
}

fn has_pointers(ty: &Type<'_>, nesting: usize) -> bool {
    match ty.shape() {
        Shape::Pointer(_) | Shape::Function => true,
        Shape::Array(of, _) => nesting < 16 && has_pointers(&of, nesting + 1),
        Shape::Record(module, members) => {
            nesting >= 16 || members.iter().any(|m| has_pointers(&Type::of(module, m.ty), nesting + 1))
        }
        _ => false,
    }
}

fn bits(state: &State, record: u64, member: &Member) -> Option<u64> {
    let mut value = 0;
    for n in 0..member.bits.min(64) {
        let bit = member.bit_offset + n;
        let byte = state.read(record + bit / 8, 1)?;
        value |= u64::from(byte[0] >> (bit % 8) & 1) << n;
    }
    Some(value)
}

fn enumerator<'m>(ty: &Type<'m>, bytes: &[u8]) -> Option<&'m str> {
    let Type::Declared(module, index) = ty.stripped() else { return None };
    let TypeKind::Enum { values } = &module.types[index as usize].kind else { return None };
    let value = number(ty, bytes)?;
    values.iter().find(|v| i128::from(v.1) == value).map(|v| v.0.as_str())
}

/// The value of an integer.
pub(crate) fn number(ty: &Type<'_>, bytes: &[u8]) -> Option<i128> {
    let signed = match ty.shape() {
        Shape::Integer { signed, .. } | Shape::Character { signed } => signed,
        Shape::Bool => false,
        _ => return None,
    };
    let mut wide = [0; 16];
    let n = bytes.len().min(16);
    wide[..n].copy_from_slice(&bytes[..n]);
    let raw = u128::from_le_bytes(wide);
    Some(if signed { replay::arith::signed(raw, 8 * n.max(1) as u16) } else { raw.cast_signed() })
}
