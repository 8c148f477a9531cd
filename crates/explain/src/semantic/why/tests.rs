//! Compares the causes of random small runs with an exhaustive search over values.
//!
//! A run is a list of instructions over two-bit numbers: constants, arithmetic, comparisons, and branches
//! that later instructions are control dependent on. Values beyond a cut are unconstrained, so a formula is
//! decided by trying every value there and recomputing the rest.

use super::*;
use crate::semantic::cone::Cone;
use crate::semantic::facts::Fact;
use program::inst::{BinOp, CastOp, Inst, IntPred, Operand, Reg, Ty};
use proptest::prelude::*;
use slice::slice::Needs;
use std::collections::BTreeMap;

/// The width of numbers.
const WIDTH: u16 = 2;
const VALUES: u64 = 1 << WIDTH;

/// An instruction before its operands are known: kind, two operands and a branch, each chosen among the
/// preceding instructions.
type Choice = (u8, prop::sample::Index, prop::sample::Index, Option<prop::sample::Index>);

/// A run; instructions are in the order of time, nodes in the reverse order.
struct Run {
    code: Vec<Inst>,
    values: Vec<u64>,
    facts: Vec<Fact>,
    needs: Needs,
}

impl Run {
    fn of(choices: &[Choice]) -> Run {
        let mut code: Vec<Inst> = Vec::new();
        let mut control: Vec<Option<usize>> = Vec::new();
        for (kind, first, second, under) in choices {
            let now = code.len();
            let assigned: Vec<usize> = (0..now).filter(|n| code[*n].defines().is_some()).collect();
            let branches: Vec<usize> = (0..now).filter(|n| is_branch(&code[*n])).collect();
            let pick =
                |index: &prop::sample::Index| Operand::Reg(assigned[index.index(assigned.len())] as Reg);
            let dst = now as Reg;
            code.push(if assigned.is_empty() || *kind < 4 {
                Inst::Cast {
                    op: CastOp::Trunc,
                    from: Ty::Int(8),
                    to: Ty::Int(WIDTH),
                    dst,
                    a: Operand::Const(u64::from(*kind) % VALUES),
                }
            } else {
                let (a, b) = (pick(first), pick(second));
                match kind {
                    4..10 => Inst::Bin { op: OPERATIONS[usize::from(*kind - 4)], bits: WIDTH, dst, a, b },
                    10..16 => {
                        let b = if *kind % 2 == 0 { b } else { Operand::Const(u64::from(*kind) % VALUES) };
                        Inst::ICmp { pred: COMPARISONS[usize::from(*kind - 10)], bits: WIDTH, dst, a, b }
                    }
                    _ => Inst::Branch { cond: a, then: 0, otherwise: 1 },
                }
            });
            control.push(
                under.as_ref().filter(|_| !branches.is_empty()).map(|u| branches[u.index(branches.len())]),
            );
        }
        let values = compute(&code, &|_| None);
        let node = |at: usize| (code.len() - 1 - at) as NodeId;
        let needs = (0..code.len()).rev().map(|at| {
            let mut list: Vec<(NodeId, Dependence)> = Vec::new();
            for operand in uses(&code[at]) {
                if let Operand::Reg(reg) = operand {
                    list.push((node(reg as usize), Dependence::Register(reg)));
                }
            }
            list.extend(control[at].map(|branch| (node(branch), Dependence::Control)));
            list
        });
        let needs: Needs = needs.collect();
        let value = |operand: Operand| match operand {
            Operand::Reg(reg) => values[reg as usize],
            Operand::Const(value) => value,
            _ => 0,
        };
        let facts = (0..code.len())
            .map(|at| Fact {
                operands: uses(&code[at]).into_iter().map(|o| (o, value(o))).collect(),
                value: values[at],
                ..Fact::default()
            })
            .collect();
        Run { code, values, facts, needs }
    }

    fn at(&self, node: NodeId) -> usize {
        self.code.len() - 1 - node as usize
    }

    /// Whether a question's negation and these branch conditions can hold together if only nodes up to the
    /// cut are computed.
    fn satisfiable(&self, question: Question, branches: &[NodeId], cut: NodeId, negated: bool) -> bool {
        let inside = |at: usize| (self.code.len() - 1 - at) as NodeId <= cut;
        let mut free: Vec<usize> = Vec::new();
        for at in (0..self.code.len()).filter(|at| inside(*at)) {
            for operand in uses(&self.code[at]) {
                if let Operand::Reg(reg) = operand
                    && !inside(reg as usize)
                    && !free.contains(&(reg as usize))
                {
                    free.push(reg as usize);
                }
            }
        }
        // A comparison produces one bit, independent of its use.
        let values = |at: usize| if matches!(self.code[at], Inst::ICmp { .. }) { 2 } else { VALUES };
        let combinations: u64 = free.iter().map(|at| values(*at)).product();
        (0..combinations).any(|mut number| {
            let mut chosen: BTreeMap<usize, u64> = BTreeMap::new();
            for at in &free {
                chosen.insert(*at, number % values(*at));
                number /= values(*at);
            }
            let behind =
                |at: usize| if inside(at) { None } else { Some(chosen.get(&at).copied().unwrap_or(0)) };
            let values = compute(&self.code, &behind);
            let kept = branches.iter().all(|b| values[self.at(*b)] == self.values[self.at(*b)]);
            kept && (!negated || self.is_other(question, &values))
        })
    }

    fn is_other(&self, question: Question, values: &[u64]) -> bool {
        let at = self.at(question.node());
        match question {
            Question::Decision(_) => values[at] != self.values[at],
            Question::Values(_) => uses(&self.code[at]).iter().any(|operand| match operand {
                Operand::Reg(reg) => values[*reg as usize] != self.values[*reg as usize],
                _ => false,
            }),
        }
    }

    /// The transitive value dependences of some nodes, up to the cut.
    fn support(&self, from: impl Iterator<Item = NodeId>, cut: NodeId) -> BTreeSet<NodeId> {
        let mut all = BTreeSet::new();
        let mut todo: Vec<NodeId> = from.collect();
        while let Some(node) = todo.pop() {
            if node <= cut && all.insert(node) {
                for operand in uses(&self.code[self.at(node)]) {
                    if let Operand::Reg(reg) = operand {
                        todo.push((self.code.len() - 1 - reg as usize) as NodeId);
                    }
                }
            }
        }
        all
    }
}

const OPERATIONS: [BinOp; 6] = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::And, BinOp::Or, BinOp::Xor];
const COMPARISONS: [IntPred; 6] =
    [IntPred::Eq, IntPred::Ne, IntPred::Ult, IntPred::Slt, IntPred::Sge, IntPred::Ule];

fn is_branch(inst: &Inst) -> bool {
    matches!(inst, Inst::Branch { .. })
}

fn uses(inst: &Inst) -> Vec<Operand> {
    let mut list = Vec::new();
    inst.for_each_use(|operand, _| list.push(operand));
    list
}

/// The values of all instructions, in the order of time; `behind` may override one.
fn compute(code: &[Inst], behind: &dyn Fn(usize) -> Option<u64>) -> Vec<u64> {
    let mut values: Vec<u64> = Vec::new();
    for (at, inst) in code.iter().enumerate() {
        let value = |operand: &Operand| match operand {
            Operand::Reg(reg) => values[*reg as usize] % VALUES,
            Operand::Const(value) => value % VALUES,
            _ => 0,
        };
        let signed =
            |v: u64| if v >= VALUES / 2 { v.cast_signed() - VALUES.cast_signed() } else { v.cast_signed() };
        let next = behind(at).unwrap_or_else(|| match inst {
            Inst::Cast { a, .. } => value(a),
            Inst::Bin { op, a, b, .. } => {
                let (a, b) = (value(a), value(b));
                VALUES.wrapping_add(match op {
                    BinOp::Add => a + b,
                    BinOp::Sub => a.wrapping_sub(b),
                    BinOp::Mul => a * b,
                    BinOp::And => a & b,
                    BinOp::Or => a | b,
                    _ => a ^ b,
                }) % VALUES
            }
            Inst::ICmp { pred, a, b, .. } => {
                let (a, b) = (value(a), value(b));
                u64::from(match pred {
                    IntPred::Eq => a == b,
                    IntPred::Ne => a != b,
                    IntPred::Ult => a < b,
                    IntPred::Slt => signed(a) < signed(b),
                    IntPred::Sge => signed(a) >= signed(b),
                    _ => a <= b,
                })
            }
            Inst::Branch { cond, .. } => value(cond) & 1,
            _ => 0,
        });
        values.push(next);
    }
    values
}

impl Ground for Run {
    fn inst(&self, node: NodeId) -> &Inst {
        &self.code[self.at(node)]
    }

    fn needs(&self) -> &Needs {
        &self.needs
    }

    fn fact(&self, node: NodeId) -> Option<&Fact> {
        self.facts.get(self.at(node))
    }

    fn argument(&self, _: NodeId, _: Reg, _: NodeId) -> Option<usize> {
        None
    }
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    let index = any::<prop::sample::Index>;
    let choice = (0..20_u8, index(), index(), prop::option::weighted(0.7, index()));
    prop::collection::vec(choice, 4..13)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_cause_is_what_trying_all_values_says(choices in choices()) {
        let run = Run::of(&choices);
        // The newest instruction that has operands.
        let node = (0..run.code.len() as NodeId).find(|n| !uses(&run.code[run.at(*n)]).is_empty());
        let Some(node) = node else { return Ok(()) };
        let question = if is_branch(run.inst(node)) { Question::Decision(node) } else { Question::Values(node) };
        let never = |_: NodeId, _: Dependence| false;
        let Ok(cone) = Cone::of(&run.needs, question, usize::MAX / 2, &|n| is_branch(run.inst(n)), &never) else {
            return Ok(());
        };
        let settings = Settings { internal_timeout: Duration::from_secs(60), ..Settings::default() };
        let mut solving = Solving::new(settings, Duration::from_secs(600));
        let cause = why(&run, question, &cone, &never, &mut solving).expect("values of two bits");

        // The latest cut: with one instruction less, another answer is possible.
        let before = |cut: NodeId| cone.branches.iter().copied().filter(|b| *b <= cut).collect::<Vec<_>>();
        let latest = cone.nodes.iter().copied().find(|cut| !run.satisfiable(question, &before(*cut), *cut, true));
        prop_assert_eq!(latest, Some(cause.cut));

        // The core is unsatisfiable, and each member is needed.
        prop_assert!(cause.minimal);
        prop_assert!(cause.branches.iter().all(|b| cone.branches.contains(b)));
        prop_assert!(!run.satisfiable(question, &cause.branches, cause.cut, true));
        for dropped in &cause.branches {
            let rest: Vec<NodeId> = cause.branches.iter().copied().filter(|b| b != dropped).collect();
            prop_assert!(run.satisfiable(question, &rest, cause.cut, true), "{dropped} is not needed");
        }
        prop_assert!(run.satisfiable(question, &cause.branches, cause.cut, false));

        // The cause consists of the dependences of the core, and nothing else.
        let members = cause.branches.iter().copied().chain([node]);
        let support: Vec<NodeId> = run.support(members, cause.cut).into_iter().collect();
        prop_assert_eq!(&cause.generators, &support);

        // With fewer instructions the answer is the same, or there is none.
        for most in 2..cone.nodes.len() {
            let Ok(part) = Cone::of(&run.needs, question, most, &|n| is_branch(run.inst(n)), &never) else {
                continue;
            };
            match why(&run, question, &part, &never, &mut solving) {
                // Branches may be dropped if they exceed the limit.
                Ok(found) if part.branches.len() < before(*part.nodes.last().expect("nodes")).len() => {
                    prop_assert!(found.cut >= cause.cut);
                }
                Ok(found) => prop_assert_eq!((found.cut, found.generators), (cause.cut, cause.generators.clone())),
                Err(reason) => {
                    prop_assert!(matches!(reason, NotApplicable::TooLarge(_)));
                    prop_assert!(part.nodes.last() < Some(&cause.cut) || part.branches.len() < cone.branches.len());
                }
            }
        }
    }
}
