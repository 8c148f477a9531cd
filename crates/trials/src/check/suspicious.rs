//! Selects the diagnostics that mean undefined or accidental behaviour, and those of them that are new.
//!
//! A set of changes that leaves a variable uninitialised, a loop without its body or a statement after a
//! `return` may well make a test pass, but does not explain the failure. Style warnings are not included: a
//! variable that is declared and not used is harmless.
//!
//! Diagnostics that both versions have are not caused by a variant between them, so diagnostics are compared
//! as multisets, without lines.

use super::diagnostic::{Diagnostic, Severity};
use std::collections::HashMap;

/// Clang's warning groups that are enabled for a check, whatever the build's own options are, and that count
/// as suspicious. A name that ends in a dash is a prefix.
const GROUPS: &[&str] = &[
    // Values that were never set.
    "uninitialized",
    "sometimes-uninitialized",
    "conditional-uninitialized",
    "uninitialized-const-reference",
    "uninitialized-const-pointer",
    "static-self-init",
    "return-type",
    "return-mismatch",
    "unsequenced",
    // Types that do not match.
    "incompatible-pointer-types",
    "incompatible-pointer-types-discards-qualifiers",
    "incompatible-function-pointer-types",
    "incompatible-library-redeclaration",
    "int-conversion",
    "int-to-pointer-cast",
    "pointer-to-int-cast",
    "pointer-integer-compare",
    "compare-distinct-pointer-types",
    "implicit-function-declaration",
    "implicit-int",
    "deprecated-non-prototype",
    "undefined-internal",
    "undefined-inline",
    "enum-conversion",
    "enum-compare",
    "constant-conversion",
    "literal-conversion",
    "bool-conversion",
    "bool-operation",
    "excess-initializers",
    "initializer-overrides",
    "varargs",
    "non-pod-varargs",
    "nonnull",
    "format",
    "format-insufficient-args",
    "format-extra-args",
    "format-invalid-specifier",
    "format-security",
    // Code that has no effect or is never executed.
    "unused-value",
    "unused-comparison",
    "unused-result",
    "unused-but-set-variable",
    "unused-but-set-parameter",
    "unreachable-code-aggressive",
    "unreachable-code",
    "unreachable-code-break",
    "unreachable-code-fallthrough",
    "unreachable-code-generic-assoc",
    "unreachable-code-loop-increment",
    "unreachable-code-return",
    "empty-body",
    "misleading-indentation",
    "dangling-else",
    "implicit-fallthrough",
    "duplicate-enum",
    "self-assign",
    "self-assign-field",
    "self-assign-overloaded",
    "self-move",
    "infinite-recursion",
    "for-loop-analysis",
    "switch-bool",
    "parentheses-equality",
    "logical-not-parentheses",
    "tautological-compare",
    "tautological-",
    // Invalid memory.
    "array-bounds",
    "array-bounds-pointer-arithmetic",
    "dangling",
    "dangling-assignment",
    "dangling-field",
    "dangling-gsl",
    "dangling-initializer-list",
    "return-stack-address",
    "return-local-addr",
    "null-dereference",
    "null-arithmetic",
    "null-pointer-subtraction",
    "free-nonheap-object",
    "mismatched-new-delete",
    "delete-incomplete",
    "delete-non-virtual-dtor",
    "delete-abstract-non-virtual-dtor",
    "sizeof-pointer-memaccess",
    "sizeof-pointer-div",
    "sizeof-array-argument",
    "sizeof-array-decay",
    "sizeof-array-div",
    "memset-transposed-args",
    "suspicious-memaccess",
    "suspicious-bzero",
    "dynamic-class-memaccess",
    "nontrivial-memaccess",
    "strncat-size",
    "strlcpy-strlcat-size",
    "fortify-source",
    "string-compare",
    "string-plus-int",
    "string-plus-char",
    // Arithmetic without a defined result.
    "division-by-zero",
    "shift-count-negative",
    "shift-count-overflow",
    "shift-overflow",
    "shift-negative-value",
    "shift-op-parentheses",
    "integer-overflow",
    "xor-used-as-pow",
    "float-overflow-conversion",
];

/// The options that enable the groups.
pub(super) fn switches() -> impl Iterator<Item = String> {
    GROUPS.iter().filter(|name| !name.ends_with('-')).map(|name| format!("-W{name}"))
}

/// Whether it means undefined or accidental behaviour.
#[must_use]
pub fn suspicious(diagnostic: &Diagnostic) -> bool {
    let Some(option) = &diagnostic.option else {
        // Clang has no group for `int < pointer`.
        return diagnostic.severity == Severity::Warning
            && diagnostic.message.contains("between pointer and integer");
    };
    let is_group = |name: &&str| {
        if name.ends_with('-') { option.starts_with(*name) } else { option.as_str() == *name }
    };
    diagnostic.severity != Severity::Note && GROUPS.iter().any(is_group)
}

/// The key by which diagnostics are compared, independent of their position in a file.
type Key<'d> = (&'d str, String, Option<&'d str>);

fn key(diagnostic: &Diagnostic) -> Key<'_> {
    let option = diagnostic.option.as_deref().unwrap_or_default();
    (option, without_lines(&diagnostic.message), diagnostic.function.as_deref())
}

/// The suspicious diagnostics of `of` that no version in `known` has, or has less often. A renamed file, or a
/// function that moved to another file, makes no diagnostic new: where one file has too many, the counts over
/// all files are compared.
#[must_use]
pub fn new_suspicious(of: &[Diagnostic], known: &[&[Diagnostic]]) -> Vec<Diagnostic> {
    // The maximum count over the versions, for each file and for all files.
    let mut in_file: HashMap<_, usize> = HashMap::new();
    let mut anywhere: HashMap<_, usize> = HashMap::new();
    for version in known {
        let (mut files, mut all) = (HashMap::new(), HashMap::new());
        for diagnostic in version.iter().filter(|diagnostic| suspicious(diagnostic)) {
            *files.entry((diagnostic.file.as_path(), key(diagnostic))).or_insert(0_usize) += 1;
            *all.entry(key(diagnostic)).or_insert(0_usize) += 1;
        }
        for (key, count) in files {
            let most = in_file.entry(key).or_default();
            *most = count.max(*most);
        }
        for (key, count) in all {
            let most = anywhere.entry(key).or_default();
            *most = count.max(*most);
        }
    }
    let mut new = Vec::new();
    let mut seen: HashMap<_, usize> = HashMap::new();
    let mut seen_anywhere: HashMap<_, usize> = HashMap::new();
    for diagnostic in of.iter().filter(|diagnostic| suspicious(diagnostic)) {
        let (file, key) = (diagnostic.file.as_path(), key(diagnostic));
        let count = seen.entry((file, key.clone())).or_insert(0);
        *count += 1;
        let total = seen_anywhere.entry(key.clone()).or_insert(0);
        *total += 1;
        let known_here = *count <= in_file.get(&(file, key.clone())).copied().unwrap_or(0);
        // Outside of functions a message alone is not specific enough.
        let known_elsewhere = key.2.is_some() && *total <= anywhere.get(&key).copied().unwrap_or(0);
        if !known_here && !known_elsewhere {
            new.push(diagnostic.clone());
        }
    }
    new
}

/// `(unnamed struct at a.c:12:3)` without the numbers.
fn without_lines(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(':') {
        out.push_str(&rest[..at]);
        let behind = rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
        if behind.len() == rest.len() - at - 1 {
            out.push(':');
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    fn diagnostic(file: &str, line: u32, option: &str, message: &str, function: &str) -> Diagnostic {
        Diagnostic {
            file: file.into(),
            line,
            column: 1,
            severity: Severity::Warning,
            option: Some(option.to_owned()),
            message: message.to_owned(),
            function: (!function.is_empty()).then(|| function.to_owned()),
            notes: Vec::new(),
        }
    }

    #[test]
    fn clang_knows_every_group() {
        let output = Command::new("clang-22")
            .args(["-fsyntax-only", "-Werror", "-x", "c++", "/dev/null"])
            .args(switches())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    #[test]
    fn kinds() {
        let is = |option: &str| suspicious(&diagnostic("a.c", 1, option, "", ""));
        for option in ["uninitialized", "tautological-pointer-compare", "unreachable-code-return", "format"] {
            assert!(is(option), "{option}");
        }
        for option in ["unused-variable", "sign-compare", "unused-function", "tautological", "cpp"] {
            assert!(!is(option), "{option}");
        }
        let mut without = diagnostic("a.c", 1, "format", "", "");
        without.option = None;
        assert!(!suspicious(&without));
    }

    #[test]
    fn what_a_version_has_is_not_new() {
        let one = diagnostic("a.c", 10, "uninitialized", "variable 'x' is uninitialized", "f");
        let shifted = Diagnostic { line: 99, column: 7, ..one.clone() };
        let renamed = Diagnostic { file: "b.c".into(), ..one.clone() };
        let other = diagnostic("a.c", 10, "uninitialized", "variable 'x' is uninitialized", "g");
        let known = [one.clone()];
        assert_eq!(new_suspicious(&[shifted], &[&[], &known]), []);
        assert_eq!(new_suspicious(std::slice::from_ref(&renamed), &[&known]), []);
        assert_eq!(new_suspicious(std::slice::from_ref(&other), &[&known]), std::slice::from_ref(&other));
        // Twice is one more than once, wherever the second one is.
        assert_eq!(new_suspicious(&[one.clone(), renamed.clone()], &[&known]), [renamed]);
        assert_eq!(new_suspicious(&[one.clone(), one.clone()], &[&known]), std::slice::from_ref(&one));
        // One in each version is not two in one version.
        assert_eq!(new_suspicious(&[one.clone(), one.clone()], &[&known, &known]), [one]);
        // Without a function, only the file distinguishes them.
        let global = diagnostic("a.c", 1, "int-conversion", "m", "");
        let elsewhere = Diagnostic { file: "b.c".into(), ..global.clone() };
        assert_eq!(new_suspicious(std::slice::from_ref(&elsewhere), &[&[global]]), [elsewhere]);
    }

    #[test]
    fn places_in_messages_do_not_count() {
        assert_eq!(
            without_lines("'struct (unnamed at a.c:12:3)' a::b x ? 1 : 2"),
            "'struct (unnamed at a.c)' a::b x ? 1 : 2"
        );
    }

    proptest! {
        /// Nothing is new compared with itself, and everything suspicious is new compared with nothing.
        #[test]
        fn itself(of in prop::collection::vec(("[ab]", 0..3_u32, "(uninitialized|unused-variable|format)", "[mn]", "[fg]?"), 0..12)) {
            let of: Vec<Diagnostic> = of.iter().map(|(f, l, o, m, n)| diagnostic(f, *l, o, m, n)).collect();
            prop_assert_eq!(new_suspicious(&of, &[&of]), []);
            let all: Vec<Diagnostic> = of.iter().filter(|d| suspicious(d)).cloned().collect();
            prop_assert_eq!(new_suspicious(&of, &[]), all);
        }
    }
}
