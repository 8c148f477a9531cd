//! Classifies the options of a C compiler's command line.
//!
//! The driver runs the compiler in several steps, so it must know the steps to which an option
//! belongs. It must also know which options take the next word as their value, to distinguish
//! values from input files. Options that are not listed here are ordinary compile options; clang
//! validates them.

/// The steps that an option belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Compile step only, harmless at link (the default).
    Compile,
    /// Compile step, and code generation from bitcode.
    Codegen,
    /// Link step. In a command that does not link, clang reports that it is unused.
    Link,
    /// The requested product: `-c`, `-S`, `-E`, ...
    Mode,
    /// `-o`.
    Output,
    /// `-x`.
    Language,
    /// `-M*`: dependency files, written by the first step only.
    Depend,
    /// Requests information or a product that the driver does not handle: the whole command is
    /// passed to clang.
    Passthrough,
    /// Permits inexact floating point. Dropped, so that replay is exact.
    FastMath,
    /// Link-time optimisation; dropped.
    Lto,
    /// Known only to gcc and without effect on semantics. Dropped with a note.
    GccOnly,
    /// Requests another kind of instrumentation, or another target: such files are compiled without
    /// recording, and the program contains the reason.
    Foreign,
    /// Measures the program (coverage, profiles) or uses measurements: omitted from instrumented
    /// code with a note, since it does not change the program's behaviour.
    Measure,
    /// An input file.
    Input,
}

/// Prefixes of options that measure, or use measurements.
const MEASURES: &[&str] = &[
    "-fprofile-",
    "-fcs-profile-",
    "-fauto-profile",
    "-fmemory-profile",
    "-ftest-coverage",
    "-fcoverage-",
    "-fxray-",
];

/// The syntax of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub role: Role,
    /// The next word is the option's value.
    pub takes_next: bool,
}

/// Options whose value is always the next word.
const SEPARATE: &[(&str, Role)] = &[
    ("-Xclang", Role::Compile),
    ("-Xpreprocessor", Role::Compile),
    ("-Xanalyzer", Role::Compile),
    ("-Xassembler", Role::Codegen),
    ("-Xlinker", Role::Link),
    ("-Xopenmp-target", Role::Compile),
    ("-Xoffload-linker", Role::Link),
    ("-mllvm", Role::Codegen),
    ("-target", Role::Codegen),
    ("-arch", Role::Passthrough),
    ("-include", Role::Compile),
    ("-include-pch", Role::Compile),
    ("-imacros", Role::Compile),
    ("-idirafter", Role::Compile),
    ("-iprefix", Role::Compile),
    ("-iquote", Role::Compile),
    ("-isysroot", Role::Compile),
    ("-isystem", Role::Compile),
    ("-isystem-after", Role::Compile),
    ("-iwithprefix", Role::Compile),
    ("-iwithprefixbefore", Role::Compile),
    ("-iwithsysroot", Role::Compile),
    ("-cxx-isystem", Role::Compile),
    ("-stdlib++-isystem", Role::Compile),
    ("-ivfsoverlay", Role::Compile),
    ("-imultilib", Role::Compile),
    ("-working-directory", Role::Compile),
    ("-serialize-diagnostics", Role::Compile),
    ("--serialize-diagnostics", Role::Compile),
    ("-dependency-file", Role::Compile),
    ("-dependency-dot", Role::Compile),
    ("-ftrapv-handler", Role::Compile),
    ("-fnew-alignment", Role::Compile),
    ("-MF", Role::Depend),
    ("-MT", Role::Depend),
    ("-MQ", Role::Depend),
    ("-MJ", Role::Compile),
    ("--param", Role::Compile),
    ("--sysroot", Role::Compile),
    ("--include", Role::Compile),
    ("--imacros", Role::Compile),
    ("--include-directory", Role::Compile),
    ("--include-directory-after", Role::Compile),
    ("--define-macro", Role::Compile),
    ("--undefine-macro", Role::Compile),
    ("--assert", Role::Compile),
    ("--library-directory", Role::Link),
    ("--for-linker", Role::Link),
    ("--entry", Role::Link),
    ("--force-link", Role::Link),
    ("--rtlib", Role::Link),
    ("--unwindlib", Role::Link),
    ("--stdlib", Role::Compile),
    ("--std", Role::Compile),
    ("--warn-", Role::Compile),
    ("-rpath", Role::Link),
    ("-e", Role::Link),
    ("-z", Role::Link),
    ("-b", Role::Link),
    ("-y", Role::Link),
    ("-undefined", Role::Link),
    ("-framework", Role::Link),
    ("-dumpdir", Role::Compile),
];

/// Options whose value is the rest of the word or, if that is empty, the next word.
const JOINED_OR_SEPARATE: &[(&str, Role)] = &[
    ("-D", Role::Compile),
    ("-U", Role::Compile),
    ("-I", Role::Compile),
    ("-F", Role::Compile),
    ("-A", Role::Compile),
    ("-B", Role::Compile),
    ("-G", Role::Compile),
    ("-L", Role::Link),
    ("-l", Role::Link),
    ("-T", Role::Link),
    ("-u", Role::Link),
    ("-o", Role::Output),
    ("-x", Role::Language),
    ("-MF", Role::Depend),
    ("-MT", Role::Depend),
    ("-MQ", Role::Depend),
    ("-include", Role::Compile),
    ("-imacros", Role::Compile),
    ("-idirafter", Role::Compile),
    ("-iquote", Role::Compile),
    ("-isystem", Role::Compile),
    ("-isysroot", Role::Compile),
    ("-iprefix", Role::Compile),
];

/// Whole words.
const WORDS: &[(&str, Role)] = &[
    ("-c", Role::Mode),
    ("-S", Role::Mode),
    ("--compile", Role::Mode),
    ("--assemble", Role::Mode),
    ("-E", Role::Passthrough),
    ("--preprocess", Role::Passthrough),
    ("-M", Role::Passthrough),
    ("-MM", Role::Passthrough),
    ("-fsyntax-only", Role::Passthrough),
    ("-emit-llvm", Role::Passthrough),
    ("-emit-ast", Role::Passthrough),
    ("-emit-pch", Role::Passthrough),
    ("-emit-interface-stubs", Role::Passthrough),
    ("--precompile", Role::Passthrough),
    ("--analyze", Role::Passthrough),
    ("-extract-api", Role::Passthrough),
    ("-verify-pch", Role::Passthrough),
    ("-rewrite-objc", Role::Passthrough),
    ("-###", Role::Passthrough),
    ("--help", Role::Passthrough),
    ("-help", Role::Passthrough),
    ("--help-hidden", Role::Passthrough),
    ("--version", Role::Passthrough),
    ("-dumpmachine", Role::Passthrough),
    ("-dumpversion", Role::Passthrough),
    ("-dumpfullversion", Role::Passthrough),
    ("-fdriver-only", Role::Passthrough),
    ("-cc1", Role::Passthrough),
    ("-cc1as", Role::Passthrough),
    ("-MD", Role::Depend),
    ("-MMD", Role::Depend),
    ("-MP", Role::Depend),
    ("-MG", Role::Depend),
    ("-MV", Role::Depend),
    ("-shared", Role::Link),
    ("--shared", Role::Link),
    ("-static", Role::Link),
    ("--static", Role::Link),
    ("-static-pie", Role::Link),
    ("-static-libgcc", Role::Link),
    ("-static-libstdc++", Role::Link),
    ("-static-libsan", Role::Link),
    ("-static-openmp", Role::Link),
    ("-shared-libgcc", Role::Link),
    ("-shared-libsan", Role::Link),
    ("-rdynamic", Role::Link),
    ("-pie", Role::Link),
    ("-no-pie", Role::Link),
    ("-nopie", Role::Link),
    ("-s", Role::Link),
    ("-r", Role::Link),
    ("-t", Role::Link),
    ("-Z", Role::Link),
    ("-nostdlib", Role::Link),
    ("--no-standard-libraries", Role::Link),
    ("-nostdlib++", Role::Link),
    ("-nostartfiles", Role::Link),
    ("-nodefaultlibs", Role::Link),
    ("-nolibc", Role::Link),
    ("-ffast-math", Role::FastMath),
    ("-Ofast", Role::FastMath),
    ("-funsafe-math-optimizations", Role::FastMath),
    ("-fassociative-math", Role::FastMath),
    ("-freciprocal-math", Role::FastMath),
    ("-ffinite-math-only", Role::FastMath),
    ("-fno-honor-nans", Role::FastMath),
    ("-fno-honor-infinities", Role::FastMath),
    ("-fno-signed-zeros", Role::FastMath),
    ("-fapprox-func", Role::FastMath),
    ("-menable-unsafe-fp-math", Role::FastMath),
    ("-flto", Role::Lto),
    ("-fno-lto", Role::Lto),
    ("-ffat-lto-objects", Role::Lto),
    ("-fno-fat-lto-objects", Role::Lto),
    ("-fuse-linker-plugin", Role::Lto),
    ("-fno-use-linker-plugin", Role::Lto),
    ("-fwhole-program-vtables", Role::Lto),
    ("-fsplit-lto-unit", Role::Lto),
    ("--coverage", Role::Measure),
    ("-coverage", Role::Measure),
    ("-pg", Role::Measure),
    ("-m32", Role::Foreign),
    ("-m16", Role::Foreign),
    ("-mx32", Role::Foreign),
    ("-fno-builtin", Role::Codegen),
    ("-ffreestanding", Role::Codegen),
    ("-fno-plt", Role::Codegen),
    ("-fintegrated-as", Role::Codegen),
    ("-fno-integrated-as", Role::Codegen),
    ("-gsplit-dwarf", Role::Codegen),
    ("-save-temps", Role::Codegen),
    ("--save-temps", Role::Codegen),
    ("-pipe", Role::Codegen),
];

/// Word prefixes. Longer matches precede shorter ones.
const PREFIXES: &[(&str, Role)] = &[
    ("-print-", Role::Passthrough),
    ("--print-", Role::Passthrough),
    ("-ccc-", Role::Passthrough),
    ("--autocomplete", Role::Passthrough),
    ("--help=", Role::Passthrough),
    ("-emit-", Role::Passthrough),
    ("-Wl,", Role::Link),
    ("-Wa,", Role::Codegen),
    ("-fuse-ld=", Role::Link),
    ("--ld-path=", Role::Link),
    ("-rtlib=", Role::Link),
    ("--rtlib=", Role::Link),
    ("-unwindlib=", Role::Link),
    ("--unwindlib=", Role::Link),
    ("--library-directory=", Role::Link),
    ("--entry=", Role::Link),
    ("-flto=", Role::Lto),
    ("-flto-", Role::Lto),
    ("-ffp-contract=", Role::FastMath),
    ("-ffp-model=", Role::FastMath),
    ("-save-temps=", Role::Codegen),
    ("--save-temps=", Role::Codegen),
    ("-fno-builtin-", Role::Codegen),
    ("-ftls-model=", Role::Codegen),
    ("-gz", Role::Codegen),
    ("-gsplit-dwarf=", Role::Codegen),
    ("--target=", Role::Codegen),
    ("-MF", Role::Depend),
    ("-MT", Role::Depend),
    ("-MQ", Role::Depend),
    ("--output=", Role::Output),
    ("--language=", Role::Language),
];

/// `-fNAME` / `-fno-NAME` options that code generation from bitcode requires again. (All others are
/// stored in the bitcode as attributes.)
const CODEGEN_FEATURES: &[&str] = &[
    "PIC",
    "pic",
    "PIE",
    "pie",
    "function-sections",
    "data-sections",
    "unique-section-names",
    "unique-basic-block-section-names",
    "omit-frame-pointer",
    "semantic-interposition",
    "asynchronous-unwind-tables",
    "unwind-tables",
    "addrsig",
    "emulated-tls",
    "stack-size-section",
    "merge-all-constants",
    "verbose-asm",
    "split-machine-functions",
    "use-init-array",
    "debug-types-section",
    "force-dwarf-frame",
    "jump-tables",
    "zero-initialized-in-bss",
    "trap-function",
    "split-dwarf-inlining",
    "vectorize",
    "slp-vectorize",
    "tree-vectorize",
    "tree-slp-vectorize",
    "unroll-loops",
];

/// Optimiser and reporting options of gcc that clang rejects, without `-f`, `-fno-` and `=value`.
/// None of them changes the behaviour of a correct program.
const GCC_FEATURES: &[&str] = &[
    "aggressive-loop-optimizations",
    "allow-store-data-races",
    "analyzer",
    "auto-inc-dec",
    "bit-tests",
    "branch-target-load-optimize",
    "callgraph-info",
    "canonical-system-headers",
    "code-hoisting",
    "combine-stack-adjustments",
    "compare-debug",
    "compare-elim",
    "conserve-stack",
    "cprop-registers",
    "crossjumping",
    "cse-follow-jumps",
    "dce",
    "delete-dead-exceptions",
    "diagnostics-format",
    "diagnostics-path-format",
    "diagnostics-plain-output",
    "diagnostics-show-caret",
    "diagnostics-show-labels",
    "diagnostics-urls",
    "dse",
    "early-inlining",
    "emit-struct-debug-baseonly",
    "fold-simple-inlines",
    "forward-propagate",
    "fp-int-builtin-inexact",
    "function-cse",
    "gnu-unique",
    "graphite-identity",
    "guess-branch-probability",
    "harden-compares",
    "hoist-adjacent-loads",
    "if-conversion",
    "if-conversion2",
    "inhibit-size-directive",
    "ipa-bit-cp",
    "ipa-cp-clone",
    "ipa-icf",
    "ipa-icf-functions",
    "ipa-icf-variables",
    "ipa-modref",
    "ipa-profile",
    "ipa-pta",
    "ipa-pure-const",
    "ipa-ra",
    "ipa-reference",
    "ipa-sra",
    "ipa-stack-alignment",
    "ipa-strict-aliasing",
    "ipa-vrp",
    "ira-algorithm",
    "ira-hoist-pressure",
    "ira-loop-pressure",
    "ira-region",
    "ira-share-spill-slots",
    "isolate-erroneous-paths-attribute",
    "isolate-erroneous-paths-dereference",
    "keep-static-functions",
    "large-source-files",
    "lifetime-dse",
    "live-patching",
    "live-range-shrinkage",
    "loop-block",
    "loop-nest-optimize",
    "loop-strip-mine",
    "loop-unroll-and-jam",
    "lra-remat",
    "mem-report",
    "merge-debug-strings",
    "move-loop-invariants",
    "opt-info",
    "partial-inlining",
    "peephole2",
    "pretty-templates",
    "printf-return-value",
    "profile-partial-training",
    "profile-reorder-functions",
    "reorder-blocks-and-partition",
    "report-bug",
    "rerun-cse-after-loop",
    "sched-interblock",
    "sched-pressure",
    "sched-spec",
    "sched-spec-load",
    "sched2-use-superblocks",
    "schedule-fusion",
    "section-anchors",
    "sel-sched-pipelining",
    "selective-scheduling",
    "selective-scheduling2",
    "shrink-wrap",
    "simd-cost-model",
    "split-ivs-in-unroller",
    "split-loops",
    "split-paths",
    "split-wide-types",
    "ssa-phiopt",
    "stack-limit",
    "stack-reuse",
    "stdarg-opt",
    "store-merging",
    "sync-libcalls",
    "thread-jumps",
    "toplevel-reorder",
    "track-macro-expansion",
    "tree-bit-ccp",
    "tree-builtin-call-dce",
    "tree-ccp",
    "tree-ch",
    "tree-coalesce-vars",
    "tree-copy-prop",
    "tree-cselim",
    "tree-dominator-opts",
    "tree-dse",
    "tree-forwprop",
    "tree-fre",
    "tree-loop-distribute-patterns",
    "tree-loop-if-convert",
    "tree-loop-im",
    "tree-loop-ivcanon",
    "tree-loop-linear",
    "tree-loop-optimize",
    "tree-loop-vectorize",
    "tree-parallelize-loops",
    "tree-phiprop",
    "tree-pre",
    "tree-pta",
    "tree-reassoc",
    "tree-scev-cprop",
    "tree-sink",
    "tree-slsr",
    "tree-sra",
    "tree-switch-conversion",
    "tree-tail-merge",
    "var-tracking",
    "var-tracking-assignments",
    "vect-cost-model",
    "version-loops-for-strides",
];

/// Other options of gcc of the same kind, complete or up to `=`.
const GCC_WORDS: &[&str] = &[
    "-gas-loc-support",
    "-gas-locview-support",
    "-gno-as-loc-support",
    "-gno-as-locview-support",
    "-gno-statement-frontiers",
    "-gno-variable-location-views",
    "-gstatement-frontiers",
    "-gvariable-location-views",
    "-ginternal-reset-location-views",
    "-gno-internal-reset-location-views",
    "-maccumulate-outgoing-args",
    "-malign-data",
    "-mavx256-split-unaligned-load",
    "-mavx256-split-unaligned-store",
    "-mbranch-cost",
    "-mindirect-branch",
    "-mindirect-branch-register",
    "-mfunction-return",
    "-mmitigate-rop",
    "-mno-accumulate-outgoing-args",
    "-mno-align-stringops",
    "-mno-avx256-split-unaligned-load",
    "-mno-avx256-split-unaligned-store",
    "-mno-ieee-fp",
    "-mno-push-args",
    "-mstringop-strategy",
    "-mtune-ctrl",
    "-pass-exit-codes",
];

/// Classifies `word`.
pub fn classify(word: &str) -> Shape {
    let one = |role| Shape { role, takes_next: false };
    if word == "-" || !word.starts_with('-') {
        return one(Role::Input);
    }
    if let Some((_, role)) = SEPARATE.iter().find(|(name, _)| *name == word) {
        return Shape { role: *role, takes_next: true };
    }
    if let Some((_, role)) = JOINED_OR_SEPARATE.iter().find(|(name, _)| *name == word) {
        return Shape { role: *role, takes_next: true };
    }
    if matches!(word, "--output" | "--language") {
        let role = if word == "--output" { Role::Output } else { Role::Language };
        return Shape { role, takes_next: true };
    }
    if let Some((_, role)) = WORDS.iter().find(|(name, _)| *name == word) {
        return one(*role);
    }
    if let Some((_, role)) = PREFIXES.iter().find(|(name, _)| word.starts_with(name)) {
        return one(*role);
    }
    if is_gcc_only(word) {
        return one(Role::GccOnly);
    }
    if let Some(kinds) = word.strip_prefix("-fsanitize=") {
        return one(if kinds.split(',').any(rewrites_memory) { Role::Foreign } else { Role::Compile });
    }
    if MEASURES.iter().any(|name| word.starts_with(name)) {
        return one(Role::Measure);
    }
    if let Some(feature) = word.strip_prefix("-f") {
        let name = feature.strip_prefix("no-").unwrap_or(feature);
        let name = name.split('=').next().unwrap_or(name);
        return one(if CODEGEN_FEATURES.contains(&name) { Role::Codegen } else { Role::Compile });
    }
    if word.starts_with("-m") {
        return one(Role::Codegen);
    }
    if word.starts_with("-o") || word.starts_with("-x") {
        return one(if word.starts_with("-o") { Role::Output } else { Role::Language });
    }
    if word.starts_with("-l") || word.starts_with("-L") || (word.starts_with("-T") && word.len() > 2) {
        return one(Role::Link);
    }
    if word.starts_with("-u") || word.starts_with("-z") {
        return one(Role::Link);
    }
    one(Role::Compile)
}

/// Sanitizers with shadow memory or a runtime of their own that must observe every access. Two such
/// schemes in one program conflict.
fn rewrites_memory(kind: &str) -> bool {
    matches!(
        kind,
        "address"
            | "kernel-address"
            | "hwaddress"
            | "memory"
            | "thread"
            | "dataflow"
            | "memtag"
            | "fuzzer"
            | "fuzzer-no-link"
            | "realtime"
            | "type"
            | "numerical"
            | "safe-stack"
            | "cfi"
            | "leak"
    )
}

fn is_gcc_only(word: &str) -> bool {
    let stem = word.split('=').next().unwrap_or(word);
    if GCC_WORDS.contains(&stem) {
        return true;
    }
    if word.starts_with("-fdump-") {
        return true;
    }
    let Some(feature) = stem.strip_prefix("-f") else { return false };
    let name = feature.strip_prefix("no-").unwrap_or(feature);
    GCC_FEATURES.binary_search(&name).is_ok()
}

/// Whether this debug option requests full debug information. `None` if the option does not set the
/// level.
pub fn debug_level_is_full(word: &str) -> Option<bool> {
    match word {
        "-g" | "-g2" | "-g3" | "-ggdb" | "-ggdb2" | "-ggdb3" | "-glldb" | "-gfull" | "-gdwarf" => Some(true),
        "-gdwarf-2" | "-gdwarf-3" | "-gdwarf-4" | "-gdwarf-5" => Some(true),
        "-g0" | "-g1" | "-ggdb0" | "-ggdb1" | "-gline-tables-only" | "-gline-directives-only" | "-gmlt" => {
            Some(false)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_the_right_role_and_shape() {
        let table: &[(&str, Role, bool)] = &[
            ("a.c", Role::Input, false),
            ("-", Role::Input, false),
            ("-o", Role::Output, true),
            ("-ofoo", Role::Output, false),
            ("-x", Role::Language, true),
            ("-xc", Role::Language, false),
            ("-I", Role::Compile, true),
            ("-Iinclude", Role::Compile, false),
            ("-DX=1", Role::Compile, false),
            ("-L", Role::Link, true),
            ("-lm", Role::Link, false),
            ("-Wl,-z,now", Role::Link, false),
            ("-Xlinker", Role::Link, true),
            ("-fPIC", Role::Codegen, false),
            ("-fno-pic", Role::Codegen, false),
            ("-fpie", Role::Codegen, false),
            ("-fno-omit-frame-pointer", Role::Codegen, false),
            ("-ffunction-sections", Role::Codegen, false),
            ("-march=native", Role::Codegen, false),
            ("-mllvm", Role::Codegen, true),
            ("-flto", Role::Lto, false),
            ("-flto=thin", Role::Lto, false),
            ("-flto-partition=none", Role::Lto, false),
            ("-MD", Role::Depend, false),
            ("-MF", Role::Depend, true),
            ("-MFfoo.d", Role::Depend, false),
            ("-M", Role::Passthrough, false),
            ("-print-prog-name=ld", Role::Passthrough, false),
            ("-ffast-math", Role::FastMath, false),
            ("-fsanitize=address,undefined", Role::Foreign, false),
            ("-fsanitize=undefined", Role::Compile, false),
            ("-fno-var-tracking-assignments", Role::GccOnly, false),
            ("-fvect-cost-model=dynamic", Role::GccOnly, false),
            ("-fno-tree-vectorize", Role::Codegen, false),
            ("-fno-strict-aliasing", Role::Compile, false),
            ("-Wall", Role::Compile, false),
            ("-O2", Role::Compile, false),
            ("-pthread", Role::Compile, false),
            ("-isystem", Role::Compile, true),
            ("-isystem/usr/x", Role::Compile, false),
            ("--sysroot=/x", Role::Compile, false),
            ("-e", Role::Link, true),
            ("-std=c99", Role::Compile, false),
        ];
        for &(word, role, takes_next) in table {
            assert_eq!(classify(word), Shape { role, takes_next }, "{word}");
        }
    }

    #[test]
    fn the_table_of_gcc_features_is_sorted_for_binary_search() {
        assert!(GCC_FEATURES.is_sorted());
    }

    #[test]
    fn clang_refuses_every_option_that_we_drop() {
        let Some(clang) = crate::toolchain::find_clang(None, None) else {
            panic!("clang 22 is needed for this test");
        };
        let mut words: Vec<String> = GCC_FEATURES.iter().map(|name| format!("-f{name}")).collect();
        words.extend(GCC_WORDS.iter().map(|word| (*word).to_owned()));
        for word in words {
            // `-###` validates the options and runs nothing.
            let takes = |word: &str| {
                let out = std::process::Command::new(&clang)
                    .args(["-###", "-Werror", "-c", "-x", "c", "/dev/null", word])
                    .output()
                    .unwrap();
                out.status.success()
            };
            assert!(
                !takes(&word) || !takes(&format!("{word}=1")),
                "{word} is an option that clang takes: it must not be dropped"
            );
        }
    }
}
