//! Runs of programs that were built with a sanitizer: the environment for them, and what
//! the sanitizer reported.
//!
//! A variant may pass its test because it reads memory that happens to hold the right
//! thing. AddressSanitizer and MemorySanitizer name such reads, and programs built with
//! `-fsanitize-recover` go on after each, so that a test ends as it would without: a
//! report is evidence beside the outcome, and never the outcome. What both versions
//! have reported anyway is no fault of a variant ([`new_reports`]).
//!
//! Reports are written without names and lines, which are looked up afterwards, for
//! each address once ([`reports`]): a sanitizer that does it while the program runs takes
//! a hundred times as long, and starts a process that the program did not. The programs
//! must still be where they ran.
//!
//! # What callers must know
//! * A sanitized program reserves terabytes of addresses: no limit on memory
//!   ([`Limits::memory`](crate::process::Limits::memory)) for such runs.
//! * Builds run programs too. They need the environment as well (with another
//!   directory), or the first report ends the build.
//! * It takes two to three times as long and as much memory.
//! * MemorySanitizer takes what a library without instrumentation writes for
//!   uninitialised, unless it knows the function. For C, comparing with both versions
//!   takes care of that; with C++ the whole standard library is such a library, so leave it
//!   out where [`Units::has_cpp`](crate::check::Units::has_cpp).
//! * AddressSanitizer keeps its notes in freed memory. A program that writes there and
//!   is reported once more cannot go on, and ends with [`FATAL`].

mod object;

pub use object::{Beside, Object, Source};

use crate::error::{At, Error};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sanitizer {
    /// Reads and writes beside or after an object's life.
    Address,
    /// Decisions that depend on uninitialised memory.
    Memory,
}

impl Sanitizer {
    /// The value of `RELAPSE_SANITIZE`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Sanitizer::Address => "address",
            Sanitizer::Memory => "memory",
        }
    }

    /// As people know it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Sanitizer::Address => "AddressSanitizer",
            Sanitizer::Memory => "MemorySanitizer",
        }
    }
}

/// The exit code of a program that AddressSanitizer had to end.
pub const FATAL: i32 = 86;

/// Reports go to files, programs go on, and what ends a program is its own: its signals,
/// its exit code, and memory that cannot be had.
const COMMON: &str = "halt_on_error=0:symbolize=0:color=never:print_summary=1:malloc_context_size=2:\
    handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:handle_sigtrap=0:\
    allow_user_segv_handler=1:allocator_may_return_null=1";

/// What to add to the environment of a run, so that reports are written into `logs`, an
/// existing directory with an absolute path. Serves both sanitizers.
#[must_use]
pub fn environment(logs: &Path) -> Vec<(OsString, OsString)> {
    let options = |special: String| {
        let mut value = OsString::from(format!("{COMMON}:{special}:log_path=\""));
        value.push(logs.join("report"));
        value.push("\"");
        value
    };
    // At the end of a program MemorySanitizer exits with its code if it reported
    // something; 0 leaves the program's.
    vec![
        ("ASAN_OPTIONS".into(), options(format!("detect_leaks=0:detect_odr_violation=0:exitcode={FATAL}"))),
        ("MSAN_OPTIONS".into(), options("exitcode=0".to_owned())),
    ]
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    Read,
    Write,
}

/// Something that a sanitizer found, at the first place in the tree on its stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Report {
    /// In the sanitizer's words: `heap-buffer-overflow`, `use-of-uninitialized-value`.
    pub kind: String,
    /// The innermost function of the tree; if there is none, the innermost one.
    pub function: Option<String>,
    /// Relative to the tree; none if no function on the stack is of the tree.
    pub file: Option<PathBuf>,
    pub line: Option<u32>,
    /// What was done to memory, if it is about an access.
    pub access: Option<Access>,
    /// The memory that it is about, as far as the sanitizer knows.
    pub object: Option<Object>,
}

/// A place in a program or library.
type Address = (String, String);

/// A report as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Raw {
    kind: String,
    access: Option<Access>,
    /// From the inside.
    stack: Vec<Address>,
    object: object::Raw,
}

/// All that was reported into `logs` by the processes of a run in `tree`, each report
/// once, in order. `symbolizer` is llvm-symbolizer.
///
/// # Errors
/// If the reports cannot be read or the symbolizer cannot be run.
pub fn reports(logs: &Path, tree: &Path, symbolizer: &Path) -> Result<Vec<Report>, Error> {
    let tree = fs::canonicalize(tree).at("find", tree)?;
    let mut raw: BTreeSet<Raw> = BTreeSet::new();
    for log in fs::read_dir(logs).at("read", logs)? {
        let path = log.at("read", logs)?.path();
        let text = fs::read(&path).at("read", &path)?;
        raw.extend(parse(&String::from_utf8_lossy(&text)));
    }
    if raw.is_empty() {
        return Ok(Vec::new());
    }
    let stacks = |raw: &Raw| [&raw.stack, &raw.object.made, &raw.object.freed].map(Clone::clone);
    let wanted: BTreeSet<Address> = raw.iter().flat_map(stacks).flatten().collect();
    let places = places(&wanted, symbolizer)?;
    fn frames<'p>(
        stack: &'p [Address],
        places: &'p HashMap<Address, Vec<Frame>>,
    ) -> impl Iterator<Item = &'p Frame> {
        stack.iter().filter_map(|address| places.get(address)).flatten()
    }
    let source = |stack: &[Address]| {
        let mut own = frames(stack, &places).filter_map(|frame| Some((frame, own_file(&frame.file, &tree)?)));
        own.next().map(|(frame, file)| Source { file, line: frame.line })
    };
    let found: BTreeSet<Report> = raw
        .iter()
        .map(|Raw { kind, access, stack, object }| {
            let own = frames(stack, &places).find_map(|frame| Some((frame, own_file(&frame.file, &tree)?)));
            let innermost = || frames(stack, &places).find(|frame| !frame.is_of_runtime());
            let (frame, file) =
                own.map_or_else(|| (innermost(), None), |(frame, file)| (Some(frame), Some(file)));
            let made =
                source(&object.made).map(|made| Source { line: object.line.unwrap_or(made.line), ..made });
            let object = Object {
                name: object.name.clone(),
                beside: object.beside,
                made,
                freed: source(&object.freed),
            };
            Report {
                kind: kind.clone(),
                function: frame.map(|frame| frame.function.clone()).filter(|name| !name.is_empty()),
                line: frame.filter(|_| file.is_some()).map(|frame| frame.line),
                file,
                access: *access,
                object: (object != Object::default()).then_some(object),
            }
        })
        .collect();
    Ok(found.into_iter().collect())
}

/// Those that no run in `known` has: of the same kind, in the same function and file.
#[must_use]
pub fn new_reports(of: &[Report], known: &[&[Report]]) -> Vec<Report> {
    fn key(report: &Report) -> (&str, Option<&str>, Option<&Path>) {
        (&report.kind, report.function.as_deref(), report.file.as_deref())
    }
    let known: HashSet<_> = known.iter().flat_map(|reports| reports.iter()).map(key).collect();
    of.iter().filter(|report| !known.contains(&key(report))).cloned().collect()
}

/// The reports in a log.
///
/// ```text
/// ==17==ERROR: AddressSanitizer: heap-buffer-overflow on address ...
/// READ of size 1 at 0x... thread T0
///     #0 0x...  (/tree/prog+0x1159d9) (BuildId: ...)
///
/// ... further stacks: where the memory came from ...
/// SUMMARY: AddressSanitizer: heap-buffer-overflow (/tree/prog+0x1159d9)
/// ```
fn parse(log: &str) -> Vec<Raw> {
    let mut found: Vec<Raw> = Vec::new();
    // Where we are: in a report, and in the stack of its access.
    let (mut open, mut in_stack, mut is_behind) = (false, false, false);
    for line in log.lines() {
        let header = ["ERROR: AddressSanitizer: ", "WARNING: MemorySanitizer: "]
            .iter()
            .find_map(|word| line.strip_prefix("==")?.split_once(word));
        if let Some((_, text)) = header {
            found.push(Raw { kind: first_word(text), ..Raw::default() });
            (open, in_stack, is_behind) = (true, false, false);
            continue;
        }
        let Some(report) = found.last_mut().filter(|_| open) else { continue };
        if let Some((_, text)) =
            line.strip_prefix("SUMMARY: ").and_then(|text| text.split_once("Sanitizer: "))
        {
            // The header of some kinds is a sentence.
            report.kind = first_word(text);
            open = false;
        } else if is_behind {
            report.object.read(line);
        } else if let Some(address) = frame(line) {
            in_stack = true;
            report.stack.extend(address);
        } else if in_stack {
            is_behind = true;
            report.object.read(line);
        } else {
            report.access = report.access.or(match line.split(' ').next() {
                Some("READ") => Some(Access::Read),
                Some("WRITE") => Some(Access::Write),
                _ => None,
            });
        }
    }
    found
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().trim_end_matches(':').to_owned()
}

/// `    #0 0xADDRESS  (MODULE+0xOFFSET) ...`; the inner `None` is a frame outside of every
/// module.
fn frame(line: &str) -> Option<Option<Address>> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.strip_prefix(" 0x")?;
    let place = rest.split_once(" (").and_then(|(_, place)| {
        let (module, behind) = place.rsplit_once("+0x")?;
        let offset: String = behind.chars().take_while(char::is_ascii_hexdigit).collect();
        Some((module.to_owned(), format!("0x{offset}")))
    });
    Some(place)
}

/// What the symbolizer says of one address; several for inlined functions.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Symbolized {
    address: String,
    module_name: String,
    #[serde(default)]
    symbol: Vec<Frame>,
}

#[derive(Clone, Debug, Deserialize)]
struct Frame {
    #[serde(rename = "FunctionName")]
    function: String,
    #[serde(rename = "FileName")]
    file: PathBuf,
    #[serde(rename = "Line")]
    line: u32,
}

impl Frame {
    /// Is it a part of the sanitizer, or what it puts in place of a library function?
    fn is_of_runtime(&self) -> bool {
        let names = ["__asan", "__msan", "__sanitizer", "__interceptor", "___interceptor"];
        self.function.is_empty() || names.iter().any(|name| self.function.starts_with(name))
    }
}

fn places(wanted: &BTreeSet<Address>, symbolizer: &Path) -> Result<HashMap<Address, Vec<Frame>>, Error> {
    let questions: String = wanted
        .iter()
        .filter(|(module, _)| !module.contains('"'))
        .map(|(module, offset)| format!("CODE \"{module}\" {offset}\n"))
        .collect();
    let start = |source: io::Error| Error::Start { command: symbolizer.display().to_string(), source };
    let mut child = Command::new(symbolizer)
        .args(["--output-style=JSON", "--inlines", "--demangle"])
        .env_remove("DEBUGINFOD_URLS")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(start)?;
    let stdin = child.stdin.take();
    // Both at once: it answers while it is asked.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // If it does not read all of it, answers are missing, which is seen.
            let _ = stdin.map(|mut stdin| stdin.write_all(questions.as_bytes()));
        });
        child.wait_with_output()
    });
    let output = output.map_err(start)?;
    let mut found = HashMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines().filter(|line| !line.is_empty()) {
        let answer: Symbolized = serde_json::from_str(line).map_err(|error| start(error.into()))?;
        found.insert((answer.module_name, answer.address), answer.symbol);
    }
    Ok(found)
}

/// The file relative to the tree, if it is in there. Objects of the tree name their
/// files relative to it; so may a library, but relative to where it was built.
fn own_file(file: &Path, tree: &Path) -> Option<PathBuf> {
    let whole = fs::canonicalize(tree.join(file)).ok()?;
    let relative = whole.strip_prefix(tree).ok()?;
    (!relative.as_os_str().is_empty()).then(|| relative.to_owned())
}

#[cfg(test)]
mod tests;
