//! Environment variables that a program reads.
//!
//! A program reads only a few variables of its environment. Only those are input. They are known from the
//! arguments of `getenv`. For a program that traverses `environ` itself, none are known.

use crate::error::{Error, Result};
use replay::machine::Machine;
use replay::observer::{ExternalCall, Observer, View};
use replay::process::LoadedProcess;
use std::collections::BTreeSet;

/// Maximum length of a name.
const MAX_LENGTH: usize = 200;

/// Names that are never changed: loaders and recorders use them, or programs write to the places that they
/// name.
const KEPT_VARIABLES: &[&str] = &["PATH", "HOME", "PWD", "OLDPWD", "TMPDIR", "TMP", "TEMP"];
const KEPT_PREFIXES: &[&str] = &["LD_", "RELAPSE_", "XDG_", "MALLOC_", "GLIBC_"];

/// The names of variables that a run read and that may be changed.
///
/// # Errors
/// If the run does not replay.
pub fn variables(process: &LoadedProcess, stream: u32) -> Result<BTreeSet<String>> {
    let loaded =
        process.stream(stream).ok_or_else(|| Error::Recording(format!("it has no thread {stream}")))?;
    let mut asked = Asked::default();
    Machine::new(&process.image, &loaded.stream)
        .run(&mut asked, u64::MAX)
        .map_err(|e| Error::Recording(e.to_string()))?;
    let kept =
        |name: &str| KEPT_VARIABLES.contains(&name) || KEPT_PREFIXES.iter().any(|b| name.starts_with(b));
    asked.names.retain(|name| !kept(name));
    Ok(asked.names)
}

#[derive(Default)]
struct Asked {
    names: BTreeSet<String>,
}

impl Observer for Asked {
    const STEPS: bool = false;

    fn external(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let is_question = call.known.is_some_and(|known| matches!(known.name, "getenv" | "secure_getenv"));
        if let (true, Some(address)) = (is_question, call.args.first()) {
            let name = view.memory.peek_string(*address, MAX_LENGTH);
            if let Ok(name) = String::from_utf8(name)
                && !name.is_empty()
                && !name.contains('=')
            {
                self.names.insert(name);
            }
        }
    }
}
