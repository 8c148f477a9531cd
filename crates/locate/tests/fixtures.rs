//! The worked examples of Wang, *Post-mortem dynamic analysis for software debugging*, chapter 6.

use locate::branches::Branches;
use locate::chain::{Chains, Event};
use locate::difference::Difference;

/// A program: each statement, the statement it is control dependent on (0: none), and, for a branch, the
/// statement that runs if its condition holds.
struct Program<'p>(&'p [(u32, u32, Option<u32>)]);

impl Program<'_> {
    /// The events of a path, given as statements.
    fn run(&self, path: &[u32]) -> Vec<Event> {
        let of = |statement: u32| self.0.iter().find(|known| known.0 == statement).expect("a statement");
        let mut events: Vec<Event> = Vec::new();
        for (at, &statement) in path.iter().enumerate() {
            let (_, parent, then) = *of(statement);
            let depends_on = path[..at].iter().rposition(|earlier| *earlier == parent);
            let outcome = then.map(|then| u32::from(path.get(at + 1) == Some(&then)));
            events.push(Event { statement, depends_on, outcome });
        }
        events
    }
}

/// The difference as statements with their positions in the failing path, from 1.
fn difference(program: &Program<'_>, failing: &[u32], other: &[u32]) -> (Difference, Vec<(u32, u64)>) {
    let mut chains = Chains::default();
    let branches = Branches::of_events(&program.run(failing), &mut chains, usize::MAX);
    let difference = branches.compare_events(&program.run(other), &mut chains);
    let events = difference.positions().iter().map(|at| branches.event(*at));
    let events = events.map(|event| (event.site.2, event.step + 1)).collect();
    (difference, events)
}

/// F13, tcas: the assignments after 1 are exchanged.
const TCAS: Program<'_> = Program(&[
    (1, 0, Some(2)),
    (2, 1, None),
    (4, 1, None),
    (5, 0, Some(6)),
    (6, 5, None),
    (8, 5, None),
    (9, 0, Some(10)),
    (10, 9, None),
    (11, 9, None),
    (13, 9, None),
    (14, 9, None),
]);

/// F14: `if (1) 2; if (3) 4; if (5) { if (6) 7; else 9; } 10`.
const NESTED: Program<'_> = Program(&[
    (1, 0, Some(2)),
    (2, 1, None),
    (3, 0, Some(4)),
    (4, 3, None),
    (5, 0, Some(6)),
    (6, 5, Some(7)),
    (7, 6, None),
    (9, 6, None),
    (10, 0, None),
]);

/// F16: `for (1) if (2) 3; else 4;`, each test of the loop dependent on the one before.
const LOOP: Program<'_> = Program(&[(1, 1, Some(2)), (2, 1, Some(3)), (3, 2, None), (4, 2, None)]);

#[test]
fn f13_the_only_branch_that_differs_is_reported() {
    let (_, events) = difference(&TCAS, &[1, 2, 5, 8, 9, 13, 14], &[1, 4, 5, 8, 9, 13, 14]);
    assert_eq!(events, [(1, 1)]);
}

#[test]
fn f14_the_later_difference_is_nearer() {
    let failing = [1, 3, 5, 6, 7, 10];
    let (one, events) = difference(&NESTED, &failing, &[1, 3, 4, 5, 6, 9, 10]);
    assert_eq!(events, [(3, 2), (6, 4)]);
    let (other, events) = difference(&NESTED, &failing, &[1, 2, 3, 5, 6, 9, 10]);
    assert_eq!(events, [(1, 1), (6, 4)]);
    assert!(one < other);
    // Not symmetric: positions are those of the first run.
    let (_, events) = difference(&NESTED, &[1, 3, 4, 5, 6, 9, 10], &failing);
    assert_eq!(events, [(3, 2), (6, 5)]);
}

/// The order in which paths are tried if none passes.
#[test]
fn f14_candidates_are_in_increasing_order() {
    let failing = [1, 3, 5, 6, 7, 10];
    let paths: [&[u32]; 11] = [
        &[1, 3, 5, 6, 9, 10],
        &[1, 3, 4, 5, 6, 9, 10],
        &[1, 2, 3, 4, 5, 6, 9, 10],
        &[1, 2, 3, 5, 6, 9, 10],
        &[1, 3, 5, 10],
        &[1, 3, 4, 5, 10],
        &[1, 2, 3, 4, 5, 10],
        &[1, 2, 3, 5, 10],
        &[1, 3, 4, 5, 6, 7, 10],
        &[1, 2, 3, 4, 5, 6, 7, 10],
        &[1, 2, 3, 5, 6, 7, 10],
    ];
    let differences: Vec<Difference> =
        paths.iter().map(|path| difference(&NESTED, &failing, path).0).collect();
    assert!(differences.windows(2).all(|pair| pair[0] < pair[1]), "{differences:?}");
}

#[test]
fn f16_the_order_of_branches_matters() {
    let (difference, events) = difference(&LOOP, &[1, 2, 3, 1, 2, 4, 1], &[1, 2, 4, 1, 2, 3, 1]);
    assert_eq!(events, [(2, 2), (2, 5)]);
    assert_eq!(difference.positions().len(), 2);
}

#[test]
fn iterations_align_one_by_one() {
    // The other run has one more iteration; the iterations that both have correspond.
    let (_, events) = difference(&LOOP, &[1, 2, 3, 1, 2, 4, 1], &[1, 2, 3, 1, 2, 4, 1, 2, 3, 1]);
    assert_eq!(events, [(1, 7)]);
}

#[test]
fn the_same_path_is_preferred_least() {
    let failing = [1, 3, 5, 6, 7, 10];
    let (same, events) = difference(&NESTED, &failing, &failing);
    assert_eq!((events.len(), &same), (0, &Difference::Same));
    assert!(difference(&NESTED, &failing, &[1, 2, 3, 4, 5, 10]).0 < same);
}
