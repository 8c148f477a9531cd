//! What goes through each function of the table of externals: defined, passed through, printed. The
//! defining lines must be in the slice of what was printed.
//!
//! `cases.txt` has a case for each function: its prototype, in which it is called `F`, and lines of C, of
//! which those marked `SET` must be in the slice. `without.txt` names the functions that have none, with
//! the reason. A function of the table that neither names is an error.

use crate::sandbox::Sandbox;
use slice::{Slicer, SlicerOptions};
use std::collections::BTreeSet;
use std::fmt::Write;

const CASES: &str = include_str!("cases.txt");
const WITHOUT: &str = include_str!("without.txt");

const HEAD: &str = r#"#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <netinet/in.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static char shared[20], *allocated;
static FILE *opened;

static int smaller(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int smaller_with(const void *a, const void *b, void *more) { return smaller(a, b) + (more != NULL); }

static FILE *holding(const char *format, int n) {
    FILE *file = tmpfile();
    fprintf(file, format, n + 7);
    rewind(file);
    return file;
}

/* The same, not read or written as bytes yet. */
static FILE *wide(const char *format, int n) { return fdopen(dup(fileno(holding(format, n))), "r"); }
"#;

struct Case {
    names: Vec<&'static str>,
    prototype: &'static str,
    body: Vec<&'static str>,
}

fn cases() -> Vec<Case> {
    let blocks = CASES.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    blocks
        .map(|block| {
            let mut lines = block.lines();
            let names = lines.next().and_then(|l| l.strip_prefix("= ")).expect("a case begins with names");
            let prototype = lines.next().expect("a prototype");
            Case { names: names.split_whitespace().collect(), prototype, body: lines.collect() }
        })
        .collect()
}

/// The functions without a case.
fn without() -> Vec<&'static str> {
    let lines = WITHOUT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.flat_map(str::split_whitespace).collect()
}

/// `text` with the function `F` called by another name.
fn renamed(text: &str, to: &str) -> String {
    let mut renamed = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("F(") {
        let is_word = rest[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        renamed.push_str(&rest[..at]);
        renamed.push_str(if is_word { "F" } else { to });
        rest = &rest[at + 1..];
    }
    renamed + rest
}

/// A line of a case. `PASS(CALL, ARGUMENTS)` calls a function that makes CALL with what it was given, as
/// `format` and `list`; that function is written before.
fn passing(source: &mut String, number: usize, line: &str, call: &str) -> String {
    let line = renamed(line, call);
    let Some(rest) = line.strip_prefix("PASS(") else { return line };
    let (made, arguments) = rest.split_once("), ").expect("a call, and what is passed");
    let _ = writeln!(
        source,
        "static int pass_{number}(const char *format, ...) {{ va_list list; va_start(list, format); \
         int made = {made}); va_end(list); return made; }}"
    );
    format!("pass_{number}({arguments}")
}

#[test]
fn every_function_of_the_table_has_a_case_or_a_reason_for_none() {
    let cases = cases();
    let with: Vec<&str> = cases.iter().flat_map(|case| case.names.iter().copied()).collect();
    let without = without();
    let named: BTreeSet<&str> = with.iter().chain(&without).copied().collect();
    assert_eq!(named.len(), with.len() + without.len(), "a function is named twice");
    let table: BTreeSet<&str> = externals::table::ALL.iter().map(|known| known.name).collect();
    let missing: Vec<&&str> = table.difference(&named).collect();
    assert!(missing.is_empty(), "no case and no reason for none: {missing:?}");
    let unknown: Vec<&&str> = named.difference(&table).collect();
    assert!(unknown.is_empty(), "not in the table: {unknown:?}");
}

#[test]
fn what_goes_through_a_function_is_in_the_slice() {
    let mut source = HEAD.to_owned();
    let mut main = String::new();
    let mut all = Vec::new();
    for case in cases() {
        for name in case.names {
            let call = format!("call_{name}");
            let prototype = renamed(case.prototype.trim_end_matches(';'), &call);
            let number = all.len();
            // Older libraries have none of these.
            let weak = if name.starts_with("__isoc23") { " __attribute__((weak))" } else { "" };
            let _ = writeln!(source, "extern {prototype} __asm__(\"{name}\"){weak};");
            let body: Vec<String> =
                case.body.iter().map(|line| passing(&mut source, number, line, &call)).collect();
            let _ = writeln!(source, "static void case_{number}(int n) {{");
            let first = source.lines().count() as u32 + 1;
            let _ = writeln!(source, "{}\n}}", body.join("\n"));
            let _ = writeln!(main, "between({number}); if ({call}) case_{number}(n); else puts(\"absent\");");
            let set: Vec<u32> =
                (first..).zip(&case.body).filter(|(_, l)| l.contains("SET")).map(|l| l.0).collect();
            all.push((name, set));
        }
    }
    let _ = writeln!(
        source,
        "static void between(int number) {{ fflush(stdout); printf(\"\\n@%d \", number); fflush(stdout); }}\n\
         int main(int argc, char **argv) {{ int n = argc;\n{main}between({});\nreturn 0; }}",
        all.len()
    );
    let mut sandbox = Sandbox::new();
    sandbox.file("library.c", &source);
    sandbox.quietly("relapse cc -g -O1 -w -fno-builtin -pthread -o library library.c -lm");
    let output = sandbox.record("./library", "").stdout;
    let text = String::from_utf8(output).expect("text");
    let process = sandbox.loaded();
    let slicer = Slicer::new(&process, SlicerOptions::default());
    let called: BTreeSet<&str> =
        process.image.modules().flat_map(|(_, m)| &m.model.symbols).map(|s| &*s.name).collect();
    let mut wrong = String::new();
    for (number, (name, set)) in all.iter().enumerate() {
        assert!(called.contains(name), "{name} is not called");
        let begin = format!("\n@{number} ");
        let end = format!("\n@{} ", number + 1);
        let (Some(start), Some(end)) = (text.find(&begin).map(|at| at + begin.len()), text.find(&end)) else {
            let _ = writeln!(wrong, "{name}: the program did not come so far");
            break;
        };
        if text[start..end].trim() == "absent" {
            continue;
        }
        if start >= end {
            let _ = writeln!(wrong, "{name} printed nothing");
            continue;
        }
        let criteria = slicer.output_criteria("stdout", start as u64..end as u64).expect("replay");
        let slice = slicer.slice(&criteria, &mut |_| {}).expect("a slice");
        let lines: BTreeSet<u32> = slicer.lines(&slice).into_iter().map(|(_, line)| line).collect();
        for line in set.iter().filter(|line| !lines.contains(line)) {
            let said = source.lines().nth(*line as usize - 1).unwrap_or_default();
            let _ = writeln!(wrong, "{name}: `{said}` is missing (printed {:?})", &text[start..end]);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
