//! Registration of modules: their numbers, the modules file, and the map from addresses to known externals.

use crate::desc::{MODULE_MAGIC, ModuleDesc};
use crate::process::{self, Path};
use crate::{bytes, sys};
use core::ffi::CStr;
use core::sync::atomic::{
    AtomicU16, AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
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
/// `module` is null or a descriptor emitted by the compiler. The caller is a constructor of the module (the
/// loader runs constructors one at a time), or the first code of the module that runs, if that runs even
/// earlier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __relapse_register(module: *mut ModuleDesc) {
    // SAFETY: the first module's constructor gets here before other threads can call a function of an
    // instrumented module.
    unsafe { process::start() };
    // SAFETY: the descriptor is data of the module, writable, and no other code reads it before other code of
    // the module runs.
    let Some(m) = (unsafe { module.as_mut() }) else { return };
    if m.magic != MODULE_MAGIC || m.index != 0 {
        return;
    }
    if !process::is_recording() {
        m.index = COUNT.fetch_add(1, Relaxed) + 1;
        // SAFETY: `m` is a descriptor emitted by the compiler, and constructors run one at a time.
        unsafe { crate::witness::registered(m) };
        return;
    }
    // A library that was closed and is opened again at the same address gets its old module number. SAFETY:
    // `m` is a descriptor emitted by the compiler.
    let hash = unsafe { identity(m) };
    let mut registered = REGISTERED.iter().take(COUNT.load(Relaxed) as usize);
    if let Some(index) = registered.position(|h| h.load(Relaxed) == hash) {
        m.index = index as u32 + 1;
        return;
    }
    let index = COUNT.fetch_add(1, Relaxed);
    m.index = index + 1;
    if let Some(place) = REGISTERED.get(index as usize) {
        place.store(hash, Relaxed);
    }
    // SAFETY: the compiler emits `known` and `addresses` with `symbols` entries each, and the
    // loader has relocated them before it runs constructors.
    unsafe {
        if !m.known.is_null() && !m.addresses.is_null() {
            for i in 0..m.symbols as usize {
                if *m.known.add(i) != 0 {
                    insert_known(*m.addresses.add(i), *m.known.add(i));
                }
            }
        }
        write_record(m);
    }
}

/// The number of a module. Code in `.preinit_array` and `.init` runs before all constructors: then this call
/// registers its module.
///
/// # Safety
/// `module` is the descriptor of a loaded module, whose code runs; as long as not all its constructors have
/// run, only one thread runs it.
#[inline]
pub unsafe fn index(module: *const ModuleDesc) -> u32 {
    // SAFETY: the descriptor is data of a loaded module. Its index does not change after registration, and
    // until then there is one thread.
    unsafe {
        if (*module).index == 0 {
            __relapse_register(module.cast_mut());
        }
        (*module).index
    }
}

/// The hash of the module with each number. Once the table is full, a module opened twice gets two numbers.
static REGISTERED: [AtomicU64; 8192] = [const { AtomicU64::new(0) }; 8192];

/// A hash of a module's content and its address in memory.
///
/// # Safety
/// `m` is a descriptor emitted by the compiler.
unsafe fn identity(m: &ModuleDesc) -> u64 {
    let mut hash =
        u64::from_le_bytes([m.id[0], m.id[1], m.id[2], m.id[3], m.id[4], m.id[5], m.id[6], m.id[7]]);
    let count = if m.addresses.is_null() { 0 } else { m.symbols as usize };
    for i in 0..count {
        // SAFETY: `addresses` is not null, and then has `symbols` entries.
        hash = (hash.rotate_left(5) ^ unsafe { *m.addresses.add(i) }).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    hash ^ core::ptr::from_ref(m) as u64
}

/// Keeps the library loaded that contains this copy of the runtime, if any: handlers of the C library and of
/// the kernel point into it, and a host may close its plug-in.
pub fn pin_library() {
    const NODELETE_NOLOAD_LAZY: i32 = 0x1000 | 4 | 1;
    let Some(info) = object_of(pin_library as *const u8) else { return };
    if info.base == executable_base() {
        return;
    }
    if let Some(dlopen) = weak_dlopen() {
        // SAFETY: `file` is the loader's name for the library that contains this code. It is loaded, so no
        // constructor runs: only its reference count is incremented.
        unsafe { dlopen(info.file, NODELETE_NOLOAD_LAZY) };
    }
}

/// The object file that an address belongs to, if the loader knows it.
fn object_of(address: *const u8) -> Option<DlInfo> {
    let mut info = DlInfo {
        file: core::ptr::null(),
        base: core::ptr::null(),
        symbol: core::ptr::null(),
        address: core::ptr::null(),
    };
    // SAFETY: `dladdr` takes any address, and `DlInfo` has the layout of `Dl_info`.
    let found = unsafe { dladdr(address, &raw mut info) } != 0;
    found.then_some(info)
}

type Dlopen = unsafe extern "C" fn(*const u8, i32) -> *mut u8;

/// `dlopen`, if the program has it: the runtime must not pull it into a static program.
fn weak_dlopen() -> Option<Dlopen> {
    let at: usize;
    // SAFETY: because of this reference the linker makes an entry in the GOT for `dlopen`, and the loader
    // fills it with the function's address, or with 0 for an undefined weak symbol; `Option` of a function
    // pointer is null for `None`.
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

/// Creates the modules file of the process, without modules.
pub fn begin_file() {
    match process::create_file(b"modules.raw", &modules::MAGIC) {
        Some(fd) => sys::close(fd),
        None => {
            process::note_incomplete(b"");
        }
    }
}

/// # Safety
/// `m` is a descriptor emitted by the compiler.
unsafe fn write_record(m: &ModuleDesc) {
    let mut path = Path::in_directory();
    path.push(b"modules.raw");
    let Ok(fd) = sys::open(path.as_c_str(), sys::O_WRONLY | sys::O_APPEND) else {
        process::note_incomplete(b"");
        return;
    };
    // The loader knows the executable by the name it was started with.
    let library = object_of(core::ptr::from_ref(m).cast()).filter(|info| info.base != executable_base());
    let mut text = [0; 4096];
    let (file, base) = match library {
        // SAFETY: the loader keeps the name of every library as long as that is loaded; the library of `m` is
        // loaded while its constructor runs.
        Some(ref info) => (unsafe { bytes::string(info.file) }, info.base),
        None => (sys::readlink(c"/proc/self/exe", &mut text).unwrap_or(&[]), executable_base()),
    };
    // SAFETY: the base of a loaded object is the address of its ELF header, or for an executable the page of
    // its program headers; the object stays loaded as long as the id is used here.
    let build_id = unsafe { build_id(base) };
    if KEPT.swap(base as u64, Relaxed) != base as u64 {
        let mut name = Path::new();
        copy_binary(if library.is_some() { name.push(file).as_c_str() } else { c"/proc/self/exe" }, build_id);
    }
    let count = if m.addresses.is_null() { 0 } else { m.symbols };
    let addresses = match count {
        0 => &[][..],
        // SAFETY: `addresses` is not null, and then has `symbols` entries of eight bytes; no code writes
        // there after the loader has relocated them.
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

/// The object whose binary was kept last: modules of one object are registered consecutively.
static KEPT: AtomicU64 = AtomicU64::new(0);

/// Copies a binary into the recording, unless another process has: tests build programs and plug-ins, run
/// them and remove them, while the recorder reads the models only at the end.
fn copy_binary(file: &CStr, build_id: &[u8]) {
    if build_id.is_empty() {
        return;
    }
    let mut path = Path::new();
    path.push(process::root().as_bytes()).push(b"/models/").push_hex(build_id).push(b".elf");
    let Ok(to) = process::create(path.as_c_str(), sys::O_WRONLY) else { return };
    if let Ok(from) = sys::open(file, sys::O_RDONLY) {
        let len = sys::size(from);
        // SAFETY: without `MAP_FIXED` the kernel chooses an unused address.
        if let Some(at) = unsafe { sys::map(0, len, sys::PROT_READ, sys::MAP_PRIVATE, from, 0) } {
            // SAFETY: the mapping has `len` bytes that no other code uses, and it is removed below, after the
            // last use of `all`. The program or library in the file is in use: writing to it or truncating it
            // would also crash the processes that run it.
            let all = unsafe { core::slice::from_raw_parts(at, len as usize) };
            // If the disk is full, the partial copy is useless; the recorder detects that.
            sys::write_all(to, all);
            // SAFETY: this is the mapping from above.
            unsafe { sys::unmap(at, len) };
        }
        sys::close(from);
    }
    sys::close(to);
}

unsafe extern "C" {
    fn getauxval(kind: u64) -> u64;
}

/// Address of the executable's ELF header, computed from the program headers in the auxiliary vector.
fn executable_base() -> *const u8 {
    const AT_PHDR: u64 = 3;
    // SAFETY: `getauxval` reads the kernel's auxiliary vector, and returns 0 for an entry that is missing.
    let headers = unsafe { getauxval(AT_PHDR) };
    (headers & !(sys::PAGE - 1)) as *const u8
}

/// The GNU build id of the executable; empty if it has none.
pub fn executable_build_id() -> &'static [u8] {
    // SAFETY: the page with the program headers of the executable is mapped and never unloaded.
    unsafe { build_id(executable_base()) }
}

/// The GNU build id of the ELF image at `base`; empty if there is none.
///
/// # Safety
/// `base` is null or a mapped page. If the page begins like an ELF image, the loader or the kernel has mapped
/// the image as its program headers specify, headers included, and it stays mapped while the result is used.
unsafe fn build_id(base: *const u8) -> &'static [u8] {
    const PT_NOTE: u32 = 4;
    // SAFETY: the ELF header lies within the first page. The loader has accepted and mapped the program
    // headers and the segments that they name; within a segment of notes every access is checked against its
    // end.
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
                    && content + desc <= end
                    && *((at + 12) as *const [u8; 4]) == *b"GNU\0"
                {
                    return core::slice::from_raw_parts(content as *const u8, desc as usize);
                }
                at = content + desc.next_multiple_of(4);
            }
        }
        &[]
    }
}

/// The table entry of a modelled function.
pub const MODELLED: u16 = u16::MAX;

/// Hash table with open addressing, from address to externals number plus one. When it is full, further
/// externals are unknown. Registration writes while other threads read: the number is stored before the
/// address, which publishes the entry.
const SLOTS: usize = 1 << 16;
static KNOWN: [(AtomicU64, AtomicU16); SLOTS] = [const { (AtomicU64::new(0), AtomicU16::new(0)) }; SLOTS];

fn slot(address: u64) -> usize {
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize % SLOTS
}

fn insert_known(address: u64, known: u16) {
    if address == 0 {
        return;
    }
    for i in 0..64 {
        let (place, number) = &KNOWN[(slot(address) + i) % SLOTS];
        let taken = place.load(Relaxed);
        if taken == 0 || taken == address {
            number.store(known, Relaxed);
            place.store(address, Release);
            return;
        }
    }
}

/// The known external at an address, for indirect calls: number plus one, or 0.
#[inline]
pub fn known_at(address: u64) -> u16 {
    for i in 0..64 {
        let (place, number) = &KNOWN[(slot(address) + i) % SLOTS];
        let taken = place.load(Acquire);
        if taken == address {
            return number.load(Relaxed);
        }
        if taken == 0 {
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
    let target = process::create(to.as_c_str(), sys::O_WRONLY);
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
