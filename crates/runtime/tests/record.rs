//! Programs that call the hooks directly, linked with the runtime's object; the tests read back what they
//! recorded.

use recording::event::{Event, source};
use recording::{Process, Recording};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

mod object {
    #![allow(unused)]
    include!("../build-object.rs");
}

fn llvm() -> PathBuf {
    std::env::var_os("LLVM_SYS_221_PREFIX").unwrap_or_else(|| "/usr/lib/llvm-22".into()).into()
}

fn runtime() -> &'static Path {
    static OBJECT: OnceLock<PathBuf> = OnceLock::new();
    OBJECT.get_or_init(|| {
        // Each test may run in a process of its own, in parallel with the others.
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("runtime-{}", std::process::id()));
        std::fs::create_dir_all(&out).unwrap();
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        object::build_runtime_object(&workspace, &llvm(), &out).unwrap()
    })
}

const KNOWN: [&str; 16] = [
    "munmap",
    "strlen",
    "snprintf",
    "vsnprintf",
    "malloc",
    "open",
    "read",
    "puts",
    "printf",
    "qsort",
    "_setjmp",
    "raise",
    "fork",
    "waitpid",
    "pthread_create",
    "pthread_join",
];

struct Run {
    folder: tempfile::TempDir,
    status: std::process::ExitStatus,
    stdout: String,
}

impl Run {
    fn recording(&self) -> Recording {
        Recording::open(&self.folder.path().join("rec")).unwrap()
    }
}

fn compile(name: &str, to: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(name);
    let mut clang = Command::new(llvm().join("bin/clang"));
    clang
        .args(["-O1", "-fPIE", "-pie", "-pthread", "-Wno-unused", "-D_GNU_SOURCE", "-o"])
        .arg(to)
        .arg(source)
        .arg(runtime());
    for name in KNOWN.iter().chain(&["_exit"]) {
        clang.arg(format!("-DKNOWN_{name}={}", externals::id(name).unwrap() + 1));
    }
    let output = clang.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn run(name: &str, input: &str, prepare: impl FnOnce(&Path)) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_owned();
    let program = at.join("program");
    compile(name, &program);
    std::fs::write(at.join("input"), input).unwrap();
    std::fs::create_dir(at.join("rec")).unwrap();
    prepare(&at.join("rec"));
    // A relative directory: it must survive a change of the working directory.
    let output = Command::new(&program)
        .arg("input")
        .current_dir(&at)
        .env_clear()
        .env("HOME", "/home/x")
        .env("RELAPSE_RECORD_DIR", "rec")
        .output()
        .unwrap();
    Run { folder, status: output.status, stdout: String::from_utf8_lossy(&output.stdout).into_owned() }
}

/// The events of a stream as text, one per line, with time and site.
fn events(process: &Process, stream: u32) -> Vec<String> {
    let events = process.stream(stream).unwrap().events().unwrap();
    assert!(events.damage.is_none(), "{:?}", events.damage);
    let mut decoder = events.decoder();
    let mut lines = Vec::new();
    while let Some((at, event)) = decoder.next().unwrap() {
        let text = match event {
            Event::Patch { bytes, .. } => format!("patch {}", bytes.escape_ascii()),
            Event::Load { size, delta, writer } => format!("load{size} {delta} {writer:?}"),
            Event::External { slots } => format!("external {}", slots.iter().next().unwrap_or(0)),
            Event::Io { out, source, offset, length, .. } => {
                format!("{} {source} {offset}+{length}", if out { "out" } else { "in" })
            }
            Event::Source { kind, name, .. } => {
                format!("source {} {}", source::name(kind), name.escape_ascii())
            }
            Event::Enter { function, inside, .. } => format!("enter {function} {inside}"),
            Event::Land { slots, .. } => format!("land {}", slots.iter().next().unwrap_or(0)),
            Event::End { status, .. } => format!("end {status}"),
            Event::Unwound { entries } => format!("unwound {entries}"),
            Event::Interrupted { called, address } => format!("interrupted after {called} {address:#x}"),
            Event::Crash { signal, address, .. } => format!("crash {signal} {address:#x}"),
            other => format!("{other:?}"),
        };
        let site = if at.site == recording::event::NO_SITE { "-".to_owned() } else { at.site.to_string() };
        lines.push(format!("{}:{site} {text}", at.time));
    }
    lines
}

fn has(lines: &[String], end: &str) -> bool {
    lines.iter().any(|l| l.ends_with(end))
}

#[test]
fn memory_and_externals() {
    let run = run("memory.c", "abcdefgh", |_| {});
    assert_eq!(run.status.code(), Some(3));
    assert_eq!(run.stdout, "abcdefghorld\nhelhello, wor!\n");
    let recording = run.recording();
    let process = &recording.processes[0];
    let lines = events(process, 0);
    let text = lines.join("\n");
    let start = lines.iter().position(|l| l.contains("enter 5 false")).expect("main is entered");
    assert!(lines[..start].iter().any(|l| l.contains("patch input")), "argv is known\n{text}");
    assert!(lines[..start].iter().any(|l| l.contains("source environment HOME")), "{text}");
    let rest: Vec<&str> = lines[start + 1..].iter().map(String::as_str).collect();
    let input = run.folder.path().canonicalize().unwrap().join("input");
    let want = [
        "1:10 load8 77 None".to_owned(),
        "1:13 load8 1 None".to_owned(),
        "1:20 patch hello, world".to_owned(),
    ];
    assert_eq!(rest[..3], want, "{text}");
    assert!(!rest.iter().any(|l| l.contains(":30 ")), "strlen is predicted\n{text}");
    assert!(has(&lines, &format!("source file {}", input.display())), "{text}");
    for end in
        [":33 in 4 0+4", ":34 in 4 4+4", ":33 patch abcd", ":36 external 15", ":36 out 5 13+15", "- end 3"]
    {
        assert!(has(&lines, end), "{end}\n{text}");
    }
    let header = &process.streams[0].header;
    assert_eq!(header.misses, 2);
    assert_eq!(process.modules.len(), 1);
    assert_eq!(process.modules[0].id, *b"0123456789abcdef");
    let raw = process_folder(&run).join("t0.raw");
    assert_eq!(std::fs::metadata(raw).unwrap().len(), 4096 + header.length, "the file is cut to size");
}

fn process_folder(run: &Run) -> PathBuf {
    let mut all = std::fs::read_dir(run.folder.path().join("rec")).unwrap();
    all.next().unwrap().unwrap().path()
}

#[test]
fn callbacks_landings_and_signals() {
    let run = run("callback.c", "", |_| {});
    assert_eq!(run.status.code(), Some(0));
    let recording = run.recording();
    let process = &recording.processes[0];
    let lines = events(process, 0);
    let text = lines.join("\n");
    assert!(has(&lines, "enter 7 true"), "{text}");
    let sorted = lines.iter().position(|l| l.contains(":30 external")).expect("qsort returned");
    let last = lines.iter().rposition(|l| l.ends_with("enter 7 true")).unwrap();
    assert!(last < sorted);
    let jumped = lines.iter().position(|l| l.ends_with("enter 8 true")).expect("the jumping callback");
    assert!(lines[jumped + 1].contains(":31 land 9"), "{text}");
    assert!(has(&lines, "enter 9 true"), "raise calls back\n{text}");
    let signal = events(process, 1);
    assert!(signal[0].contains("Signal { signal: 10, interrupted"), "{signal:?}");
    assert!(signal[1].ends_with("enter 9 false"), "{signal:?}");
    assert!(signal[2].contains(":3 load8 1 Some(0)"), "the sorted array was known to stream 0\n{signal:?}");
}

#[test]
fn fork_crash_and_threads() {
    let run = run("process.c", "", |_| {});
    assert_eq!(run.status.code(), Some(7));
    let recording = run.recording();
    assert_eq!(recording.processes.len(), 2);
    let (children, parents): (Vec<_>, Vec<_>) =
        recording.processes.iter().partition(|p| p.streams[0].header.fork.is_some());
    let (child, parent) = (children[0], parents[0]);
    let lines = events(child, 0);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].contains(":30 external 0"), "{lines:?}");
    assert!(lines[1].ends_with("crash 11 0x10"), "{lines:?}");
    let lines = events(parent, 0);
    let text = lines.join("\n");
    assert!(lines.iter().any(|l| l.contains(":30 Fork")), "{text}");
    assert!(lines.iter().any(|l| l.contains(":32 patch")), "{text}");
    assert!(has(&lines, ":35 load8 1 Some(1)"), "{text}");
    assert!(has(&lines, "end 7"), "{text}");
    let thread = events(parent, 1);
    assert!(thread[0].ends_with("enter 7 false"), "{thread:?}");
    assert!(thread.last().unwrap().ends_with("end 0"), "{thread:?}");
}

#[test]
fn ranges_that_are_hard_to_follow() {
    let run = run("ranges.c", "", |_| {});
    assert_eq!(run.status.code(), Some(0), "{:?}", run.status);
    let lines = events(&run.recording().processes[0], 0);
    let text = lines.join("\n");
    let two = ":50 patch o\\x00\\x00\\x00k";
    for end in [
        ":30 patch acr",
        ":30 patch oss\\x00",
        ":40 patch 5 five",
        ":40 external 6",
        two,
        ":50 external 2",
        ":60 external 0",
    ] {
        assert!(has(&lines, end), "{end}\n{text}");
    }
}

#[test]
fn an_unwritable_directory_does_not_disturb() {
    let run = run("memory.c", "abcdefgh", |rec| std::fs::remove_dir(rec).unwrap());
    assert_eq!(run.status.code(), Some(3));
    assert_eq!(run.stdout, "abcdefghorld\nhelhello, wor!\n");
}
