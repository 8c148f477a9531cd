//! The table of C library functions, translated for the points-to analysis.

use externals::{FormatArgs, Len, Model, Place, Ret, flag};
use program::outside::{Effect, Outside, ResultTarget};

/// The table of externals, as the points-to analysis uses it.
pub struct Table;

impl Outside for Table {
    fn effect(&self, name: &str) -> Option<Effect> {
        let known = externals::find(name)?;
        let mut effect = Effect {
            calls_back: known.has(flag::CALLS_BACK | flag::STARTS | flag::SIGNALS),
            ..Effect::default()
        };
        for range in known.writes {
            match range.place {
                Place::Arg(slot) | Place::Field(slot, _) | Place::Ios(slot, _) => {
                    effect.writes.push(slot.into())
                }
                Place::At(slot) => effect.stores_new.push(slot.into()),
                Place::Ret | Place::Errno => {}
            }
            if let Len::At32(slot) = range.len {
                effect.writes.push(slot.into());
            }
        }
        if let Some(format) = known.format.filter(|f| f.input) {
            effect.writes_from = match format.args {
                FormatArgs::From(slot) => Some(slot.into()),
                FormatArgs::List(slot) => Some(slot.into()),
            };
        }
        match known.model {
            Some(
                Model::Memcpy
                | Model::Mempcpy
                | Model::Memccpy
                | Model::Strcpy
                | Model::Stpcpy
                | Model::Strncpy
                | Model::Stpncpy
                | Model::Strcat
                | Model::Strncat,
            ) => {
                effect.writes.push(0);
                effect.copies.push((0, 1));
                effect.returns.push(ResultTarget::Into(0));
            }
            Some(Model::Bcopy) => {
                effect.writes.push(1);
                effect.copies.push((1, 0));
            }
            Some(Model::Memset | Model::Bzero) => {
                effect.writes.push(0);
                effect.returns.push(ResultTarget::Into(0));
            }
            _ => {}
        }
        if known.has(flag::MOVES) {
            // Pointers in the old block may be found in the new one.
            effect.returns.push(ResultTarget::Same(0));
        }
        match known.ret {
            Ret::Int if known.allocates.is_some() => effect.stores_new.push(0),
            Ret::Pointer if known.allocates.is_some() => effect.returns.push(ResultTarget::New),
            Ret::Pointer | Ret::Stream => effect.returns.push(ResultTarget::Library),
            Ret::Into(slot) => effect.returns.push(ResultTarget::Into(slot.into())),
            _ => {}
        }
        match name {
            "pthread_setspecific" | "tss_set" | "signal" => {
                effect.keeps.push(1);
                effect.returns.push(ResultTarget::Kept);
            }
            "pthread_getspecific" | "tss_get" => effect.returns.push(ResultTarget::Kept),
            // They return functions that are not known.
            "dlsym" | "dlvsym" => return None,
            _ => {}
        }
        Some(effect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_is_written_and_returned() {
        let effect = |name| Table.effect(name).unwrap_or_else(|| panic!("{name} is known"));
        assert_eq!(effect("malloc").returns, [ResultTarget::New]);
        assert_eq!((effect("memcpy").writes, effect("memcpy").copies), (vec![0], vec![(0, 1)]));
        assert_eq!(effect("strchr").returns, [ResultTarget::Into(0)]);
        assert_eq!(effect("realloc").returns, [ResultTarget::Same(0), ResultTarget::New]);
        assert_eq!(effect("posix_memalign").stores_new, [0]);
        assert_eq!(effect("sscanf").writes_from, Some(2));
        assert!(effect("qsort").calls_back);
        assert!(effect("strlen").writes.is_empty());
        assert_eq!(Table.effect("no_such_function"), None);
    }
}
