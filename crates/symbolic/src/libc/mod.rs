//! The semantics of library functions whose arguments depend on input.
//!
//! There are two kinds, chosen per function; `docs/symbolic-replay.md` has the table. Functions that return a
//! *value* (`strcmp`, `toupper`, `strtol`) return a term. Functions that *search* (`strlen`, `strchr`) keep
//! the position they found, and the path to it becomes conditions: this byte did not match, that one did.
//! Both are exact. For all other functions, the arguments and the bytes that the function could read are
//! concretised.

mod compare;
pub(crate) mod copy;
pub(crate) mod ctype;
mod decimal;
mod number;
mod print;
pub(crate) mod scan;
mod search;
mod streams;
pub(crate) mod token;

use crate::condition::{Kind, Reason};
use crate::engine::Engine;
use crate::observer::StepObserver;
use externals::{Direction, Len, Model, flag};
use replay::effects;
use replay::observer::{ExternalCall, View};
use solver::{Binary, Term};

/// Blocks passed to unknown functions are searched for input up to this size.
const MAX_BLOCK: u64 = 1 << 16;

impl<W: StepObserver> Engine<'_, W> {
    /// An external call has returned.
    pub(crate) fn library_call(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        self.arguments.clear();
        self.by_value.clear();
        self.forget(view, call.site.dst, call.site.ret_slots);
        let done = match call.known {
            Some(known) => match known.model {
                Some(model) => self.modelled(view, call, model),
                None => self.named(view, call, known.name),
            },
            None => self.unknown(view, call),
        };
        if !done {
            self.fixed(view, call);
        }
        self.finish_transfers(view.memory, Some((view, call)));
        self.after_delivery(view, call);
        self.replaced.clear();
    }

    /// Functions that replay computes.
    fn modelled(&mut self, view: &View<'_>, call: &ExternalCall<'_>, model: Model) -> bool {
        match model {
            Model::Nothing => {
                self.objects.remove(arg(call, 0));
                true
            }
            Model::Calloc => {
                for (address, len) in call.writes {
                    self.overwritten(*address, *len);
                }
                self.objects.add(result(call), arg(call, 0).saturating_mul(arg(call, 1)));
                self.note_allocation_size(view, call, &[0, 1]);
                true
            }
            Model::Memcpy
            | Model::Mempcpy
            | Model::Bcopy
            | Model::Memccpy
            | Model::Memset
            | Model::Bzero
            | Model::Strcpy
            | Model::Stpcpy
            | Model::Strncpy
            | Model::Stpncpy
            | Model::Strcat
            | Model::Strncat => self.copies(view, call, model),
            Model::Memcmp | Model::Strcmp | Model::Strncmp | Model::Strcasecmp | Model::Strncasecmp => {
                self.compares(view, call, model)
            }
            Model::Memchr
            | Model::Rawmemchr
            | Model::Memrchr
            | Model::Strlen
            | Model::Strnlen
            | Model::Strchr
            | Model::Strrchr
            | Model::Strchrnul
            | Model::Strspn
            | Model::Strcspn
            | Model::Strpbrk
            | Model::Strstr
            | Model::Memmem => self.searches(view, call, model),
            Model::Abs
            | Model::Labs
            | Model::Ffs
            | Model::Ffsl
            | Model::Toupper
            | Model::Tolower
            | Model::Isascii
            | Model::Toascii
            | Model::Swap16
            | Model::Swap32 => self.character(view, call, model),
        }
    }

    /// Functions whose result is recorded.
    fn named(&mut self, view: &View<'_>, call: &ExternalCall<'_>, name: &'static str) -> bool {
        match name {
            "malloc" | "valloc" | "pvalloc" => self.allocated(view, call, arg(call, 0), &[0]),
            "memalign" | "aligned_alloc" => self.allocated(view, call, arg(call, 1), &[1]),
            "realloc" => {
                self.objects.remove(arg(call, 0));
                self.allocated(view, call, arg(call, 1), &[1])
            }
            "reallocarray" => {
                self.objects.remove(arg(call, 0));
                self.allocated(view, call, arg(call, 1).saturating_mul(arg(call, 2)), &[1, 2])
            }
            "strdup" | "__strdup" | "strndup" | "__strndup" => self.duplicates(view, call, name),
            "atoi" | "atol" | "atoll" | "strtol" | "strtoll" | "strtoul" | "strtoull" | "strtoimax"
            | "strtoumax" | "__isoc23_strtol" | "__isoc23_strtoll" | "__isoc23_strtoul"
            | "__isoc23_strtoull" | "__isoc23_strtoimax" | "__isoc23_strtoumax" => {
                self.number(view, call, name)
            }
            "atof" | "strtod" | "strtof" => self.decimal(view, call, name),
            "sqrt" | "sqrtf" => self.square_root(view, call, name),
            "__ctype_b_loc" | "__ctype_tolower_loc" | "__ctype_toupper_loc" => self.table(call, name),
            "isalnum" | "isalpha" | "isblank" | "iscntrl" | "isdigit" | "isgraph" | "islower" | "isprint"
            | "ispunct" | "isspace" | "isupper" | "isxdigit" => self.class(view, call, name),
            "sprintf" | "__sprintf_chk" | "snprintf" | "__snprintf_chk" => self.prints(view, call),
            "sscanf" | "__isoc99_sscanf" | "__isoc23_sscanf" => self.scans_string(view, call),
            "scanf" | "fscanf" | "__isoc99_scanf" | "__isoc99_fscanf" | "__isoc23_scanf"
            | "__isoc23_fscanf" => self.scans_stream(view, call),
            "ungetc" => {
                let term = self.argument(view, call, 0, 8).map(|t| self.fit(t, 32));
                if (result(call) as u32).cast_signed() >= 0 {
                    self.assign(view, call.site.dst, 32, term);
                }
                true
            }
            "getenv" | "secure_getenv" => {
                // The variable itself, whose bytes may be input.
                self.concretise_arguments(view, call, &[0], Reason::UnknownObject);
                let len = view.memory.peek_string(arg(call, 0), 1 << 16).len() as u64;
                self.concretise_range(view, arg(call, 0), len + 1, Reason::Function(name));
                true
            }
            "strtok" => self.token(view, call, 0),
            "strtok_r" | "__strtok_r" => self.token(view, call, arg(call, 2)),
            "qsort" | "qsort_r" => self.sorts(view, call),
            _ => false,
        }
    }

    /// A heap block was allocated.
    fn allocated(&mut self, view: &View<'_>, call: &ExternalCall<'_>, size: u64, sizes: &[u32]) -> bool {
        self.objects.add(result(call), size);
        self.note_allocation_size(view, call, sizes);
        true
    }

    /// Records that the size of an allocation is not followed.
    fn note_allocation_size(&mut self, view: &View<'_>, call: &ExternalCall<'_>, slots: &[u32]) {
        if slots.iter().any(|s| self.argument(view, call, *s, 64).is_some()) {
            self.note_imprecision(view, Reason::Length);
        }
    }

    /// The term of an argument slot.
    pub(crate) fn argument(
        &mut self,
        view: &View<'_>,
        call: &ExternalCall<'_>,
        slot: u32,
        bits: u32,
    ) -> Option<Term> {
        let mut first = 0;
        let found = call.site.args.iter().find_map(|a| {
            let at = first;
            first += a.slots;
            (at <= slot && slot < first).then_some(a.src + slot - at)
        })?;
        let term = self.frames.get(view.depth as usize - 1)?.get(found)?;
        Some(self.fit(term, bits))
    }

    /// Concretises arguments.
    fn concretise_arguments(
        &mut self,
        view: &View<'_>,
        call: &ExternalCall<'_>,
        slots: &[u32],
        reason: Reason,
    ) {
        for slot in slots {
            if let Some(term) = self.argument(view, call, *slot, 64) {
                self.concretise(view, term, arg(call, *slot as usize).into(), reason);
            }
        }
    }

    /// A known function without symbolic semantics: everything it could read is concretised.
    fn fixed(&mut self, view: &View<'_>, call: &ExternalCall<'_>) {
        let name = call.known.map_or("?", |k| k.name);
        let reason = Reason::Function(name);
        let slots: Vec<u32> = (0..call.site.arg_slots).collect();
        let prints = call.known.is_some_and(|k| k.format.is_some_and(|f| !f.input));
        let out = call.known.and_then(|k| k.io).is_some_and(|io| io.direction == Direction::Out);
        let byte = call.known.and_then(|k| k.io).is_some_and(|io| io.data == externals::Data::Byte);
        if out && prints {
            // Values that are only printed. The text is recorded as output.
        } else if out && byte {
            // The byte is written unchanged, and is also the result.
            if let Some(term) = self.argument(view, call, 0, 8)
                && (result(call) as u32).cast_signed() >= 0
                && name != "__overflow"
            {
                let term = self.fit(term, 32);
                self.assign(view, call.site.dst, 32, Some(term));
            }
        } else {
            self.concretise_arguments(view, call, &slots, reason);
        }
        for (address, len) in effects::reads(view, call) {
            if !self.any(address, len) {
                continue;
            }
            if out {
                // Bytes are written unchanged; only the position of the string's end matters.
                let string = call
                    .known
                    .is_some_and(|k| k.reads.iter().any(|r| matches!(r.len, Len::CStr | Len::CStrMax(_))));
                if string {
                    self.ends(view, address, len - 1);
                }
            } else {
                self.concretise_range(view, address, len, reason);
            }
        }
        for (address, len) in effects::writes(view, call) {
            self.overwritten(address, len);
        }
        if call.known.is_some_and(|k| k.has(flag::FREES)) {
            self.objects.remove(arg(call, 0));
        }
    }

    /// A function without any model: concretises its arguments and the objects they point to.
    fn unknown(&mut self, view: &View<'_>, call: &ExternalCall<'_>) -> bool {
        for (slot, value) in call.args.iter().enumerate() {
            if let Some(term) = self.argument(view, call, slot as u32, 64) {
                self.concretise(view, term, (*value).into(), Reason::Unknown);
            }
            let Some(object) = self.objects.find(&self.frames, view, *value) else { continue };
            if object.len <= MAX_BLOCK && object.table.is_none() && self.any(object.start, object.len) {
                self.concretise_range(view, object.start, object.len, Reason::Unknown);
            }
        }
        true
    }

    /// Adds the condition that a byte has this value, or does not, if the byte depends on input.
    pub(crate) fn byte_is(&mut self, view: &View<'_>, at: u64, byte: u8, is: bool) {
        if let Some(term) = self.byte(at) {
            let value = self.constant(8, byte.into());
            let same = self.pool().binary(Binary::Eq, term, value);
            let way = if is { same } else { self.pool().not(same) };
            self.assume(view, way, Kind::External, is.into(), None);
        }
    }

    /// Adds conditions that a string has this length: no NUL before the end, one at it.
    fn ends(&mut self, view: &View<'_>, address: u64, len: u64) {
        if !self.any(address, len + 1) {
            return;
        }
        for i in 0..len {
            self.byte_is(view, address.wrapping_add(i), 0, false);
        }
        self.byte_is(view, address.wrapping_add(len), 0, true);
    }

    /// The length of a string, at most `limit`. Adds conditions that the length does not change.
    fn string(&mut self, view: &View<'_>, address: u64, limit: u64) -> u64 {
        let len = view.memory.peek_string(address, limit.min(1 << 24) as usize).len() as u64;
        if len < limit {
            self.ends(view, address, len);
        } else {
            for i in 0..len {
                self.byte_is(view, address.wrapping_add(i), 0, false);
            }
        }
        len
    }

    /// The value of a byte as a term; constant if it does not depend on input.
    fn at_byte(&mut self, view: &View<'_>, address: u64) -> Term {
        self.byte_term(view.memory, address)
    }
}

pub(crate) fn arg(call: &ExternalCall<'_>, slot: usize) -> u64 {
    call.args.get(slot).copied().unwrap_or(0)
}

pub(crate) fn result(call: &ExternalCall<'_>) -> u64 {
    call.result.first().copied().unwrap_or(0)
}
