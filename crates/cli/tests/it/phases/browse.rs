//! The tree of phases in a real pseudo-terminal.

use super::window::{Window, winsize};
use super::{DATABASE, line};
use crate::sandbox::Sandbox;
use rustix::termios::tcsetwinsize;
use std::process::Command;

/// Walking in the tree.
impl Window {
    /// Presses a key that takes a replay, and waits for what comes of it.
    fn descend(&mut self, key: &str) {
        let before = self.text();
        self.press(key);
        self.until("the level below", |text| text != before && !text.contains("replaying"));
    }

    /// The row with the cursor, as far as the source beside it.
    fn selected(text: &str) -> &str {
        let row = text.lines().find(|l| l.starts_with('>')).unwrap_or_default();
        row.split('│').next().unwrap_or_default()
    }

    /// Goes down to a row with a text.
    fn down_to(&mut self, wanted: &str) {
        for _ in 0..40 {
            let before = Window::selected(&self.text()).to_owned();
            if before.contains(wanted) {
                return;
            }
            self.press("\x1b[B");
            self.until("another row", |text| Window::selected(text) != before);
        }
        panic!("no row has {wanted}:\n{}", self.text());
    }
}

fn recorded() -> (Sandbox, String) {
    let mut sandbox = Sandbox::with_program("db", DATABASE);
    sandbox.record("./db", "");
    (sandbox, format!("slice run --at db.c:{} --phases", line(DATABASE, "ask")))
}

/// Somebody who knows which values are wrong comes to the faulty line by arrow keys.
#[test]
fn keys_lead_to_the_faulty_line() {
    let (sandbox, command) = recorded();
    let (put, bug) = (line(DATABASE, "put"), line(DATABASE, "bug"));
    let mut window = Window::open(&sandbox, (30, 120), &command, &[]);
    window.until("the first level", |t| t.contains("asked about"));
    window.down_to(&format!("db.c:{put},"));
    // Its line stands beside it, with a mark.
    assert!(window.text().contains("entries[current] = rec; /* put */"), "{}", window.text());
    window.descend("\x1b[C");
    window.until("the rounds", |t| t.contains("round 1"));
    window.down_to(&format!("db.c:{bug},"));
    window.descend("\r");
    let found = format!("It went wrong at db.c:{bug}, in read_db");
    for _ in 0..6 {
        if Window::selected(&window.text()).contains(&found) {
            break;
        }
        // None of what came in is wrong: the phase that is asked about is, by itself.
        window.down_to("(asked about)");
        window.descend("\x1b[C");
    }
    window.until("the end", |t| Window::selected(t).contains(&found));
    // Narrower: the source below. Wide again: beside.
    tcsetwinsize(&window.keyboard, winsize((30, 60))).expect("a size");
    window.screen.screen_mut().set_size(30, 60);
    window.until("a narrow screen", |t| t.contains("──────"));
    window.press("?");
    window.until("help", |t| t.contains("fold, or back"));
    window.press("x");
    window.until("no help", |t| t.contains("It went wrong"));
    window.press("q");
    let (status, text) = window.ended();
    assert!(status.success(), "{status}");
    assert!(text.contains(&format!("It went wrong at db.c:{bug}, in read_db:")), "{text}");
}

/// Ctrl-C and signals end it, with the terminal as it was; without colours nothing is coloured.
#[test]
fn every_way_out_gives_the_terminal_back() {
    let (sandbox, command) = recorded();
    let mut window = Window::open(&sandbox, (24, 80), &command, &[("NO_COLOR", "1")]);
    window.until("the first level", |t| t.contains("asked about"));
    let plain = |s: &vt100::Screen| {
        let cells = (0..24).flat_map(|r| (0..80).map(move |c| (r, c)));
        let mut cells = cells.filter_map(|(r, c)| s.cell(r, c));
        cells.all(|c| !c.bold() && !c.inverse() && c.fgcolor() == vt100::Color::Default)
    };
    assert!(plain(window.screen.screen()));
    window.press("\x03");
    let (status, _) = window.ended();
    assert_eq!(status.code(), Some(130));

    for (signal, code) in [("-TERM", 143), ("-HUP", 129)] {
        let mut window = Window::open(&sandbox, (24, 80), &command, &[]);
        window.until("the first level", |t| t.contains("asked about"));
        assert!(!plain(window.screen.screen()));
        // setsid forks only if it has to.
        let path = format!("/proc/{0}/task/{0}/children", window.child.id());
        let children = std::fs::read_to_string(path).expect("its child");
        let pid = children.split_whitespace().next().map_or(window.child.id().to_string(), str::to_owned);
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill").success());
        let (status, _) = window.ended();
        assert_eq!(status.code(), Some(code), "{signal}");
    }
}
