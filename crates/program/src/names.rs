//! Names as the source has them.

use std::borrow::Cow;

/// The name of a symbol as its source has it, without parameters.
///
/// ```
/// assert_eq!(program::names::readable("_ZN5shape4areaEv"), "shape::area");
/// assert_eq!(program::names::readable("main"), "main");
/// ```
#[must_use]
pub fn readable(symbol: &str) -> Cow<'_, str> {
    if !symbol.starts_with("_Z") {
        return symbol.into();
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    let name = cpp_demangle::Symbol::new(symbol).ok().and_then(|s| s.demangle_with_options(&options).ok());
    name.map_or(symbol.into(), Cow::from)
}

/// Where compilers and distributions keep headers that are not the program's own.
const LIBRARIES: [&str; 5] =
    ["/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/local/lib/", "/rustc/"];

/// Whether a source file belongs to an installed library.
///
/// ```
/// assert!(program::names::is_library("/usr/include/c++/12/bits/basic_string.h"));
/// assert!(!program::names::is_library("/home/me/usr/include/x.h"));
/// ```
#[must_use]
pub fn is_library(file: &str) -> bool {
    LIBRARIES.iter().any(|home| file.starts_with(home))
}

/// The name of a function for a sentence: without template arguments, which say nothing to a
/// reader and can be longer than the sentence, and without the namespaces of versions.
///
/// ```
/// let name = program::names::brief("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEpLEc");
/// assert_eq!(name, "std::basic_string::operator+=");
/// ```
#[must_use]
pub fn brief(symbol: &str) -> String {
    let name = readable(symbol);
    let (mut text, mut depth) = (String::new(), 0u32);
    for (at, c) in name.char_indices() {
        match c {
            // `operator<`, `operator<<=`, `operator->` and the like have no arguments there.
            '<' | '>' if depth == 0 && is_operator(&name[..at]) => text.push(c),
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => text.push(c),
            _ => {}
        }
    }
    text.replace("__cxx11::", "").replace("__1::", "")
}

/// Whether a name goes on with the sign of an operator.
fn is_operator(before: &str) -> bool {
    before.trim_end_matches(['<', '>', '-', '=']).ends_with("operator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        assert_eq!(readable("main"), "main");
        assert_eq!(readable("_ZNK3art6Canvas5totalEv"), "art::Canvas::total");
        assert_eq!(readable("_ZN4ListI5ShapeE3addEPS0_"), "List<Shape>::add");
        assert_eq!(readable("_ZTV6Circle"), "{vtable(Circle)}");
        assert_eq!(readable("_Znothing"), "_Znothing");
    }

    #[test]
    fn brief_names_have_no_template_arguments() {
        assert_eq!(brief("_ZN4ListI5ShapeE3addEPS0_"), "List::add");
        assert_eq!(brief("_ZlsRSoRK5Shape"), "operator<<");
        assert_eq!(brief("main"), "main");
    }
}
