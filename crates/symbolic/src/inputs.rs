//! Input bytes as variables: their names, origins and recorded values.
//!
//! A byte is identified by its origin and its offset there. So reading it again (after a seek, through a
//! second descriptor, in another version of the program) gives the same variable.

use recording::event::source;
use std::collections::{BTreeSet, HashMap};

/// Which inputs are variables; all others keep the values of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inputs {
    /// Standard input.
    pub stdin: bool,
    /// Arguments except the program's name.
    pub arguments: bool,
    /// Environment variables.
    pub environment: EnvironmentInputs,
    /// Files that were read.
    pub files: bool,
    /// Pipes, sockets and devices.
    pub streams: bool,
    /// Only origins whose name has one of these suffixes; if empty, all.
    pub only: Vec<String>,
}

/// Environment variables that are input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum EnvironmentInputs {
    /// No environment variable.
    #[default]
    None,
    /// All environment variables.
    All,
    /// Those with these names.
    Named(BTreeSet<String>),
}

impl EnvironmentInputs {
    fn has(&self, name: &str) -> bool {
        match self {
            EnvironmentInputs::None => false,
            EnvironmentInputs::All => true,
            EnvironmentInputs::Named(names) => names.contains(name),
        }
    }
}

impl From<bool> for EnvironmentInputs {
    fn from(all: bool) -> EnvironmentInputs {
        if all { EnvironmentInputs::All } else { EnvironmentInputs::None }
    }
}

impl Default for Inputs {
    fn default() -> Inputs {
        Inputs {
            stdin: true,
            arguments: true,
            environment: EnvironmentInputs::None,
            files: true,
            streams: true,
            only: Vec::new(),
        }
    }
}

/// Where input bytes come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// Standard input.
    Stdin,
    /// The argument with this number; 0 is the program's name.
    Argument(u32),
    /// The value of an environment variable.
    Environment(String),
    /// A file by its path, relative to the working directory if it is inside.
    File(String),
    /// A pipe, socket or device: its kind, and its number among those of the kind.
    Stream(String, u32),
}

impl Origin {
    /// The name under which its bytes are shown.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Origin::Stdin => "stdin".to_owned(),
            Origin::Argument(n) => format!("argv[{n}]"),
            Origin::Environment(name) => format!("env {name}"),
            Origin::File(path) => format!("file {path:?}"),
            Origin::Stream(kind, n) => format!("{kind} {n}"),
        }
    }
}

impl Inputs {
    /// Whether bytes of an origin are variables.
    #[must_use]
    pub fn wants(&self, origin: &Origin) -> bool {
        let kind = match origin {
            Origin::Stdin => self.stdin,
            Origin::Argument(0) => false,
            Origin::Argument(_) => self.arguments,
            Origin::Environment(name) => self.environment.has(name),
            Origin::File(_) => self.files,
            Origin::Stream(..) => self.streams,
        };
        let name = match origin {
            Origin::File(path) => path.clone(),
            other => other.name(),
        };
        kind && (self.only.is_empty() || self.only.iter().any(|end| name.ends_with(end.as_str())))
    }
}

/// One input byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Index in [`Variables::origins`].
    pub origin: u32,
    /// The offset of the byte in the origin.
    pub offset: u64,
    /// The value of the byte in the run that read it first.
    pub value: u8,
}

/// The variables of one analysis, shared by all its runs.
#[derive(Clone, Debug, Default)]
pub struct Variables {
    /// Each origin once; a variable has an index into this list.
    pub origins: Vec<Origin>,
    /// By number of the variable.
    pub list: Vec<Variable>,
    by_origin: HashMap<Origin, u32>,
    by_place: HashMap<(u32, u64), u32>,
}

impl Variables {
    /// The number of an origin; interns it.
    pub fn origin(&mut self, origin: &Origin) -> u32 {
        if let Some(known) = self.by_origin.get(origin) {
            return *known;
        }
        let number = self.origins.len() as u32;
        self.origins.push(origin.clone());
        self.by_origin.insert(origin.clone(), number);
        number
    }

    /// The number of a byte's variable, and whether the variable's recorded value is `value`.
    pub fn byte(&mut self, origin: u32, offset: u64, value: u8) -> (u32, bool) {
        if let Some(known) = self.by_place.get(&(origin, offset)) {
            return (*known, self.list[*known as usize].value == value);
        }
        let number = self.list.len() as u32;
        self.list.push(Variable { origin, offset, value });
        self.by_place.insert((origin, offset), number);
        (number, true)
    }

    /// The variable of a byte, if there is one.
    #[must_use]
    pub fn find(&self, origin: &Origin, offset: u64) -> Option<u32> {
        self.by_place.get(&(*self.by_origin.get(origin)?, offset)).copied()
    }

    /// The name, as `stdin[3]`; an unknown number gives `?n`.
    #[must_use]
    pub fn name(&self, variable: u32) -> String {
        match self.list.get(variable as usize) {
            Some(v) => format!("{}[{}]", self.origins[v.origin as usize].name(), v.offset),
            None => format!("?{variable}"),
        }
    }

    /// The value of a byte in the run.
    #[must_use]
    pub fn value(&self, variable: u32) -> u128 {
        self.list.get(variable as usize).map_or(0, |v| v.value.into())
    }

    /// The bytes of an origin that are variables: offset and variable, sorted by offset.
    #[must_use]
    pub fn of(&self, origin: u32) -> Vec<(u64, u32)> {
        let mut found: Vec<(u64, u32)> = self
            .list
            .iter()
            .enumerate()
            .filter(|(_, v)| v.origin == origin)
            .map(|(n, v)| (v.offset, n as u32))
            .collect();
        found.sort_unstable();
        found
    }
}

/// The sources that a recording names, as origins.
#[derive(Default)]
pub(crate) struct Sources {
    /// By part of the stream and number in it: origin, and length of the prefix that is not input.
    named: HashMap<(usize, u64), Option<(Origin, usize)>>,
    next: HashMap<usize, u64>,
    streams: HashMap<String, u32>,
}

impl Sources {
    /// Defines a source from a `Source` event: its kind, descriptor and name.
    pub fn define(&mut self, part: usize, kind: u8, fd: i32, name: &[u8], directory: &str) {
        let id = self.next.entry(part).or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let mut skip = 0;
        let origin = match kind {
            source::STDIN => Some(Origin::Stdin),
            source::ARGV => Some(Origin::Argument(fd.cast_unsigned())),
            source::ENVIRONMENT => {
                // The bytes are "NAME=value"; the name is not input.
                skip = name.len() + 1;
                Some(Origin::Environment(name))
            }
            source::FILE => Some(Origin::File(relative(&name, directory))),
            source::STDOUT | source::STDERR => Some(Origin::Stream(source::name(kind).to_owned(), 0)),
            source::PIPE | source::SOCKET | source::OTHER => {
                let kind = source::name(kind).to_owned();
                let count = self.streams.entry(kind.clone()).or_default();
                *count += 1;
                Some(Origin::Stream(kind, *count - 1))
            }
            _ => None,
        };
        self.named.insert((part, *id), origin.map(|o| (o, skip)));
        *id += 1;
    }

    /// The origin of a source, and how many of its first bytes do not belong to it. A forked process may use
    /// sources that its parent named.
    pub fn find(&self, part: usize, id: u64) -> Option<&(Origin, usize)> {
        (0..=part).rev().find_map(|p| self.named.get(&(p, id)))?.as_ref()
    }
}

fn relative(path: &str, directory: &str) -> String {
    path.strip_prefix(directory)
        .and_then(|rest| rest.strip_prefix('/'))
        .filter(|rest| !rest.is_empty() && !directory.is_empty())
        .unwrap_or(path)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_read_again_is_the_same_variable() {
        let mut variables = Variables::default();
        let file = variables.origin(&Origin::File("x.txt".into()));
        let (first, known) = variables.byte(file, 17, b'a');
        assert!(known);
        assert_eq!(variables.byte(file, 17, b'a'), (first, true));
        assert_eq!(variables.byte(file, 17, b'b'), (first, false));
        assert_eq!(variables.name(first), "file \"x.txt\"[17]");
        assert_eq!(variables.find(&Origin::File("x.txt".into()), 17), Some(first));
        assert_eq!(variables.of(file), [(17, first)]);
    }

    #[test]
    fn what_is_an_input_is_the_askers_choice() {
        let inputs = Inputs::default();
        assert!(inputs.wants(&Origin::Argument(1)) && !inputs.wants(&Origin::Argument(0)));
        assert!(!inputs.wants(&Origin::Environment("HOME".into())));
        let only = Inputs { only: vec!["x.txt".into()], ..Inputs::default() };
        assert!(only.wants(&Origin::File("dir/x.txt".into())) && !only.wants(&Origin::Stdin));
    }

    #[test]
    fn files_in_the_working_directory_have_short_names() {
        assert_eq!(relative("/home/u/x.txt", "/home/u"), "x.txt");
        assert_eq!(relative("/home/user/x.txt", "/home/u"), "/home/user/x.txt");
        assert_eq!(relative("/x", ""), "/x");
    }
}
