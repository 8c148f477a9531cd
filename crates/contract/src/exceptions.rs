//! Determines the classes as which an exception can be caught.
//!
//! The type descriptor of a class points to those of its bases (Itanium C++ ABI, 2.9.5), and a model records
//! which variables' initial values point to which others. The descriptors of the standard library's classes
//! are outside of recorded code; their bases are specified by the C++ standard.

use program::model::Module;
use program::names::readable;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Classes of the standard library and their bases.
const STANDARD: &[(&str, &str)] = &[
    ("std::bad_alloc", "std::exception"),
    ("std::bad_array_new_length", "std::bad_alloc"),
    ("std::bad_cast", "std::exception"),
    ("std::bad_any_cast", "std::bad_cast"),
    ("std::bad_exception", "std::exception"),
    ("std::bad_function_call", "std::exception"),
    ("std::bad_optional_access", "std::exception"),
    ("std::bad_typeid", "std::exception"),
    ("std::bad_variant_access", "std::exception"),
    ("std::bad_weak_ptr", "std::exception"),
    ("std::logic_error", "std::exception"),
    ("std::domain_error", "std::logic_error"),
    ("std::future_error", "std::logic_error"),
    ("std::invalid_argument", "std::logic_error"),
    ("std::length_error", "std::logic_error"),
    ("std::out_of_range", "std::logic_error"),
    ("std::runtime_error", "std::exception"),
    ("std::format_error", "std::runtime_error"),
    ("std::overflow_error", "std::runtime_error"),
    ("std::range_error", "std::runtime_error"),
    ("std::regex_error", "std::runtime_error"),
    ("std::system_error", "std::runtime_error"),
    ("std::underflow_error", "std::runtime_error"),
    ("std::ios_base::failure", "std::system_error"),
    ("std::filesystem::filesystem_error", "std::system_error"),
];

/// Without inline namespaces of the library: `std::__cxx11::regex_error` becomes `std::regex_error`.
fn plain(name: &str) -> Cow<'_, str> {
    match name.contains("::__cxx11::") {
        true => Cow::Owned(name.replace("::__cxx11::", "::")),
        false => Cow::Borrowed(name),
    }
}

/// The class whose descriptor a symbol is.
pub fn described(symbol: &str) -> Option<String> {
    let symbol = symbol.strip_prefix("_ZTI").map(|_| readable(symbol))?;
    Some(plain(symbol.strip_prefix("typeinfo for ")?).into_owned())
}

/// Whether an exception of the class `thrown` can be caught as `wanted`: the class itself or a base, public
/// or not.
#[must_use]
pub fn is_a(modules: &[&Module], thrown: &str, wanted: &str) -> bool {
    let wanted = plain(wanted);
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut todo = vec![plain(thrown).into_owned()];
    while let Some(class) = todo.pop() {
        if class == wanted {
            return true;
        }
        if !seen.insert(class.clone()) {
            continue;
        }
        todo.extend(STANDARD.iter().filter(|(derived, _)| *derived == class).map(|(_, b)| (*b).to_owned()));
        for module in modules {
            let name = |symbol: u32| module.symbols.get(symbol as usize).and_then(|s| described(&s.name));
            let of_class = module.initial.iter().filter(|(from, _)| name(*from).as_deref() == Some(&class));
            todo.extend(of_class.filter_map(|(_, to)| name(*to)));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::model::{Symbol, SymbolKind};

    #[test]
    fn bases_of_bases_count() {
        let names = ["_ZTI7Derived", "_ZTS7Derived", "_ZTI4Base", "_ZTISt13runtime_error", "_ZTI5Other"];
        let symbol = |name: &&str| Symbol { name: (*name).to_owned(), kind: SymbolKind::ExternalData };
        let module = Module {
            symbols: names.iter().map(symbol).collect(),
            initial: vec![(0, 1), (0, 2), (2, 3)],
            ..Module::default()
        };
        let is = |thrown, wanted| is_a(&[&module], thrown, wanted);
        assert!(is("Derived", "Derived") && is("Derived", "Base"));
        assert!(is("Derived", "std::runtime_error") && is("Derived", "std::exception"));
        assert!(!is("Derived", "Other") && !is("Base", "Derived") && !is("Derived", "std::logic_error"));
        assert!(is_a(&[], "std::out_of_range", "std::exception"));
        assert!(is_a(&[], "std::__cxx11::regex_error", "std::runtime_error"));
    }
}
