//! Requests of the driver to the instrumenter, the program that uses LLVM.
//!
//! The driver runs it once per file: if LLVM crashes on a file, that file is compiled without
//! recording and the build continues. The first word of its command line is one that no build uses,
//! so the instrumenter can be the driver's own executable.

use program::intervention::{Intervention, PRAGMA};
use std::ffi::OsString;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

const INSTRUMENT: &str = "--relapse-instrument";
const INTERVENE: &str = "--relapse-intervene";

/// The handling of debug information, as the second word.
const STRIP: &str = "strip";
const KEEP: &str = "keep";

/// A transformation of a bitcode file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The bitcode from clang.
    pub input: PathBuf,
    /// The output file.
    pub output: PathBuf,
    /// The transformation.
    pub action: Action,
}

/// A transformation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Adds the model, checks and hooks.
    Instrument {
        /// Whether debug information was generated only for the model.
        strip_debug: bool,
    },
    /// Replaces one value and adds nothing.
    Intervene(Intervention),
}

impl Request {
    /// The command-line arguments for the instrumenter.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let [word, detail] = match &self.action {
            Action::Instrument { strip_debug } => {
                [INSTRUMENT.into(), if *strip_debug { STRIP } else { KEEP }.into()]
            }
            Action::Intervene(intervention) => [INTERVENE.into(), intervention.to_string().into()],
        };
        vec![word, detail, self.input.clone().into(), self.output.clone().into()]
    }

    /// Parses a request. `None` if `args` are the arguments of a compiler.
    ///
    /// # Errors
    /// A sentence, if the request is malformed.
    pub fn parse(args: &[OsString]) -> Option<Result<Self, String>> {
        let [word, detail, input, output] = args else { return None };
        let action = if word == INSTRUMENT {
            Action::Instrument { strip_debug: detail == STRIP }
        } else if word == INTERVENE {
            match detail.to_string_lossy().parse() {
                Ok(intervention) => Action::Intervene(intervention),
                Err(()) => return Some(Err("not an intervention".to_owned())),
            }
        } else {
            return None;
        };
        Some(Ok(Request { input: input.into(), output: output.into(), action }))
    }
}

/// Maximum length of the last line. Mangled names of C++ are long; longer lines contain no request.
const MAX_PRAGMA_LINE: u64 = 16 << 10;

/// The intervention that the last line of a source file requests.
///
/// # Errors
/// If the file cannot be read, or the request in its last line is malformed.
pub(crate) fn requested(source: &Path) -> io::Result<Option<Intervention>> {
    let mut file = std::fs::File::open(source)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_PRAGMA_LINE)))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    let end = String::from_utf8_lossy(&end);
    let last = end.lines().next_back().unwrap_or_default();
    if !last.starts_with(PRAGMA) {
        return Ok(None);
    }
    let parsed = last.parse().map(Some);
    parsed.map_err(|()| io::Error::new(io::ErrorKind::InvalidData, format!("`{last}` is not understood")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_as_they_were_written() {
        let intervention =
            Intervention { function: "f".into(), length: 1, index: 2, occurrence: 3, value: 4 };
        for action in [
            Action::Instrument { strip_debug: true },
            Action::Instrument { strip_debug: false },
            Action::Intervene(intervention),
        ] {
            let request = Request { input: "a b.bc".into(), output: "c.bc".into(), action };
            assert_eq!(Request::parse(&request.arguments()), Some(Ok(request)));
        }
        assert_eq!(Request::parse(&["-c", "a.c", "-o", "a.o"].map(OsString::from)), None);
        assert!(Request::parse(&[INTERVENE, "f", "a", "b"].map(OsString::from)).unwrap().is_err());
    }

    #[test]
    fn only_the_last_line_asks() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let ask = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            requested(file.path())
        };
        assert_eq!(ask("").unwrap(), None);
        assert_eq!(ask("int x;\n").unwrap(), None);
        assert_eq!(ask("#pragma relapse intervene f 1 2 3 4\nint x;\n").unwrap(), None);
        let asked = ask("int x;\n#pragma relapse intervene f 1 2 3 4\n").unwrap().unwrap();
        assert_eq!((asked.function.as_str(), asked.index, asked.value), ("f", 2, 4));
        assert!(ask("#pragma relapse intervene f 1 2 3 x\n").is_err());
    }
}
