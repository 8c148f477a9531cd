//! The static descriptors that the compiler emits. They lie in the module's own data, so they live as long as
//! its code does. Only [`ModuleDesc::index`] ever changes: registration sets it before an event of other code
//! of the module is logged.

#[repr(C)]
pub struct ModuleDesc {
    pub magic: u32,
    /// Set at registration; zero before.
    pub index: u32,
    pub id: [u8; 16],
    pub symbols: u32,
    pub pad: u32,
    pub addresses: *const u64,
    /// Per symbol: number in the externals table plus one, 0xffff for a function
    /// modelled in this module, or zero.
    pub known: *const u16,
}

pub const MODULE_MAGIC: u32 = 0x6d_6c_72_31;

#[repr(C)]
pub struct FnDesc {
    pub module: *mut ModuleDesc,
    pub function: u32,
    pub arg_slots: u32,
    pub name: *const u8,
    pub flags: u32,
    pub pad: u32,
}

pub const FN_MAIN: u32 = 1;

#[repr(C)]
pub struct SiteDesc {
    pub module: *mut ModuleDesc,
    pub site: u32,
    pub extra: u32,
}

#[repr(C)]
pub struct CallDesc {
    pub module: *mut ModuleDesc,
    pub site: u32,
    pub known: u16,
    pub args: u16,
    pub ret_slots: u16,
    pub flags: u16,
    pub kinds: *const u8,
}

pub const CALL_RETURNS_TWICE: u16 = 1;

#[repr(C)]
pub struct VaDesc {
    pub count: u32,
    pub pad: u32,
    pub kinds: *const u8,
}

/// One argument, as encoded in a `kinds` list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Word,
    Float,
    Double,
    LongDouble,
    TwoWords,
    ByVal { size: u64, align: u64 },
}

impl Kind {
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
