//! The vocabulary of the table. Arguments are identified by the *slot* in which they are passed: a
//! `long double` takes two slots, all others one.

use crate::model::Model;

/// The effects of one function.
#[derive(Clone, Copy, Debug)]
pub struct External {
    /// Symbol name, by which the table is sorted.
    pub name: &'static str,
    /// Memory that the function reads.
    pub reads: &'static [Range],
    /// Memory that may have changed when the function returns. Empty for modelled functions: the
    /// model defines their writes.
    pub writes: &'static [Range],
    /// Computes the effect with [`crate::evaluate`], so that it need not be logged.
    pub model: Option<Model>,
    /// Input or output bytes.
    pub io: Option<Io>,
    /// `printf`- and `scanf`-like functions.
    pub format: Option<Format>,
    /// The heap block that it returns to the program.
    pub allocates: Option<Range>,
    /// Uses and definitions of the library's hidden state.
    pub hidden: &'static [Hidden],
    /// The meaning of the result, which also tells failure.
    pub ret: Ret,
    /// Bits of [`flag`].
    pub flags: u32,
}

/// A range of memory: its start, its length, and the condition under which it counts. A null
/// pointer is always an empty range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Where the range starts.
    pub place: Place,
    /// How long it is.
    pub len: Len,
    /// When it counts.
    pub when: When,
}

/// The start of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The pointer in this slot.
    Arg(u8),
    /// An offset in bytes from the pointer in this slot.
    Field(u8, u8),
    /// The returned pointer.
    Ret,
    /// The pointer stored where this slot points (the buffer of `getline`).
    At(u8),
    /// An offset in bytes into the `std::ios` of the C++ stream that this slot points to. It is a
    /// virtual base, whose offset precedes the stream's virtual table.
    Ios(u8, u8),
    /// The word in which the C library stores `errno`.
    Errno,
}

/// A length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Len {
    /// A constant.
    Const(u32),
    /// The value of a slot.
    Arg(u8),
    /// The product of two slots.
    Mul(u8, u8),
    /// A slot times a constant.
    Times(u8, u32),
    /// The result; zero if negative.
    Ret,
    /// The result plus one, for a terminating NUL; zero if negative.
    RetAndNul,
    /// The result times a slot (`fread`).
    RetTimes(u8),
    /// The result times a constant.
    RetConst(u32),
    /// The result, limited by a slot (`recv` with `MSG_TRUNC`).
    RetMax(u8),
    /// Up to and including the NUL.
    CStr,
    /// As `CStr`, limited by a slot.
    CStrMax(u8),
    /// Up to and including a wide NUL.
    WStr,
    /// The 32-bit number stored where the slot points (`socklen_t`).
    At32(u8),
    /// An array of `struct iovec` with its count in the slot. The range includes the array and the
    /// buffers, filled in order up to the result.
    Iovec(u8),
    /// A null-terminated array of pointers to strings (`argv`).
    Strings,
    /// A `struct dirent`, whose length is in its `d_reclen`.
    Dirent,
    /// The 64-bit number one word after the pointer in this slot: the count of the last unformatted
    /// input of a `std::istream`.
    Gcount(u8),
}

/// The condition under which a range counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// For every result.
    Always,
    /// The result, as `int`, is not negative.
    Ok,
    /// The result, as `int`, is zero.
    Zero,
    /// The whole result is not zero.
    NonZero,
    /// These bits of a slot are not set.
    Clear(u8, u32),
}

/// State that the C library keeps between calls and that the program cannot see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The position of `strtok`.
    Tokens,
    /// All environment variables, or the one that the owner names.
    Environment,
    /// The generator of `rand` and `random`.
    Random,
    /// The generator of the `rand48` family.
    Random48,
    /// The current locale.
    Locale,
    /// The position of `getopt`, and its variables.
    Options,
    /// The value of `errno`.
    Errno,
    /// Position, pushed-back bytes and unwritten output of a `FILE`.
    Stream,
    /// Output to a `FILE` without a file, which the program sees in memory. Every output function
    /// adds to that of its stream.
    MemoryStream,
    /// The buffer that a C++ stream reads from or writes to. `std::ostringstream` and similar
    /// classes keep it in memory.
    CxxStream,
    /// Position of a `DIR`.
    Directory,
    /// The current directory.
    WorkingDirectory,
    /// The mask of `umask`.
    FileMask,
    /// The table of `hsearch`.
    Hashes,
    /// The thread-specific value of a key, which is the owner.
    ThreadSpecific,
}

/// The owner of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The process, which has one such state.
    Process,
    /// The object that this slot points to.
    Object(u8),
    /// The object at an offset in bytes from the pointer in this slot: a base class.
    Within(u8, u8),
    /// The returned object.
    Result,
    /// The environment variable that the string in this slot names, up to a `=`.
    Name(u8),
}

/// What a call does with hidden state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The old state influences the call, and remains.
    Uses,
    /// The old state is overwritten completely.
    Sets,
    /// The old state influences the call, which defines a new one.
    Changes,
    /// The old state remains, and does not influence the call.
    Adds,
    /// Changes it if this slot is null, and sets it otherwise.
    Continues(u8),
}

/// One use or definition of hidden state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// Which kind of state.
    pub state: State,
    /// Whose state.
    pub owner: Owner,
    /// What the call does with it.
    pub access: Access,
}

impl Hidden {
    pub(crate) const fn of_process(state: State, access: Access) -> Hidden {
        Hidden { state, owner: Owner::Process, access }
    }

    pub(crate) const fn of_object(state: State, slot: u8, access: Access) -> Hidden {
        Hidden { state, owner: Owner::Object(slot), access }
    }

    pub(crate) const fn within(state: State, slot: u8, offset: u8, access: Access) -> Hidden {
        Hidden { state, owner: Owner::Within(slot, offset), access }
    }

    pub(crate) const fn of_result(state: State, access: Access) -> Hidden {
        Hidden { state, owner: Owner::Result, access }
    }

    pub(crate) const fn of_variable(slot: u8, access: Access) -> Hidden {
        Hidden { state: State::Environment, owner: Owner::Name(slot), access }
    }
}

/// A library variable that exposes such state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateVariable {
    /// Symbol name of the variable.
    pub name: &'static str,
    /// Size in bytes.
    pub size: u64,
    /// The state that it exposes.
    pub state: State,
    /// The library reads the value that the program stored there.
    pub is_read: bool,
}

const fn option_variable(name: &'static str, size: u64, is_read: bool) -> StateVariable {
    StateVariable { name, size, state: State::Options, is_read }
}

/// All library variables that expose hidden state: those of `getopt`.
pub const STATE_VARIABLES: &[StateVariable] = &[
    option_variable("optarg", 8, false),
    option_variable("optind", 4, true),
    option_variable("opterr", 4, true),
    option_variable("optopt", 4, false),
];

/// The direction of a transfer, as the program sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The program reads.
    In,
    /// The program writes.
    Out,
}

/// The source or destination of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Descriptor in this slot.
    Fd(u8),
    /// `FILE *` in this slot.
    Stream(u8),
    /// The stream `stdin`.
    Stdin,
    /// The stream `stdout`.
    Stdout,
    /// The stream `stderr`.
    Stderr,
    /// A clock.
    Clock,
    /// The kernel's random numbers.
    Random,
    /// The environment variables.
    Environment,
}

/// The bytes of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// An entry of `writes`.
    Written(u8),
    /// An entry of `reads`.
    Read(u8),
    /// The string at an entry of `reads`, without its NUL; plus a newline.
    Line(u8),
    /// The string at an entry of `reads`, without its NUL.
    Text(u8),
    /// One byte: the result of an input, the first argument of an output. None
    /// if the result is negative.
    Byte,
    /// A count of bytes, equal to the result. They are not in memory.
    Count,
    /// The bytes by which the stream's position advanced (`scanf`).
    Consumed,
    /// The result itself is the input (`time`). It is not in memory.
    Result,
}

/// A transfer between the program and a source or destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Io {
    /// Input or output.
    pub direction: Direction,
    /// The source or destination.
    pub channel: Channel,
    /// Which bytes are transferred.
    pub data: Data,
    /// Slot with the offset (`pread`).
    pub at: Option<u8>,
}

/// The format of a call, and the arguments that are formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Slot of the format string.
    pub format: u8,
    /// Where the arguments are.
    pub args: FormatArgs,
    /// `scanf`: the arguments are pointers to results.
    pub input: bool,
}

/// The arguments of a formatting function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatArgs {
    /// The slot of the first variadic argument.
    From(u8),
    /// A `va_list` is in this slot.
    List(u8),
}

/// The meaning of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ret {
    /// No result.
    Void,
    /// An integer of at most 32 bits; -1 may tell failure.
    Int,
    /// An integer of 64 bits.
    Long,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
    /// A `long double`, in two slots.
    LongDouble,
    /// A count of bytes or items, negative or zero on failure.
    Count,
    /// A new object (allocated, or the library's).
    Pointer,
    /// A pointer into the object that this slot points to, or null.
    Into(u8),
    /// A descriptor.
    Fd,
    /// A `FILE *`.
    Stream,
}

/// Properties of a function, as bits.
pub mod flag {
    /// The runtime requires a hook before the call.
    pub const BEFORE: u32 = 1 << 0;
    /// Does not return.
    pub const NORETURN: u32 = 1 << 1;
    /// May call a function that it receives.
    pub const CALLS_BACK: u32 = 1 << 2;
    /// Frees the block at slot 0.
    pub const FREES: u32 = 1 << 3;
    /// A synchronisation operation of threads: [`UNLOCKS`], [`WAITS`], [`WAKES`], [`JOINS`], or else a lock.
    pub const SYNC: u32 = 1 << 4;
    /// Returns a new descriptor or stream.
    pub const OPENS: u32 = 1 << 5;
    /// Slot 0 is a descriptor or stream that is closed or refers to another file afterwards.
    pub const CLOSES: u32 = 1 << 6;
    /// The position of the stream or descriptor in slot 0 changes.
    pub const SEEKS: u32 = 1 << 7;
    /// `setjmp`-like.
    pub const RETURNS_TWICE: u32 = 1 << 8;
    /// Returns in a new process too.
    pub const FORKS: u32 = 1 << 9;
    /// Replaces the program, unless it fails.
    pub const EXECS: u32 = 1 << 10;
    /// Ends the process; slot 0 is the status.
    pub const EXITS: u32 = 1 << 11;
    /// Puts a byte back to the stream in slot 1.
    pub const UNGETS: u32 = 1 << 12;
    /// Maps or unmaps memory.
    pub const MAPS: u32 = 1 << 13;
    /// Sets the disposition of the signal in slot 0.
    pub const SIGNALS: u32 = 1 << 14;
    /// A [`SYNC`] function that unlocks. Without one of these four bits it locks.
    pub const UNLOCKS: u32 = 1 << 15;
    /// A [`SYNC`] function that has waited for others: for a condition, a semaphore or at a barrier.
    pub const WAITS: u32 = 1 << 16;
    /// A [`SYNC`] function that wakes others which wait.
    pub const WAKES: u32 = 1 << 17;
    /// A [`SYNC`] function that has waited for the end of a thread.
    pub const JOINS: u32 = 1 << 18;
    /// Starts a thread, and stores its handle where slot 0 points.
    pub const STARTS: u32 = 1 << 19;
    /// Moves a block: slot 0 is the old address, the result the new one.
    pub const MOVES: u32 = 1 << 20;
    /// `longjmp`-like.
    pub const JUMPS: u32 = 1 << 21;
    /// Stores two new descriptors at the first entry of `writes`.
    pub const OPENS_TWO: u32 = 1 << 22;
    /// Continues on another machine stack.
    pub const SWITCHES: u32 = 1 << 23;
}

impl External {
    /// Whether it has any of these [`flag`]s.
    #[must_use]
    pub const fn has(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    /// Whether the function only copies bytes. Its arguments then determine the location of the
    /// bytes it writes, not their values.
    #[must_use]
    pub const fn copies(&self) -> bool {
        let by_model = matches!(
            self.model,
            // Not `stpcpy`: its result reveals the length of the string.
            Some(Model::Memcpy | Model::Mempcpy | Model::Bcopy | Model::Strcpy | Model::Strncpy)
        );
        by_model || self.has(flag::MOVES)
    }
}

/// An entry without effects.
pub(crate) const fn ext(name: &'static str, ret: Ret) -> External {
    External {
        name,
        reads: &[],
        writes: &[],
        model: None,
        io: None,
        format: None,
        allocates: None,
        hidden: &[],
        ret,
        flags: 0,
    }
}

/// Builder methods for the table's entries.
impl External {
    pub(crate) const fn reads(mut self, reads: &'static [Range]) -> Self {
        self.reads = reads;
        self
    }

    pub(crate) const fn writes(mut self, writes: &'static [Range]) -> Self {
        self.writes = writes;
        self
    }

    pub(crate) const fn hidden(mut self, hidden: &'static [Hidden]) -> Self {
        self.hidden = hidden;
        self
    }

    pub(crate) const fn allocates(mut self, block: Range) -> Self {
        self.allocates = Some(block);
        self
    }

    pub(crate) const fn model(mut self, model: Model) -> Self {
        self.model = Some(model);
        self
    }

    pub(crate) const fn flags(mut self, flags: u32) -> Self {
        self.flags |= flags;
        self
    }

    pub(crate) const fn input(mut self, channel: Channel, data: Data) -> Self {
        self.io = Some(Io { direction: Direction::In, channel, data, at: None });
        self
    }

    pub(crate) const fn output(mut self, channel: Channel, data: Data) -> Self {
        self.io = Some(Io { direction: Direction::Out, channel, data, at: None });
        self
    }

    /// The slot with the offset of the input or output.
    pub(crate) const fn at(mut self, slot: u8) -> Self {
        if let Some(io) = &mut self.io {
            io.at = Some(slot);
        }
        self
    }

    pub(crate) const fn printf(mut self, format: u8, args: FormatArgs) -> Self {
        self.format = Some(Format { format, args, input: false });
        self
    }

    pub(crate) const fn scanf(mut self, format: u8, args: FormatArgs) -> Self {
        self.format = Some(Format { format, args, input: true });
        self
    }
}

/// `range!(slot, length)` and `range!(slot, length, when)`. A slot is a number, `ret`, `at n`,
/// `always at n` (for every result), `field n, offset` or `ios n, offset`.
macro_rules! range {
    (ret, $($len:tt)+) => {
        range!(@ Place::Ret, NonZero, $($len)+)
    };
    (ios $slot:literal, $offset:literal, $($len:tt)+) => {
        range!(@@ Place::Ios($slot, $offset), $($len)+)
    };
    (field $slot:literal, $offset:literal, $($len:tt)+) => {
        range!(@@ Place::Field($slot, $offset), $($len)+)
    };
    (@@ Place::$place:ident($slot:literal, $offset:literal), $($len:tt)+) => {
        $crate::effect::Range {
            place: $crate::effect::Place::$place($slot, $offset),
            len: $crate::effect::Len::$($len)+,
            when: $crate::effect::When::Always,
        }
    };
    (always at $slot:literal, $($len:tt)+) => {
        range!(@ Place::At($slot), Always, $($len)+)
    };
    (at $slot:literal, $($len:tt)+) => {
        range!(@ Place::At($slot), Ok, $($len)+)
    };
    ($slot:literal, $len:ident $(($($x:expr),+))?) => {
        range!(@ Place::Arg($slot), Always, $len $(($($x),+))?)
    };
    ($slot:literal, $len:ident $(($($x:expr),+))?, $when:ident $(($($y:expr),+))?) => {
        range!(@ Place::Arg($slot), $when $(($($y),+))?, $len $(($($x),+))?)
    };
    (@ Place::$place:ident $(($slot:literal))?, $when:ident $(($($y:expr),+))?, $len:ident $(($($x:expr),+))?) => {
        $crate::effect::Range {
            place: $crate::effect::Place::$place $(($slot))?,
            len: $crate::effect::Len::$len $(($($x),+))?,
            when: $crate::effect::When::$when $(($($y),+))?,
        }
    };
}
pub(crate) use range;
