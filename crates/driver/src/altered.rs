//! Plain builds made otherwise than the build itself asks for: at another
//! optimisation level, or with a sanitizer.
//!
//! A program that passes its test only by luck, because a variable happens to hold the
//! right value, rarely passes at another level too, and a sanitizer names the luck. The
//! build's own options stay as they are, but for those that contradict.
//!
//! A sanitizer is left out where it cannot work: in a build that brings a sanitizer of
//! its own, is linked statically, does without the C library, or is for another
//! target. Such a command is carried out as it is, and the reason is kept for whoever
//! asked (see [`units`](super::units)).

use std::ffi::OsString;

use super::command::{Command, Goal, Item};
use super::options::Role;

/// An optimisation level that replaces the build's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimisation {
    /// `-O0`.
    None,
    /// `-O1`.
    Less,
    /// `-O2`.
    Default,
    /// `-O3`.
    Aggressive,
    /// `-Os`.
    Size,
}

impl Optimisation {
    /// The level that is written `text`, as after `-O`.
    pub fn named(text: &str) -> Option<Self> {
        Some(match text {
            "0" => Optimisation::None,
            "1" => Optimisation::Less,
            "2" => Optimisation::Default,
            "3" => Optimisation::Aggressive,
            "s" => Optimisation::Size,
            _ => return None,
        })
    }

    fn option(self) -> &'static str {
        match self {
            Optimisation::None => "-O0",
            Optimisation::Less => "-O1",
            Optimisation::Default => "-O2",
            Optimisation::Aggressive => "-O3",
            Optimisation::Size => "-Os",
        }
    }
}

/// A sanitizer that all of a program is compiled and linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// Accesses outside of objects (`address`).
    Address,
    /// Uses of values that were never set (`memory`).
    Memory,
}

impl Sanitizer {
    /// The sanitizer of that name, as after `-fsanitize=`.
    pub fn named(text: &str) -> Option<Self> {
        match text {
            "address" => Some(Sanitizer::Address),
            "memory" => Some(Sanitizer::Memory),
            _ => None,
        }
    }

    fn options(self) -> &'static [&'static str] {
        match self {
            Sanitizer::Address => &[
                "-fsanitize=address",
                "-fsanitize-recover=address",
                "-fno-omit-frame-pointer",
                "-g",
                UNFORTIFIED,
            ],
            Sanitizer::Memory => &[
                "-fsanitize=memory",
                "-fsanitize-recover=memory",
                "-fsanitize-memory-track-origins",
                "-fno-omit-frame-pointer",
                "-g",
                UNFORTIFIED,
            ],
        }
    }
}

/// The checking variants of library functions (`__snprintf_chk`) are not known to the
/// sanitizers: MemorySanitizer would take what they write for uninitialised. Clang puts
/// words of `-Wp,` behind `-D` and `-U`, so that this is the last word.
const UNFORTIFIED: &str = "-Wp,-U_FORTIFY_SOURCE";

/// Words without which there is no C library to put a sanitizer beside.
const WITHOUT_LIBRARY: &[&str] = &["-nostdlib", "--no-standard-libraries", "-nodefaultlibs", "-nolibc"];

/// Words that take away the names a report is made of.
const STRIPPING: &[&str] =
    &["-s", "-Wl,-s", "-Wl,--strip-all", "-Wl,-S", "-Wl,--strip-debug", "-Wl,-s,-x", "-Wl,-x,-s"];

/// How a plain build differs from what the build asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Altered {
    pub optimisation: Option<Optimisation>,
    pub sanitizer: Option<Sanitizer>,
}

impl Altered {
    /// Changes `command` accordingly. Returns the option because of which it gets no
    /// sanitizer, if it should have had one.
    pub fn apply(&self, command: &mut Command) -> Option<String> {
        if command.inputs.is_empty() {
            return None;
        }
        let mut added: Vec<&str> = Vec::new();
        if let Some(level) = self.optimisation {
            command.items.retain(|item| !is_level(item));
            added.push(level.option());
        }
        let hindrance = self.sanitizer.and_then(|_| hindrance(command));
        if let (Some(sanitizer), None) = (self.sanitizer, &hindrance) {
            command.items.retain(|item| !is_word(item, Role::Link, STRIPPING));
            added.extend(sanitizer.options());
            // The report's lines come from the object, whatever the build wanted.
            (command.debug_is_wanted, command.debug_is_full) = (true, true);
        }
        if added.is_empty() {
            return hindrance;
        }
        // Not every step uses each of them, and the build is not to hear of it.
        let quiet = ["--start-no-unused-arguments"].into_iter();
        for word in quiet.chain(added).chain(["--end-no-unused-arguments"]) {
            command.items.push(item(word, Role::Compile));
        }
        if self.sanitizer.is_some() && hindrance.is_none() && command.linking.shared {
            // The runtime is in the executable; a library finds it there when it is loaded.
            command.items.push(item("-Wl,-z,undefs", Role::Link));
        }
        hindrance
    }
}

fn item(word: &str, role: Role) -> Item {
    Item { words: vec![OsString::from(word)], role, input: None }
}

fn is_word(item: &Item, role: Role, words: &[&str]) -> bool {
    item.role == role && words.iter().any(|word| item.words[0] == *word)
}

/// Does it say how much to optimise?
fn is_level(item: &Item) -> bool {
    let word = item.words[0].to_string_lossy();
    match item.role {
        Role::Compile => word.starts_with("-O") || word.starts_with("--optimize"),
        Role::FastMath => word == "-Ofast",
        _ => false,
    }
}

/// The option because of which a sanitizer cannot be added.
fn hindrance(command: &Command) -> Option<String> {
    let links = command.goal == Goal::Link && !command.linking.relocatable;
    let hinders = |item: &&Item| {
        let word = item.words[0].to_string_lossy();
        match item.role {
            Role::Compile => word.starts_with("-fsanitize="),
            Role::Foreign => word.starts_with("-fsanitize=") || matches!(&*word, "-m32" | "-m16" | "-mx32"),
            Role::Codegen => command.foreign.as_deref() == Some(&*word),
            Role::Link => {
                matches!(&*word, "-static" | "--static" | "-static-pie")
                    || (links && WITHOUT_LIBRARY.contains(&&*word))
            }
            _ => false,
        }
    };
    command.items.iter().find(hinders).map(|item| item.words[0].to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(line: &str, optimisation: Option<&str>, sanitizer: Option<&str>) -> (String, Option<String>) {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        let mut command = Command::parse(&words);
        let altered = Altered {
            optimisation: optimisation.and_then(Optimisation::named),
            sanitizer: sanitizer.and_then(Sanitizer::named),
        };
        let reason = altered.apply(&mut command);
        let words: Vec<String> = command
            .items
            .iter()
            .flat_map(|item| &item.words)
            .map(|word| word.to_string_lossy().into_owned())
            .filter(|word| !word.contains("no-unused-arguments"))
            .collect();
        (words.join(" "), reason)
    }

    #[test]
    fn the_level_is_replaced_wherever_it_stands() {
        let level = |line| apply(line, Some("1"), None).0;
        assert_eq!(level("-O2 -c a.c"), "-c a.c -O1");
        assert_eq!(level("-c a.c -O -O3 --optimize=2 -Ofast"), "-c a.c -O1");
        assert_eq!(level("-c a.c"), "-c a.c -O1");
        // Neither a value of another option nor a file is a level.
        assert_eq!(level("-Xclang -O2 -include -O3 -c a.c"), "-Xclang -O2 -include -O3 -c a.c -O1");
        // Where nothing is compiled or linked, there is nothing to say.
        assert_eq!(level("-O2 --version"), "-O2 --version");
        assert_eq!(Optimisation::named("fast"), None);
    }

    #[test]
    fn a_sanitizer_is_added_to_compiling_and_linking() {
        let (words, reason) = apply("-O2 -g0 -fomit-frame-pointer -c a.c", None, Some("address"));
        assert!(words.starts_with("-O2 -g0 -fomit-frame-pointer -c a.c -fsanitize=address "), "{words}");
        assert_eq!(reason, None);
        let (words, _) = apply("-s a.o -o prog", None, Some("memory"));
        assert!(words.starts_with("a.o -o prog -fsanitize=memory "), "{words}");
        let (words, _) = apply("-shared -Wl,-z,defs a.o -o lib.so", Some("0"), Some("memory"));
        assert!(words.ends_with("-Wl,-z,undefs") && words.contains("-O0"), "{words}");
    }

    #[test]
    fn where_a_sanitizer_cannot_work_the_command_stays() {
        for (line, word) in [
            ("-fsanitize=undefined -c a.c", "-fsanitize=undefined"),
            ("-fsanitize=thread a.c", "-fsanitize=thread"),
            ("-static a.o", "-static"),
            ("-nostdlib a.o crt.o", "-nostdlib"),
            ("-m32 -c a.c", "-m32"),
            ("--target=aarch64-linux-gnu -c a.c", "--target=aarch64-linux-gnu"),
        ] {
            assert_eq!(apply(line, None, Some("address")), (line.to_owned(), Some(word.to_owned())));
            // The level is another matter.
            assert_eq!(apply(line, Some("3"), Some("address")).0, format!("{line} -O3"));
        }
        for line in ["-nostdlib -r a.o -o b.o", "-nostdlib -c a.c", "--coverage -c a.c"] {
            assert_eq!(apply(line, None, Some("address")).1, None, "{line}");
        }
    }
}
