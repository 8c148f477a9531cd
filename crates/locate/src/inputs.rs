//! The failing run's input, and tests with another input.
//!
//! Files in the tree and a standard input that the user named can be replaced for the whole test, which then
//! judges the run itself. Arguments, and a standard input that the test's command redirects, can be replaced
//! for the program only. This is equivalent if the test fails because of the program's own exit status.

use crate::Result;
use crate::branches::stream_at;
use crate::test::Test;
use recording::Process;
use recording::process::ProcessInfo;
use replay::process::LoadedProcess;
use std::path::{Path, PathBuf};
use symbolic::{Input, Origin, TermContext};

/// The replaceable inputs of a test.
#[derive(Clone, Debug)]
pub struct ReplaceableInputs {
    /// The parts of the failing input that can be replaced.
    pub parts: Vec<(Origin, Vec<u8>)>,
    /// The other parts, and why they cannot be replaced.
    pub fixed: Vec<String>,
    info: ProcessInfo,
    /// Whether the test's result is the program's own exit status.
    own_status: bool,
    test: Test,
    /// Where inputs are written.
    scratch: PathBuf,
    made: usize,
}

impl ReplaceableInputs {
    /// Determines the inputs of the failing process. `own_status`: the test fails because of how the program
    /// ends.
    ///
    /// # Errors
    /// If it does not replay.
    pub fn new(
        process: &LoadedProcess,
        recorded: &Process,
        stream: u32,
        test: &Test,
        own_status: bool,
        scratch: &Path,
    ) -> Result<ReplaceableInputs> {
        let mut world = TermContext::default();
        let number = stream_at(process, stream)?.number;
        symbolic::replay(process, recorded, number, &mut world, &symbolic::Options::default())?;
        let input = Input::with(&world, &recorded.info, &|variable| world.variables.value(variable));
        let mut replaceable = ReplaceableInputs {
            parts: Vec::new(),
            fixed: Vec::new(),
            info: recorded.info.clone(),
            own_status,
            test: test.clone(),
            scratch: scratch.to_owned(),
            made: 0,
        };
        for (origin, bytes) in input.parts {
            match replaceable.reason_not_replaceable(&origin) {
                None => replaceable.parts.push((origin, bytes)),
                Some(why) => replaceable.fixed.push(format!("{}: {why}", origin.name())),
            }
        }
        Ok(replaceable)
    }

    fn reason_not_replaceable(&self, origin: &Origin) -> Option<&'static str> {
        if self.test.expected.is_some() {
            return Some("what is expected for another input is not known");
        }
        let whole = match origin {
            Origin::File(path) if Path::new(path).is_relative() => return None,
            Origin::Stdin if self.test.stdin.is_some() => return None,
            Origin::Stdin => true,
            Origin::Argument(number) => *number > 0,
            Origin::File(_) => return Some("it lies outside of the tree"),
            Origin::Environment(_) | Origin::Stream(..) => return Some("it cannot be replaced from here"),
        };
        match (whole, self.own_status) {
            (false, _) => Some("it is the program's name"),
            (true, false) => Some("the test does more than run the program"),
            (true, true) => None,
        }
    }

    /// Whether a part can be replaced for the whole test.
    fn is_whole(&self, origin: &Origin) -> bool {
        matches!(origin, Origin::File(_)) || *origin == Origin::Stdin && self.test.stdin.is_some()
    }

    /// The test with other content of some parts.
    ///
    /// # Errors
    /// If an input cannot be written.
    pub fn test(&mut self, changed: &[(Origin, Vec<u8>)], what: String) -> Result<Test> {
        let mut test = Test { input: Some(what), ..self.test.clone() };
        if changed.iter().all(|(origin, _)| self.is_whole(origin)) {
            for (origin, bytes) in changed {
                match origin {
                    Origin::File(path) => test.files.push((path.into(), bytes.clone())),
                    _ => test.stdin = Some(self.write(bytes)?),
                }
            }
            return Ok(test);
        }
        let mut arguments: Vec<Vec<u8>> = self.info.arguments.iter().map(|a| a.bytes().to_vec()).collect();
        if let Some((_, bytes)) = self.parts.iter().find(|(origin, _)| *origin == Origin::Stdin) {
            let bytes = bytes.clone();
            test.stdin = Some(self.write(&bytes)?);
        }
        for (origin, bytes) in changed {
            match origin {
                Origin::File(path) => test.files.push((path.into(), bytes.clone())),
                Origin::Argument(number) => {
                    if let Some(argument) = arguments.get_mut(*number as usize) {
                        argument.clone_from(bytes);
                    }
                }
                _ => test.stdin = Some(self.write(bytes)?),
            }
        }
        test.command = arguments.iter().map(|a| trials::quoted(a)).collect::<Vec<_>>().join(" ");
        Ok(test)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<PathBuf> {
        self.made += 1;
        let path = self.scratch.join(format!("input-{}", self.made));
        std::fs::write(&path, bytes)
            .map_err(|source| crate::Error::Write { what: path.display().to_string(), source })?;
        Ok(path)
    }
}
