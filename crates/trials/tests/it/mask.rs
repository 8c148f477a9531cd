//! Masks learned from runs, and applied to others.

use proptest::prelude::*;
use std::process::Command;
use trials::Mask;

fn runs(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|t| t.as_bytes().to_vec()).collect()
}

fn applied(mask: &Mask, text: &str) -> String {
    String::from_utf8(mask.apply(text.as_bytes())).unwrap()
}

fn learn(good: &[&str], bad: &[&str]) -> Mask {
    Mask::learn(&runs(good), &runs(bad), 0.0)
}

fn ctest(ok: bool, times: [&str; 4]) -> String {
    let result = if ok { "   Passed  " } else { "***Failed  " };
    format!(
        "Test project /build\n    Start 1: parse\n1/3 Test #1: parse ............................   Passed  {:>7} sec\n    \
         Start 2: print\n2/3 Test #2: print ............................{result}{:>7} sec\n    Start 3: run\n\
         3/3 Test #3: run ..............................   Passed  {:>7} sec\n\n{}\n\n\
         Total Test time (real) = {:>6} sec\n",
        times[0],
        times[1],
        times[2],
        if ok {
            "100% tests passed, 0 tests failed out of 3"
        } else {
            "67% tests passed, 1 tests failed out of 3"
        },
        times[3],
    )
}

#[test]
fn times_of_ctest_do_not_judge() {
    let good = [ctest(true, ["0.00", "0.01", "0.00", "0.02"]), ctest(true, ["0.00", "0.00", "0.00", "0.02"])];
    let bad =
        [ctest(false, ["0.00", "0.01", "0.00", "0.02"]), ctest(false, ["0.00", "0.01", "0.00", "0.02"])];
    let (good, bad) = (good.map(String::into_bytes), bad.map(String::into_bytes));
    let mask = Mask::learn(&good, &bad, 0.0);
    // Only one time was seen to differ; the others were equal by chance.
    let other = ctest(true, ["12.34", "0.07", "100.01", "133.55"]);
    assert_eq!(applied(&mask, &other).as_bytes(), mask.apply(&good[0]));
    let other = ctest(false, ["12.34", "0.07", "100.01", "133.55"]);
    assert_eq!(applied(&mask, &other).as_bytes(), mask.apply(&bad[0]));
    assert_ne!(mask.apply(&good[0]), mask.apply(&bad[0]));
    assert!(!mask.hides_difference(&good, &bad));
    assert!(applied(&mask, &other).contains("Total Test time (real) = <number> sec\n"));
    let said = mask.describe();
    assert!(said[0].starts_with("the number in lines like `2/3 Test #2: print ..."), "{said:?}");
}

#[test]
fn times_that_were_the_same_by_luck_do_not_judge() {
    let times = ["0.00", "0.01", "0.00", "0.01"];
    let good = [ctest(true, times), ctest(true, times)].map(String::into_bytes);
    let bad = [ctest(false, times), ctest(false, times)].map(String::into_bytes);
    let other = ctest(true, ["0.02", "0.01", "0.00", "0.03"]);
    let mask = Mask::learn(&good, &bad, 0.2);
    assert_eq!(applied(&mask, &other).as_bytes(), mask.apply(&good[0]));
    assert_ne!(mask.apply(&good[0]), mask.apply(&bad[0]));
    // Longer than the runs took: the program counts something else.
    let mask = Mask::learn(&good, &bad, 0.005);
    assert!(mask.is_empty());
    // The only difference between good and bad is a time: this is what the test is about.
    let (good, bad) = (runs(&["waits 0.25 s\n"; 2]), runs(&["waits 0.75 s\n"; 2]));
    assert!(Mask::learn(&good, &bad, 1.0).is_empty());
    // Whole seconds are part of the output.
    let (good, bad) = (runs(&["1\nup 1 s\n"; 2]), runs(&["2\nup 1 s\n"; 2]));
    assert!(Mask::learn(&good, &bad, 1.5).is_empty());
    let (good, bad) = (runs(&["ok (1 ms)\n"; 2]), runs(&["not ok (1 ms)\n"; 2]));
    assert_eq!(applied(&Mask::learn(&good, &bad, 1.5), "ok (3 ms)"), "ok (<number> ms)");
}

#[test]
fn banners_of_pytest_are_as_wide_as_their_times() {
    let line = |time: &str| {
        let text = format!(" 2 passed in {time} ");
        format!("collected 2 items\n\ntest_x.py ..   [100%]\n\n{text:=^60}\n")
    };
    let mask = learn(&[&line("0.03s"), &line("0.04s")], &[]);
    assert_eq!(applied(&mask, &line("0.03s")), applied(&mask, &line("112.50s")));
    assert!(applied(&mask, &line("0.03s")).ends_with("= 2 passed in <number>s =\n"));
    let failed = line("0.03s").replace("2 passed", "1 passed");
    assert_ne!(applied(&mask, &failed), applied(&mask, &line("0.03s")));
}

#[test]
fn addresses_names_and_dates_are_told_apart() {
    let run = |a: &str, n: &str, t: &str, p: &str| {
        format!("object at {a}\nwriting /tmp/tmp.{n}/out.txt\n[{t}] begin\nworker {p} done: 42\n")
    };
    let one = run("0x7ffe01", "aXb12c", "Mon Nov 16 23:59:58 2026", "123");
    let two = run("0x7ffe99", "Zq0fk9", "Mon Nov 16 23:59:59 2026", "4567");
    let mask = learn(&[&one, &two], &[&one]);
    let expected =
        "object at <address>\nwriting /tmp/tmp.<name>/out.txt\n[<time>] begin\nworker <number> done: 42\n";
    assert_eq!(applied(&mask, &one), expected);
    assert_eq!(applied(&mask, &run("0x55", "000000", "Tue Jan  5 01:02:03 2027", "8")), expected);
    assert_eq!(mask.describe().len(), 4);
    let other = one.replace("42", "43");
    assert_ne!(applied(&mask, &other), expected);
}

#[test]
fn names_may_be_of_any_make() {
    let mask = learn(&["saved to /tmp/a+b/x.o ok\n", "saved to /tmp/cde/x.o ok\n"], &[]);
    assert_eq!(applied(&mask, "saved to /tmp/q-9-z/x.o ok\n"), "saved to /tmp/<name>/x.o ok\n");
    assert_ne!(applied(&mask, "saved to /tmp/q-9-z/y.o ok\n"), "saved to /tmp/<name>/x.o ok\n");
}

#[test]
fn what_does_not_differ_is_not_touched() {
    let mask = learn(&["a 1\n", "a 1\n"], &["a 2\n", "a 2\n"]);
    assert!(mask.is_empty() && mask.describe().is_empty());
    assert_eq!(applied(&mask, "a 3"), "a 3");
    assert!(!mask.hides_difference(&runs(&["a 1\n"]), &runs(&["a 2\n"])));
    assert!(learn(&[], &[]).is_empty());
    assert!(learn(&["x"], &["y"]).is_empty());
}

#[test]
fn a_bare_number_is_masked_in_its_place_only() {
    let run = |pid: &str, result: &str| format!("pid:\n{pid}\nresult:\n{result}\n");
    let mask = learn(&[&run("100", "7"), &run("200", "7")], &[&run("300", "8"), &run("301", "8")]);
    assert_eq!(applied(&mask, &run("999", "7")), run("<number>", "7"));
    assert_eq!(applied(&mask, &run("999", "8")), run("<number>", "8"));
    let numbers = ["1\n2\n3\n", "1\n9\n3\n"];
    let mask = learn(&numbers, &[]);
    assert_eq!(applied(&mask, "1\n5\n3\n"), "1\n<number>\n3\n");
    assert_ne!(applied(&mask, "2\n5\n3\n"), "1\n<number>\n3\n");
    assert_ne!(applied(&mask, "1\n5\n3\n4\n"), "1\n<number>\n3\n4\n");
}

#[test]
fn another_order_is_no_difference() {
    let mask = learn(&["a ok\nb ok\nc bad\n", "b ok\na ok\nc bad\n"], &["a ok\nb ok\nc good\n"]);
    assert_eq!(mask.describe(), ["the order of lines"]);
    assert_eq!(applied(&mask, "c bad\nb ok\na ok\n"), applied(&mask, "a ok\nb ok\nc bad\n"));
    assert_ne!(applied(&mask, "c bad\nb ok\na bad\n"), applied(&mask, "a ok\nb ok\nc bad\n"));
}

#[test]
fn counters_of_parallel_tests_go_with_the_order() {
    let run = |order: &[usize], time: usize| {
        let lines = order.iter().enumerate();
        let lines =
            lines.map(|(i, t)| format!("{:>2}/12 Test #{t}: t{t} .... Passed {i}.{time} sec\n", i + 1));
        lines.collect::<String>()
    };
    let (one, two) = ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11]);
    let mask = learn(&[&run(&one, 1), &run(&two, 2)], &[]);
    let other = run(&[12, 1, 2, 3, 4, 6, 5, 7, 9, 8, 11, 10], 5);
    assert_eq!(applied(&mask, &other), applied(&mask, &run(&one, 3)));
    assert_ne!(
        applied(&mask, &other.replace("#3: t3 .... Passed", "#3: t3 .... Failed")),
        applied(&mask, &other)
    );
}

#[test]
fn lines_that_come_and_go_are_left_out() {
    let mask = learn(&["begin\nretry 3 after timeout\nend 1\n", "begin\nend 1\n"], &["begin\nend 2\n"; 2]);
    assert_eq!(applied(&mask, "begin\nretry 5 after timeout\nend 1\n"), "begin\nend 1\n");
    assert_eq!(applied(&mask, "begin\nend 2\n"), "begin\nend 2\n");
    assert_eq!(mask.describe(), ["lines like `retry 3 after timeout`, which come and go"]);
    // A stable line must not be dropped with it.
    let mask = learn(&["value 1\nvalue 2\nend\n", "value 1\nend\n"], &[]);
    assert_eq!(applied(&mask, "value 1\nvalue 2\nend\n"), "value 1\nend\n");
}

#[test]
fn noise_is_given_up() {
    let noise = ["q w e r\nzz yy xx\n", "lorem ipsum dolor\nkk\n", "mno\nuvw abc\n"];
    let mask = learn(&noise, &["steady\n", "steady\n"]);
    assert!(mask.ignores_all());
    assert_eq!(mask.describe().len(), 1);
    assert_eq!(mask.apply(b"anything"), b"");
    let (good, bad) = (runs(&["a\nx\n", "b\nx\n"]), runs(&["c\ny\n", "d\ny\n"]));
    assert!(mask.hides_difference(&good, &bad), "x and y");
    assert!(!mask.hides_difference(&runs(&["a\n", "b\n"]), &runs(&["c\n", "d\n"])));
}

#[test]
fn a_hidden_difference_is_told() {
    // Good prints any number, bad always the same.
    let (good, bad) = (runs(&["x = 1\n", "x = 2\n"]), runs(&["x = 7\n", "x = 7\n"]));
    let mask = Mask::learn(&good, &bad, 0.0);
    assert_eq!(mask.apply(&good[0]), mask.apply(&bad[0]));
    assert!(!mask.hides_difference(&good, &bad), "good is not steady in this");
    assert!(mask.hides_difference(&runs(&["x = 1\n", "x = 1\n"]), &bad));
    // The only stable difference is a duration: then durations are not masked everywhere.
    let (good, bad) = (
        runs(&["a 0.10 sec\nlimit 1.00 sec\n", "a 0.20 sec\nlimit 1.00 sec\n"]),
        runs(&["a 0.30 sec\nlimit 2.00 sec\n", "a 0.40 sec\nlimit 2.00 sec\n"]),
    );
    let mask = Mask::learn(&good, &bad, 0.0);
    assert_ne!(mask.apply(&good[0]), mask.apply(&bad[0]));
    assert_eq!(mask.apply(&good[0]), mask.apply(&good[1]));
}

#[test]
fn masks_have_fingerprints() {
    let (a, b) = (learn(&["x 1\n", "x 2\n"], &[]), learn(&["y 1\n", "y 2\n"], &[]));
    assert_ne!(a.fingerprint(), b.fingerprint());
    assert_eq!(a.fingerprint(), learn(&["x 1\n", "x 2\n"], &[]).fingerprint());
    assert_ne!(a.fingerprint(), Mask::default().fingerprint());
    assert!(serde_json::to_string(&a).unwrap().contains("\"number\""));
}

#[test]
fn real_processes_differ_and_are_equal() {
    let script =
        "echo shell $$; echo temporary $(mktemp -u); date '+now %s.%N'; echo stays 5; printf 'no end'";
    let run = || Command::new("sh").args(["-c", script]).output().unwrap().stdout;
    let good = [run(), run(), run()];
    let mask = Mask::learn(&good, &[], 0.0);
    for _ in 0..10 {
        assert_eq!(mask.apply(&run()), mask.apply(&good[0]));
    }
    let text = String::from_utf8(mask.apply(&good[0])).unwrap();
    assert!(text.ends_with("stays 5\nno end"), "{text}");
}

#[test]
fn binary_output_does_no_harm() {
    let noise = |seed: u32| -> Vec<u8> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..5000).map(|_| next()).collect()
    };
    let mask = Mask::learn(&[noise(1), noise(2)], &[noise(3), noise(4)], 0.0);
    assert!(mask.ignores_all());
}

#[derive(Clone, Debug)]
enum Item {
    Word(String),
    Stable(u32),
    Number,
    Address,
    Name,
    Duration,
}

fn items() -> impl Strategy<Value = Vec<Vec<Item>>> {
    let item = prop_oneof![
        4 => "[a-z]{2,8}".prop_map(Item::Word),
        1 => any::<u32>().prop_map(Item::Stable),
        1 => Just(Item::Number),
        1 => Just(Item::Address),
        1 => Just(Item::Name),
        1 => Just(Item::Duration),
    ];
    prop::collection::vec(prop::collection::vec(item, 0..6), 1..12)
}

/// A run of the generator: volatile items are computed from the numbers.
fn write(lines: &[Vec<Item>], random: &mut impl FnMut() -> u64) -> String {
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        // No two lines have the same words.
        let name: String = number.to_string().bytes().map(|d| char::from(b'A' + d - b'0')).collect();
        text += &format!("L{name}:");
        for item in line {
            text += &match item {
                Item::Word(word) => format!(" {word}"),
                Item::Stable(value) => format!(" {value}"),
                Item::Number => format!(" {}", random() % 1_000_000),
                Item::Address => format!(" (0x{:x})", random() >> 8),
                Item::Name => {
                    let letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
                    let name: String =
                        (0..10).map(|_| char::from(letters[(random() % 62) as usize])).collect();
                    format!(" /tmp/x.{name}/y")
                }
                Item::Duration => format!(" {:>6}.{:02} ms", random() % 100, random() % 100),
            };
        }
        text.push('\n');
    }
    text
}

fn random(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 8
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Runs that were not learned from are equal too, and a stable change is visible.
    #[test]
    fn volatile_parts_are_masked_and_no_others(lines in items(), seed in 1..u64::MAX, at in any::<usize>()) {
        let mut random = random(seed);
        let mut run = |lines: &[Vec<Item>]| write(lines, &mut random).into_bytes();
        let good = [run(&lines), run(&lines), run(&lines)];
        let mask = Mask::learn(&good, &[], 0.0);
        prop_assert!(!mask.ignores_all());
        let expected = mask.apply(&good[0]);
        for _ in 0..4 {
            let other = run(&lines);
            prop_assert_eq!(
                String::from_utf8(mask.apply(&other)).unwrap(), String::from_utf8(expected.clone()).unwrap(),
                "{:?}", mask.describe()
            );
        }
        let steady: Vec<(usize, usize)> = (0..lines.len())
            .flat_map(|i| (0..lines[i].len()).map(move |j| (i, j)))
            .filter(|(i, j)| matches!(lines[*i][*j], Item::Word(_) | Item::Stable(_)))
            .collect();
        if !steady.is_empty() {
            let (i, j) = steady[at % steady.len()];
            let mut changed = lines.clone();
            changed[i][j] = match &changed[i][j] {
                Item::Word(word) => Item::Word(format!("{word}x")),
                Item::Stable(value) => Item::Stable(value ^ 1),
                other => other.clone(),
            };
            prop_assert_ne!(mask.apply(&run(&changed)), expected.clone());
        }
        // Without one of the lines, and with an additional one.
        prop_assert_ne!(mask.apply(&run(&lines[1..])), expected.clone());
        let longer = [&lines[..], &[vec![]]].concat();
        prop_assert_ne!(mask.apply(&run(&longer)), expected);
    }

    /// A stable difference between good and bad is not hidden by noise in between.
    #[test]
    fn the_regression_is_not_hidden(lines in items(), seed in 1..u64::MAX, word in "[a-z]{2,8}") {
        let mut random = random(seed);
        let mut with = |result: &str| {
            let mut text = write(&lines, &mut random);
            text += &format!("result: {result}\n");
            text.into_bytes()
        };
        let (good, bad) = ([with("fine"), with("fine")], [with(&word), with(&word)]);
        let mask = Mask::learn(&good, &bad, 0.0);
        prop_assert!(!mask.hides_difference(&good, &bad));
        prop_assert_eq!(mask.apply(&good[0]) == mask.apply(&bad[0]), word == "fine");
    }

    /// Lines in any order, with volatile parts.
    #[test]
    fn order_and_numbers_together(
        lines in items(), seed in 1..u64::MAX, orders in prop::collection::vec(any::<u64>(), 4),
    ) {
        let mut random = random(seed);
        let mut run = |order: u64| {
            let text = write(&lines, &mut random);
            let mut lines: Vec<&str> = text.lines().collect();
            let hash = |l: &&str| {
                let mix = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3).rotate_left(17);
                l.bytes().take(3).fold(order, mix)
            };
            lines.sort_by_key(hash);
            (lines.join("\n") + "\n").into_bytes()
        };
        let good = [run(orders[0]), run(orders[1]), run(orders[2])];
        let mask = Mask::learn(&good, &[], 0.0);
        prop_assert!(!mask.ignores_all());
        for run in &good {
            prop_assert_eq!(mask.apply(run), mask.apply(&good[0]));
        }
        // Three orders may be equal by chance; then no order was learned.
        let names = |run: &Vec<u8>| {
            run.split(|b| *b == b'\n').map(|l| l.get(..3).map(<[u8]>::to_vec)).collect::<Vec<_>>()
        };
        let ordered: Vec<_> = good.iter().map(names).collect();
        if ordered.iter().any(|o| *o != ordered[0]) {
            prop_assert_eq!(mask.apply(&run(orders[3])), mask.apply(&good[0]));
        }
    }
}
