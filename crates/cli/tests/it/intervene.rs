//! `#pragma relapse intervene`: one value at one moment is another one, and nothing else is.

use program::intervention::Intervention;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const SOURCE: &str = "#include <stdio.h>
static int total;
static int pick(int i) {
  if (i % 2)
    return i;
  return -i;
}
static double half(int i) {
  double d = i;
  return d / 2;
}
int main(void) {
  for (int i = 0; i < 5; i++) {
    int kept = 7;
    total += pick(i);
    printf(\"%d:%d:%.1f \", kept, total, half(i));
  }
  printf(\"%d\\n\", total);
  return 0;
}
";

const PLAIN: &str = "7:0:0.0 7:1:0.5 7:-1:1.0 7:2:1.5 7:-2:2.0 -2\n";

fn cc(dir: &Path, mode: &str, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_relapse-cc"));
    command.args(args).current_dir(dir).env("RELAPSE_MODE", mode).output().unwrap()
}

/// The model of the source, as instructions in text with their index: of a function all.
fn model(dir: &Path) -> impl Fn(&str) -> Vec<String> + use<> {
    fs::write(dir.join("p.c"), SOURCE).unwrap();
    assert!(cc(dir, "instrument", &["-O1", "-c", "p.c", "-o", "model.o"]).status.success());
    let dump = Command::new(env!("CARGO_BIN_EXE_relapse"))
        .args(["dump", "program", "model.o"])
        .current_dir(dir)
        .output()
        .unwrap();
    let text = String::from_utf8(dump.stdout).unwrap();
    move |function: &str| {
        let from = text.find(&format!("\nfunction @{function}(")).unwrap() + 1;
        let body = text[from..].split("\n\nfunction").next().unwrap();
        let is_instruction = |line: &&str| {
            line.split_whitespace().next().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit()))
                && !line.contains("slots, sites")
        };
        body.lines().filter(is_instruction).map(str::to_owned).collect()
    }
}

/// What the program prints with an intervention in the only instruction of a function that has
/// this in its text.
fn with(function: &str, part: &str, occurrence: u64, value: u64) -> Result<String, String> {
    let dir = tempfile::tempdir().unwrap();
    let code = model(dir.path())(function);
    let places: Vec<usize> = (0..code.len()).filter(|n| code[*n].contains(part)).collect();
    assert_eq!(places.len(), 1, "{part:?} is in {places:?} of {code:#?}");
    let intervention = Intervention {
        function: function.to_owned(),
        length: code.len() as u32,
        index: places[0] as u32,
        occurrence,
        value,
    };
    run(dir.path(), &intervention)
}

fn run(dir: &Path, intervention: &Intervention) -> Result<String, String> {
    fs::write(dir.join("p.c"), format!("{SOURCE}{intervention}\n")).unwrap();
    let made = cc(dir, "plain", &["-O1", "-Wall", "-Werror", "p.c", "-o", "p"]);
    if !made.status.success() {
        return Err(String::from_utf8(made.stderr).unwrap());
    }
    let ran = Command::new(dir.join("p")).output().unwrap();
    Ok(String::from_utf8(ran.stdout).unwrap())
}

#[test]
fn a_branch_goes_the_other_way_once() {
    // pick(3) is -3 instead of 3.
    assert_eq!(with("pick", "branch", 3, 0).unwrap(), "7:0:0.0 7:1:0.5 7:-1:1.0 7:-4:1.5 7:-8:2.0 -8\n");
}

#[test]
fn a_computed_value_is_another_one() {
    assert_eq!(
        with("pick", "srem", 1, 0).unwrap(),
        "7:0:0.0 7:-1:0.5 7:-3:1.0 7:0:1.5 7:-4:2.0 -4\n",
        "`i % 2` is 0 for 1"
    );
}

#[test]
fn a_stored_value_is_another_one_from_then_on() {
    assert_eq!(with("main", "store", 2, 100).unwrap(), "7:0:0.0 7:1:0.5 7:100:1.0 7:103:1.5 7:99:2.0 99\n");
}

#[test]
fn an_assignment_to_a_register_is_another_one() {
    assert_eq!(with("main", "= 7 ", 4, 9).unwrap(), PLAIN.replace("7:-2", "9:-2"));
}

#[test]
fn a_double_is_another_one() {
    let value = 0.25_f64.to_bits();
    assert_eq!(with("half", "fdiv", 4, value).unwrap(), PLAIN.replace("2.0", "0.2"));
}

#[test]
fn a_moment_that_never_comes_changes_nothing() {
    assert_eq!(with("pick", "branch", 5, 0).unwrap(), PLAIN);
}

#[test]
fn what_cannot_be_done_does_not_compile() {
    let dir = tempfile::tempdir().unwrap();
    let code = model(dir.path())("pick");
    let good = Intervention {
        function: "pick".to_owned(),
        length: code.len() as u32,
        index: 0,
        occurrence: 0,
        value: 0,
    };
    let refused = |wanted: Intervention, why: &str| {
        let words = run(dir.path(), &wanted).unwrap_err();
        assert!(words.contains(why), "{words}");
    };
    refused(Intervention { function: "pack".to_owned(), ..good.clone() }, "no model of it");
    refused(Intervention { length: 3, ..good.clone() }, "another number of instructions");
    refused(Intervention { index: 99, ..good }, "no instruction of LLVM ends there");
    fs::write(dir.path().join("p.c"), format!("{SOURCE}#pragma relapse intervene pick\n")).unwrap();
    let made = cc(dir.path(), "plain", &["-c", "p.c"]);
    assert!(!made.status.success());
    let words = String::from_utf8(made.stderr).unwrap();
    assert!(words.contains("is not understood"), "{words}");
}
