//! Ctrl-C while a slice is on its way: what was found so far, and that it is not all.

use super::window::Window;
use crate::sandbox::Sandbox;
use std::fs::File;

/// It runs in no time and takes long to be walked back over.
const LONG: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    unsigned n = (unsigned)atoi(argv[1]), sum = 7;
    for (unsigned i = 0; i < n; i++)
        sum = sum * 31 + (sum >> 7) + i;
    printf("%u\n", sum);
    return 0;
}
"#;

/// Whether the bar says that some of the way is done.
fn under_way(screen: &str) -> bool {
    let percent = screen.split(" %").next().and_then(|t| t.split_whitespace().next_back());
    screen.contains("walking back")
        && percent.and_then(|p| p.parse::<u32>().ok()).is_some_and(|p| (1..100).contains(&p))
}

#[test]
fn an_interrupted_slice_says_what_it_found_and_that_there_is_more() {
    let mut sandbox = Sandbox::with_program("long", LONG);
    sandbox.record("./long 10000000", "");
    // As text, with everything on the terminal.
    let mut window = Window::open(&sandbox, (24, 80), "slice run --at long.c:7", &[]);
    window.until("progress", under_way);
    window.press("\x03");
    let (status, text) = window.ended();
    assert_eq!(status.code(), Some(4), "{text}");
    assert!(text.contains("sum = sum * 31"), "{text}");
    assert!(text.contains("interrupted: this is what was found so far"), "{text}");
    // As a document, which is whole and says so too; and in phases.
    for (option, schema) in [("", "relapse.slice/1"), ("--phases", "relapse.phases/1")] {
        let path = sandbox.path().join("answer.json");
        let command = format!("slice run --at long.c:7 --json {option}");
        let output = File::create(&path).expect("a file");
        let mut window = Window::open_into(&sandbox, (24, 80), &command, &[], Some(output));
        window.until("progress", under_way);
        window.press("\x03");
        let (status, text) = window.ended();
        assert_eq!(status.code(), Some(4), "{text}");
        let answer = std::fs::read_to_string(&path).expect("an answer");
        let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["schema"], schema);
        assert_eq!(answer["incomplete"], true);
    }
}

/// A call that takes long and of which one constant comes back: quick to slice, slow to cut.
const AWAY: &str = r#"#include <stdio.h>
#include <stdlib.h>
static unsigned noise;
static int away(unsigned n) {
    for (unsigned i = 0; i < n; i++)
        noise = noise * 31 + (noise >> 7) + i;
    return 5;
}
int main(int argc, char **argv) {
    int k = away((unsigned)atoi(argv[1]));
    printf("%d\n", k);
    return 0;
}
"#;

#[test]
fn a_level_that_takes_too_long_can_be_left() {
    let mut sandbox = Sandbox::with_program("away", AWAY);
    sandbox.record("./away 6000000", "");
    let mut window = Window::open(&sandbox, (24, 100), "slice run --at away.c:11 --phases", &[]);
    window.until("the first level", |t| t.contains("asked about"));
    window.press("\x1b[C");
    window.until("work", |t| t.contains("replaying"));
    window.press("\x03");
    window.until("its end", |t| t.contains("stopped; nothing was opened"));
    // It is still there, and can be had by waiting.
    window.press("\x1b[C");
    window.until("the level", |t| t.contains("loop, line"));
    window.press("q");
    let (status, text) = window.ended();
    assert!(status.success(), "{status}: {text}");
}
