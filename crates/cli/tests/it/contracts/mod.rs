//! Contracts of a small program in two versions.

use crate::sandbox::Sandbox;

/// Exit code and output of a check of a program beside itself with one change.
pub fn checked(program: &str, change: (&str, &str), options: &str) -> (Option<i32>, String) {
    checked_by(program, change, options, "./p")
}

/// The same with another test; `·` is a blank within it.
pub fn checked_by(
    program: &str,
    (from, to): (&str, &str),
    options: &str,
    test: &str,
) -> (Option<i32>, String) {
    assert!(program.contains(from), "{from}");
    let sandbox = Sandbox::new();
    for (version, text) in [("good", program.to_owned()), ("bad", program.replacen(from, to, 1))] {
        std::fs::create_dir(sandbox.path().join(version)).unwrap();
        sandbox.file(&format!("{version}/p.c"), &text);
    }
    let line = format!(
        "relapse contract check --quiet --work work --good good --bad bad --build $CC·-g·-o·p·p.c --test {test} {options}"
    );
    let output = sandbox.execute(&line, "");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}
