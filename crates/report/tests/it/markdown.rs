//! The Markdown output for a pull request.

use crate::samples;
use report::markdown::render;

#[test]
fn running_example() {
    insta::assert_snapshot!(render(&samples::running()));
}

#[test]
fn hostile_text_stays_text() {
    insta::assert_snapshot!(render(&samples::hostile()));
}

#[test]
fn comments_are_not_too_long() {
    let mut large = samples::bush(5000);
    let mut hunk = large.root[0].clone();
    hunk.new_text = vec!["x".repeat(5000); 60];
    large.root = vec![hunk; 60];
    large.auxiliary = large.root.clone();
    large.notes = vec!["n".repeat(70_000); 50];
    for answer in samples::all().into_iter().map(|(_, answer)| answer).chain([large]) {
        let length = render(&answer).chars().count();
        assert!(length < 65_536, "{length} characters");
    }
}
