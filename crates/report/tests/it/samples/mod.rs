//! Sample answers for the tests, as the explanation of real programs would give them.

pub mod schema;

use explain::answer::{
    Answer, Cause, Commit, Effort, FollowUp, Hunk, Link, Observation, OutputDifference, Place, Proof, Tried,
    ValuePair, Version,
};

pub fn strings(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}

pub fn place(file: &str, line: u32, column: u32, function: &str, text: &str) -> Place {
    Place { file: file.into(), line, column, function: function.into(), text: text.into() }
}

pub fn value(name: &str, good: &str, bad: &str) -> ValuePair {
    let some = |value: &str| (!value.is_empty()).then(|| value.to_owned());
    ValuePair { name: name.into(), good: some(good), bad: some(bad) }
}

/// A proof in which everything is verified.
fn shown() -> Proof {
    let yes = || "yes".to_owned();
    Proof {
        needed: yes(),
        sufficient: yes(),
        sane: yes(),
        minimal: yes(),
        examined_by: strings(&["-O0", "AddressSanitizer"]),
        left_out: strings(&["MemorySanitizer, as the C++ library is not built for it"]),
    }
}

/// An answer that contains only the names of the versions.
pub fn blank() -> Answer {
    Answer {
        schema: "relapse.explain/2".into(),
        verified: false,
        not_verified: None,
        method: "auto".into(),
        good: Version { name: "good".into(), end: "exit 0".into(), ..Version::default() },
        bad: Version { name: "bad".into(), end: "exit 1".into(), ..Version::default() },
        build: String::new(),
        test: String::new(),
        observation: Observation::default(),
        root: Vec::new(),
        auxiliary: Vec::new(),
        causes: Vec::new(),
        alternate: None,
        no_alternate: None,
        passing: None,
        trials: Effort::default(),
        notes: Vec::new(),
        ..Answer::default()
    }
}

pub const SUM_GOOD: &str = "\
static int sorted = 1;
void f(int x, int y, int z) {
    int sum = 0;
    if (!sorted) {
        if (x > y)
            sum += x;
        else sum += y;
    } else sum += x;
    if (z > 0)
        sum += z;
    else sum += 0 - z;
    printf(\"%d\\n\", sum);
    assert(sum == 4);
}
";

pub const SUM_BAD: &str = "\
static int sorted = 0;
void f(int x, int y, int z) {
    int sum = 0;
    if (!sorted) {
        if (x < y)
            sum += x;
        else sum += y;
    } else sum += x;
    if (z > 0)
        sum += 0 - z;
    else sum += z;
    printf(\"%d\\n\", sum);
    assert(sum == 4);
}
";

fn in_sum(line: usize, column: u32) -> Option<Place> {
    let text = SUM_BAD.lines().nth(line - 1).unwrap();
    Some(place("sum.c", u32::try_from(line).unwrap(), column, "f", text))
}

fn in_good_sum(line: usize, column: u32) -> Option<Place> {
    let text = SUM_GOOD.lines().nth(line - 1).unwrap();
    Some(place("sum.c", u32::try_from(line).unwrap(), column, "f", text))
}

fn sum_hunk(change: u32, line: u32, old: &str, new: &str) -> Hunk {
    let around = |from: u32, to: u32| {
        (from..to).map(|line| SUM_BAD.lines().nth(line as usize - 1).unwrap().to_owned()).collect()
    };
    Hunk {
        change,
        file: "sum.c".into(),
        old_file: None,
        old_start: line,
        old_lines: 1,
        new_start: line,
        new_lines: 1,
        old_text: strings(&[old]),
        new_text: strings(&[new]),
        before: around(line - 2, line),
        after: around(line + 1, line + 3),
        guilty_new: vec![0],
        guilty_old: vec![],
        heading: "void f(int x, int y, int z) {".into(),
        kind: "lines".into(),
        commit: Some(Commit {
            id: "3f2a9c1d04be7a6c55e0".into(),
            subject: "Sort by the other end".into(),
            date: "2025-03-02".into(),
        }),
        ..Hunk::default()
    }
}

fn sum_observation() -> Observation {
    Observation {
        kind: "assertion".into(),
        summary: "The assertion `sum == 4` failed.".into(),
        place: in_sum(13, 5),
        good_place: in_good_sum(13, 5),
        stack: vec![in_sum(13, 5).unwrap(), place("sum.c", 17, 5, "main", "    f(3, 2, 1);")],
        output: None,
        stderr: strings(&["sum: sum.c:13: f: Assertion `sum == 4' failed."]),
        memory_errors: Vec::new(),
        earlier: None,
        step: Some(41),
    }
}

/// The result of running bad with another value at a step.
fn link(outcome: &str) -> Option<Link> {
    Some(Link { outcome: outcome.into(), unit: "sum.c".into(), ..Link::default() })
}

/// The running example: two changes that are needed together.
pub fn running() -> Answer {
    let five = Cause {
        id: 3,
        kind: "branch".into(),
        what: "the branch was not taken; in good it was".into(),
        how: "controls whether the next step runs".into(),
        place: in_sum(5, 13),
        good_place: in_good_sum(5, 13),
        formula: None,
        values: vec![value("x > y, x < y", "1", "0"), value("x", "3", "3"), value("y", "2", "2")],
        change: Some(1),
        step: Some(20),
        link: link("passes"),
        children: vec![],
    };
    let seven = Cause {
        id: 2,
        kind: "value".into(),
        what: "sum became 2".into(),
        how: "sum".into(),
        place: in_sum(7, 18),
        good_place: None,
        formula: None,
        values: vec![value("sum", "", "2"), value("y", "2", "2")],
        change: None,
        step: Some(24),
        link: link("same"),
        children: vec![five],
    };
    let ten = Cause {
        id: 1,
        kind: "value".into(),
        what: "sum became 1".into(),
        how: "sum".into(),
        place: in_sum(10, 13),
        good_place: in_good_sum(10, 13),
        formula: None,
        values: vec![value("sum", "4", "1"), value("z", "1", "1")],
        change: Some(2),
        step: Some(33),
        link: None,
        children: vec![seven],
    };
    let nine = Cause {
        id: 4,
        kind: "branch".into(),
        what: "the branch was taken".into(),
        how: "controls whether the next step runs".into(),
        place: in_sum(9, 11),
        good_place: in_good_sum(9, 11),
        formula: None,
        values: vec![value("z", "1", "1")],
        change: None,
        step: Some(28),
        link: None,
        children: vec![],
    };
    let ten = Cause { children: ten.children.into_iter().chain([nine]).collect(), ..ten };
    let failure = Cause {
        id: 0,
        kind: "failure".into(),
        what: "the assertion failed".into(),
        how: String::new(),
        place: in_sum(13, 5),
        good_place: in_good_sum(13, 5),
        formula: None,
        values: vec![value("sum", "4", "1")],
        change: None,
        step: Some(41),
        link: None,
        children: vec![ten],
    };
    Answer {
        verified: true,
        proof: shown(),
        good: Version {
            name: "v1.0".into(),
            commit: Some("3f2a9c1d04be77a1".into()),
            end: "exit 0".into(),
            recording: None,
        },
        bad: Version { name: ".".into(), commit: None, end: "killed by SIGABRT".into(), recording: None },
        build: "make".into(),
        test: "./sum 3 2 1".into(),
        observation: sum_observation(),
        root: vec![
            sum_hunk(1, 5, "        if (x > y)", "        if (x < y)"),
            sum_hunk(2, 10, "        sum += z;", "        sum += 0 - z;"),
        ],
        causes: vec![failure],
        alternate: None,
        no_alternate: None,
        passing: None,
        trials: Effort {
            order: vec![0],
            changes: 4,
            candidates: 3,
            builds: 5,
            runs: 7,
            remembered: 2,
            seconds: 3.42,
            log: vec![
                Tried {
                    reverted: vec![2],
                    outcome: "fail".into(),
                    why: "assertion `sum == 4` at sum.c:13".into(),
                },
                Tried { reverted: vec![1, 2], outcome: "pass".into(), why: String::new() },
                Tried {
                    reverted: vec![1],
                    outcome: "fail".into(),
                    why: "assertion `sum == 4` at sum.c:13".into(),
                },
            ],
            ..Effort::default()
        },
        further: vec![FollowUp {
            asks: "where the runs first differ".into(),
            command:
                "relapse diff '/home/me/a long path/recordings/fixed' '/home/me/a long path/recordings/bad' \
                      --first"
                    .into(),
        }],
        ..blank()
    }
}

/// The running example as plain delta debugging answers it.
pub fn unverified() -> Answer {
    let mut answer = running();
    answer.verified = false;
    answer.not_verified = Some("undoing change #2 alone was tried, and the test still fails".into());
    answer.method = "dd".into();
    answer.root.remove(0);
    answer.notes = strings(&[
        "delta debugging trusts failing trials, so it misses causes that need two changes undone together; \
         try `--method auto`",
    ]);
    answer
}

/// A crash through a null pointer after a check was dropped, with auxiliary changes.
pub fn crash() -> Answer {
    let here = place("src/ldebug.c", 812, 21, "luaG_getfuncline", "    int delta = p->lineinfo[pc];");
    let caller =
        place("src/ldebug.c", 309, 17, "collectvalidlines", "      int line = luaG_getfuncline(p, 0);");
    let lua = place("src/ldebug.c", 356, 9, "lua_getinfo", "        collectvalidlines(L, f);");
    let pointer = Cause {
        id: 1,
        kind: "value".into(),
        what: "p->lineinfo was null".into(),
        how: "p->lineinfo".into(),
        place: Some(place(
            "src/lundump.c",
            214,
            3,
            "loadDebug",
            "  f->lineinfo = n ? luaM_newvectorchecked(S->L, n, ls_byte) : NULL;",
        )),
        good_place: Some(place(
            "src/lundump.c",
            209,
            3,
            "loadDebug",
            "  f->lineinfo = n ? luaM_newvectorchecked(S->L, n, ls_byte) : NULL;",
        )),
        formula: None,
        values: vec![value("f->lineinfo", "NULL", "NULL"), value("n", "0", "0")],
        step: Some(88_120),
        ..Cause::default()
    };
    let call = Cause {
        id: 2,
        kind: "call".into(),
        what: "good returned before this call".into(),
        how: "controls whether the next step runs".into(),
        place: Some(caller.clone()),
        formula: None,
        values: vec![value("p->is_vararg", "1", "1")],
        change: Some(17),
        step: Some(120_311),
        link: None,
        children: vec![Cause {
            id: 3,
            kind: "missing".into(),
            what: "the check for stripped functions was not run".into(),
            how: "controls whether the next step runs".into(),
            good_place: Some(place(
                "src/ldebug.c",
                303,
                7,
                "collectvalidlines",
                "  if (p->lineinfo == NULL)",
            )),
            change: Some(17),
            ..Cause::default()
        }],
        ..Cause::default()
    };
    let failure = Cause {
        id: 0,
        kind: "failure".into(),
        what: "reads through a null pointer".into(),
        place: Some(here.clone()),
        formula: None,
        values: vec![value("p->lineinfo", "", "NULL"), value("pc", "", "0")],
        step: Some(120_340),
        link: None,
        children: vec![pointer, call],
        ..Cause::default()
    };
    Answer {
        verified: true,
        proof: shown(),
        good: Version {
            name: "5.4.3".into(),
            commit: Some("eadd8c71787a9d14fce3ef1e50b4a0ef3e8a0a2b".into()),
            end: "exit 0".into(),
            recording: Some(".relapse/good".into()),
        },
        bad: Version {
            name: "5.4.4".into(),
            commit: Some("5d708c3f9cae12820e415d4f89c9eacbe2ab964b".into()),
            end: "killed by SIGSEGV".into(),
            recording: Some(".relapse/bad".into()),
        },
        build: "make -C src linux".into(),
        test: "src/lua t/activelines.lua".into(),
        observation: Observation {
            kind: "signal".into(),
            summary: "killed by SIGSEGV: reads 1 byte at address 0 through p->lineinfo, which is null".into(),
            place: Some(here.clone()),
            good_place: None,
            stack: vec![
                here,
                caller,
                lua,
                place("src/ldblib.c", 131, 8, "db_getinfo", ""),
                place("src/ldo.c", 507, 7, "precallC", ""),
                place("src/lvm.c", 1682, 13, "luaV_execute", ""),
            ],
            output: None,
            stderr: Vec::new(),
            memory_errors: strings(&[
                "db_getinfo (src/ldblib.c:131) writes past the end of `ar`, declared at src/ldblib.c:120",
            ]),
            earlier: None,
            step: Some(120_340),
        },
        root: vec![Hunk {
            change: 17,
            file: "src/ldebug.c".into(),
            old_start: 303,
            old_lines: 2,
            new_start: 303,
            new_lines: 5,
            old_text: strings(&["  if (p->lineinfo == NULL)", "    return;  /* stripped: no lines */"]),
            new_text: strings(&[
                "  if (!p->is_vararg)  /* regular function? */",
                "    i = 0;  /* consider all instructions */",
                "  else {  /* vararg function */",
                "    lua_assert(GET_OPCODE(p->code[0]) == OP_VARARGPREP);",
                "    currentline = nextline(p, currentline, 0);",
            ]),
            before: strings(&["  setobj2s(L, L->top, s2v(L->ci->func));", "  api_incr_top(L);"]),
            after: strings(&[
                "  for (; i < p->sizelineinfo; i++) {",
                "    currentline = nextline(p, currentline, i);",
            ]),
            guilty_new: vec![4],
            guilty_old: vec![0, 1],
            heading: "static void collectvalidlines (lua_State *L, Closure *f) {".into(),
            kind: "lines".into(),
            ..Hunk::default()
        }],
        auxiliary: vec![
            Hunk {
                change: 16,
                file: "src/ldebug.c".into(),
                old_start: 291,
                old_lines: 0,
                new_start: 292,
                new_lines: 1,
                new_text: strings(&["    int i;"]),
                before: strings(&["    const Proto *p = f->l.p;"]),
                after: strings(&["    int currentline = p->linedefined;"]),
                heading: "static void collectvalidlines (lua_State *L, Closure *f) {".into(),
                kind: "lines".into(),
                ..Hunk::default()
            },
            Hunk {
                change: 230,
                file: "src/lopcodes.h".into(),
                old_file: Some("src/opcodes.h".into()),
                kind: "renamed".into(),
                ..Hunk::default()
            },
        ],
        causes: vec![failure],
        alternate: None,
        no_alternate: None,
        passing: None,
        trials: Effort {
            order: vec![0],
            changes: 412,
            candidates: 6,
            builds: 9,
            runs: 8,
            remembered: 0,
            seconds: 74.25,
            log: vec![],
            ..Effort::default()
        },
        ..blank()
    }
}

/// A loop that never ends.
pub fn hang() -> Answer {
    let head = place("scan.c", 40, 5, "skip_blanks", "\twhile (at < end)");
    Answer {
        verified: true,
        proof: shown(),
        bad: Version {
            name: "HEAD".into(),
            commit: Some("c0ffee".into()),
            end: "stopped after 10 s".into(),
            recording: None,
        },
        test: "./scan < blanks.txt".into(),
        observation: Observation {
            kind: "hang".into(),
            summary: "the loop at scan.c:40 did not end within 10 s".into(),
            place: Some(head.clone()),
            ..Observation::default()
        },
        root: vec![Hunk {
            change: 0,
            file: "scan.c".into(),
            old_start: 42,
            old_lines: 1,
            new_start: 41,
            new_lines: 0,
            old_text: strings(&["\t\tat++;"]),
            before: strings(&["\twhile (at < end)", "\t\tif (*at != ' ') break;"]),
            after: strings(&["\treturn at;"]),
            guilty_old: vec![0],
            heading: "skip_blanks".into(),
            kind: "lines".into(),
            ..Hunk::default()
        }],
        causes: vec![Cause {
            id: 0,
            kind: "failure".into(),
            what: "went round 51,200,311 times".into(),
            place: Some(head),
            formula: None,
            values: vec![value("at - text", "17", "3")],
            children: vec![Cause {
                id: 1,
                kind: "missing".into(),
                what: "at was not moved on".into(),
                how: "at".into(),
                good_place: Some(place("scan.c", 42, 3, "skip_blanks", "\t\tat++;")),
                change: Some(0),
                ..Cause::default()
            }],
            ..Cause::default()
        }],
        alternate: None,
        no_alternate: None,
        passing: None,
        trials: Effort {
            order: vec![0],
            changes: 1,
            candidates: 1,
            builds: 1,
            runs: 1,
            remembered: 0,
            seconds: 0.8,
            log: vec![],
            ..Effort::default()
        },
        ..blank()
    }
}

/// Output that good wrote and bad did not, or output that differs.
pub fn output(missing: bool) -> Answer {
    let (good, bad) = if missing {
        ("done: 3 files", "")
    } else {
        ("total 漢字 0 0.09 2 kB", "total 漢字 0 0.08 1 kB")
    };
    let at = place("report.c", 88, 3, "finish", "  printf(\"total %s\\n\", text);");
    Answer {
        verified: true,
        proof: shown(),
        observation: Observation {
            kind: if missing { "missing-output" } else { "output" }.into(),
            summary: if missing { "a line of standard output is missing" } else { "standard output differs" }
                .into(),
            place: (!missing).then(|| at.clone()),
            good_place: Some(at),
            output: Some(OutputDifference {
                sink: "stdout".into(),
                offset: 412,
                line: 7,
                good: good.into(),
                bad: bad.into(),
            }),
            ..Observation::default()
        },
        root: vec![Hunk {
            change: 3,
            file: "data/limits.txt".into(),
            old_start: 1,
            old_lines: 1,
            new_start: 1,
            new_lines: 1,
            old_text: strings(&["precision 2"]),
            new_text: strings(&["precision 1"]),
            kind: "lines".into(),
            ..Hunk::default()
        }],
        alternate: None,
        no_alternate: None,
        passing: None,
        trials: Effort {
            order: vec![0],
            changes: 4,
            candidates: 4,
            builds: 0,
            runs: 6,
            remembered: 1,
            seconds: 0.2,
            log: vec![],
            ..Effort::default()
        },
        notes: strings(&["`data/limits.txt` is no source file: how it was used could not be followed"]),
        ..blank()
    }
}

/// A chain of `length` causes, with the change at its far end.
pub fn chain(length: u32) -> Answer {
    let mut cause: Option<Cause> = None;
    for id in (0..length).rev() {
        cause = Some(Cause {
            id,
            kind: if id == 0 { "failure" } else { "value" }.into(),
            what: format!("v{id} became {id}"),
            how: if id == 0 { String::new() } else { format!("v{id}") },
            place: Some(place(
                "chain.c",
                10 + id,
                3,
                "step",
                &format!("  v{} = v{id};", id.max(1) - u32::from(id > 0)),
            )),
            good_place: Some(place(
                "chain.c",
                10 + id,
                3,
                "step",
                &format!("  v{} = v{id};", id.max(1) - u32::from(id > 0)),
            )),
            formula: None,
            values: vec![value(&format!("v{id}"), "1", "2")],
            change: (id + 1 == length).then_some(0),
            step: Some(u64::from(length - id)),
            link: None,
            children: cause.into_iter().collect(),
        });
    }
    Answer { causes: cause.into_iter().collect(), ..running() }
}

/// A wide and bushy forest of `size` causes.
pub fn bush(size: u32) -> Answer {
    let mut made: Vec<Cause> = (0..size)
        .map(|id| Cause {
            id,
            kind: if id == 0 { "failure" } else { "value" }.into(),
            what: format!("cell[{id}] became {}", id * 7 % 13),
            how: if id == 0 { String::new() } else { format!("cell[{id}]") },
            place: Some(place(
                "src/grid.c",
                20 + id % 90,
                5,
                "relax",
                "    cell[i] = (left + right + up + down) / 4;",
            )),
            formula: None,
            values: vec![value("cell[i]", &(id * 5 % 11).to_string(), &(id * 7 % 13).to_string())],
            change: (id % 1999 == 1998).then_some(id / 1999),
            ..Cause::default()
        })
        .collect();
    for index in (1..made.len()).rev() {
        let child = made.pop().unwrap();
        // A tree with some long branches and many short ones.
        let parent = if index % 3 == 0 { index - 1 } else { (index - 1) / 2 };
        made[parent].children.insert(0, child);
    }
    Answer { causes: made, ..running() }
}

/// Strings that would act as markup, escapes or commands if they were not escaped.
pub const HOSTILE: &[&str] = &[
    "</script><script>document.title='owned'</script>",
    "<!--<script>",
    "]]><img src=x onerror=\"document.title='owned'\">",
    "'\"><svg onload=document.title='owned'>",
    "\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}",
    "\u{202e}esrever\u{2066}\u{feff}",
    "a\0b\rc\nd\u{2028}e\u{2029}",
    "```\n# heading\n| a | b |\n<details>",
    "javascript:alert(1)",
    "&lt;&amp;&#x3c;",
    "${7*7}{{7*7}}%s%n\\u003c",
    "漢字かな交じり文 👩‍🚀 e\u{301}\u{301}\u{301}",
];

/// An answer in which every string is hostile.
pub fn hostile() -> Answer {
    let bad = |index: usize| HOSTILE[index % HOSTILE.len()].to_owned();
    let all: Vec<String> = (0..HOSTILE.len()).map(bad).collect();
    let at = |index: usize| Place {
        file: bad(index),
        line: 3,
        column: 2,
        function: bad(index + 1),
        text: bad(index + 2),
    };
    let hunk = |index: usize| Hunk {
        change: u32::try_from(index).unwrap(),
        file: bad(index),
        old_file: Some(bad(index + 1)),
        old_start: 1,
        fixed_start: None,
        old_lines: u32::try_from(all.len()).unwrap(),
        new_start: 1,
        new_lines: u32::try_from(all.len()).unwrap(),
        old_text: all.clone(),
        new_text: all.iter().rev().cloned().collect(),
        before: all.clone(),
        after: all.clone(),
        guilty_new: vec![0, 3, 400],
        guilty_old: vec![1],
        heading: bad(index + 2),
        kind: if index == 0 { "lines".into() } else { bad(index) },
        part: true,
        of_test: true,
        commit: Some(Commit { id: bad(index), subject: bad(index + 1), date: bad(index + 2) }),
    };
    let cause = |id: u32, children: Vec<Cause>| Cause {
        id,
        kind: bad(id as usize),
        what: bad(id as usize + 1),
        how: bad(id as usize + 2),
        place: Some(at(id as usize)),
        good_place: Some(at(id as usize + 1)),
        formula: None,
        values: all.iter().map(|text| value(text, text, "x")).collect(),
        change: Some(0),
        step: Some(u64::MAX),
        link: Some(Link { outcome: "same".into(), unit: bad(id as usize + 1), ..Link::default() }),
        children,
    };
    let leaves: Vec<Cause> =
        (1..=u32::try_from(HOSTILE.len()).unwrap()).map(|id| cause(id, vec![])).collect();
    Answer {
        schema: "relapse.explain/2".into(),
        verified: false,
        not_verified: Some(bad(0)),
        method: bad(1),
        good: Version { name: bad(2), commit: Some(bad(11)), end: bad(4), recording: Some(bad(5)) },
        bad: Version { name: bad(6), commit: Some(bad(7)), end: bad(8), recording: Some(bad(9)) },
        build: bad(10),
        test: bad(0),
        observation: Observation {
            kind: bad(1),
            summary: all.join(" "),
            place: Some(at(3)),
            good_place: Some(at(4)),
            stack: (0..all.len()).map(at).collect(),
            output: Some(OutputDifference {
                sink: bad(0),
                offset: u64::MAX,
                line: u64::MAX,
                good: bad(4),
                bad: bad(11),
            }),
            stderr: strings(&["a\u{1b}[31m<script>alert(1)</script>", "```"]),
            memory_errors: strings(&["a\u{1b}[31m<script>alert(1)</script>", "```"]),
            earlier: None,
            step: Some(u64::MAX),
        },
        root: vec![hunk(0), hunk(1)],
        auxiliary: vec![hunk(2)],
        causes: vec![cause(0, leaves)],
        alternate: None,
        no_alternate: None,
        passing: None,
        trials: Effort {
            order: vec![0],
            changes: u32::MAX,
            candidates: 0,
            builds: 1,
            runs: 1,
            remembered: 1,
            seconds: 1e300,
            log: all
                .iter()
                .map(|text| Tried { reverted: vec![0, 1], outcome: text.clone(), why: text.clone() })
                .collect(),
            ..Effort::default()
        },
        notes: all,
        ..Answer::default()
    }
}

/// All sample answers, by name.
pub fn all() -> Vec<(&'static str, Answer)> {
    vec![
        ("running", running()),
        ("unverified", unverified()),
        ("crash", crash()),
        ("hang", hang()),
        ("output", output(false)),
        ("missing-output", output(true)),
        ("chain", chain(300)),
        ("bush", bush(5000)),
        ("hostile", hostile()),
        ("blank", blank()),
    ]
}
