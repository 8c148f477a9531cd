//! The static descriptors that the compiler emits. They lie in the module's own data, so they live as long as
//! its code does. Only [`ModuleDesc::index`] ever changes: registration sets it before an event of other code
//! of the module is logged.

/// A module: the model of one translation unit, and its addresses.
#[repr(C)]
pub struct ModuleDesc {
    /// [`MODULE_MAGIC`].
    pub magic: u32,
    /// Registration index, set at registration; zero before.
    pub index: u32,
    /// Hash of the model; equals `program::Module::id`.
    pub id: [u8; 16],
    /// Number of entries of `addresses` and `known`.
    pub symbols: u32,
    /// Zero.
    pub pad: u32,
    /// Address of each symbol, filled in by the linker and the loader.
    pub addresses: *const u64,
    /// Per symbol: number in the externals table plus one, 0xffff for a function
    /// modelled in this module, or zero.
    pub known: *const u16,
}

/// The first field of a [`ModuleDesc`].
pub const MODULE_MAGIC: u32 = 0x6d_6c_72_31;

/// A modelled function.
#[repr(C)]
pub struct FnDesc {
    /// The module that defines it.
    pub module: *mut ModuleDesc,
    /// Its index in the module's functions.
    pub function: u32,
    /// Slots of its fixed parameters.
    pub arg_slots: u32,
    /// Its name, ended by NUL.
    pub name: *const u8,
    /// [`FN_MAIN`], or 0.
    pub flags: u32,
    /// Zero.
    pub pad: u32,
}

/// Flag of a function: the program's `main`.
pub const FN_MAIN: u32 = 1;

/// An instruction that calls a hook.
#[repr(C)]
pub struct SiteDesc {
    /// Its module.
    pub module: *mut ModuleDesc,
    /// The instruction's number in the module.
    pub site: u32,
    /// By the hook: size in bytes, number of slots, or symbol.
    pub extra: u32,
}

/// A call that may leave modelled code. It begins as a [`SiteDesc`] does.
#[repr(C)]
pub struct CallDesc {
    /// The caller's module.
    pub module: *mut ModuleDesc,
    /// The call's number in the module.
    pub site: u32,
    /// Number of the callee in the table of externals plus one; 0 if it is unknown or called indirectly.
    pub known: u16,
    /// Number of arguments, the variadic ones included: entries of `kinds`.
    pub args: u16,
    /// Slots of the result.
    pub ret_slots: u16,
    /// [`CALL_RETURNS_TWICE`], and 2 for a variadic call.
    pub flags: u16,
    /// The encoded [`Kind`]s of the arguments.
    pub kinds: *const u8,
}

/// Flag of a call: the callee may return twice, as `setjmp`.
pub const CALL_RETURNS_TWICE: u16 = 1;

/// The arguments of a variadic call after the fixed ones.
#[repr(C)]
pub struct VaDesc {
    /// Number of arguments: entries of `kinds`.
    pub count: u32,
    /// Zero.
    pub pad: u32,
    /// The encoded [`Kind`]s of the arguments.
    pub kinds: *const u8,
}

/// One argument, as encoded in a `kinds` list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An integer or pointer of one slot.
    Word,
    /// A `float`.
    Float,
    /// A `double`.
    Double,
    /// A `long double` in two slots.
    LongDouble,
    /// An integer of two slots.
    TwoWords,
    /// A copy of memory; its slot is the address of the original.
    ByVal {
        /// Bytes of the copy.
        size: u64,
        /// Its alignment in bytes.
        align: u64,
    },
}

impl Kind {
    /// Number of argument slots.
    pub fn slots(self) -> usize {
        match self {
            Kind::LongDouble | Kind::TwoWords => 2,
            _ => 1,
        }
    }
}

/// Iterates over a `kinds` list.
pub struct Kinds {
    at: *const u8,
    left: u32,
}

impl Kinds {
    /// # Safety
    /// `at` is null or has `count` well-formed entries, which stay valid during the iteration.
    pub unsafe fn new(at: *const u8, count: u32) -> Kinds {
        Kinds { at, left: if at.is_null() { 0 } else { count } }
    }
}

impl Iterator for Kinds {
    type Item = Kind;

    fn next(&mut self) -> Option<Kind> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        // SAFETY: by the contract of `new` there are that many well-formed entries, and `left` shows that at
        // least this one remains; entry 5 is well-formed with eight bytes after its code.
        unsafe {
            let code = *self.at;
            self.at = self.at.add(1);
            Some(match code {
                1 => Kind::Float,
                2 => Kind::Double,
                3 => Kind::LongDouble,
                4 => Kind::TwoWords,
                5 => {
                    let size = u64::from(self.at.cast::<u32>().read_unaligned());
                    let align = u64::from(self.at.add(4).cast::<u32>().read_unaligned());
                    self.at = self.at.add(8);
                    Kind::ByVal { size, align }
                }
                _ => Kind::Word,
            })
        }
    }
}
