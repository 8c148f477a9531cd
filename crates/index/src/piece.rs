//! A finished stretch of a column, as it is stored.
//!
//! Five forms, of which the shortest is taken: a run-length grammar, a SEQUITUR grammar
//! or the symbols in a row, in bits of fixed width; and the run-length grammar and the row
//! once more, coded by what has come before ([`crate::range`]). A coded grammar is read
//! into the same grammar when it is opened; nothing is unfolded. A coded row becomes a
//! grammar of one rule; it is only taken where a grammar would not be much smaller.
//!
//! In the coded form a rule stands where it is first named. So neither how many rules
//! there are nor the name of a new one is written, and a number is written where it first
//! occurs.

mod row;

use crate::bits::{Reader, Writer, width};
use crate::grammar::{Grammar, Node};
use crate::range::{Decoder, Encoder, Few, Many, Sizes};
use crate::rlese::Work;
use crate::sequitur::Sequitur;

const FORM_GRAMMAR: u64 = 0;
const FORM_SEQUITUR: u64 = 1;
const FORM_ROW: u64 = 2;
const FORM_CODED: u64 = 3;

/// In the first byte of the coded form: the numbers are distances from a prediction.
const PREDICTED: u8 = 4;

/// There too: no grammar, but the symbols in a row, each by the two before it.
const IN_A_ROW: u8 = 8;

/// Rows are read as a whole, so that they must be short; and no longer than this many
/// times what the grammar would hold in memory.
const LONGEST_ROW: u64 = 1 << 18;
const LONGER: u64 = 32;

/// No grammar has more nodes: they are sealed long before.
const MOST_NODES: usize = 1 << 18;

/// Whether SEQUITUR is tried too. Where the run-length grammar has made few nodes of
/// many symbols it cannot be beaten by much, and trying takes time for every symbol.
fn worth_trying(symbols: u64, nodes: usize) -> bool {
    symbols <= 1 << 16 || symbols <= 512 * nodes as u64
}

/// What is stored of numbers that stand by themselves or as differences; `end` is the
/// last number then. Also what plain SEQUITUR takes, if it was tried.
#[must_use]
pub fn encode(list: &[u64], grammar: &Grammar, end: u64, measure: bool) -> (Vec<u8>, Option<(u64, Work)>) {
    // The list in rising order takes differences; the symbols follow their numbers.
    let mut order: Vec<u32> = (0..list.len() as u32).collect();
    order.sort_unstable_by_key(|i| list[*i as usize]);
    let mut place = vec![0u32; list.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old as usize] = new as u32;
    }
    let head = |form: u64| {
        let mut w = Writer::default();
        w.put(form, 2);
        w.number(end);
        w.number(list.len() as u64);
        let mut last = 0u64;
        for i in &order {
            let value = list[*i as usize];
            w.number(value.wrapping_sub(last));
            last = value;
        }
        w
    };
    let mut best = rules(head(FORM_GRAMMAR), grammar, &place, true);
    let coded = code(list, grammar, Some(end));
    if coded.len() < best.len() {
        best = coded;
    }
    let mut sequitur = None;
    if measure || worth_trying(grammar.len(), grammar.nodes()) {
        let mut plain = Sequitur::new();
        grammar.symbols().for_each(|s| plain.push(s));
        let work = plain.work();
        let other = rules(head(FORM_SEQUITUR), &plain.finish(), &place, false);
        sequitur = Some((other.len() as u64, work));
        if other.len() < best.len() {
            best = other;
        }
    }
    if worth_trying(grammar.len(), grammar.nodes()) {
        let mut w = head(FORM_ROW);
        w.number(grammar.len());
        let bits = width(list.len() as u64);
        for symbol in grammar.symbols() {
            w.put(place[symbol as usize].into(), bits);
        }
        let other = w.finish();
        if other.len() < best.len() {
            best = other;
        }
    }
    (best, sequitur)
}

fn rules(mut w: Writer, g: &Grammar, place: &[u32], counted: bool) -> Vec<u8> {
    w.number(g.rules().into());
    for rule in 0..g.rules() {
        let body = g.body(rule);
        let least = if rule + 1 == g.rules() { 0 } else { counted_least(counted) };
        w.gamma(body.len() as u64 - least);
        let bits = width(u64::from(g.terminals() + rule));
        for node in body {
            let sym = match g.rule_of(node.sym) {
                None => place[node.sym as usize],
                Some(_) => node.sym,
            };
            w.put(sym.into(), bits);
            if counted {
                w.gamma(node.count.into());
            }
        }
    }
    w.finish()
}

/// Rules have two nodes, or one with a count; so their length needs no smaller code.
fn counted_least(counted: bool) -> u64 {
    u64::from(!counted)
}

/// What has come before in a coded grammar.
#[derive(Default)]
struct Models {
    /// How a node names its symbol, by how the one before did.
    kind: [Few<3>; 3],
    before: usize,
    /// Symbols, by when they first came.
    seen: Many,
    /// The count that each symbol had last.
    counts: Vec<u32>,
    single: [Few<2>; 4],
    same: Few<2>,
    count: Sizes,
    first: Sizes,
    number: Sizes,
    length: Sizes,
}

const SEEN: usize = 0;
const NEW_NUMBER: usize = 1;
const NEW_RULE: usize = 2;

impl Models {
    /// The model for whether a count is one: by what the symbol's last one was.
    fn single(&mut self, is_rule: bool, last: u32) -> &mut Few<2> {
        &mut self.single[usize::from(is_rule) * 2 + usize::from(last == 1)]
    }

    fn put_count(&mut self, to: &mut Encoder, is_rule: bool, last: u32, count: u32) {
        self.single(is_rule, last).put(to, usize::from(count == 1));
        if count == 1 {
            return;
        }
        if last > 1 {
            self.same.put(to, usize::from(count == last));
            if count == last {
                return;
            }
        }
        self.count.put(to, u64::from(count) - 2);
    }

    fn get_count(&mut self, from: &mut Decoder<'_>, is_rule: bool, last: u32) -> Option<u32> {
        if self.single(is_rule, last).get(from) == 1 {
            return Some(1);
        }
        if last > 1 && self.same.get(from) == 1 {
            return Some(last);
        }
        u32::try_from(self.count.get(from).checked_add(2)?).ok()
    }
}

/// Small numbers whatever their sign.
fn fold(value: u64) -> u64 {
    let value = value.cast_signed();
    (value << 1 ^ value >> 63).cast_unsigned()
}

fn unfold(value: u64) -> u64 {
    value >> 1 ^ (value & 1).wrapping_neg()
}

/// The coded forms, the shorter one. Without `end` the numbers are distances from a
/// prediction.
#[must_use]
pub fn code(list: &[u64], g: &Grammar, end: Option<u64>) -> Vec<u8> {
    let first = FORM_CODED as u8 | if end.is_none() { PREDICTED } else { 0 };
    let mut best = code_grammar(list, g, end, first);
    if g.len() > 1 && g.len() <= LONGEST_ROW && g.len() <= LONGER * g.nodes() as u64 {
        let other = row::code(list, g, end, first | IN_A_ROW);
        if other.len() < best.len() {
            best = other;
        }
    }
    best
}

fn code_grammar(list: &[u64], g: &Grammar, end: Option<u64>, first: u8) -> Vec<u8> {
    let mut to = Encoder::default();
    let mut m = Models::default();
    if let Some(end) = end {
        m.first.put(&mut to, end);
    }
    let mut place: Vec<Option<u32>> = vec![None; (g.terminals() + g.rules()) as usize];
    let mut stack = Vec::new();
    if let Some(last) = g.rules().checked_sub(1) {
        m.first.put(&mut to, g.body(last).len() as u64);
        stack.push((last, 0));
    }
    while let Some((rule, at)) = stack.last_mut() {
        let Some(node) = g.body(*rule).get(*at) else {
            stack.pop();
            continue;
        };
        *at += 1;
        let inner = g.rule_of(node.sym);
        let kind = match (place[node.sym as usize], inner) {
            (Some(_), _) => SEEN,
            (None, None) => NEW_NUMBER,
            (None, Some(_)) => NEW_RULE,
        };
        m.kind[m.before].put(&mut to, kind);
        m.before = kind;
        let mut last = 0;
        if let Some(known) = place[node.sym as usize] {
            m.seen.put(&mut to, known as usize);
            last = m.counts[known as usize];
            m.counts[known as usize] = node.count;
        } else {
            place[node.sym as usize] = Some(m.counts.len() as u32);
            m.seen.add();
            m.counts.push(node.count);
        }
        m.put_count(&mut to, inner.is_some(), last, node.count);
        match inner {
            None if kind == NEW_NUMBER => m.number.put(&mut to, fold(list[node.sym as usize])),
            Some(inner) if kind == NEW_RULE => {
                m.length.put(&mut to, g.body(inner).len() as u64);
                stack.push((inner, 0));
            }
            _ => {}
        }
    }
    let mut bytes = vec![first];
    bytes.extend(to.finish());
    bytes
}

/// The right side of a rule that is being read.
type Body = Vec<(Named, u32)>;

/// What a node of a coded grammar names, before all rules are numbered.
#[derive(Clone, Copy)]
enum Named {
    Number(u32),
    Rule(u32),
}

fn read_coded(bytes: &[u8]) -> Option<(Vec<u64>, Grammar, u64)> {
    if bytes[0] & IN_A_ROW != 0 {
        return row::read(&bytes[1..], bytes[0] & PREDICTED == 0);
    }
    let mut from = Decoder::new(&bytes[1..]);
    let mut m = Models::default();
    let end = if bytes[0] & PREDICTED == 0 { m.first.get(&mut from) } else { 0 };
    let mut list = Vec::new();
    let mut names: Vec<Named> = Vec::new();
    // Rules by when they were begun: their number once they are finished.
    let mut finished: Vec<Option<u32>> = vec![None];
    let mut open: Vec<(u32, u64, Body)> = vec![(0, m.first.get(&mut from), Vec::new())];
    let mut bodies: Vec<Body> = Vec::new();
    let mut count_of_nodes = 0;
    while let Some((rule, len, body)) = open.last_mut() {
        if body.len() as u64 == *len {
            finished[*rule as usize] = Some(bodies.len() as u32);
            bodies.push(std::mem::take(body));
            open.pop();
            continue;
        }
        count_of_nodes += 1;
        if count_of_nodes > MOST_NODES || *len > MOST_NODES as u64 {
            return None;
        }
        let kind = m.kind[m.before].get(&mut from);
        m.before = kind;
        let (name, last, place) = match kind {
            SEEN if m.seen.is_empty() => return None,
            SEEN => {
                let place = m.seen.get(&mut from);
                (names[place], m.counts[place], place)
            }
            _ => {
                let name = if kind == NEW_NUMBER {
                    Named::Number(list.len() as u32)
                } else {
                    finished.push(None);
                    Named::Rule(finished.len() as u32 - 1)
                };
                names.push(name);
                m.seen.add();
                m.counts.push(0);
                (name, 0, names.len() - 1)
            }
        };
        let is_rule = matches!(name, Named::Rule(_));
        let count = m.get_count(&mut from, is_rule, last)?;
        m.counts[place] = count;
        body.push((name, count));
        match (kind, name) {
            (NEW_NUMBER, _) => list.push(unfold(m.number.get(&mut from))),
            (NEW_RULE, Named::Rule(rule)) => {
                let len = m.length.get(&mut from);
                open.push((rule, len, Vec::new()));
            }
            // A rule cannot name itself.
            (_, Named::Rule(rule)) if finished[rule as usize].is_none() => return None,
            _ => {}
        }
    }
    let terminals = list.len() as u32;
    let mut starts = vec![0];
    let mut nodes = Vec::with_capacity(count_of_nodes);
    for body in bodies {
        for (name, count) in body {
            let sym = match name {
                Named::Number(n) => n,
                Named::Rule(rule) => terminals + finished[rule as usize]?,
            };
            nodes.push(Node { sym, count });
        }
        starts.push(nodes.len() as u32);
    }
    Some((list, Grammar::new(terminals, starts, nodes)?, end))
}

/// A piece ready to be walked.
#[derive(Clone, Debug)]
pub struct Decoded {
    pub(crate) list: Vec<u64>,
    pub(crate) grammar: Grammar,
    /// The last number of the piece, if they are differences.
    pub(crate) end: u64,
    /// The numbers are distances from a prediction.
    pub(crate) is_predicted: bool,
    /// For each rule the sum of what it stands for.
    sums: Vec<u64>,
}

impl Decoded {
    /// None if the bytes are no piece.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Decoded> {
        let first = *bytes.first()?;
        let is_coded = u64::from(first & 3) == FORM_CODED;
        let (list, grammar, end) = if is_coded { read_coded(bytes) } else { read_bits(bytes) }?;
        let is_predicted = is_coded && first & PREDICTED != 0;
        let mut sums: Vec<u64> = Vec::with_capacity(grammar.rules() as usize);
        for rule in 0..grammar.rules() {
            let sum = grammar.body(rule).iter().fold(0u64, |sum, node| {
                let one = match grammar.rule_of(node.sym) {
                    None => list[node.sym as usize],
                    Some(r) => sums[r as usize],
                };
                sum.wrapping_add(one.wrapping_mul(node.count.into()))
            });
            sums.push(sum);
        }
        Some(Decoded { list, grammar, end, is_predicted, sums })
    }

    #[must_use]
    pub fn len(&self) -> u64 {
        self.grammar.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.grammar.is_empty()
    }

    #[must_use]
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    pub(crate) fn sum(&self, sym: u32) -> u64 {
        match self.grammar.rule_of(sym) {
            None => self.list[sym as usize],
            Some(r) => self.sums[r as usize],
        }
    }
}

fn read_bits(bytes: &[u8]) -> Option<(Vec<u64>, Grammar, u64)> {
    let mut r = Reader::new(bytes);
    let form = r.get(2)?;
    let end = r.number()?;
    let count = r.number()?;
    if count > r.left() || count > 1 << 30 {
        return None;
    }
    let mut list = Vec::with_capacity(count as usize);
    let mut last = 0u64;
    for _ in 0..count {
        last = last.wrapping_add(r.number()?);
        list.push(last);
    }
    let terminals = list.len() as u32;
    let grammar = match form {
        FORM_GRAMMAR | FORM_SEQUITUR => read_rules(&mut r, terminals, form == FORM_GRAMMAR)?,
        _ => read_row(&mut r, terminals)?,
    };
    Some((list, grammar, end))
}

fn read_rules(r: &mut Reader<'_>, terminals: u32, counted: bool) -> Option<Grammar> {
    let rules = r.number()?;
    if rules == 0 || rules > r.left() {
        return None;
    }
    let mut starts = vec![0];
    let mut nodes = Vec::new();
    for rule in 0..rules as u32 {
        let mut len = r.gamma()?;
        if rule + 1 < rules as u32 {
            len += counted_least(counted);
        }
        let bits = width(u64::from(terminals) + u64::from(rule));
        // Nodes take bits, except those of the only symbol there is: then SEQUITUR has
        // rules for all but three of them.
        let most = if bits == 0 && !counted { 3 } else { r.left() };
        if len > most {
            return None;
        }
        for _ in 0..len {
            let sym = r.get(bits)? as u32;
            let count = if counted { u32::try_from(r.gamma()?).ok()? } else { 1 };
            if sym >= terminals.checked_add(rule)? {
                return None;
            }
            nodes.push(Node { sym, count });
        }
        starts.push(nodes.len() as u32);
    }
    Grammar::new(terminals, starts, nodes)
}

fn read_row(r: &mut Reader<'_>, terminals: u32) -> Option<Grammar> {
    let len = r.number()?;
    let bits = width(terminals.into());
    if terminals == 0 || len > 1 << 31 || (bits > 0 && len > r.left() / u64::from(bits)) || len == 0 {
        return None;
    }
    if bits == 0 {
        return Grammar::of_runs(terminals, vec![Node { sym: 0, count: u32::try_from(len).ok()? }]);
    }
    let mut nodes: Vec<Node> = Vec::new();
    for _ in 0..len {
        let sym = r.get(bits)? as u32;
        if sym >= terminals {
            return None;
        }
        match nodes.last_mut() {
            Some(last) if last.sym == sym => last.count += 1,
            _ => nodes.push(Node { sym, count: 1 }),
        }
    }
    Grammar::of_runs(terminals, nodes)
}
