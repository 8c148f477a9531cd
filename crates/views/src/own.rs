//! Names that are specific to a run and not to its program's behaviour: the name by which the program was
//! called, its working directory, and environment variables that depend on where it was started. Two runs of
//! one program, or of two versions built in different directories, differ in them; so texts have them
//! replaced by their role.

use recording::argument::Argument;
use recording::process::ProcessInfo;
use std::borrow::Cow;
use std::path::Path;

/// Environment variables of the recorder, or that describe the directory or nesting level of the shell.
const PLACES: &[&str] = &["RELAPSE_RECORD_DIR=", "_=", "PWD=", "OLDPWD=", "SHLVL="];

/// See the module's documentation. The default replaces only environment variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunNames {
    /// `argv[0]`, if it contains a directory.
    program: Vec<u8>,
    /// The last component of `argv[0]`.
    name: Vec<u8>,
    /// The working directory, with a trailing slash.
    directory: Vec<u8>,
    /// The directory of the recording, which the environment names.
    recording: Vec<u8>,
}

impl RunNames {
    /// The names of a recorded process.
    #[must_use]
    pub fn of(info: &ProcessInfo) -> RunNames {
        let program = info.arguments.first().map(Argument::text).unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or(&program);
        let directory = match info.directory.as_str() {
            "" | "/" => String::new(),
            directory => format!("{}/", directory.trim_end_matches('/')),
        };
        RunNames {
            program: if program.contains('/') { program.as_bytes().into() } else { Vec::new() },
            name: name.into(),
            directory: directory.into(),
            recording: Vec::new(),
        }
    }

    /// The same, recorded into a directory.
    #[must_use]
    pub fn recorded_in(mut self, recording: &Path) -> RunNames {
        let path = recording.canonicalize().unwrap_or_else(|_| recording.to_owned());
        self.recording = path.into_os_string().into_encoded_bytes();
        self
    }

    /// A text with these names replaced by their role; `None` if it contains none of them.
    #[must_use]
    pub fn mapped(&self, text: &[u8]) -> Option<Vec<u8>> {
        if let Some(variable) = PLACES.iter().find(|v| text.starts_with(v.as_bytes())) {
            return Some([variable.as_bytes(), "…".as_bytes()].concat());
        }
        let mut out = Cow::Borrowed(text);
        // The recording may lie in the working directory, and the program too.
        let names = [
            (&self.recording, "<recording>"),
            (&self.program, "<program>"),
            (&self.directory, "<directory>/"),
        ];
        for (own, role) in names {
            if holds(&out, own) {
                out = replaced(&out, own, role.as_bytes()).into();
            }
        }
        // The directory itself.
        if let Some(directory) = self.directory.strip_suffix(b"/")
            && *out == *directory
        {
            return Some(b"<directory>".to_vec());
        }
        // A short name may be an ordinary word of the text. It is replaced only at the beginning, before `: `
        // or the end.
        if !self.name.is_empty()
            && let Some(rest) = out.strip_prefix(self.name.as_slice())
            && (rest.is_empty() || rest.starts_with(b": "))
        {
            out = [b"<program>", rest].concat().into();
        }
        (*out != *text).then(|| out.into_owned())
    }
}

/// Whether a text contains a name. Few texts do, and every buffer that a program passes around is
/// checked.
fn holds(text: &[u8], own: &[u8]) -> bool {
    let Some(first) = own.first() else { return false };
    text.iter().enumerate().any(|(at, byte)| byte == first && text[at..].starts_with(own))
}

/// Replaces each occurrence that is not part of a longer word or path.
fn replaced(text: &[u8], own: &[u8], role: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    let part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b"_-./".contains(b));
    while let Some((first, behind)) = rest.split_first() {
        let whole = own.ends_with(b"/") || !part(rest.get(own.len()));
        if !own.is_empty() && rest.starts_with(own) && whole && !part(out.last()) {
            out.extend_from_slice(role);
            rest = &rest[own.len()..];
        } else {
            out.push(*first);
            rest = behind;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recording_has_a_role_of_its_own() {
        let own = own("./p", "/home/me").recorded_in(Path::new("/home/me/run.1"));
        let mapped = |text: &str| String::from_utf8(own.mapped(text.as_bytes()).unwrap_or_default()).unwrap();
        assert_eq!(mapped("/home/me/run.1"), "<recording>");
        assert_eq!(mapped("/home/me/run.10"), "<directory>/run.10");
        assert_eq!(mapped("in /home/me/run.1: x"), "in <recording>: x");
    }

    fn own(program: &str, directory: &str) -> RunNames {
        RunNames::of(&ProcessInfo {
            arguments: vec![program.into()],
            directory: directory.to_owned(),
            ..ProcessInfo::default()
        })
    }

    #[test]
    fn own_names_are_said_by_their_role() {
        let (old, new) = (own("./old", "/tmp/a"), own("../build/new", "/tmp/bcd"));
        for (first, second) in [
            ("./old", "../build/new"),
            ("old", "new"),
            ("usage: ./old [-x]", "usage: ../build/new [-x]"),
            ("old: no file", "new: no file"),
            ("/tmp/a", "/tmp/bcd"),
            ("/tmp/a/in.txt", "/tmp/bcd/in.txt"),
            ("PWD=/tmp/a", "PWD=/tmp/bcd"),
            ("_=./old", "_=../build/new"),
        ] {
            let mapped = old.mapped(first.as_bytes());
            assert!(mapped.is_some(), "{first}");
            assert_eq!(mapped, new.mapped(second.as_bytes()), "{first}");
        }
    }

    #[test]
    fn other_words_stay() {
        let old = own("./old", "/tmp/a");
        for text in ["bold", "old value", "./older", "x./old", "/tmp/ab", "/x/tmp/a/b", "", "HOME=/tmp/a2"] {
            assert_eq!(old.mapped(text.as_bytes()), None, "{text}");
        }
        assert_eq!(own("old", "").mapped(b"an old word"), None);
    }
}
