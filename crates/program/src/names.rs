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
}
