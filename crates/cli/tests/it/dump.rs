//! `relapse dump`: each stage as text.

use crate::sandbox::Sandbox;

const PROGRAM: &str = r#"
#include <stdio.h>
static int square(int x) { return x * x; }
int main(int argc, char **argv) {
    int n = argc + (argv == 0);
    if (scanf("%d", &n) != 1) return 1;
    printf("%d squared is %d (%s)\n", n, square(n), "really");
    return 0;
}
"#;

fn recorded() -> Sandbox {
    let mut sandbox = Sandbox::with_program("square", PROGRAM);
    let output = sandbox.record("./square", "12\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "12 squared is 144 (really)\n");
    sandbox
}

/// What a store to a bit-field defines, and a load of one uses; a word that something else
/// may have written since it was loaded is stored as a whole.
#[test]
fn bits_of_words() {
    let mut sandbox = Sandbox::with_program(
        "bits",
        r#"
struct s { unsigned a : 3, b : 5; int c : 9; };
unsigned flags, other;
void set(struct s *p, int x) {
    p->a = x;
    p->c = x;
    p->b = 0;
}
int get(struct s *p) {
    return p->b + p->c;
}
void words(int x) {
    flags |= 4;
    flags &= ~8u;
    flags = flags & ~0xf0u | (other = x) & 0xf0;
    flags = flags & ~0xf0u | x & 0x1f0;
    int named = flags;
}
int main(void) {
    return flags & 4;
}
"#,
    );
    let text = sandbox.quietly("relapse dump program bits");
    let mut found = Vec::new();
    let mut before = "";
    for line in text.lines() {
        let place = line.rsplit("bits.c:").next().and_then(|p| p.split(':').next());
        if let (Some(bits), Some(place)) = (before.trim().strip_prefix("; bits "), place) {
            let what = if line.contains("store.") { "defines" } else { "uses" };
            let mask = bits.split(' ').next().unwrap_or(bits);
            found.push(format!("{place} {what} {mask}"));
        }
        before = line;
    }
    // Each store is preceded by the load of what it puts back.
    let expected = [
        "5 uses 0xfffffff8",
        "5 defines 0x7",
        "6 uses 0xfffe00ff",
        "6 defines 0x1ff00",
        "7 uses 0xffffff07",
        "7 defines 0xf8",
        "10 uses 0xf8",
        "10 uses 0x1ff00",
        "13 defines 0x4",
        "14 uses 0xfffffff7",
        "14 defines 0x8",
        "15 uses 0xffffff0f",
        "16 uses 0xffffff0f",
        "20 uses 0x4",
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_program_model() {
    let mut sandbox = Sandbox::with_program("square", PROGRAM);
    sandbox.run("relapse dump program square --function square");
    sandbox.run("relapse dump program square --function sq");
    sandbox.run("relapse dump program square --opaque");
    sandbox.run("relapse dump program square.c");
    sandbox.run("relapse dump program /bin/true");
    sandbox.run("relapse dump program missing");
    assert_session!(sandbox, @r#"
    $ relapse dump program square --function square
    function @square(i32 r0) -> i32  ; square.c:3
      2 slots, sites from 17
      parameter 1 x: int  ; square.c:3
    b0:
      ; x is i32 r0
      [N]  r1 = mul.i32 r0, r0  ; square.c:3:37
      [N]  return i32 r1  ; square.c:3:28

    $ relapse dump program square --function sq
    [stderr] relapse: there is no function sq
    [stderr]  Similar: square.
    [exit 1]
    $ relapse dump program square --opaque
    0 of 2 functions run as external code
    $ relapse dump program square.c
    [stderr] relapse: failed to read square.c: failed to parse the object file: Unknown file magic
    [exit 3]
    $ relapse dump program /bin/true
    [stderr] relapse: /bin/true holds no program model
    [stderr]  Build it with `relapse cc`.
    [exit 3]
    $ relapse dump program missing
    [stderr] relapse: failed to read missing: No such file or directory (os error 2)
    [exit 2]
    "#);
}

#[test]
fn the_program_model_as_json() {
    let mut sandbox = Sandbox::with_program("square", PROGRAM);
    let answer: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse dump program square --json")).unwrap();
    assert_eq!(answer["schema"], "relapse.program/1");
    let functions = answer["modules"][0]["functions"].as_array().unwrap();
    let names: Vec<&str> = functions.iter().map(|f| f["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"main") && names.contains(&"square"), "{names:?}");
}

#[test]
fn a_function_that_cannot_be_modelled_is_named() {
    let mut sandbox = Sandbox::with_program(
        "odd",
        r#"
        typedef int v4 __attribute__((vector_size(16)));
        v4 add(v4 a, v4 b) { return a + b; }
        int main(void) { v4 a = {1, 2, 3, 4}; a = add(a, a); return a[3] - 8; }"#,
    );
    let text = sandbox.quietly("relapse dump program odd --opaque");
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse dump program odd --opaque --json")).unwrap();
    let opaque = json["opaque"].as_array().unwrap();
    let total = opaque.len() + usize::try_from(json["modelled"].as_u64().unwrap()).unwrap();
    assert!(
        text.ends_with(&format!("{} of {total} functions run as external code\n", opaque.len())),
        "{text}"
    );
    // Whatever could not be modelled, the program runs and replays.
    assert!(sandbox.record("./odd", "").status.success());
    sandbox.quietly("relapse replay run");
}

#[test]
fn steps() {
    let mut sandbox = recorded();
    sandbox.run("relapse dump steps run --function square");
    sandbox.run("relapse dump steps run --function cube");
    sandbox.run("relapse dump steps run --stream t7");
    assert_session!(sandbox, @r#"
    $ relapse dump steps run --function square
    p[PID].0/t0
      [N]  square square.c:3  r1 = mul.i32 r0, r0  = 144
      [N]  square square.c:3  return i32 r1
    $ relapse dump steps run --function cube
    p[PID].0/t0
    [stderr] relapse: no step fits the filters
    [exit 1]
    $ relapse dump steps run --stream t7
    [stderr] relapse: the recording has no stream t7
    [exit 2]
    "#);
}

#[test]
fn steps_are_the_same_wherever_one_starts() {
    let mut sandbox = recorded();
    let all = sandbox.quietly("relapse dump steps run --json");
    let later = sandbox.quietly("relapse dump steps run --json --from 3 --to 9");
    let number =
        |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["instruction"].as_u64();
    let expected: Vec<&str> =
        all.lines().filter(|l| number(l).is_some_and(|n| (3..9).contains(&n))).collect();
    assert!(expected.len() >= 6);
    assert_eq!(later.lines().skip(1).collect::<Vec<_>>(), expected);
}

#[test]
fn input_and_output() {
    let mut sandbox = recorded();
    let answer: serde_json::Value =
        serde_json::from_str(&sandbox.quietly("relapse dump io run --json")).unwrap();
    assert_eq!(answer["schema"], "relapse.io/1");
    let events = answer["processes"][0]["events"].as_array().unwrap();
    let find = |kind: &str| events.iter().find(|e| e["source"]["kind"] == kind).expect(kind);
    let argv = find("argv");
    assert_eq!((argv["direction"].as_str(), argv["bytes"].as_str()), (Some("in"), Some("./square")));
    // Standard input is a pipe here, and says so.
    let input = events
        .iter()
        .find(|e| e["source"]["fd"] == 0 && e["direction"] == "in" && e["source"]["kind"] != "argv");
    assert_eq!(input.expect("standard input")["offset"], 0);
    let output = events.iter().find(|e| e["direction"] == "out").expect("output");
    assert_eq!(output["bytes"], "12 squared is 144 (really)\\n");
    assert_eq!(output["line"], 7);
    let pieces: Vec<(u64, &str)> = output["pieces"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|p| Some((p["argument"].as_u64()?, p["text"].as_str()?)))
        .collect();
    assert_eq!(pieces, [(0, "12"), (1, "144"), (2, "really")]);
}

#[test]
fn the_log() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse dump recording run");
    for needed in ["command ./square", "Enter main(", "Source argv 0", "End status 0", "main square.c:7"] {
        assert!(text.contains(needed), "{needed} is missing in\n{text}");
    }
    assert!(sandbox.quietly("relapse dump recording run --stream t0").contains("Enter main("));
    assert!(!sandbox.quietly("relapse dump recording run --brief").contains("Enter main("));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let sandbox = recorded();
    let relapse = env!("CARGO_BIN_EXE_relapse").replace(' ', "\u{b7}");
    let output = sandbox.execute(&format!("sh -c {relapse}·dump·program·square·|·head·-n1"), "");
    assert!(output.status.success());
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_timeline() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse dump timeline run --json");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    let stream = &answer["streams"][0];
    let (instructions, segments) = (&stream["instructions"], stream["segments"].as_array().unwrap());
    assert!(instructions.as_u64().unwrap() > 5, "{text}");
    assert_eq!(segments.first().unwrap()["first"], 0, "{text}");
    assert_eq!(&segments.last().unwrap()["end"], instructions, "{text}");
    let inputs: u64 = segments.iter().filter_map(|segment| segment["inputs"].as_u64()).sum();
    let outputs: u64 = segments.iter().filter_map(|segment| segment["outputs"].as_u64()).sum();
    assert_eq!((inputs > 0, outputs), (true, 1), "{text}");
    assert!(stream["bytes"].is_null(), "so short a run is replayed faster than it is read: {text}");
    let listed = sandbox.quietly("relapse dump timeline run");
    assert!(listed.contains("t0: ") && listed.contains("first"), "{listed}");
    let output = sandbox.execute("relapse dump timeline square.c", "");
    assert_eq!(output.status.code(), Some(3), "a file that is no recording");
}

#[test]
fn lines_are_counted_over_all_runs_of_them() {
    let mut sandbox = recorded();
    let text = sandbox.quietly("relapse dump lines run");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let expected = ["3", "5", "6", "7", "8", "9"].map(|line| format!("square.c:{line}"));
    assert_eq!(lines.iter().map(|line| line[1]).collect::<Vec<_>>(), expected);
    assert!(lines.iter().all(|line| line[0] == "1"), "{text}");
}

/// A store reaches the loads behind it, a branch decides what it guards, and a result goes back to the call.
#[test]
fn dependences_are_those_of_any_run() {
    const BRANCHES: &str = "\
#include <stdio.h>
static int limit = 9;
static int twice(int x) {
    return x * 2;
}
int main(int argc, char **argv) {
    int a = argc, b = 1;
    if (a > limit)
        b = 2;
    else
        limit = 3;
    b = b + 1;
    int c = twice(b);
    b = 0;
    printf(\"%d\\n\", c);
    return b;
}
";
    let mut sandbox = Sandbox::new();
    sandbox.file("branches.c", BRANCHES);
    sandbox.quietly("relapse cc -g -O0 -o branches branches.c");
    sandbox.record("./branches", "");
    let output = sandbox.execute("relapse dump dependences run --json", "");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let line =
        |n: &serde_json::Value| answer["lines"][n.as_u64().unwrap() as usize]["line"].as_u64().unwrap();
    let edges: std::collections::BTreeSet<(u64, u64)> =
        answer["edges"].as_array().unwrap().iter().map(|edge| (line(&edge[0]), line(&edge[1]))).collect();
    let needs = |line: u64| {
        edges.iter().filter(|(_, by)| *by == line).map(|(needed, _)| *needed).collect::<Vec<u64>>()
    };
    // main's entry is its own line; no store of `limit` is before line 8, but main may run again.
    assert_eq!(needs(9), [8]);
    assert_eq!(needs(12), [6, 7, 9]);
    assert_eq!(needs(13), [4, 6, 12]);
    assert_eq!(needs(4), [3]);
    // Only the last store to `b` reaches the end.
    assert_eq!(needs(16), [6, 14]);
}
