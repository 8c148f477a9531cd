//! Sources of fleeting values.

use super::{CLOCK, Label, RANDOM, SYSTEM};
use externals::{Channel, Direction, External};
use program::inst::{ArgTy, Inst, Operand, Source, Ty};
use program::model::Function;

/// The instructions of a function that convert an address to an integer, or read the processor's clock;
/// `None` if there are none.
pub(crate) fn sources(function: &Function) -> Option<Box<[bool]>> {
    let found: Box<[bool]> = function.code.iter().map(is_source).collect();
    found.contains(&true).then_some(found)
}

fn is_source(inst: &Inst) -> bool {
    let symbol = |o: &Operand| matches!(o, Operand::Symbol { .. });
    match inst {
        Inst::Cast { from: Ty::Ptr, to: Ty::Int(_), .. } => true,
        Inst::Bin { a, b, .. } => symbol(a) || symbol(b),
        Inst::Store { value, ty: Ty::Int(_), .. } => symbol(value),
        Inst::Call(call) => {
            call.args.iter().any(|a| matches!(a.ty, ArgTy::Value(Ty::Int(_))) && symbol(&a.value))
        }
        Inst::Return { value: Some(value), ret } => matches!(ret.as_slice(), [Ty::Int(_)]) && symbol(value),
        Inst::Unknown { source, .. } => processor_label(source) != 0,
        _ => false,
    }
}

/// The label of a processor instruction with a nondeterministic result.
pub(super) fn processor_label(source: &Source) -> Label {
    let (Source::Asm(text) | Source::Intrinsic(text)) = source;
    let says = |words: &[&str]| words.iter().any(|w| text.contains(w));
    match () {
        () if says(&["rdtsc", "readcyclecounter", "readsteadycounter"]) => CLOCK,
        () if says(&["rdrand", "rdseed"]) => RANDOM,
        () => 0,
    }
}

/// Which part of a function's output is fleeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Result,
    /// All memory that it writes.
    Written,
    Both,
    /// Offsets and sizes within the first range that it writes.
    Fields(&'static [(u64, u64)]),
    /// The six characters that it replaces in the given name template, this many bytes before its end.
    Name(Option<u8>),
}

/// Device and inode number of a file, and its three times, in a `struct stat`.
const STAT: &[(u64, u64)] = &[(0, 16), (72, 48)];
/// The inode number in a `struct dirent`, and the offset of the next entry.
const ENTRY: &[(u64, u64)] = &[(0, 16)];
/// The sender in a `siginfo_t`.
const SENDER: &[(u64, u64)] = &[(12, 4)];
/// CPU times, and counts of page faults and context switches.
const ALL: &[(u64, u64)] = &[(0, 144)];

/// The nondeterministic output of a known external.
pub(super) fn external_source(known: &External) -> Option<(Label, Part)> {
    let found = match known.name {
        "time" => (CLOCK, Part::Both),
        "getpid" | "getppid" | "gettid" | "getpgrp" | "getpgid" | "getsid" | "fork" | "vfork" | "wait"
        | "waitpid" | "setsid" | "tcgetpgrp" => (SYSTEM, Part::Result),
        "wait3" | "wait4" => (SYSTEM, Part::Result),
        "waitid" => (SYSTEM, Part::Fields(SENDER)),
        "stat" | "fstat" | "lstat" | "stat64" | "fstat64" | "lstat64" | "fstatat" | "fstatat64"
        | "__xstat" | "__fxstat" | "__lxstat" | "__xstat64" | "__fxstat64" | "__lxstat64" => {
            (SYSTEM, Part::Fields(STAT))
        }
        "readdir" | "readdir64" => (SYSTEM, Part::Fields(ENTRY)),
        "getrusage" => (CLOCK, Part::Fields(ALL)),
        "sysinfo" | "getloadavg" => (SYSTEM, Part::Written),
        "alarm" | "sleep" => (CLOCK, Part::Result),
        "mkstemp" | "mkstemp64" | "mkostemp" | "mkostemp64" | "mkdtemp" | "mktemp" => {
            (RANDOM, Part::Name(None))
        }
        "mkstemps" | "mkstemps64" | "mkostemps" | "mkostemps64" => (RANDOM, Part::Name(Some(1))),
        "tmpnam" | "tmpnam_r" | "tempnam" => (RANDOM, Part::Written),
        _ => {
            let io = known.io.filter(|io| io.direction == Direction::In)?;
            let label = match io.channel {
                Channel::Clock => CLOCK,
                Channel::Random => RANDOM,
                _ => return None,
            };
            match io.data {
                externals::Data::Result => (label, Part::Result),
                _ => (label, Part::Written),
            }
        }
    };
    Some(found)
}

/// The same for functions outside the table of externals: C++'s clocks and its random device.
pub(super) fn symbol_label(name: &str) -> Label {
    match name {
        _ if name.starts_with("_ZNSt6chrono3_V2") && name.ends_with("nowEv") => CLOCK,
        _ if name.starts_with("_ZNSt13random_device") && !name.contains("_M_init") => RANDOM,
        "clock_gettime_nsec_np" => CLOCK,
        _ => 0,
    }
}

/// Files whose content differs in every run.
pub(super) fn is_nondeterministic_file(path: &[u8]) -> bool {
    matches!(path, b"/dev/urandom" | b"/dev/random" | b"/dev/hwrng")
        || path.starts_with(b"/proc/")
        || path.starts_with(b"/sys/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_and_randomness_are_known_by_the_table() {
        let of = |name: &str| external_source(externals::find(name)?);
        assert_eq!(of("clock_gettime"), Some((CLOCK, Part::Written)));
        assert_eq!(of("getrandom"), Some((RANDOM, Part::Written)));
        assert_eq!(of("clock"), Some((CLOCK, Part::Result)));
        assert_eq!(of("getpid"), Some((SYSTEM, Part::Result)));
        assert_eq!(of("strlen"), None);
        assert_eq!(of("fgets"), None);
        assert_eq!(symbol_label("_ZNSt6chrono3_V212steady_clock3nowEv"), CLOCK);
        assert!(is_nondeterministic_file(b"/dev/urandom") && !is_nondeterministic_file(b"input.txt"));
    }
}
