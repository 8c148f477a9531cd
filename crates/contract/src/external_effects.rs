//! Effects of calls on state outside the program's memory: files that were removed, environment variables,
//! the random number generator, `errno`.
//!
//! The state itself is not visible. The effects of a call on it are: the external functions that it called,
//! with their string and integer arguments. Two calls that begin in equal states and have the same effects
//! end in equal states.

use crate::judge::{EFFECT_PREFIX, Output};
use externals::{Access, External, State};
use replay::memory::Memory;
use replay::observer::ExternalCall;

/// Functions that change files and processes given by name or number.
const EFFECTFUL: &[&str] = &[
    "chmod",
    "chown",
    "close",
    "closedir",
    "fchmod",
    "fchown",
    "fclose",
    "flock",
    "ftruncate",
    "ftruncate64",
    "kill",
    "lchown",
    "link",
    "linkat",
    "mkdir",
    "mkdirat",
    "mkfifo",
    "mknod",
    "raise",
    "remove",
    "rename",
    "renameat",
    "rmdir",
    "symlink",
    "symlinkat",
    "truncate",
    "truncate64",
    "unlink",
    "unlinkat",
    "utime",
    "utimes",
];

/// Longer strings are truncated.
const MAX_TEXT: u64 = 4096;

/// The effect of an external call: the name under which it is compared, and its text.
pub(crate) fn external_effect(name: &str, call: &ExternalCall<'_>, memory: &Memory) -> Option<Output> {
    let known = call.known?;
    let is_one =
        EFFECTFUL.contains(&name) || known.hidden.iter().any(|h| changes_process_state(h.state, h.access));
    if !is_one {
        return None;
    }
    let mut arguments = Vec::new();
    for (n, value) in call.args.iter().enumerate().take(parameters(name, known)) {
        arguments.push(argument(known, n, *value, memory)?);
    }
    Some((format!("{EFFECT_PREFIX}{name}"), format!("{name}({})\n", arguments.join(", ")).into_bytes()))
}

/// Whether process-wide state changes.
fn changes_process_state(state: State, access: Access) -> bool {
    let is_of_process = matches!(
        state,
        State::Environment
            | State::Random
            | State::Random48
            | State::Locale
            | State::WorkingDirectory
            | State::FileMask
            | State::Hashes
    );
    is_of_process && matches!(access, Access::Sets | Access::Changes)
}

/// Number of arguments whose values are compared.
fn parameters(name: &str, known: &External) -> usize {
    match name {
        "fclose" | "closedir" => 0,
        "umask" | "srand" | "srandom" | "srand48" | "raise" | "close" => 1,
        "kill" | "chmod" | "fchmod" | "mkdir" | "mkfifo" | "flock" | "ftruncate" | "ftruncate64" => 2,
        "unlinkat" | "mkdirat" | "chown" | "lchown" | "fchown" | "setenv" => 3,
        "setlocale" => 2,
        _ => known.reads.iter().filter_map(slot).max().map_or(0, |n| n + 1),
    }
}

fn slot(range: &externals::Range) -> Option<usize> {
    match range.place {
        externals::Place::Arg(n) => Some(n.into()),
        _ => None,
    }
}

/// An argument as text: a string if the function reads one, a number otherwise.
fn argument(known: &External, n: usize, value: u64, memory: &Memory) -> Option<String> {
    let is_text = known.reads.iter().any(|range| slot(range) == Some(n) && range.len == externals::Len::CStr);
    if !is_text {
        return Some((value as i32).to_string());
    }
    if value == 0 {
        return Some("NULL".to_owned());
    }
    let mut text = Vec::new();
    for at in 0..MAX_TEXT {
        let mut byte = [0];
        memory.peek(value.wrapping_add(at), &mut byte);
        if byte[0] == 0 {
            break;
        }
        text.push(byte[0]);
    }
    // Each version runs in a directory of its own.
    if text.first() == Some(&b'/') {
        text.drain(..text.iter().rposition(|c| *c == b'/').unwrap_or(0) + 1);
    }
    Some(replay::vars::quoted(&String::from_utf8_lossy(&text)))
}
