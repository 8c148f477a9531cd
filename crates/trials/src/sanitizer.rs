//! Runs of programs built with a sanitizer: their environment, and the sanitizer's reports.
//!
//! A variant may pass its test because it reads memory that happens to contain the right value.
//! AddressSanitizer and MemorySanitizer report such reads, and programs built with `-fsanitize-recover`
//! continue after each, so that a test ends as it would without a sanitizer: a report is additional evidence
//! and never changes the outcome. Reports that both versions have are not caused by a variant
//! ([`new_reports`]).
//!
//! Reports are written without names and lines, which are looked up afterwards, once for each address
//! ([`reports`]): a sanitizer that symbolizes while the program runs takes a hundred times as long, and
//! starts a process that the program did not start. The programs must still be in the place where they ran.
//!
//! # What callers must know
//! * A sanitized program reserves terabytes of address space: such runs must have no memory limit
//!   ([`Limits::memory`](crate::process::Limits::memory)).
//! * Builds run programs too. They need the environment as well (with another directory), or the first report
//!   ends the build.
//! * It takes two to three times as long and as much memory.
//! * MemorySanitizer treats memory written by an uninstrumented library as uninitialised, unless it knows the
//!   function. For C, the comparison with both versions compensates for that. With C++ the whole standard
//!   library is such a library, so leave it out where [`Units::has_cpp`](crate::check::Units::has_cpp).
//! * AddressSanitizer keeps its metadata in freed memory. A program that writes there and then causes another
//!   report cannot continue, and ends with [`FATAL`].

mod object;

pub use object::{Object, RelativePosition, Source};

use crate::error::{At, Error};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A sanitizer of clang that trials use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sanitizer {
    /// Accesses outside of an object's bounds or lifetime.
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

    /// The name for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Sanitizer::Address => "AddressSanitizer",
            Sanitizer::Memory => "MemorySanitizer",
        }
    }
}

/// The exit code of a program that AddressSanitizer had to stop.
pub const FATAL: i32 = 86;

/// Reports go to files and programs continue. Everything that ends a program is its own: its signals, its
/// exit code, and failed allocations.
const COMMON: &str = "halt_on_error=0:symbolize=0:color=never:print_summary=1:malloc_context_size=2:\
    handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0:handle_sigtrap=0:\
    allow_user_segv_handler=1:allocator_may_return_null=1";

/// The environment variables for a run that make the sanitizers write reports into `logs`, an existing
/// directory with an absolute path. For both sanitizers.
#[must_use]
pub fn environment(logs: &Path) -> Vec<(OsString, OsString)> {
    let options = |special: String| {
        let mut value = OsString::from(format!("{COMMON}:{special}:log_path=\""));
        value.push(logs.join("report"));
        value.push("\"");
        value
    };
    // At the end of a program MemorySanitizer exits with this code if it reported something; 0 keeps the
    // program's own.
    vec![
        ("ASAN_OPTIONS".into(), options(format!("detect_leaks=0:detect_odr_violation=0:exitcode={FATAL}"))),
        ("MSAN_OPTIONS".into(), options("exitcode=0".to_owned())),
    ]
}

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
}

/// A finding of a sanitizer, at the innermost location in the tree on its stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Report {
    /// The sanitizer's name for it: `heap-buffer-overflow`, `use-of-uninitialized-value`.
    pub kind: String,
    /// The innermost function of the tree, else the innermost function.
    pub function: Option<String>,
    /// Relative to the tree; none if no function on the stack belongs to the tree.
    pub file: Option<PathBuf>,
    /// From 1; none if `file` is none.
    pub line: Option<u32>,
    /// The kind of access, if it is about an access.
    pub access: Option<Access>,
    /// The memory it refers to, as far as the sanitizer knows it.
    pub object: Option<Object>,
}

/// A location in a program or library.
type Address = (String, String);

/// A report as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Raw {
    kind: String,
    access: Option<Access>,
    /// Innermost frame first.
    stack: Vec<Address>,
    object: object::Raw,
}

/// All that was reported into `logs` by the processes of a run in `tree`, each report
/// once, in the order in which each process made them. `symbolizer` is llvm-symbolizer.
///
/// # Errors
/// If the reports cannot be read or the symbolizer cannot be run.
pub fn reports(logs: &Path, tree: &Path, symbolizer: &Path) -> Result<Vec<Report>, Error> {
    let tree = fs::canonicalize(tree).at("find", tree)?;
    // Each process has a file of its own: who was done first comes first.
    let mut files = Vec::new();
    for log in fs::read_dir(logs).at("read", logs)? {
        let log = log.at("read", logs)?;
        let written = log.metadata().and_then(|about| about.modified()).at("read", logs)?;
        files.push((written, log.path()));
    }
    files.sort_unstable();
    let mut raw: Vec<Raw> = Vec::new();
    for (_, path) in files {
        let text = fs::read(&path).at("read", &path)?;
        raw.extend(parse(&String::from_utf8_lossy(&text)));
    }
    without_repeats(&mut raw);
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
        let known = frames(stack, &places).filter(|frame| frame.line > 0);
        let mut own = known.filter_map(|frame| Some((frame, file_in_tree(&frame.file, &tree)?)));
        own.next().map(|(frame, file)| Source { file, line: frame.line })
    };
    let mut found: Vec<Report> = raw
        .iter()
        .map(|Raw { kind, access, stack, object }| {
            let own =
                frames(stack, &places).find_map(|frame| Some((frame, file_in_tree(&frame.file, &tree)?)));
            let innermost = || frames(stack, &places).find(|frame| !frame.is_sanitizer_frame());
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
    without_repeats(&mut found);
    Ok(found)
}

/// Removes duplicates; the first occurrence of each element stays at its position.
fn without_repeats<T: Clone + Eq + std::hash::Hash>(all: &mut Vec<T>) {
    let mut known = HashSet::new();
    all.retain(|one| known.insert(one.clone()));
}

/// The reports that no run in `known` has: compared by kind, function and file.
#[must_use]
pub fn new_reports(of: &[Report], known: &[&[Report]]) -> Vec<Report> {
    fn key(report: &Report) -> (&str, Option<&str>, Option<&Path>) {
        (&report.kind, report.function.as_deref(), report.file.as_deref())
    }
    let known: HashSet<_> = known.iter().flat_map(|reports| reports.iter()).map(key).collect();
    of.iter().filter(|report| !known.contains(&key(report))).cloned().collect()
}

/// Parses the reports in a log.
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
    // The parser state: in a report, in the stack of its access, after that stack.
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

/// `    #0 0xADDRESS  (MODULE+0xOFFSET) ...`; the inner `None` is a frame outside of all modules.
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

/// The symbolizer's result for one address; several frames for inlined functions.
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
    /// Whether it is a part of the sanitizer, or its replacement of a library function.
    fn is_sanitizer_frame(&self) -> bool {
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
    // In parallel: the symbolizer writes results while it reads input.
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // If it does not read all input, results are missing, which is noticed.
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

/// The file relative to the tree, if it is inside. Objects of the tree name their files relative to it; a
/// library may do so too, but relative to the place where it was built.
fn file_in_tree(file: &Path, tree: &Path) -> Option<PathBuf> {
    let whole = fs::canonicalize(tree.join(file)).ok()?;
    let relative = whole.strip_prefix(tree).ok()?;
    (!relative.as_os_str().is_empty()).then(|| relative.to_owned())
}

#[cfg(test)]
mod tests;
