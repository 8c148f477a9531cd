//! Keys in, frames out.

use super::frame::{Line, Sources, draw};
use super::state::{Answer, BrowserAction, Item, Key, State};
use report::text::width;
use slice::phases::told::{FlowSummary, LevelSummary, LineSummary, PhaseSummary, VariableValue};

fn phase(kind: &str, lines: (u32, u32), asked: bool) -> PhaseSummary {
    PhaseSummary {
        kind: kind.to_owned(),
        file: "db.c".to_owned(),
        first_line: lines.0,
        last_line: lines.1,
        asked,
        ..PhaseSummary::default()
    }
}

fn place(line: u32) -> LineSummary {
    let variable = |name: &str, value: &str| VariableValue { name: name.to_owned(), value: value.to_owned() };
    LineSummary {
        file: "db.c".to_owned(),
        line,
        function: "insert".to_owned(),
        variables: vec![variable("rec", "\"Asia\\n\u{1b}[2J\""), variable("i", "2")],
    }
}

fn flow(name: &str, line: u32, made_in: usize, used_in: &[usize]) -> FlowSummary {
    FlowSummary {
        place: place(line),
        kind: "value".to_owned(),
        name: Some(name.to_owned()),
        value: Some("2".to_owned()),
        made_in,
        used_in: used_in.to_vec(),
    }
}

fn first() -> LevelSummary {
    LevelSummary {
        function: "main".to_owned(),
        phases: vec![
            phase("statements", (3, 5), false),
            phase("loop", (7, 9), false),
            phase("statements", (1, 2), false),
            phase("statements", (11, 11), true),
        ],
        flows: vec![flow("size", 4, 0, &[1]), flow("entries[2]", 8, 1, &[3])],
    }
}

fn second() -> LevelSummary {
    LevelSummary {
        function: "main".to_owned(),
        phases: vec![phase("round", (7, 8), false), phase("round", (7, 9), true)],
        flows: vec![flow("current", 9, 0, &[1])],
    }
}

fn state() -> State {
    State::new("db.c:11".to_owned(), 57, first(), 0)
}

fn sources() -> Sources {
    let lines = (1..=12).map(|n| format!("\tline {n}();")).collect();
    Sources::from([("db.c".to_owned(), lines)])
}

fn text(lines: &[Line]) -> String {
    let line = |l: &Line| l.iter().map(|s| s.text.as_str()).collect::<String>().trim_end().to_owned();
    lines.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_first_value_is_selected_and_its_line_marked() {
    let frame = draw(&state(), &sources(), 100, 14);
    insta::assert_snapshot!(text(&frame), @r#"
    Where did db.c:11 go wrong?
       1  statements, lines 3 to 5                          │ db.c
    >      size = 2  db.c:4, used in 2                      │     1      line 1();
       2  loop, lines 7 to 9                                │     2      line 2();
           entries[2] = 2  db.c:8, used in 4                │     3      line 3();
       3  statements, lines 1 to 2                          │ >   4      line 4();
       4  statements, line 11  (asked about)                │     5      line 5();
                                                            │     6      line 6();
                                                            │     7      line 7();
                                                            │     8      line 8();
                                                            │ just before, in insert:
                                                            │   rec = "Asia\n\x1b[2J"
                                                            │   i = 2
    level 1 of 1, 0 choices, 2 of 57 executions shown                                      ? help  q end
    "#);
}

#[test]
fn a_narrow_window_has_the_source_below() {
    let frame = draw(&state(), &sources(), 44, 16);
    insta::assert_snapshot!(text(&frame), @r#"
    Where did db.c:11 go wrong?
       1  statements, lines 3 to 5
    >      size = 2  db.c:4, used in 2
       2  loop, lines 7 to 9
           entries[2] = 2  db.c:8, used in 4
       3  statements, lines 1 to 2
       4  statements, line 11  (asked about)

    ────────────────────────────────────────────
    db.c
        3      line 3();
    >   4      line 4();
    just before, in insert:
      rec = "Asia\n\x1b[2J"
      i = 2
    level 1 of 1, 0 choices, 2 of 57 executions…
    "#);
}

#[test]
fn down_to_the_statement_and_back() {
    let mut state = state();
    assert_eq!(state.selected(), (0, Item::Flow(0)));
    state.press(Key::Down);
    state.press(Key::Down);
    assert_eq!(state.selected(), (0, Item::Flow(1)));
    assert_eq!(state.press(Key::Right), BrowserAction::Open { level: 0, flow: Some(1) });
    state.opened(Answer::Level { told: second(), passed: 1 });
    assert_eq!(state.selected(), (1, Item::Flow(0)));
    assert_eq!(state.press(Key::Right), BrowserAction::Open { level: 1, flow: Some(0) });
    state.opened(Answer::End { place: place(9), passed: 0 });
    assert_eq!(state.found().map(|p| p.line), Some(9));
    insta::assert_snapshot!(text(&draw(&state, &sources(), 100, 16)), @r#"
    Where did db.c:11 go wrong?
       1  statements, lines 3 to 5                          │ db.c
           size = 2  db.c:4, used in 2                      │     3      line 3();
       2  loop, lines 7 to 9                                │     4      line 4();
     ▾     entries[2] = 2  db.c:8, used in 4                │     5      line 5();
         1  round, lines 7 to 8                             │     6      line 6();
       ▾     current = 2  db.c:9, used in 2                 │     7      line 7();
    >          It went wrong at db.c:9, in insert           │     8      line 8();
         2  round, lines 7 to 9  (asked about)              │ >   9      line 9();
       3  statements, lines 1 to 2                          │    10      line 10();
       4  statements, line 11  (asked about)                │    11      line 11();
                                                            │    12      line 12();
                                                            │ just before, in insert:
                                                            │   rec = "Asia\n\x1b[2J"
                                                            │   i = 2
    level 3 of 3, 2 choices, 3 of 57 executions shown                                      ? help  q end
    "#);
    assert_eq!(state.press(Key::Right), BrowserAction::Nothing);
    assert!(state.message.is_some());
    // Select the row, fold it, select its parent row, and fold that.
    for expected in [(1, Item::Flow(0)), (1, Item::Flow(0)), (0, Item::Flow(1)), (0, Item::Flow(1))] {
        state.press(Key::Left);
        assert_eq!(state.selected(), expected);
    }
    assert_eq!(state.rows().len(), 6);
    // A child that was opened before needs no new computation: unfold, then enter.
    assert_eq!(state.press(Key::Right), BrowserAction::Nothing);
    assert_eq!(state.selected(), (0, Item::Flow(1)));
    assert_eq!(state.press(Key::Right), BrowserAction::Nothing);
    assert_eq!(state.selected(), (1, Item::Flow(0)));
    assert_eq!((state.choices, state.shown(), state.deepest), (2, 3, 3));
}

#[test]
fn phases_can_be_entered_if_anything_came_from_them() {
    let mut state = state();
    state.press(Key::End);
    assert_eq!(state.press(Key::Right), BrowserAction::Open { level: 0, flow: None });
    state.refused("failed to replay".to_owned());
    assert!(text(&draw(&state, &sources(), 80, 10)).ends_with("failed to replay"));
    state.press(Key::Up);
    assert_eq!(state.selected(), (0, Item::Phase(2)));
    assert_eq!(state.press(Key::Right), BrowserAction::Nothing);
    assert_eq!(state.message.as_deref(), Some("nothing that is asked about came from this phase"));
    state.press(Key::Up);
    state.press(Key::Up);
    assert_eq!(state.selected(), (0, Item::Phase(1)));
    assert_eq!(state.press(Key::Right), BrowserAction::Open { level: 0, flow: Some(1) });
}

#[test]
fn help_goes_with_any_key_and_q_ends() {
    let mut state = state();
    state.press(Key::Help);
    assert!(text(&draw(&state, &sources(), 100, 20)).contains("fold, or back"));
    assert_eq!(state.press(Key::Quit), BrowserAction::Nothing);
    assert_eq!(state.press(Key::Quit), BrowserAction::Quit);
}

/// For every size and key sequence, a frame fits, and nothing in it moves the cursor.
#[test]
fn every_frame_fits() {
    let mut state = state();
    let keys = [Key::Down, Key::Right, Key::PageDown, Key::Right, Key::Help, Key::Up, Key::Home, Key::Left];
    for (n, key) in keys.into_iter().cycle().take(40).enumerate() {
        if let BrowserAction::Open { .. } = state.press(key) {
            match n % 3 {
                0 => state.opened(Answer::Level { told: second(), passed: n % 2 }),
                1 => state.opened(Answer::End { place: place(99), passed: 0 }),
                _ => state.refused("no\nway\u{1b}[1m".to_owned()),
            }
        }
        for (columns, height) in [(0, 0), (1, 1), (3, 2), (20, 5), (44, 9), (80, 24), (90, 3), (200, 60)] {
            let frame = draw(&state, &sources(), columns, height);
            assert_eq!(frame.len(), height);
            for line in &frame {
                let line: String = line.iter().map(|s| s.text.as_str()).collect();
                assert!(width(&line) <= columns, "{columns}: {line:?}");
                assert!(!line.chars().any(char::is_control), "{line:?}");
            }
        }
    }
}
