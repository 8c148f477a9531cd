use super::*;
use crate::inst::{Inst, Operand};
use crate::model::{Block, Function, Phi};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A function whose blocks have only the given instructions and a terminator.
fn function(blocks: Vec<(Vec<Phi>, Vec<Inst>, Vec<u32>)>) -> Function {
    let mut code = Vec::new();
    let mut list = Vec::new();
    for (phis, insts, successors) in blocks {
        let start = code.len() as u32;
        code.extend(insts);
        code.push(match successors[..] {
            [] => Inst::Return { value: None, ret: vec![] },
            [to] => Inst::Jump { to },
            [then, otherwise, ..] => Inst::Branch { cond: Operand::Const(0), then, otherwise },
        });
        list.push(Block { start, end: code.len() as u32, phis });
    }
    Function {
        name: "f".into(),
        symbol: 0,
        params: vec![],
        ret: vec![],
        result: None,
        variadic: false,
        slots: 64,
        frame_size: 0,
        frame_align: 16,
        first_site: 0,
        code_places: vec![0; code.len()],
        code,
        places: vec![],
        blocks: list,
        variables: vec![],
        scopes: vec![],
        bindings: vec![],
        bits: vec![],
        file: 0,
        line: 0,
    }
}

fn phi(dst: Reg, incoming: &[(u32, Reg)]) -> Phi {
    Phi { dst, slots: 1, incoming: incoming.iter().map(|(b, r)| (*b, Operand::Reg(*r))).collect() }
}

fn make(dst: Reg) -> Inst {
    Inst::Copy { dst, a: Operand::Const(1) }
}

/// Whether every path from `from` to the end passes `through`.
fn always(successors: &[Vec<u32>], through: u32, from: u32) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut work = vec![from];
    while let Some(n) = work.pop() {
        if n == through {
            continue;
        }
        if successors[n as usize].is_empty() {
            return false;
        }
        work.extend(successors[n as usize].iter().copied().filter(|s| seen.insert(*s)));
    }
    true
}

proptest! {
    /// Compares regions with the definition of control dependence.
    #[test]
    fn regions_are_what_depends_on_the_way(raw in proptest::collection::vec((0u32..9, 0u32..9, 0u8..3), 3..9)) {
        let n = raw.len() as u32;
        // Every block has an edge to the next, so that all are reachable and reach the end.
        let successors: Vec<Vec<u32>> = raw
            .iter()
            .enumerate()
            .map(|(i, (a, b, kind))| match kind {
                _ if i as u32 == n - 1 => vec![],
                0 => vec![i as u32 + 1],
                _ if (a + b) % n == i as u32 + 1 => vec![i as u32 + 1],
                _ => vec![i as u32 + 1, (a + b) % n],
            })
            .collect();
        let ways = BranchEdges::of(&function(successors.iter().map(|s| (vec![], vec![], s.clone())).collect()));
        let depends = |b: u32, on: u32, by: u32| {
            always(&successors, b, by) && (b == on || !always(&successors, b, on))
        };
        for branch in (0..n).filter(|b| successors[*b as usize].len() == 2) {
            for to in successors[branch as usize].clone() {
                let mut expected: BTreeSet<u32> = (0..n).filter(|b| depends(*b, branch, to)).collect();
                loop {
                    let more: Vec<u32> = (0..n)
                        .filter(|b| !expected.contains(b))
                        .filter(|b| {
                            expected.iter().any(|p| {
                                let out = &successors[*p as usize];
                                out.len() == 2 && out.iter().any(|by| depends(*b, *p, *by))
                            })
                        })
                        .collect();
                    if more.is_empty() {
                        break;
                    }
                    expected.extend(more);
                }
                let found: BTreeSet<u32> = ways.region((branch, to)).blocks().collect();
                prop_assert_eq!(found, expected, "branch {} to {} of {:?}", branch, to, &successors);
            }
        }
    }
}

/// `if (a) if (b) k = …;`: the value passes two joins, and only the inner branch assigns.
#[test]
fn a_join_alone_assigns_nothing() {
    let f = function(vec![
        (vec![], vec![make(0)], vec![1, 4]),
        (vec![], vec![], vec![2, 3]),
        (vec![], vec![make(1)], vec![3]),
        (vec![phi(2, &[(1, 0), (2, 1)])], vec![], vec![4]),
        (vec![phi(3, &[(0, 0), (3, 2)])], vec![], vec![]),
    ]);
    let ways = BranchEdges::of(&f);
    let may = |way, reg, through: &[Reg]| ways.may_assign(way, &ways.region(way), reg, through);
    // All conditions were true except the inner one.
    assert!(may((1, 2), 0, &[2, 3]));
    assert!(!may((0, 4), 0, &[2, 3]));
    // The outer condition was false.
    assert!(may((0, 1), 0, &[3]));
}

/// A variable that another iteration of a loop would assign.
#[test]
fn another_round_assigns() {
    let f = function(vec![
        (vec![], vec![make(0)], vec![1]),
        (vec![phi(1, &[(0, 0), (2, 2)]), phi(3, &[(0, 4), (2, 3)])], vec![], vec![2, 3]),
        (vec![], vec![make(2)], vec![1]),
        (vec![], vec![], vec![]),
    ]);
    let ways = BranchEdges::of(&f);
    let region = ways.region((1, 2));
    assert!(ways.may_assign((1, 2), &region, 1, &[]));
    // A variable that the loop only carries around.
    assert!(!ways.may_assign((1, 2), &region, 3, &[]));
}
