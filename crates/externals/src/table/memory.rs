//! The heap and mapped memory.

use crate::effect::{External, Len, Place, Range, Ret, When, ext, flag, range};
use crate::model::Model;

pub(super) const PART: &[External] = &[
    ext("malloc", Ret::Pointer).allocates(range!(ret, Arg(0))),
    ext("calloc", Ret::Pointer).model(Model::Calloc).allocates(range!(ret, Mul(0, 1))),
    ext("realloc", Ret::Pointer)
        .allocates(range!(ret, Arg(1)))
        .flags(flag::FREES | flag::MOVES | flag::BEFORE),
    ext("reallocarray", Ret::Pointer)
        .allocates(range!(ret, Mul(1, 2)))
        .flags(flag::FREES | flag::MOVES | flag::BEFORE),
    ext("free", Ret::Void).model(Model::Nothing).flags(flag::FREES),
    ext("cfree", Ret::Void).model(Model::Nothing).flags(flag::FREES),
    ext("memalign", Ret::Pointer).allocates(range!(ret, Arg(1))),
    ext("aligned_alloc", Ret::Pointer).allocates(range!(ret, Arg(1))),
    ext("valloc", Ret::Pointer).allocates(range!(ret, Arg(0))),
    ext("pvalloc", Ret::Pointer).allocates(range!(ret, Arg(0))),
    ext("posix_memalign", Ret::Int).writes(&[range!(0, Const(8), Zero)]).allocates(Range {
        place: Place::At(0),
        len: Len::Arg(2),
        when: When::Zero,
    }),
    ext("malloc_usable_size", Ret::Count),
    ext("malloc_trim", Ret::Int),
    ext("mallopt", Ret::Int),
    ext("mmap", Ret::Pointer).flags(flag::MAPS),
    ext("mmap64", Ret::Pointer).flags(flag::MAPS),
    ext("mremap", Ret::Pointer).flags(flag::MAPS),
    ext("munmap", Ret::Int).flags(flag::MAPS),
    ext("mprotect", Ret::Int),
    ext("msync", Ret::Int),
    ext("madvise", Ret::Int),
    ext("posix_madvise", Ret::Int),
    ext("mlock", Ret::Int),
    ext("munlock", Ret::Int),
    ext("mincore", Ret::Int),
    ext("brk", Ret::Int),
    ext("sbrk", Ret::Pointer),
    ext("shm_open", Ret::Fd).reads(&[range!(0, CStr)]).flags(flag::OPENS),
    ext("shm_unlink", Ret::Int).reads(&[range!(0, CStr)]),
    ext("memfd_create", Ret::Fd).reads(&[range!(0, CStr)]).flags(flag::OPENS),
];
