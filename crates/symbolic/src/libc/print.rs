//! `sprintf` and `snprintf`: formatted text that the program uses further.

use super::arg;
use crate::condition::Reason;
use crate::engine::Engine;
use crate::observer::StepObserver;
use crate::output::Printed;
use replay::effects;
use replay::observer::{ExternalCall, View};

impl<W: StepObserver> Engine<'_, W> {
    /// Strings and characters keep their terms; numbers are concretised.
    pub(super) fn prints(&mut self, view: &View<'_>, call: &ExternalCall<'_>) -> bool {
        let Some(known) = call.known else { return false };
        let Some(formatted) = self.formatted(view, call) else { return false };
        let to = arg(call, 0);
        let bounded = known.name.contains("snprintf");
        if bounded {
            self.concretise_arguments(view, call, &[1], Reason::Length);
        }
        let pieces = self.pieces(view, call, &formatted);
        for (address, len) in effects::writes(view, call) {
            self.overwritten(address, len);
        }
        let written = view.memory.peek_string(to, formatted.bytes.len());
        // If the text in memory differs from the computed text, it is not followed.
        if formatted.uncertain || !formatted.bytes.starts_with(&written) {
            return false;
        }
        for (_, piece) in pieces {
            if let Printed::Text { end: Some(end), .. } = &piece {
                self.byte_is(view, *end, 0, true);
            }
            match piece {
                Printed::Bytes(terms) | Printed::Text { bytes: terms, .. } => {
                    for (place, term) in terms {
                        // A byte that became zero would end the string.
                        self.goes_on(view, term);
                        if (place as usize) < written.len() {
                            self.put_byte(view.memory, to.wrapping_add(place.into()), Some(term));
                        }
                    }
                }
                Printed::Number { term, .. } => {
                    let variables = &self.world.variables;
                    let value = self.world.pool.evaluate(term, &|v| variables.value(v));
                    self.concretise(view, term, value, Reason::Formatted);
                }
            }
        }
        true
    }
}
