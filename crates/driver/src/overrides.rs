//! Plain builds with options that differ from the build's own: another optimisation level, or a
//! sanitizer.
//!
//! A program that passes its test by accident, because a variable happens to have the right value,
//! rarely passes at another level too, and a sanitizer reports the cause. The build's own options
//! are kept, except those that conflict.
//!
//! No sanitizer is added where it cannot work: in a build that uses a sanitizer of its own, is
//! linked statically, does not use the C library, or is for another target. Such a command runs
//! unchanged, and the reason is recorded (see [`units`](super::units)).

use std::ffi::OsString;

use super::command::{Command, Goal, Item};
use super::options::Role;

/// An optimisation level that replaces that of the build.
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
    /// Parses a level as written after `-O`.
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

/// A sanitizer with which the whole program is compiled and linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    /// Accesses outside objects (`address`).
    Address,
    /// Uses of uninitialised values (`memory`).
    Memory,
}

impl Sanitizer {
    /// Parses a sanitizer as written after `-fsanitize=`.
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

/// The sanitizers do not know the checking variants of library functions (`__snprintf_chk`):
/// MemorySanitizer would treat their output as uninitialised. Clang places words of `-Wp,` after
/// `-D` and `-U`, so that this option takes effect last.
const UNFORTIFIED: &str = "-Wp,-U_FORTIFY_SOURCE";

/// Options that exclude the C library, which a sanitizer requires.
const WITHOUT_LIBRARY: &[&str] = &["-nostdlib", "--no-standard-libraries", "-nodefaultlibs", "-nolibc"];

/// Options that remove the symbols which a report requires.
const STRIPPING: &[&str] =
    &["-s", "-Wl,-s", "-Wl,--strip-all", "-Wl,-S", "-Wl,--strip-debug", "-Wl,-s,-x", "-Wl,-x,-s"];

/// The differences between a plain build and the build's own options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuildOverrides {
    pub optimisation: Option<Optimisation>,
    pub sanitizer: Option<Sanitizer>,
}

impl BuildOverrides {
    /// Modifies `command` accordingly. Returns the option that prevents a requested sanitizer.
    pub fn apply(&self, command: &mut Command) -> Option<String> {
        if command.inputs.is_empty() {
            return None;
        }
        let mut added: Vec<&str> = Vec::new();
        if let Some(level) = self.optimisation {
            command.items.retain(|item| !is_level(item));
            added.push(level.option());
        }
        let sanitizer_conflict = self.sanitizer.and_then(|_| sanitizer_conflict(command));
        if let (Some(sanitizer), None) = (self.sanitizer, &sanitizer_conflict) {
            command.items.retain(|item| !is_word(item, Role::Link, STRIPPING));
            added.extend(sanitizer.options());
            // Reports require line information, even if the build does not request it.
            (command.debug_is_wanted, command.debug_is_full) = (true, true);
        }
        if added.is_empty() {
            return sanitizer_conflict;
        }
        // Not every step uses each option; clang must not warn about that.
        let quiet = ["--start-no-unused-arguments"].into_iter();
        for word in quiet.chain(added).chain(["--end-no-unused-arguments"]) {
            command.items.push(item(word, Role::Compile));
        }
        if self.sanitizer.is_some() && sanitizer_conflict.is_none() && command.linking.shared {
            // The sanitizer's runtime is in the executable. A library is bound to it when it is
            // loaded.
            command.items.push(item("-Wl,-z,undefs", Role::Link));
        }
        sanitizer_conflict
    }
}

fn item(word: &str, role: Role) -> Item {
    Item { words: vec![OsString::from(word)], role, input: None }
}

fn is_word(item: &Item, role: Role, words: &[&str]) -> bool {
    item.role == role && words.iter().any(|word| item.words[0] == *word)
}

/// Whether an option sets the optimisation level.
fn is_level(item: &Item) -> bool {
    let word = item.words[0].to_string_lossy();
    match item.role {
        Role::Compile => word.starts_with("-O") || word.starts_with("--optimize"),
        Role::FastMath => word == "-Ofast",
        _ => false,
    }
}

/// The option that prevents adding a sanitizer.
fn sanitizer_conflict(command: &Command) -> Option<String> {
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
        let overrides = BuildOverrides {
            optimisation: optimisation.and_then(Optimisation::named),
            sanitizer: sanitizer.and_then(Sanitizer::named),
        };
        let reason = overrides.apply(&mut command);
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
        // The value of another option and a file name are not levels.
        assert_eq!(level("-Xclang -O2 -include -O3 -c a.c"), "-Xclang -O2 -include -O3 -c a.c -O1");
        // A command that neither compiles nor links is not modified.
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
            // The level is independent of that.
            assert_eq!(apply(line, Some("3"), Some("address")).0, format!("{line} -O3"));
        }
        for line in ["-nostdlib -r a.o -o b.o", "-nostdlib -c a.c", "--coverage -c a.c"] {
            assert_eq!(apply(line, None, Some("address")).1, None, "{line}");
        }
    }
}
