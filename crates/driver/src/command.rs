//! A parsed compiler command line: the goal, the inputs, and the words that belong to each step.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::Language;
use super::options::{Role, classify, debug_level_is_full};

/// The requested product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// `-S`
    Assembly,
    /// `-c`
    Object,
    /// An executable, a shared library or a relocatable object.
    Link,
}

/// The content of an input file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// C or C++ (also preprocessed): instrumented.
    Source,
    /// Compiled by clang and not instrumented: assembler, LLVM IR, Objective-C, ...
    Other,
    /// A header, which becomes a precompiled header.
    Header,
    /// An object, archive, library or linker script.
    Linkable,
}

/// An input file of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub path: PathBuf,
    pub kind: Kind,
    /// The `-x` in force at this input.
    pub language: Option<OsString>,
}

/// One option with its value, or one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub words: Vec<OsString>,
    pub role: Role,
    /// For an input: its number in [`Command::inputs`].
    pub input: Option<usize>,
}

/// The requests of `-M*` options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dependencies {
    /// `-MD` or `-MMD`: write a dependency file as part of compiling.
    pub wanted: bool,
    /// `-MF` names the file.
    pub file_named: bool,
    /// `-MT` or `-MQ` names the target.
    pub target_named: bool,
}

/// Flags of the link step that affect the options we add.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Linking {
    pub shared: bool,
    pub relocatable: bool,
    pub no_libraries: bool,
    pub linker_named: bool,
    pub linker_script: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    pub items: Vec<Item>,
    pub inputs: Vec<Input>,
    pub goal: Goal,
    pub output: Option<PathBuf>,
    pub dependencies: Dependencies,
    pub linking: Linking,
    /// The whole command is passed to clang: nothing is compiled, or only products that the driver
    /// does not handle.
    pub passthrough: bool,
    /// The option that prevents instrumentation of all inputs.
    pub foreign: Option<String>,
    /// Options of gcc that are dropped, for the note.
    pub dropped: Vec<String>,
    /// Options for measurement; see [`Role::Measure`].
    pub measured: Vec<String>,
    /// The last `-O` requests no optimisation, or there is none.
    pub unoptimised: bool,
    /// The last `-O` was `-O3` or higher.
    pub aggressive: bool,
    /// The options request full debug information.
    pub debug_is_full: bool,
    /// The options request some debug information.
    pub debug_is_wanted: bool,
    /// An option permitted inexact floating point.
    pub fast_math: bool,
}

impl Command {
    /// Parses `args`, in which response files are already expanded.
    pub fn parse(args: &[OsString]) -> Self {
        let mut command = Command {
            items: Vec::new(),
            inputs: Vec::new(),
            goal: Goal::Link,
            output: None,
            dependencies: Dependencies::default(),
            linking: Linking::default(),
            passthrough: false,
            foreign: None,
            dropped: Vec::new(),
            measured: Vec::new(),
            unoptimised: true,
            aggressive: false,
            debug_is_full: false,
            debug_is_wanted: false,
            fast_math: false,
        };
        let mut language: Option<OsString> = None;
        let mut only_inputs = false;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let word = arg.to_string_lossy();
            if only_inputs || arg.is_empty() {
                command.push_input(arg, &language);
                continue;
            }
            if word == "--" {
                only_inputs = true;
                continue;
            }
            let shape = classify(&word);
            if shape.role == Role::Input {
                command.push_input(arg, &language);
                continue;
            }
            let mut words = vec![arg.clone()];
            if shape.takes_next {
                match rest.next() {
                    Some(value) => words.push(value.clone()),
                    // The value is missing; clang reports the error.
                    None => command.passthrough = true,
                }
            }
            if shape.role == Role::Language {
                language = value_of(&words, &["--language=", "-x"]).filter(|name| name != "none");
            }
            command.note(&word, shape.role, &words);
            command.items.push(Item { words, role: shape.role, input: None });
        }
        command.passthrough |= command.inputs.is_empty()
            || command.inputs.iter().any(|input| input.kind == Kind::Header)
            || (command.goal != Goal::Link && command.output.is_some() && command.compiled().count() > 1);
        command
    }

    fn push_input(&mut self, arg: &OsStr, language: &Option<OsString>) {
        let input = Some(self.inputs.len());
        self.items.push(Item { words: vec![arg.to_owned()], role: Role::Input, input });
        self.inputs.push(Input {
            path: PathBuf::from(arg),
            kind: kind_of(arg, language.as_deref()),
            language: language.clone(),
        });
    }

    /// Records the effect of one option on the whole command.
    fn note(&mut self, word: &str, role: Role, words: &[OsString]) {
        match role {
            Role::Passthrough => self.passthrough = true,
            Role::Mode => {
                let goal = if matches!(word, "-S" | "--assemble") { Goal::Assembly } else { Goal::Object };
                // `-S -c` in any order stops at assembly, as in clang.
                if self.goal != Goal::Assembly {
                    self.goal = goal;
                }
            }
            Role::Output => {
                self.output = value_of(words, &["--output=", "-o"]).map(PathBuf::from);
            }
            Role::Depend => match word {
                "-MD" | "-MMD" => self.dependencies.wanted = true,
                _ if word.starts_with("-MF") => self.dependencies.file_named = true,
                _ if word.starts_with("-MT") || word.starts_with("-MQ") => {
                    self.dependencies.target_named = true
                }
                _ => {}
            },
            Role::Foreign => self.foreign = Some(word.to_owned()),
            Role::GccOnly => self.dropped.push(word.to_owned()),
            Role::Measure => self.measured.push(word.to_owned()),
            Role::FastMath => {
                self.fast_math |= word.starts_with("-Ofast")
                    || matches!(word, "-ffast-math" | "-ffp-model=fast" | "-ffp-model=aggressive");
                if word == "-Ofast" {
                    (self.unoptimised, self.aggressive) = (false, true);
                }
            }
            Role::Link => self.linking.note(word, words),
            Role::Codegen => {
                let target = match word {
                    "-target" => words.get(1).map(|t| t.to_string_lossy().into_owned()),
                    _ => word.strip_prefix("--target=").map(str::to_owned),
                };
                if target.is_some_and(|triple| !is_supported_target(&triple)) {
                    self.foreign = Some(word.to_owned());
                }
            }
            Role::Compile => {
                if let Some(full) = debug_level_is_full(word) {
                    self.debug_is_full = full;
                    self.debug_is_wanted = !matches!(word, "-g0" | "-ggdb0");
                }
                if let Some(level) = word.strip_prefix("-O") {
                    self.unoptimised = level == "0";
                    self.aggressive = level.parse::<u32>().is_ok_and(|n| n >= 3);
                }
                if let Some(list) = word.strip_prefix("-Wp,") {
                    let names = |option: &str| list.split(',').any(|part| part == option);
                    if names("-MD") || names("-MMD") {
                        // `-Wp,-MD,FILE` is `-MD -MF FILE`.
                        self.dependencies.wanted = true;
                        self.dependencies.file_named = true;
                    }
                    self.dependencies.target_named |= names("-MT") || names("-MQ");
                }
            }
            Role::Language | Role::Lto | Role::Input => {}
        }
    }

    /// The inputs that require a compile step, with their numbers.
    pub fn compiled(&self) -> impl Iterator<Item = (usize, &Input)> {
        self.inputs.iter().enumerate().filter(|(_, input)| input.kind != Kind::Linkable)
    }

    /// The command without the options that are never passed to clang.
    pub fn cleaned(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = Vec::new();
        // A precompiled header must be compatible with the sources that include it.
        let header = self.inputs.iter().any(|input| input.kind == Kind::Header);
        for item in &self.items {
            let dropped =
                item.role == Role::GccOnly || (header && matches!(item.role, Role::FastMath | Role::Lto));
            if !dropped {
                args.extend(item.words.iter().cloned());
            }
        }
        if header {
            args.extend(self.fast_math_replacements());
        }
        args
    }

    /// Replacements for the options that permit inexact floating point.
    pub fn fast_math_replacements(&self) -> Vec<OsString> {
        let mut args = Vec::new();
        if self.items.iter().any(|item| item.role == Role::FastMath && item.words[0] == "-Ofast") {
            args.push("-O3".into());
        }
        if self.fast_math {
            args.push("-D__FAST_MATH__=1".into());
        }
        args
    }

    /// The product of compiling `input` when it is not linked.
    pub fn product(&self, input: &Input) -> PathBuf {
        if let Some(output) = &self.output {
            return output.clone();
        }
        stem(&input.path).with_added_extension(if self.goal == Goal::Assembly { "s" } else { "o" })
    }

    /// The dependency file of `input`, with clang's default name.
    pub fn dependency_file(&self, input: &Input) -> PathBuf {
        match &self.output {
            Some(output) => output.with_extension("d"),
            None => stem(&input.path).with_added_extension("d"),
        }
    }

    /// The target name in the dependency file.
    pub fn dependency_target(&self, input: &Input) -> PathBuf {
        match &self.output {
            Some(output) => output.clone(),
            None => stem(&input.path).with_added_extension("o"),
        }
    }
}

impl Linking {
    fn note(&mut self, word: &str, words: &[OsString]) {
        match word {
            "-shared" | "--shared" => self.shared = true,
            "-r" => self.relocatable = true,
            "-nostdlib" | "--no-standard-libraries" | "-nodefaultlibs" | "-nolibc" => {
                self.no_libraries = true;
            }
            "-Xlinker" => {
                let value = words.get(1).map(|w| w.to_string_lossy().into_owned()).unwrap_or_default();
                self.note_linker_word(&value);
            }
            _ if word.starts_with("-fuse-ld=") || word.starts_with("--ld-path=") => self.linker_named = true,
            _ if word.starts_with("-T") => self.linker_script = true,
            _ => {
                if let Some(list) = word.strip_prefix("-Wl,") {
                    list.split(',').for_each(|part| self.note_linker_word(part));
                }
            }
        }
    }

    fn note_linker_word(&mut self, word: &str) {
        match word {
            "-r" | "-i" | "--relocatable" | "-relocatable" => self.relocatable = true,
            "-shared" | "--shared" | "-Bshareable" => self.shared = true,
            "-T" | "--script" | "-script" => self.linker_script = true,
            _ => {
                self.linker_script |= word.starts_with("--script=")
                    || (word.starts_with("-T")
                        && !["-Ttext", "-Tdata", "-Tbss"].iter().any(|p| word.starts_with(p)));
            }
        }
    }
}

/// The file name of `path` without directory and last extension, from which clang derives the names
/// of products.
fn stem(path: &Path) -> PathBuf {
    match path.file_stem() {
        Some(stem) => PathBuf::from(stem),
        None => PathBuf::from("-"),
    }
}

/// The value of an option: the second word, or the part after one of `prefixes`.
fn value_of(words: &[OsString], prefixes: &[&str]) -> Option<OsString> {
    if let Some(value) = words.get(1) {
        return Some(value.clone());
    }
    let bytes = words.first()?.as_bytes();
    prefixes
        .iter()
        .find_map(|prefix| bytes.strip_prefix(prefix.as_bytes()))
        .filter(|rest| !rest.is_empty())
        .map(|rest| OsString::from_vec(rest.to_vec()))
}

/// Recording supports Linux on x86-64. For other targets sources are compiled without it.
fn is_supported_target(triple: &str) -> bool {
    triple.starts_with("x86_64") && triple.contains("linux") && !triple.ends_with("x32")
}

fn kind_of(path: &OsStr, language: Option<&OsStr>) -> Kind {
    if let Some(language) = language {
        return match &*language.to_string_lossy() {
            "c" | "c++" | "cpp-output" | "c++-cpp-output" => Kind::Source,
            "c-header"
            | "c++-header"
            | "objective-c-header"
            | "objective-c++-header"
            | "c++-user-header"
            | "c++-system-header"
            | "cpp-header" => Kind::Header,
            _ => Kind::Other,
        };
    }
    let extension = Path::new(path).extension().map(|e| e.to_string_lossy().into_owned());
    match extension.as_deref() {
        Some("c" | "i") => Kind::Source,
        Some("cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" | "CC" | "CXX" | "C++" | "ii") => Kind::Source,
        Some("h" | "H" | "hh" | "hp" | "hxx" | "hpp" | "HPP" | "h++") => Kind::Header,
        Some(
            "s" | "S" | "sx" | "asm" | "bc" | "ll" | "m" | "mm" | "M" | "mi" | "mii" | "cu" | "cui" | "hip",
        ) => Kind::Other,
        Some("cl" | "f" | "F" | "for" | "f90" | "f95" | "cppm" | "ixx" | "ccm" | "cxxm" | "c++m" | "pcm") => {
            Kind::Other
        }
        Some("iim" | "ast" | "clcpp" | "cir" | "hlsl" | "ifs") => Kind::Other,
        // `-` without a language: clang reports the error.
        None if path == "-" => Kind::Other,
        _ => Kind::Linkable,
    }
}

impl Input {
    /// Whether the driver of a language compiles this as C++. The C++ driver does so for C files
    /// too.
    pub fn is_cxx(&self, driver: Language) -> bool {
        let extension = self.path.extension().and_then(OsStr::to_str);
        match (self.language.as_deref().and_then(OsStr::to_str), extension) {
            (Some(language), _) => language.starts_with("c++"),
            (None, Some("i")) => false,
            (None, Some("c")) => driver == Language::Cxx,
            (None, _) => true,
        }
    }
}

/// The `--driver-mode` of a language.
pub fn driver_mode(language: Language) -> Option<&'static str> {
    match language {
        Language::C => None,
        Language::Cxx => Some("--driver-mode=g++"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Command {
        let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        Command::parse(&args)
    }

    #[test]
    fn goals() {
        for (line, goal, passthrough) in [
            ("a.c", Goal::Link, false),
            ("-c a.c", Goal::Object, false),
            ("a.c -S", Goal::Assembly, false),
            ("-S -c a.c", Goal::Assembly, false),
            ("-c -S a.c", Goal::Assembly, false),
            ("-E a.c", Goal::Link, true),
            ("-c -fsyntax-only a.c", Goal::Object, true),
            ("-S -emit-llvm a.c", Goal::Assembly, true),
            ("--version", Goal::Link, true),
            ("-v", Goal::Link, true),
            ("-v a.c", Goal::Link, false),
            ("-M a.c", Goal::Link, true),
            ("-MD -c a.c", Goal::Object, false),
            ("-x c-header a.h -o a.h.pch", Goal::Link, true),
            ("a.h", Goal::Link, true),
            ("-c a.c b.c -o x.o", Goal::Object, true),
            ("a.c b.c -o x", Goal::Link, false),
            ("a.o b.a -o x", Goal::Link, false),
            ("a.c -o", Goal::Link, true),
        ] {
            let command = parse(line);
            assert_eq!((command.goal, command.passthrough), (goal, passthrough), "{line}");
        }
    }

    #[test]
    fn inputs_follow_language_and_extension() {
        let command = parse("a.c -x c b.foo - -x none c.o d.S e.ll -xassembler f.c");
        let kinds: Vec<_> = command.inputs.iter().map(|input| input.kind).collect();
        use Kind::*;
        assert_eq!(kinds, [Source, Source, Source, Linkable, Other, Other, Other]);
        assert_eq!(command.inputs[1].language.as_deref(), Some(OsStr::new("c")));
        assert_eq!(command.inputs[3].language, None);
    }

    #[test]
    fn values_are_not_inputs() {
        let command = parse(
            "-I inc -D X -include config.h -o out -L lib -l m -MF x.d -Xlinker foo.o -isystem s -u sym \
             -T script.ld --param x=1 -target x86_64-linux-gnu a.c",
        );
        assert_eq!(command.inputs.len(), 1);
        assert!(command.linking.linker_script);
        assert_eq!(command.foreign, None);
    }

    #[test]
    fn products_are_named_as_clang_names_them() {
        for (line, product, dep_file, dep_target) in [
            ("-c dir/a.c", "a.o", "a.d", "a.o"),
            ("-c dir/a.c -o out/b.o", "out/b.o", "out/b.d", "out/b.o"),
            ("-S dir/a.b.c", "a.b.s", "a.b.d", "a.b.o"),
            ("-c -x c -", "-.o", "-.d", "-.o"),
            ("-c a.c -oz.o", "z.o", "z.d", "z.o"),
            ("-c a.c -o x.lo", "x.lo", "x.d", "x.lo"),
        ] {
            let command = parse(line);
            let input = &command.inputs[0];
            assert_eq!(command.product(input), Path::new(product), "{line}");
            assert_eq!(command.dependency_file(input), Path::new(dep_file), "{line}");
            assert_eq!(command.dependency_target(input), Path::new(dep_target), "{line}");
        }
    }

    #[test]
    fn linking_flags() {
        assert!(parse("-shared a.o").linking.shared);
        assert!(parse("-r a.o").linking.relocatable);
        assert!(parse("-Wl,-r a.o").linking.relocatable);
        assert!(!parse("-Wl,-rpath,/x a.o").linking.relocatable);
        assert!(parse("-fuse-ld=bfd a.o").linking.linker_named);
        assert!(parse("-nostdlib a.o").linking.no_libraries);
    }

    #[test]
    fn other_targets_and_sanitizers_are_compiled_plainly() {
        for line in
            ["-m32 a.c", "--target=aarch64-linux-gnu a.c", "-target i386-linux a.c", "-fsanitize=address a.c"]
        {
            assert!(parse(line).foreign.is_some(), "{line}");
        }
        for line in ["--coverage a.c", "-pg a.c", "-fprofile-generate=/x a.c", "-fprofile-use a.c"] {
            let command = parse(line);
            assert_eq!((command.foreign, command.measured.len()), (None, 1), "{line}");
        }
        assert_eq!(parse("--target=x86_64-unknown-linux-gnu -fsanitize=undefined a.c").foreign, None);
    }

    #[test]
    fn levels() {
        assert!(parse("a.c").unoptimised);
        assert!(!parse("-O0 -O2 a.c").unoptimised);
        assert!(parse("-O2 -O0 a.c").unoptimised);
        assert!(!parse("-O a.c").unoptimised);
        assert!(parse("-O3 a.c").aggressive);
        assert!(parse("-g a.c").debug_is_full);
        assert!(parse("-g0 -gline-tables-only a.c").debug_is_wanted);
        assert!(!parse("-g -g0 a.c").debug_is_wanted);
        assert!(!parse("a.c").debug_is_wanted);
        assert!(!parse("-g -g0 a.c").debug_is_full);
        assert!(!parse("-gline-tables-only a.c").debug_is_full);
    }

    #[test]
    fn the_language_of_an_input() {
        let is_cxx = |line: &str, driver| parse(line).inputs[0].is_cxx(driver);
        assert!(!is_cxx("a.c", Language::C));
        assert!(is_cxx("a.c", Language::Cxx));
        assert!(is_cxx("a.cc", Language::C));
        assert!(is_cxx("-x c++ a.c", Language::C));
        assert!(!is_cxx("-x c a.cc", Language::Cxx));
    }
}
