//! All methods on models small enough for the true answer to be known.

use super::diagnostics::{TargetVersion, hinted_changes};
use super::model::{Model, World, world};
use super::*;
use crate::change::{Change, ChangeClass, ChangeKind, HunkId};
use proptest::prelude::*;

fn ids(list: &[u32]) -> ChangeSet {
    list.iter().copied().map(ChangeId).collect()
}

fn ranked(list: &[u32]) -> Vec<ChangeId> {
    list.iter().copied().map(ChangeId).collect()
}

/// The four changes of the running example, evaluated.
fn running_example(reverted: &ChangeSet) -> Outcome {
    let bad = |change: u32| !reverted.contains(&ChangeId(change - 1));
    let (x, y, z) = (3, 2, 1);
    let sorted = !bad(1);
    let smaller = if bad(2) { x < y } else { x > y };
    let mut sum = 0;
    if sorted || smaller {
        sum += x;
    } else {
        sum += y;
    }
    sum += match (z > 0, bad(3), bad(4)) {
        (true, true, _) | (false, _, false) => -z,
        (true, false, _) | (false, _, true) => z,
    };
    if sum == 4 { Outcome::Pass } else { Outcome::Fail }
}

#[test]
fn the_running_example() {
    let structure = Structure::flat(4);
    let mut model = Model::new(running_example);
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    // The first cause touches c3 only, and reverting it is not enough.
    assert_eq!(search.find(&ranked(&[2])), Ok(None));
    let found = search.find(&ranked(&[2, 1])).unwrap().unwrap();
    assert_eq!((&found.root, &found.auxiliary), (&ids(&[1, 2]), &ids(&[])));
    assert_eq!((found.proof.needed, found.proof.sufficient), (Shown::Yes, Shown::Yes));
    assert!(search.verify(&found).unwrap().minimal);
}

#[test]
fn delta_debugging_misses_half_of_the_running_example() {
    let structure = Structure::flat(4);
    let mut model = Model::new(running_example);
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    for found in [search.dd().unwrap().unwrap(), search.add(&ids(&[0, 1, 2])).unwrap().unwrap()] {
        assert_eq!(found.root, ids(&[2]));
        let verified = search.verify(&found).unwrap();
        assert!(!verified.passes && !verified.minimal);
        assert_eq!(verified.outcome, Outcome::Fail);
    }
}

/// A change of one line.
fn line(id: u32, file: &str, at: u32, old: &str, new: &str) -> Change {
    Change {
        id: ChangeId(id),
        hunk: HunkId(id),
        file: file.to_owned(),
        old_file: None,
        kind: ChangeKind::Lines,
        matter: ChangeClass::Substance,
        old_start: at,
        old_lines: vec![old.to_owned()],
        new_start: at,
        new_lines: vec![new.to_owned()],
        heading: String::new(),
        function: None,
    }
}

/// Builds if every name used is declared, by reading the lines.
fn compile(changes: &[Change], reverted: &ChangeSet) -> Option<String> {
    let side = |change: &Change| {
        let lines = if reverted.contains(&change.id) { &change.old_lines } else { &change.new_lines };
        lines[0].clone()
    };
    let lines: Vec<String> = changes.iter().map(side).collect();
    let declared: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.strip_prefix("int "))
        .map(|line| line.trim_end_matches(';'))
        .collect();
    for (change, line) in changes.iter().zip(&lines) {
        if line.starts_with("int ") {
            continue;
        }
        let words = line.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        for word in words.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())) {
            if !declared.contains(&word) {
                return Some(format!(
                    "{}:{}:5: error: use of undeclared identifier '{word}'\n",
                    change.file, change.new_start
                ));
            }
        }
    }
    None
}

/// The auxiliary example, between `noise` other changes.
fn auxiliary_example(noise: u32) -> Vec<Change> {
    let mut changes = vec![
        line(0, "a.c", 1, "int x;", "int x;"),
        line(1, "a.c", 2, "int m;", "int y;"),
        line(2, "a.c", 3, "m = 1;", "y = 1;"),
        line(3, "a.c", 4, "x + m + 3", "x + y + 2"),
    ];
    changes.extend((4..4 + noise).map(|id| line(id, "z.c", id, "x + 1", "x + 2")));
    changes
}

#[test]
fn the_auxiliary_example() {
    for (noise, hints) in [(0, true), (60, true), (0, false), (60, false)] {
        let changes = auxiliary_example(noise);
        let structure = Structure::of(&changes);
        let guilty = ChangeId(3);
        let known = changes.clone();
        let mut model = Model::new(move |set: &ChangeSet| match compile(&known, set) {
            Some(_) => Outcome::Broken,
            None if set.contains(&guilty) => Outcome::Pass,
            None => Outcome::Fail,
        });
        if hints {
            model.diagnostics_of = Some(Box::new(move |set| compile(&changes, set).unwrap_or_default()));
        }
        let mut watch = |_: &Progress| {};
        let mut search = Search::new(&mut model, &structure, &mut watch);
        assert_eq!(search.completed(&ids(&[3])), Ok(Some(ids(&[1, 2, 3]))));
        let builds = search.asked();
        assert!(builds <= if hints { 5 } else { 16 }, "{builds} builds with {noise} other changes");
        let found = search.find(&ranked(&[3])).unwrap().unwrap();
        assert_eq!((&found.root, &found.auxiliary), (&ids(&[3]), &ids(&[1, 2])));
        assert_eq!(found.proof.sufficient, Shown::Yes);
        assert!(search.verify(&found).unwrap().minimal);
    }
}

/// A line of an enumeration was deleted (2), and with it its name from a table (0, 1): good does not build
/// with a shorter table and all names, bad builds with a longer one.
#[test]
fn what_only_good_needs_to_build_is_no_cause() {
    let structure = Structure::flat(4);
    let mut model = Model::new(|reverted: &ChangeSet| {
        let is_undone = |change: u32| reverted.contains(&ChangeId(change));
        match () {
            () if !is_undone(2) && (is_undone(0) || is_undone(1)) => Outcome::Broken,
            () if is_undone(2) => Outcome::Pass,
            () => Outcome::Fail,
        }
    });
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    let found = search.find(&ranked(&[0, 1, 2, 3])).unwrap().unwrap();
    assert_eq!((&found.root, &found.auxiliary), (&ids(&[2]), &ids(&[])));
    assert_eq!((&found.applied_with, found.proof.sufficient), (&ids(&[0, 1]), Shown::Yes));
    assert!(search.verify(&found).unwrap().minimal);
}

/// Names of three declarations, each used in several places, changed in all of them; the guilty change is one
/// unrelated line.
#[test]
fn renamed_names_are_left_out_together() {
    let mut changes = Vec::new();
    for (name, new) in [("a", "aa"), ("b", "bb"), ("c", "cc")] {
        let id = |changes: &Vec<Change>| u32::try_from(changes.len()).unwrap();
        changes.push(line(
            id(&changes),
            "a.c",
            id(&changes) + 1,
            &format!("int {name};"),
            &format!("int {new};"),
        ));
        for _ in 0..4 {
            let at = id(&changes);
            changes.push(line(at, "a.c", at + 1, &format!("{name} = 1;"), &format!("{new} = 1;")));
        }
    }
    changes.push(line(15, "a.c", 16, "1", "2"));
    let structure = Structure::of(&changes);
    let known = changes.clone();
    let mut model = Model::new(move |set: &ChangeSet| match compile(&known, set) {
        Some(_) => Outcome::Broken,
        None if set.contains(&ChangeId(15)) => Outcome::Pass,
        None => Outcome::Fail,
    });
    model.diagnostics_of = Some(Box::new(move |set| compile(&changes, set).unwrap_or_default()));
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    let fewer = search.drop_clusters(structure.all(), &ids(&[15]), &[]).unwrap();
    assert_eq!(fewer, ids(&[15]));
    assert!(search.asked() <= 20, "{} trials", search.asked());
}

#[test]
fn units_are_names_with_their_uses() {
    let changes = [
        line(0, "a.h", 1, "int old_name;", "int new_name;"),
        line(1, "a.c", 5, "  x = old_name;", "  x = new_name;"),
        line(2, "a.c", 7, "  int t = 1;", "  long u = 1;"),
        line(3, "b.c", 9, "  t = 2;", "  t = u;"),
        line(4, "b.c", 11, "  return 1;", "  return 2;"),
    ];
    let structure = Structure::of(&changes);
    let units = structure.clusters(&ranked(&[4, 1, 3, 2, 0]));
    // A declaration within a function of a.c is not visible in b.c.
    assert_eq!(units, [ranked(&[4]), ranked(&[1, 0]), ranked(&[3]), ranked(&[2])]);
    // A macro that bad added is reverted with its uses; a use is reverted alone.
    let changes = [
        line(0, "a.h", 1, "", "#define quick static inline"),
        line(1, "a.c", 5, "static int f(void)", "quick int f(void)"),
        line(2, "a.c", 7, "static int g(void)", "quick int g(void)"),
    ];
    let structure = Structure::of(&changes);
    assert_eq!(
        structure.closed_units(&structure.whole_units(&ranked(&[1, 0, 2]))),
        [ranked(&[1]), ranked(&[0, 2])]
    );
    assert_eq!(structure.closed_units(&structure.whole_units(&ranked(&[0, 1, 2]))), [ranked(&[0, 1, 2])]);
    assert_eq!(structure.clusters(&ranked(&[1, 0, 2])).len(), 1);
}

#[test]
fn the_common_case_is_cheap() {
    let count = 500;
    let structure = Structure::flat(count);
    let order: Vec<ChangeId> = (0..count).map(ChangeId).collect();
    for (guilty, most) in [
        (vec![0], 2),
        (vec![1], 3),
        (vec![0, 1], 6),
        (vec![3], 7),
        (vec![20], 24),
        (vec![6, 2], 46),
        (vec![200], 50),
    ] {
        let cause = ids(&guilty);
        let wanted = cause.clone();
        let mut model = Model::new(
            move |set: &ChangeSet| {
                if wanted.is_subset(set) { Outcome::Pass } else { Outcome::Fail }
            },
        );
        let mut watch = |_: &Progress| {};
        let mut search = Search::new(&mut model, &structure, &mut watch);
        let found = search.find(&order).unwrap().unwrap();
        assert_eq!(found.root, cause);
        assert!(search.asked() <= most, "{} trials for {guilty:?}", search.asked());
    }
}

/// A large difference with an imprecise ranking: of the changes before the guilty one a third do not build
/// alone, though no declaration shows this, and some crash.
#[test]
fn many_suspects_are_cleared_in_one_trial() {
    let crashes = |id: u32| id % 23 == 11;
    let gone = |id: u32| id % 3 == 1;
    let old = |id: u32| if gone(id) { format!("gone{id} + 1") } else { "x + 1".to_owned() };
    let mut changes = vec![line(0, "a.c", 1, "int x;", "int x;")];
    changes.extend((1..2000).map(|id| line(id, "z.c", id, &old(id), "x + 2")));
    let structure = Structure::of(&changes);
    let guilty = ChangeId(66);
    let mut model = Model::new(move |set: &ChangeSet| match set {
        set if set.iter().any(|id| gone(id.0)) => Outcome::Broken,
        set if set.iter().any(|id| crashes(id.0)) => Outcome::Unresolved,
        set if set.contains(&guilty) => Outcome::Pass,
        _ => Outcome::Fail,
    });
    let error = |id: &ChangeId| format!("z.c:{}:1: error: use of undeclared identifier 'gone{}'", id.0, id.0);
    model.diagnostics_of = Some(Box::new(move |set| {
        let errors: Vec<String> = set.iter().filter(|id| gone(id.0)).map(error).collect();
        errors.join("\n")
    }));
    let order: Vec<ChangeId> = (1..2000).map(ChangeId).collect();
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    let found = search.find(&order).unwrap().unwrap();
    assert_eq!(found.all(), ids(&[66]));
    // One by one there would be 66 trials, plus those for the prefixes of the list. A third of the changes
    // build in no context, so that no answer can be put into good.
    assert!(search.asked() <= 90, "{} trials", search.asked());
}

/// A trial that passed by accident, which the examination of its program detects.
#[test]
fn a_pass_of_a_program_that_is_not_sane_is_no_answer() {
    let structure = Structure::flat(6);
    let order: Vec<ChangeId> = (0..6).map(ChangeId).collect();
    let mut model = Model::new(|set: &ChangeSet| {
        let by_chance = *set == ids(&[0]);
        if by_chance || ids(&[2, 4]).is_subset(set) { Outcome::Pass } else { Outcome::Fail }
    });
    model.insane = Some(Box::new(|set| *set == ids(&[0])));
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    let found = search.find(&order).unwrap().unwrap();
    assert_eq!(found.all(), ids(&[2, 4]));
    assert_eq!(found.proof, Proof { needed: Shown::Yes, sufficient: Shown::Yes, sane: Shown::Yes });
    assert!(search.verify(&found).unwrap().minimal);
}

/// Undoing the first change disables the feature under test: the test passes, but putting that change into
/// good breaks nothing.
#[test]
fn a_change_that_does_not_break_good_is_innocent() {
    let structure = Structure::flat(30);
    let order: Vec<ChangeId> = (0..30).map(ChangeId).collect();
    for guilty in [5, 13, 29] {
        let mut model = Model::new(move |set: &ChangeSet| {
            let passes = set.contains(&ChangeId(0)) || set.contains(&ChangeId(guilty));
            // Good has neither the switch nor the fault; the fault is visible without the switch.
            let fails_in_good =
                set.contains(&ChangeId(0)) && !set.contains(&ChangeId(guilty)) && set.len() > 15;
            if passes && !fails_in_good { Outcome::Pass } else { Outcome::Fail }
        });
        let mut watch = |_: &Progress| {};
        let mut search = Search::new(&mut model, &structure, &mut watch);
        let found = search.find(&order).unwrap().unwrap();
        assert_eq!(found.root, ids(&[guilty]), "{:?}", found);
        assert_eq!(found.proof.sufficient, Shown::Yes);
    }
}

/// The failure needs two changes: undoing either one makes the test pass, and both are needed to break good.
#[test]
fn two_changes_that_fail_only_together_are_both_named() {
    let structure = Structure::flat(40);
    let order: Vec<ChangeId> = (0..40).map(ChangeId).collect();
    let mut model = Model::new(|set: &ChangeSet| {
        if set.contains(&ChangeId(3)) || set.contains(&ChangeId(31)) { Outcome::Pass } else { Outcome::Fail }
    });
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    let found = search.find(&order).unwrap().unwrap();
    assert_eq!(found.root, ids(&[3, 31]));
    assert_eq!(found.proof.sufficient, Shown::Yes);
}

/// Among changes that only compile together, the one that the recordings show on the chain to the failure is
/// the cause.
#[test]
fn roles_follow_the_chain() {
    let structure = Structure::flat(4);
    let together = ids(&[1, 2]);
    let mut model = Model::new(move |set: &ChangeSet| match (set & &together).len() {
        1 => Outcome::Broken,
        0 => Outcome::Fail,
        _ => Outcome::Pass,
    });
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    search.set_on_chain(ids(&[2]));
    let found = search.find(&ranked(&[0, 1, 2, 3])).unwrap().unwrap();
    assert_eq!((found.root, found.auxiliary), (ids(&[2]), ids(&[1])));
}

/// A hunk of two independent parts: the whole is tried first, then the part that matters.
#[test]
fn whole_units_come_before_their_parts() {
    let mut structure = Structure::flat(6);
    structure.set_units([(ids(&[0, 1]), true), (ids(&[2, 3]), false)]);
    for (guilty, root) in [(1, ids(&[1])), (2, ids(&[2, 3]))] {
        let mut model =
            Model::new(
                move |set: &ChangeSet| {
                    if set.contains(&ChangeId(guilty)) { Outcome::Pass } else { Outcome::Fail }
                },
            );
        let mut watch = |_: &Progress| {};
        let mut search = Search::new(&mut model, &structure, &mut watch);
        let found = search.find(&ranked(&[0, 2, 4, 5, 1, 3])).unwrap().unwrap();
        assert_eq!(found.root, root);
        assert!(search.log().iter().all(|tried| !tried.reverted.is_empty()));
        let first = &search.log()[0].reverted;
        assert_eq!(*first, ids(&[0, 1]));
    }
}

#[test]
fn a_limit_ends_the_search() {
    let structure = Structure::flat(64);
    let wanted = ids(&[5, 17, 40]);
    let mut model =
        Model::new(move |set: &ChangeSet| if wanted.is_subset(set) { Outcome::Pass } else { Outcome::Fail });
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    search.limit(28);
    let all: Vec<ChangeId> = structure.all().iter().copied().collect();
    let found = search.find(&all).unwrap().unwrap();
    assert!(search.exhausted());
    assert!(ids(&[5, 17, 40]).is_subset(&found.all()));
    let verified = search.verify(&found).unwrap();
    assert!(verified.passes && !verified.minimal);
}

#[test]
fn progress_is_told() {
    let structure = Structure::flat(8);
    let mut model =
        Model::new(|set: &ChangeSet| if set.contains(&ChangeId(7)) { Outcome::Pass } else { Outcome::Fail });
    let mut stages = Vec::new();
    let mut watch = |progress: &Progress| stages.push(progress.stage);
    let mut search = Search::new(&mut model, &structure, &mut watch);
    let all: Vec<ChangeId> = structure.all().iter().copied().collect();
    let found = search.find(&all).unwrap().unwrap();
    search.verify(&found).unwrap();
    assert_eq!(search.log().len() as u64, search.asked());
    assert!(stages.contains(&Stage::Narrowing));
}

type InWorld<'a, 'w> = Search<'a, Model<&'w dyn Fn(&ChangeSet) -> Outcome>>;

/// Runs a method and returns its result, the result of verification, and the log.
fn run(
    world: &World,
    eager: bool,
    method: impl Fn(&mut InWorld<'_, '_>) -> Option<Found>,
) -> (Option<(Found, Verified)>, Vec<Tried>, u64) {
    let structure = Structure::flat(world.changes);
    let outcome = |set: &ChangeSet| world.outcome(set);
    let mut model = Model::new(&outcome as &dyn Fn(&ChangeSet) -> Outcome);
    model.eager = eager;
    let mut watch = |_: &Progress| {};
    let mut search = Search::new(&mut model, &structure, &mut watch);
    let found = method(&mut search);
    let checked = found.map(|found| {
        let verified = search.verify(&found).unwrap();
        (found, verified)
    });
    (checked, search.log().to_vec(), search.asked())
}

/// Properties of every answer, for any method.
fn check(world: &World, found: &Found, verified: &Verified) -> Result<(), TestCaseError> {
    let all = found.all();
    prop_assert_eq!(verified.outcome, world.outcome(&all));
    prop_assert_eq!(verified.passes, world.outcome(&all) == Outcome::Pass);
    prop_assert_eq!(verified.minimal, verified.passes && world.needed_in_a_direction(&all));
    prop_assert!(found.root.is_disjoint(&found.auxiliary));
    prop_assert!(!found.root.is_empty());
    Ok(())
}

/// Whether the claims of an answer hold.
fn check_proof(world: &World, found: &Found) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.proof.needed, Shown::Yes);
    prop_assert_eq!(world.outcome(&found.all()), Outcome::Pass);
    let applied = &found.all() | &found.applied_with;
    if found.proof.sufficient == Shown::Yes {
        prop_assert_eq!(world.outcome(&(&world.all() - &applied)), Outcome::Fail);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn ranked_over_everything_always_finds(world in world(9), order in Just((0..9).collect::<Vec<u32>>()).prop_shuffle()) {
        let order: Vec<ChangeId> = order.into_iter().filter(|id| *id < world.changes).map(ChangeId).collect();
        let (found, log, asked) = run(&world, false, |search| search.find(&order).unwrap());
        let (found, verified) = found.expect("good passes");
        check(&world, &found, &verified)?;
        check_proof(&world, &found)?;
        if world.odd == 0 && world.unresolved == 0 {
            prop_assert!(verified.minimal, "{:?}", found);
        }
        // Each set is built and tested at most once: first only built, then also tested.
        prop_assert!(asked <= 2 << world.changes);
        // Parallel trials give the same answer with the same trials.
        let (again, again_log, _) = run(&world, true, |search| search.find(&order).unwrap());
        prop_assert_eq!(Some((found, verified)), again);
        prop_assert_eq!(log, again_log);
    }

    #[test]
    fn candidates_give_answers_that_hold_or_none(world in world(9), bits: u32) {
        let candidates: ChangeSet = world.all().into_iter().filter(|id| bits >> id.0 & 1 == 1).collect();
        let list: Vec<ChangeId> = candidates.iter().copied().collect();
        let method = |search: &mut InWorld<'_, '_>| search.find(&list).unwrap();
        let (found, log, _) = run(&world, false, method);
        let (again, again_log, _) = run(&world, true, method);
        prop_assert_eq!(&found, &again);
        prop_assert_eq!(log, again_log);
        if let Some((found, verified)) = found {
            check(&world, &found, &verified)?;
            check_proof(&world, &found)?;
        } else {
            // If the candidates, or any single one of them, passed, the search would have found it.
            prop_assert!(world.outcome(&candidates) != Outcome::Pass);
            for id in &candidates {
                prop_assert!(world.outcome(&ids(&[id.0])) != Outcome::Pass);
            }
        }
    }

    #[test]
    fn delta_debugging_is_minimal_in_its_own_way(world in world(9), bits: u32) {
        let executed: ChangeSet = world.all().into_iter().filter(|id| bits >> id.0 & 1 == 1).collect();
        for universe in [world.all(), executed] {
            let dd = |search: &mut InWorld<'_, '_>| {
                if universe == *search.structure.all() { search.dd().unwrap() } else { search.add(&universe).unwrap() }
            };
            let (found, log, _) = run(&world, false, dd);
            let (again, again_log, _) = run(&world, true, dd);
            prop_assert_eq!(&found, &again);
            prop_assert_eq!(log, again_log);
            let Some((found, verified)) = found else {
                prop_assert!(universe.is_empty() || world.outcome(&universe) == Outcome::Fail);
                continue;
            };
            check(&world, &found, &verified)?;
            if !verified.passes {
                // Applied to the rest it fails, and no single change can be removed.
                prop_assert_eq!(world.outcome(&(&universe - &found.root)), Outcome::Fail);
                for id in &found.root {
                    let more = &(&universe - &found.root) | &ids(&[id.0]);
                    prop_assert!(more == universe || world.outcome(&more) != Outcome::Fail);
                }
            }
        }
    }

    #[test]
    fn completed_sets_build(world in world(12), bits: u32) {
        let reverted: ChangeSet = world.all().into_iter().filter(|id| bits >> id.0 & 1 == 1).collect();
        let structure = Structure::flat(world.changes);
        let mut model = world.model();
        let mut watch = |_: &Progress| {};
        let mut search = Search::new(&mut model, &structure, &mut watch);
        let Some(full) = search.completed(&reverted).unwrap() else {
            prop_assert_eq!(world.outcome(&reverted), Outcome::Broken);
            return Ok(());
        };
        prop_assert!(reverted.is_subset(&full));
        prop_assert!(world.outcome(&full) != Outcome::Broken);
        prop_assert_eq!(full == reverted, world.outcome(&reverted) != Outcome::Broken);
    }

    #[test]
    fn any_passing_set_can_be_made_minimal(world in world(10), bits: u32) {
        let some: ChangeSet = world.all().into_iter().filter(|id| bits >> id.0 & 1 == 1).collect();
        let passing = if world.outcome(&some) == Outcome::Pass { some } else { world.all() };
        let structure = Structure::flat(world.changes);
        let mut model = world.model();
        let mut watch = |_: &Progress| {};
        let mut search = Search::new(&mut model, &structure, &mut watch);
        let least = search.one_minimal(&passing, &[]).unwrap();
        prop_assert!(least.is_subset(&passing));
        prop_assert_eq!(world.outcome(&least), Outcome::Pass);
        prop_assert!(world.needed_singly(&least));
    }

    #[test]
    fn tame_worlds_take_few_trials(changes in 2_u32..300, guilty in proptest::collection::btree_set(0_u32..300, 1..4)) {
        let cause: ChangeSet = guilty.into_iter().map(|id| ChangeId(id % changes)).collect();
        let world = World { changes, causes: vec![cause.clone()], needs: Vec::new(), seed: 0, unresolved: 0, odd: 0 };
        let order: Vec<ChangeId> = world.all().into_iter().collect();
        let (found, _, asked) = run(&world, false, |search| search.find(&order).unwrap());
        prop_assert_eq!(found.map(|(found, _)| found.root), Some(cause.clone()));
        let bits = u64::from(changes.ilog2()) + 1;
        // Two dozen are tried alone.
        let bound = 34 + bits + cause.len() as u64 * (bits + 3);
        prop_assert!(asked <= bound, "{} trials, at most {} expected", asked, bound);
    }

    #[test]
    fn cuts_cover_the_list(length in 0_u32..50, parts in 1_usize..60) {
        let structure = Structure::flat(length);
        let all: Vec<ChangeId> = structure.all().iter().copied().collect();
        let cuts = cut(&structure, &all, parts);
        prop_assert_eq!(cuts.concat(), all.clone());
        prop_assert!(cuts.iter().all(|part| !part.is_empty()));
        prop_assert_eq!(cuts.len(), parts.min(all.len()));
    }
}

/// A type error names nothing that is missing. A missing name is searched for in its own function before the
/// rest of the program.
#[test]
fn hints_stand_in_the_function_of_the_error() {
    let mut changes = vec![
        line(0, "a.c", 10, "    double v;", "    float v;"),
        line(1, "a.c", 12, "    scale(&v);", "    shift(&v);"),
        line(2, "a.c", 14, "    put(k);", "    put(j);"),
        line(3, "a.c", 40, "    double v; int j;", "    int v;"),
    ];
    for (change, function) in changes.iter_mut().zip(["f", "f", "f", "g"]) {
        change.function = Some(function.to_owned());
    }
    let structure = Structure::of(&changes);
    let first = |error: &str, reverted: &[u32]| {
        hinted_changes(&structure, error, &ids(reverted), TargetVersion::Good).into_iter().next()
    };
    let types = "a.c:12:11: error: incompatible pointer types passing 'float *' to 'double *'";
    assert_eq!(first(types, &[1]), Some(ids(&[0])));
    assert_eq!(first("a.c:14:9: error: use of undeclared identifier 'j'", &[0]), Some(ids(&[2])));
}
