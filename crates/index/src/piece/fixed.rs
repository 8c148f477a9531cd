//! Forms in bits of fixed width: grammars with run lengths and without, and symbols in a row.

use crate::bits::{Reader, Writer, width};
use crate::grammar::{Grammar, Node};
use crate::rlese::Work;
use crate::sequitur::Sequitur;

const FORM_GRAMMAR: u64 = 0;
const FORM_SEQUITUR: u64 = 1;
const FORM_ROW: u64 = 2;

/// Whether SEQUITUR is tried too. Where the run-length grammar has made few nodes of
/// many symbols it cannot be beaten by much, and trying takes time for every symbol.
fn worth_trying(symbols: u64, nodes: usize) -> bool {
    symbols <= 1 << 16 || symbols <= 512 * nodes as u64
}

/// What is stored of numbers that stand by themselves or as differences, `end` being the
/// last number then, if that is shorter than what is known already. Also what plain SEQUITUR
/// takes, if it was tried; with `measure` it is.
#[must_use]
pub fn shorter(
    list: &[u64],
    grammar: &Grammar,
    end: u64,
    known: Vec<u8>,
    measure: bool,
) -> (Vec<u8>, Option<(u64, Work)>) {
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
    // Every number is named once at least, in so many bits or more.
    let bits = width(list.len() as u64);
    let first = head(FORM_GRAMMAR);
    let hopeless = known.len() as u64 * 8 <= first.len() + list.len() as u64 * u64::from(bits);
    if hopeless && !measure {
        return (known, None);
    }
    let mut best = known;
    let mut take = |other: Vec<u8>| {
        if other.len() < best.len() {
            best = other;
        }
    };
    take(rules(first, grammar, &place, true));
    let mut sequitur = None;
    if measure || worth_trying(grammar.len(), grammar.nodes()) {
        let mut plain = Sequitur::new();
        grammar.symbols().for_each(|s| plain.push(s));
        let work = plain.work();
        let other = rules(head(FORM_SEQUITUR), &plain.finish(), &place, false);
        sequitur = Some((other.len() as u64, work));
        take(other);
    }
    if worth_trying(grammar.len(), grammar.nodes()) {
        let mut w = head(FORM_ROW);
        w.number(grammar.len());
        for symbol in grammar.symbols() {
            w.put(place[symbol as usize].into(), bits);
        }
        take(w.finish());
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

pub(super) fn read(bytes: &[u8]) -> Option<(Vec<u64>, Grammar, u64)> {
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
