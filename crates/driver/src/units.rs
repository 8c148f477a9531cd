//! Records compilations for the caller of a build.
//!
//! ```text
//! DIR/units        one line per compilation of a source: how it can be repeated
//! DIR/unsanitized  one line per command that should have had a sanitizer and could not
//! ```
//! Lines are JSON. The root of the tree is replaced by a placeholder, so that a unit of one tree
//! can be checked in any other. Each line is one write in append mode: parallel builds do not
//! interleave their lines. A build continues if a line cannot be written.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::command::{Command, Input, Kind};
use super::options::Role;
use super::tree::PathStart;
use super::{Language, Session, compile};

/// The destination of the records.
#[derive(Clone, Debug)]
pub struct Units {
    pub dir: PathBuf,
}

/// Options that write further files, or name one. Checking a unit must not write them.
const PRODUCES: &[&str] =
    &["-MJ", "-serialize-diagnostics", "--serialize-diagnostics", "-dependency-file", "-dependency-dot"];
const PRODUCES_PREFIXES: &[&str] = &["-save-temps", "--save-temps", "-ftime-trace", "-fsave-optimization"];

impl Units {
    /// Records the compilation of `input`.
    pub fn record(&self, session: &Session, command: &Command, input: &Input) {
        if input.kind != Kind::Source || input.path.as_os_str() == "-" {
            return;
        }
        let line = || {
            let arguments = arguments(session, command)
                .iter()
                .map(|word| hidden(session, word, PathStart::Anywhere))
                .collect::<Option<Vec<String>>>()?;
            Some(serde_json::json!({
                "directory": directory(session)?,
                "source": hidden(session, input.path.as_os_str(), PathStart::AfterDelimiter)?,
                "language": language(session.language, input),
                "arguments": arguments,
            }))
        };
        self.append(session, "units", line());
    }

    /// Records that `command` got no sanitizer because of `option`.
    pub fn unsanitized(&self, session: &Session, command: &Command, option: &str) {
        let named = command.output.as_deref().or(command.inputs.first().map(|input| &*input.path));
        let line = || {
            Some(serde_json::json!({
                "directory": directory(session)?,
                "file": hidden(session, named.unwrap_or(Path::new("")).as_os_str(), PathStart::AfterDelimiter)?,
                "option": option,
            }))
        };
        self.append(session, "unsanitized", line());
    }

    fn append(&self, session: &Session, name: &str, line: Option<serde_json::Value>) {
        let path = self.dir.join(name);
        let written = match line {
            Some(line) => fs::create_dir_all(&self.dir)
                .and_then(|()| File::options().create(true).append(true).open(&path))
                .and_then(|mut file| file.write_all(format!("{line}\n").as_bytes())),
            None => Err(io::Error::other("a word is not UTF-8")),
        };
        if let Err(error) = written {
            session.runner.log_line(&format!("# failed to write to {}: {error}", path.display()));
        }
    }
}

/// All arguments of clang for a unit, except the product and the source.
fn arguments(session: &Session, command: &Command) -> Vec<OsString> {
    let mut kept = command.clone();
    kept.items.retain_mut(|item| {
        let word = item.words[0].to_string_lossy();
        // `-Wp,-MD,FILE` writes FILE.
        let depends =
            word.strip_prefix("-Wp,").is_some_and(|list| list.split(',').any(|part| part.starts_with("-M")));
        let produces =
            PRODUCES.contains(&&*word) || PRODUCES_PREFIXES.iter().any(|prefix| word.starts_with(prefix));
        !depends && !produces
    });
    let mut words = compile::mode(session);
    words.extend(compile::options_without(session, &kept, false, &[Role::Depend, Role::Link, Role::Input]));
    words.extend(compile::ALWAYS_PLAIN.iter().map(OsString::from));
    words
}

/// The current directory.
fn directory(session: &Session) -> Option<String> {
    hidden(session, session.working_dirs.first()?.as_os_str(), PathStart::AfterDelimiter)
}

/// `word` with a placeholder for the root; `None` if it is not UTF-8.
fn hidden(session: &Session, word: &OsStr, begins: PathStart) -> Option<String> {
    let bytes = word.as_bytes();
    let bytes =
        session.tree.as_ref().map_or(Cow::Borrowed(bytes), |tree| Cow::Owned(tree.hide(bytes, begins)));
    String::from_utf8(bytes.into_owned()).ok()
}

/// The language of a source, as after `-x`.
fn language(compiler: Language, input: &Input) -> String {
    if let Some(language) = &input.language {
        return language.to_string_lossy().into_owned();
    }
    let extension = input.path.extension().unwrap_or_default().to_string_lossy().into_owned();
    let name = match (&*extension, compiler) {
        ("c", Language::C) => "c",
        ("i", Language::C) => "cpp-output",
        ("i" | "ii", _) => "c++-cpp-output",
        _ => "c++",
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_those_that_clang_assumes() {
        let of = |path: &str, x: Option<&str>, compiler| {
            language(
                compiler,
                &Input { path: path.into(), kind: Kind::Source, language: x.map(OsString::from) },
            )
        };
        assert_eq!(of("a.c", None, Language::C), "c");
        assert_eq!(of("a.c", None, Language::Cxx), "c++");
        assert_eq!(of("a.cc", None, Language::C), "c++");
        assert_eq!(of("a.C", None, Language::C), "c++");
        assert_eq!(of("a.i", None, Language::C), "cpp-output");
        assert_eq!(of("a.cc", Some("c"), Language::Cxx), "c");
    }
}
