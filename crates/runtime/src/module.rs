//! Registration of modules: their numbers, the modules file, and which address
//! is which known external.

use crate::desc::{MODULE_MAGIC, ModuleDesc};
use crate::process::{self, Path};
use crate::{bytes, sys};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};
use recording::event::modules;

#[repr(C)]
struct DlInfo {
    file: *const u8,
    base: *const u8,
    symbol: *const u8,
    address: *const u8,
}

unsafe extern "C" {
    fn dladdr(address: *const u8, info: *mut DlInfo) -> i32;
}

static COUNT: AtomicU32 = AtomicU32::new(0);

/// # Safety
/// `module` is a descriptor emitted by the compiler.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_register(module: *mut ModuleDesc) {
    process::start();
    let Some(m) = (unsafe { module.as_mut() }) else { return };
    if m.magic != MODULE_MAGIC || m.index != 0 {
        return;
    }
    if !process::is_recording() {
        m.index = COUNT.fetch_add(1, Relaxed) + 1;
        return;
    }
    // A library that was closed and is opened again at the same place is the
    // module it was.
    let hash = unsafe { identity(m) };
    let registered = unsafe { &mut *(&raw mut REGISTERED) };
    if let Some(index) = registered.iter().take(COUNT.load(Relaxed) as usize).position(|&h| h == hash) {
        m.index = index as u32 + 1;
        return;
    }
    let index = COUNT.fetch_add(1, Relaxed);
    m.index = index + 1;
    if let Some(place) = registered.get_mut(index as usize) {
        *place = hash;
    }
    unsafe {
        if !m.known.is_null() && !m.addresses.is_null() {
            for i in 0..m.symbols as usize {
                if *m.known.add(i) != 0 {
                    remember(*m.addresses.add(i), *m.known.add(i));
                }
            }
        }
        write_record(m);
    }
}

/// What each module number stands for. Beyond the table a module opened twice
/// gets two numbers.
static mut REGISTERED: [u64; 8192] = [0; 8192];

/// A hash of a module's content and its place in memory.
unsafe fn identity(m: &ModuleDesc) -> u64 {
    let mut hash =
        u64::from_le_bytes([m.id[0], m.id[1], m.id[2], m.id[3], m.id[4], m.id[5], m.id[6], m.id[7]]);
    let count = if m.addresses.is_null() { 0 } else { m.symbols as usize };
    for i in 0..count {
        hash = (hash.rotate_left(5) ^ unsafe { *m.addresses.add(i) }).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    hash ^ core::ptr::from_ref(m) as u64
}

/// Keeps the library that this copy of the runtime is in, if it is in one: handlers of the C library
/// and of the kernel point here, and a host may close its plug-in.
pub fn stay_loaded() {
    const NODELETE_NOLOAD_LAZY: i32 = 0x1000 | 4 | 1;
    let mut info = DlInfo {
        file: core::ptr::null(),
        base: core::ptr::null(),
        symbol: core::ptr::null(),
        address: core::ptr::null(),
    };
    let here = stay_loaded as *const u8;
    if unsafe { dladdr(here, &raw mut info) } == 0 || info.base == executable_base() {
        return;
    }
    if let Some(dlopen) = weak_dlopen() {
        unsafe { dlopen(info.file, NODELETE_NOLOAD_LAZY) };
    }
}

type Dlopen = unsafe extern "C" fn(*const u8, i32) -> *mut u8;

/// `dlopen`, if the program has it: a static one should not get it because of us.
fn weak_dlopen() -> Option<Dlopen> {
    let at: usize;
    unsafe {
        core::arch::asm!(
            ".weak dlopen",
            "mov {0}, qword ptr [rip + dlopen@GOTPCREL]",
            out(reg) at,
            options(nostack, pure, readonly)
        );
        core::mem::transmute::<usize, Option<Dlopen>>(at)
    }
}

pub fn begin_file() {
    match process::create_file(b"modules.raw", &modules::MAGIC) {
        Some(fd) => sys::close(fd),
        None => process::note_incomplete(b""),
    }
}

unsafe fn write_record(m: &ModuleDesc) {
    let mut path = Path::in_directory();
    path.push(b"modules.raw");
    let Ok(fd) = sys::open(path.as_c_str(), sys::O_WRONLY | sys::O_APPEND) else {
        process::note_incomplete(b"");
        return;
    };
    let mut info = DlInfo {
        file: core::ptr::null(),
        base: core::ptr::null(),
        symbol: core::ptr::null(),
        address: core::ptr::null(),
    };
    let found = unsafe { dladdr(core::ptr::from_ref(m).cast(), &raw mut info) } != 0;
    let mut text = [0; 4096];
    // The loader knows the executable by the name it was started with.
    let is_executable = !found || info.base == executable_base();
    let file = if is_executable {
        sys::readlink(b"/proc/self/exe\0", &mut text).unwrap_or(&[])
    } else {
        unsafe { bytes::string(info.file) }
    };
    let base = if found { info.base } else { executable_base() };
    let build_id = unsafe { build_id(base) };
    let count = if m.addresses.is_null() { 0 } else { m.symbols };
    let addresses = match count {
        0 => &[][..],
        n => unsafe { core::slice::from_raw_parts(m.addresses.cast::<u8>(), n as usize * 8) },
    };
    let ok = sys::write_all(fd, &m.index.to_le_bytes())
        && sys::write_all(fd, &m.id)
        && sys::write_all(fd, &(file.len() as u32).to_le_bytes())
        && sys::write_all(fd, file)
        && sys::write_all(fd, &(base as u64).to_le_bytes())
        && sys::write_all(fd, &(build_id.len() as u32).to_le_bytes())
        && sys::write_all(fd, build_id)
        && sys::write_all(fd, &count.to_le_bytes())
        && sys::write_all(fd, addresses);
    if !ok {
        process::note_incomplete(b"");
    }
    sys::close(fd);
}

unsafe extern "C" {
    fn getauxval(kind: u64) -> u64;
}

/// Where the executable's ELF header lies: found from the program headers that
/// the kernel told the process about.
fn executable_base() -> *const u8 {
    const AT_PHDR: u64 = 3;
    let headers = unsafe { getauxval(AT_PHDR) };
    (headers & !(sys::PAGE - 1)) as *const u8
}

pub fn executable_build_id() -> &'static [u8] {
    unsafe { build_id(executable_base()) }
}

/// The GNU build id of the ELF image at `base`; empty if there is none.
unsafe fn build_id(base: *const u8) -> &'static [u8] {
    const PT_NOTE: u32 = 4;
    unsafe {
        let word = |at: u64| (base as u64 + at) as *const u8;
        if base.is_null() || *base.cast::<[u8; 4]>() != *b"\x7fELF" {
            return &[];
        }
        let is_position_independent = word(16).cast::<u16>().read_unaligned() == 3;
        let bias = if is_position_independent { base as u64 } else { 0 };
        let headers = word(32).cast::<u64>().read_unaligned();
        let size = u64::from(word(54).cast::<u16>().read_unaligned());
        let count = u64::from(word(56).cast::<u16>().read_unaligned());
        for i in 0..count {
            let header = word(headers + i * size);
            if header.cast::<u32>().read_unaligned() != PT_NOTE {
                continue;
            }
            let mut at = bias + header.add(16).cast::<u64>().read_unaligned();
            let end = at + header.add(40).cast::<u64>().read_unaligned();
            while at + 12 <= end {
                let field = |n: u64| ((at + n) as *const u32).read_unaligned();
                let (name, desc, kind) = (u64::from(field(0)), u64::from(field(4)), field(8));
                let content = at + 12 + name.next_multiple_of(4);
                if kind == 3
                    && name == 4
                    && *((at + 12) as *const [u8; 4]) == *b"GNU\0"
                    && content + desc <= end
                {
                    return core::slice::from_raw_parts(content as *const u8, desc as usize);
                }
                at = content + desc.next_multiple_of(4);
            }
        }
        &[]
    }
}

/// The table entry of a function that is modelled.
pub const MODELLED: u16 = u16::MAX;

/// Open addressing, address to table number plus one. Full: the rest is unknown.
const SLOTS: usize = 1 << 16;
static mut KNOWN: [(u64, u16); SLOTS] = [(0, 0); SLOTS];

fn slot(address: u64) -> usize {
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize % SLOTS
}

unsafe fn remember(address: u64, known: u16) {
    if address == 0 {
        return;
    }
    for i in 0..64 {
        let place = unsafe { &mut *(&raw mut KNOWN[(slot(address) + i) % SLOTS]) };
        if place.0 == 0 || place.0 == address {
            *place = (address, known);
            return;
        }
    }
}

/// The known external at an address, for indirect calls: number plus one, or 0.
#[inline]
pub fn known_at(address: u64) -> u16 {
    for i in 0..64 {
        let place = unsafe { *(&raw const KNOWN[(slot(address) + i) % SLOTS]) };
        if place.0 == address {
            return place.1;
        }
        if place.0 == 0 {
            break;
        }
    }
    0
}

/// In a forked child: the parent's modules are the child's.
pub fn copy_file(from: &Path) {
    let mut to = Path::in_directory();
    to.push(b"modules.raw");
    let source = sys::open(from.as_c_str(), sys::O_RDONLY);
    let target = sys::open(to.as_c_str(), sys::O_WRONLY | sys::O_CREAT | sys::O_EXCL);
    if let (Ok(source), Ok(target)) = (source, target) {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = usize::try_from(sys::read(source, &mut buffer)) {
            sys::write_all(target, &buffer[..n]);
        }
    } else {
        process::note_incomplete(b"");
    }
    for fd in [source, target].into_iter().flatten() {
        sys::close(fd);
    }
}
