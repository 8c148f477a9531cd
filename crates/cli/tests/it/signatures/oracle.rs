//! The groups of a random program by brute force, from the definition alone.
//!
//! The program is interpreted on every input with all its dependences: data, control, and potential (a branch that,
//! going the other way, could have assigned a variable that is used behind it). The relevant slice of the printed
//! variable is the closure of them. Two inputs are of one group if the same branches are in it and went the same
//! way. Branches are named by where they stand in the branches and rounds of loops around them.

use super::random::{Expression, Program, Statement, evaluate, holds, variables};
use std::collections::{BTreeMap, BTreeSet};

/// A branch of a run and how it went.
type Went = (Vec<u32>, bool);

struct Instance {
    needs: Vec<usize>,
    branch: Option<Went>,
}

#[derive(Default)]
struct Run {
    values: [i32; 7],
    /// Where each variable was assigned last.
    last: [Option<usize>; 7],
    /// Branches since then that could have assigned it.
    could: [Vec<usize>; 7],
    trace: Vec<Instance>,
}

impl Run {
    fn instance(&mut self, uses: &[usize], control: Option<usize>, branch: Option<Went>) -> usize {
        let mut needs: Vec<usize> = control.into_iter().collect();
        for variable in uses {
            needs.extend(self.last[*variable]);
            needs.extend(&self.could[*variable]);
        }
        self.trace.push(Instance { needs, branch });
        self.trace.len() - 1
    }

    fn assign(&mut self, to: usize, value: &Expression, control: Option<usize>) {
        let at = self.instance(&variables(value), control, None);
        self.values[to] = evaluate(value, &self.values);
        self.last[to] = Some(at);
        self.could[to].clear();
    }

    fn block(&mut self, block: &[Statement], control: Option<usize>, name: &mut Vec<u32>) {
        for (number, statement) in block.iter().enumerate() {
            name.push(number as u32);
            match statement {
                Statement::Assign(to, value) => self.assign(*to, value, control),
                Statement::If { sum, how, than, then, otherwise } => {
                    let goes = holds(evaluate(sum, &self.values), how, *than);
                    if let Some(live) = decided(statement) {
                        name.push(u32::from(goes));
                        self.block(live, control, name);
                        name.pop();
                        name.pop();
                        continue;
                    }
                    let at = self.instance(&variables(sum), control, Some((name.clone(), goes)));
                    let (taken, other) = if goes { (then, otherwise) } else { (otherwise, then) };
                    name.push(u32::from(goes));
                    self.block(taken, Some(at), name);
                    name.pop();
                    for variable in assigned(other) {
                        if self.last[variable].is_none_or(|last| last < at) {
                            self.could[variable].push(at);
                        }
                    }
                }
                Statement::Repeat(times, body) => {
                    for round in 0..*times {
                        name.push(round as u32);
                        self.block(body, control, name);
                        name.pop();
                    }
                }
            }
            name.pop();
        }
    }
}

/// The part that runs of a branch that compares numbers only: compilers make no branch of it.
fn decided(statement: &Statement) -> Option<&[Statement]> {
    match statement {
        Statement::If { sum, how, than, then, otherwise } if variables(sum).is_empty() => {
            Some(if holds(evaluate(sum, &[0; 7]), how, *than) { then } else { otherwise })
        }
        _ => None,
    }
}

fn assigned(block: &[Statement]) -> BTreeSet<usize> {
    let mut all = BTreeSet::new();
    for statement in block {
        match statement {
            Statement::If { .. } if decided(statement).is_some() => {
                all.extend(decided(statement).map(assigned).unwrap_or_default());
            }
            Statement::Assign(to, _) => drop(all.insert(*to)),
            Statement::If { then, otherwise, .. } => {
                all.extend(assigned(then));
                all.extend(assigned(otherwise));
            }
            Statement::Repeat(_, body) => all.extend(assigned(body)),
        }
    }
    all
}

/// The branches in the relevant slice of what is printed.
fn relevant(program: &Program, input: [u8; 3]) -> BTreeSet<Went> {
    let mut run = Run { values: Program::initial(input), ..Run::default() };
    run.block(&program.body, None, &mut Vec::new());
    let end = run.instance(&[program.printed], None, None);
    let mut seen = BTreeSet::from([end]);
    let mut left = vec![end];
    while let Some(at) = left.pop() {
        left.extend(run.trace[at].needs.iter().filter(|need| seen.insert(**need)));
    }
    seen.into_iter().filter_map(|at| run.trace[at].branch.clone()).collect()
}

/// For each input, the number of its group.
pub fn groups(program: &Program, inputs: &[[u8; 3]]) -> Vec<usize> {
    let mut known: BTreeMap<BTreeSet<Went>, usize> = BTreeMap::new();
    let group = |input: &[u8; 3]| {
        let next = known.len();
        *known.entry(relevant(program, *input)).or_insert(next)
    };
    inputs.iter().map(group).collect()
}
