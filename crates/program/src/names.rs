//! Symbol names as written in the source.

use std::borrow::Cow;

/// The demangled name of a symbol, without parameters.
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

/// Directories of headers that compilers and distributions install.
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

/// A short name of a function for messages: without template arguments, which can be longer than
/// the message and carry little information, and without inline version namespaces.
///
/// ```
/// let name = program::names::short_name("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEpLEc");
/// assert_eq!(name, "std::basic_string::operator+=");
/// ```
#[must_use]
pub fn short_name(symbol: &str) -> String {
    let name = readable(symbol);
    let (mut text, mut depth) = (String::new(), 0u32);
    for (at, c) in name.char_indices() {
        match c {
            // The angle brackets of `operator<`, `operator<<=`, `operator->` and similar names are
            // not template arguments.
            '<' | '>' if depth == 0 && is_operator(&name[..at]) => text.push(c),
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => text.push(c),
            _ => {}
        }
    }
    text.replace("__cxx11::", "").replace("__1::", "").trim_end().to_owned()
}

/// Whether a name ends in `operator` and the start of its symbol.
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
        assert_eq!(short_name("_ZN4ListI5ShapeE3addEPS0_"), "List::add");
        assert_eq!(short_name("_ZlsRSoRK5Shape"), "operator<<");
        // The blank in front of the template arguments of an operator.
        let printed = "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc";
        assert_eq!(short_name(printed), "std::operator<<");
        assert_eq!(short_name("main"), "main");
    }
}
