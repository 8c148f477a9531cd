//! Checks with the real clang, of units recorded as the compiler driver records them.

use super::clang::dependencies;
use super::*;
use std::sync::atomic::AtomicBool;

static GO_ON: AtomicBool = AtomicBool::new(false);

/// A program of three units, and a directory with the records of its build.
struct Program {
    dir: tempfile::TempDir,
}

const MAIN: &str = "#include \"both.h\"\nint twice(int);\nint main(int n, char **v) {\n  (void)v;\n  return twice(n) + LIMIT;\n}\n";
const TWICE: &str = "#include \"../both.h\"\nint twice(int n) {\n  int r = 0;\n  if (n > LIMIT)\n    r = n * 2;\n  return r;\n}\n";
const ALONE: &str = "int alone(void) {\n  return 1;\n}\n";

impl Program {
    fn new() -> Program {
        let program = Program { dir: tempfile::tempdir().unwrap() };
        program.tell(&[]);
        program
    }

    /// Records the units, with these options for all of them.
    fn tell(&self, options: &[&str]) {
        let mut text = String::new();
        for (directory, source) in
            [("\0tree\0", "main.c"), ("\0tree\0/sub", "\0tree\0/sub/twice.c"), ("\0tree\0", "./alone.c")]
        {
            let mut arguments = vec!["-I\0tree\0/inc"];
            arguments.extend(options);
            let unit = serde_json::json!({
                "directory": directory, "source": source, "language": "c", "arguments": arguments
            });
            text += &format!("{unit}\n");
        }
        fs::create_dir_all(self.dir.path().join("units")).unwrap();
        fs::write(self.dir.path().join("units/units"), text).unwrap();
    }

    fn units(&self) -> Units {
        Units::read(&self.dir.path().join("units")).unwrap()
    }

    /// A tree with the program, in which `files` have the given contents.
    fn tree(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        let tree = self.dir.path().join(name);
        let usual = [
            ("main.c", MAIN),
            ("sub/twice.c", TWICE),
            ("alone.c", ALONE),
            ("inc/both.h", "#define LIMIT 3\n"),
        ];
        for (file, text) in usual.iter().chain(files) {
            fs::create_dir_all(tree.join(file).parent().unwrap()).unwrap();
            fs::write(tree.join(file), text).unwrap();
        }
        // The first is found by `-I`, the second beside the source.
        fs::write(tree.join("both.h"), "#include \"inc/both.h\"\n").unwrap();
        tree
    }
}

fn all(units: &Units, tree: &Path) -> Checked {
    units.check(Path::new("clang-22"), tree, None, 2, &GO_ON).unwrap()
}

fn some(units: &Units, tree: &Path, touched: &[&str]) -> Checked {
    let touched = touched.iter().map(PathBuf::from).collect();
    units.check(Path::new("clang-22"), tree, Some(&touched), 2, &GO_ON).unwrap()
}

fn shown(diagnostics: &[Diagnostic]) -> Vec<String> {
    let one = |d: &Diagnostic| {
        let (option, function) = (d.option.as_deref().unwrap_or("-"), d.function.as_deref().unwrap_or("-"));
        format!("{}:{} {:?} {option} in {function}", d.file.display(), d.line, d.severity)
    };
    diagnostics.iter().map(one).collect()
}

#[test]
fn a_sound_program_has_nothing_said_about_it() {
    let program = Program::new();
    let (units, tree) = (program.units(), program.tree("a", &[]));
    assert_eq!(all(&units, &tree), Checked { units: 3, ..Checked::default() });
    assert!(!units.has_cpp() && units.len() == 3);
    // No temporary files remain.
    assert_eq!(fs::read_dir(program.dir.path().join("units")).unwrap().count(), 1);
}

#[test]
fn errors_and_suspicions_are_found_in_another_tree() {
    let program = Program::new();
    let units = program.units();
    let good = all(&units, &program.tree("good", &[]));
    let bad = program.tree(
        "bad",
        &[
            ("sub/twice.c", &TWICE.replace("int r = 0", "int r")),
            ("alone.c", "int alone(void) {\n  return one;\n}\nint second(void) {\n  return 2\n}\n"),
        ],
    );
    let found = all(&units, &bad);
    assert_eq!(
        shown(&found.diagnostics),
        [
            "sub/twice.c:4 Warning sometimes-uninitialized in twice",
            "alone.c:2 Error - in alone",
            "alone.c:5 Error - in second"
        ]
    );
    assert_eq!(found.errors().count(), 2);
    assert_eq!(found.diagnostics[0].notes[0].line, 6);
    let new = new_suspicious(&found.diagnostics, &[&good.diagnostics]);
    assert_eq!(shown(&new), ["sub/twice.c:4 Warning sometimes-uninitialized in twice"]);
    assert_eq!(new_suspicious(&found.diagnostics, &[&good.diagnostics, &found.diagnostics]), []);
}

#[test]
fn only_what_is_touched_is_asked_about_and_nothing_twice() {
    let program = Program::new();
    let units = program.units();
    let tree = program.tree("a", &[]);
    let touched = |names: &[&str]| names.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
    // Nothing is known yet: any of them may include the header.
    assert!(!units.covers(&touched(&["inc/both.h"])));
    assert_eq!(some(&units, &tree, &["inc/both.h"]).units, 3);
    assert!(units.covers(&touched(&["inc/both.h", "alone.c"])));
    assert!(!units.covers(&touched(&["inc/both.h", "grammar.y"])));

    let other = program.tree("b", &[("inc/both.h", "#define LIMIT three\n")]);
    let found = some(&units, &other, &["inc/both.h"]);
    assert_eq!((found.units, found.remembered, found.errors().count()), (2, 0, 2));
    assert_eq!(some(&units, &other, &["alone.c"]).units, 1);
    assert_eq!(some(&units, &other, &["README"]).units, 0);
    // The same contents again, in another tree.
    let again = some(&units, &program.tree("c", &[("inc/both.h", "#define LIMIT three\n")]), &["inc/both.h"]);
    assert_eq!(again, Checked { remembered: 2, ..found });
    assert_eq!(all(&units, &tree).remembered, 3);
}

#[test]
fn a_unit_may_come_to_include_other_files() {
    let program = Program::new();
    let units = program.units();
    let one = program.tree("one", &[]);
    let extra = [
        ("alone.c", "#include \"more.h\"\nint alone(void) {\n  return MORE;\n}\n"),
        ("more.h", "#define MORE x\n"),
    ];
    let two = program.tree("two", &extra);
    all(&units, &one);
    assert_eq!(some(&units, &two, &["alone.c", "more.h"]).errors().count(), 1);
    // From now on the header is a known dependence, and the results for the first tree remain.
    let repaired = program.tree("two", &[extra[0], ("more.h", "#define MORE 1\n")]);
    let found = some(&units, &repaired, &["more.h"]);
    assert_eq!((found.units, found.remembered, found.errors().count()), (1, 0, 0));
    assert_eq!(all(&units, &one).remembered, 3);
    assert_eq!(all(&units, &repaired).remembered, 3);
}

#[test]
fn errors_are_those_of_the_build() {
    let implicit = [("alone.c", "int alone(void) {\n  return other(1);\n}\n")];
    let pointer =
        [("alone.c", "int *alone(void) {\n  return 1;\n}\nint unused(void) {\n  int x;\n  return 1;\n}\n")];
    for (options, files, severity) in [
        (&[] as &[&str], &implicit, Severity::Error),
        (&["-w"], &implicit, Severity::Error),
        (&["-std=gnu89"], &implicit, Severity::Warning),
        (&["-Wno-implicit-function-declaration"], &implicit, Severity::Warning),
        (&["-Wno-error=implicit-function-declaration", "-Werror"], &implicit, Severity::Warning),
        (&["-std=gnu89", "-Werror=implicit-function-declaration"], &implicit, Severity::Error),
        (&["-Wno-int-conversion", "-Wall", "-Werror"], &pointer, Severity::Warning),
        (&["-w", "-Wfatal-errors"], &pointer, Severity::Error),
    ] {
        let program = Program::new();
        program.tell(options);
        let tree = program.tree("a", files);
        let found = all(&program.units(), &tree);
        assert_eq!(found.diagnostics[0].severity, severity, "{options:?}: {:?}", found.diagnostics);
        // As the compiler itself reports it.
        let alone = std::process::Command::new("clang-22")
            .args(options.iter().filter(|option| **option != "-Werror"))
            .args(["-fsyntax-only", "alone.c"])
            .current_dir(&tree)
            .output()
            .unwrap();
        assert_eq!(alone.status.success(), severity == Severity::Warning, "{options:?}");
    }
}

#[test]
fn what_is_missing_may_be_made_by_the_build() {
    let program = Program::new();
    let units = program.units();
    let tree = program.tree("a", &[("alone.c", "#include \"generated.h\"\nint alone(void) { return 1 }\n")]);
    let found = all(&units, &tree);
    assert_eq!(found.unclear, [PathBuf::from("alone.c")]);
    assert_eq!((found.units, found.errors().count()), (3, 0));
    fs::write(tree.join("generated.h"), "").unwrap();
    assert_eq!(all(&units, &tree).errors().count(), 1);
    // A source that does not exist is not checked.
    fs::remove_file(tree.join("alone.c")).unwrap();
    assert_eq!(all(&units, &tree).units, 2);
}

#[test]
fn a_header_says_things_once() {
    let program = Program::new();
    let header = "#define LIMIT 3\nstatic inline int h(void) {\n  int q;\n  return q;\n}\n";
    let found = all(&program.units(), &program.tree("a", &[("inc/both.h", header)]));
    assert_eq!(shown(&found.diagnostics), ["inc/both.h:4 Warning uninitialized in h"]);
}

#[test]
fn a_compiler_that_fails_is_unclear_and_one_that_is_stopped_an_error() {
    let program = Program::new();
    let (units, tree) = (program.units(), program.tree("a", &[]));
    let found = units.check(Path::new("/not/there"), &tree, None, 2, &GO_ON).unwrap();
    assert_eq!((found.unclear.len(), found.diagnostics.len()), (3, 0));
    let stopped = AtomicBool::new(true);
    let result = units.check(Path::new("clang-22"), &tree, None, 2, &stopped);
    assert!(matches!(result, Err(Error::Cancelled)));
}

#[test]
fn rules_for_make() {
    let rule = "unit: a.c ../b\\ c.h \\\n  /x/d$$e.h \\\n f\\#.h\n";
    assert_eq!(dependencies(rule), ["a.c", "../b c.h", "/x/d$e.h", "f#.h"]);
    assert!(dependencies("").is_empty());
}
