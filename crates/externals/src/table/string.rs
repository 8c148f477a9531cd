//! `string.h`, `strings.h`: strings and bytes.

use crate::effect::Access::Continues;
use crate::effect::{External, Hidden, Ret, State, ext, flag, range};
use crate::model::Model;

pub(super) const PART: &[External] = &[
    ext("memcpy", Ret::Into(0)).reads(&[range!(1, Arg(2))]).model(Model::Memcpy),
    ext("__memcpy_chk", Ret::Into(0)).reads(&[range!(1, Arg(2))]).model(Model::Memcpy),
    ext("memmove", Ret::Into(0)).reads(&[range!(1, Arg(2))]).model(Model::Memcpy),
    ext("__memmove_chk", Ret::Into(0)).reads(&[range!(1, Arg(2))]).model(Model::Memcpy),
    ext("mempcpy", Ret::Into(0)).reads(&[range!(1, Arg(2))]).model(Model::Mempcpy),
    ext("__mempcpy", Ret::Into(0)).reads(&[range!(1, Arg(2))]).model(Model::Mempcpy),
    ext("__mempcpy_chk", Ret::Into(0)).reads(&[range!(1, Arg(2))]).model(Model::Mempcpy),
    // Stops at a byte value, so only the evaluator knows the number of bytes read.
    ext("memccpy", Ret::Into(0)).model(Model::Memccpy),
    ext("bcopy", Ret::Void).reads(&[range!(0, Arg(2))]).model(Model::Bcopy),
    ext("memset", Ret::Into(0)).model(Model::Memset),
    ext("__memset_chk", Ret::Into(0)).model(Model::Memset),
    ext("explicit_bzero", Ret::Void).model(Model::Bzero),
    ext("__explicit_bzero_chk", Ret::Void).model(Model::Bzero),
    ext("bzero", Ret::Void).model(Model::Bzero),
    ext("memcmp", Ret::Int).reads(&[range!(0, Arg(2)), range!(1, Arg(2))]).model(Model::Memcmp),
    ext("bcmp", Ret::Int).reads(&[range!(0, Arg(2)), range!(1, Arg(2))]).model(Model::Memcmp),
    ext("__memcmpeq", Ret::Int).reads(&[range!(0, Arg(2)), range!(1, Arg(2))]).model(Model::Memcmp),
    ext("memchr", Ret::Into(0)).reads(&[range!(0, Arg(2))]).model(Model::Memchr),
    ext("memrchr", Ret::Into(0)).reads(&[range!(0, Arg(2))]).model(Model::Memrchr),
    ext("rawmemchr", Ret::Into(0)).model(Model::Rawmemchr),
    ext("memmem", Ret::Into(0)).reads(&[range!(0, Arg(1)), range!(2, Arg(3))]).model(Model::Memmem),
    ext("strlen", Ret::Count).reads(&[range!(0, CStr)]).model(Model::Strlen),
    ext("strnlen", Ret::Count).reads(&[range!(0, CStrMax(1))]).model(Model::Strnlen),
    ext("strcmp", Ret::Int).reads(&[range!(0, CStr), range!(1, CStr)]).model(Model::Strcmp),
    ext("strncmp", Ret::Int).reads(&[range!(0, CStrMax(2)), range!(1, CStrMax(2))]).model(Model::Strncmp),
    ext("strcasecmp", Ret::Int).reads(&[range!(0, CStr), range!(1, CStr)]).model(Model::Strcasecmp),
    ext("strncasecmp", Ret::Int)
        .reads(&[range!(0, CStrMax(2)), range!(1, CStrMax(2))])
        .model(Model::Strncasecmp),
    ext("strcoll", Ret::Int).reads(&[range!(0, CStr), range!(1, CStr)]).model(Model::Strcmp),
    ext("strxfrm", Ret::Count).reads(&[range!(1, CStr)]).writes(&[range!(0, CStrMax(2))]),
    ext("strverscmp", Ret::Int).reads(&[range!(0, CStr), range!(1, CStr)]),
    ext("strchr", Ret::Into(0)).reads(&[range!(0, CStr)]).model(Model::Strchr),
    ext("index", Ret::Into(0)).reads(&[range!(0, CStr)]).model(Model::Strchr),
    ext("strrchr", Ret::Into(0)).reads(&[range!(0, CStr)]).model(Model::Strrchr),
    ext("rindex", Ret::Into(0)).reads(&[range!(0, CStr)]).model(Model::Strrchr),
    ext("strchrnul", Ret::Into(0)).reads(&[range!(0, CStr)]).model(Model::Strchrnul),
    ext("strcpy", Ret::Into(0)).reads(&[range!(1, CStr)]).model(Model::Strcpy),
    ext("__strcpy_chk", Ret::Into(0)).reads(&[range!(1, CStr)]).model(Model::Strcpy),
    ext("stpcpy", Ret::Into(0)).reads(&[range!(1, CStr)]).model(Model::Stpcpy),
    ext("__stpcpy", Ret::Into(0)).reads(&[range!(1, CStr)]).model(Model::Stpcpy),
    ext("__stpcpy_chk", Ret::Into(0)).reads(&[range!(1, CStr)]).model(Model::Stpcpy),
    ext("strncpy", Ret::Into(0)).reads(&[range!(1, CStrMax(2))]).model(Model::Strncpy),
    ext("__strncpy_chk", Ret::Into(0)).reads(&[range!(1, CStrMax(2))]).model(Model::Strncpy),
    ext("stpncpy", Ret::Into(0)).reads(&[range!(1, CStrMax(2))]).model(Model::Stpncpy),
    ext("__stpncpy_chk", Ret::Into(0)).reads(&[range!(1, CStrMax(2))]).model(Model::Stpncpy),
    // The call overwrites the old contents of the destination.
    ext("strcat", Ret::Into(0)).reads(&[range!(1, CStr)]).model(Model::Strcat).flags(flag::BEFORE),
    ext("__strcat_chk", Ret::Into(0)).reads(&[range!(1, CStr)]).model(Model::Strcat).flags(flag::BEFORE),
    ext("strncat", Ret::Into(0)).reads(&[range!(1, CStrMax(2))]).model(Model::Strncat).flags(flag::BEFORE),
    ext("__strncat_chk", Ret::Into(0))
        .reads(&[range!(1, CStrMax(2))])
        .model(Model::Strncat)
        .flags(flag::BEFORE),
    ext("strstr", Ret::Into(0)).reads(&[range!(0, CStr), range!(1, CStr)]).model(Model::Strstr),
    ext("strcasestr", Ret::Into(0)).reads(&[range!(0, CStr), range!(1, CStr)]),
    ext("strspn", Ret::Count).reads(&[range!(0, CStr), range!(1, CStr)]).model(Model::Strspn),
    ext("strcspn", Ret::Count).reads(&[range!(0, CStr), range!(1, CStr)]).model(Model::Strcspn),
    ext("strpbrk", Ret::Into(0)).reads(&[range!(0, CStr), range!(1, CStr)]).model(Model::Strpbrk),
    ext("strdup", Ret::Pointer)
        .reads(&[range!(0, CStr)])
        .writes(&[range!(ret, CStr)])
        .allocates(range!(ret, CStr)),
    ext("__strdup", Ret::Pointer)
        .reads(&[range!(0, CStr)])
        .writes(&[range!(ret, CStr)])
        .allocates(range!(ret, CStr)),
    ext("strndup", Ret::Pointer)
        .reads(&[range!(0, CStrMax(1))])
        .writes(&[range!(ret, CStr)])
        .allocates(range!(ret, CStr)),
    ext("__strndup", Ret::Pointer)
        .reads(&[range!(0, CStrMax(1))])
        .writes(&[range!(ret, CStr)])
        .allocates(range!(ret, CStr)),
    // The byte after a token is overwritten. The result is the token.
    ext("strtok", Ret::Pointer)
        .reads(&[range!(1, CStr), range!(ret, CStr)])
        .writes(&[range!(ret, CStr)])
        .hidden(&[Hidden::of_process(State::Tokens, Continues(0))]),
    ext("strtok_r", Ret::Pointer)
        .reads(&[range!(1, CStr), range!(ret, CStr)])
        .writes(&[range!(ret, CStr), range!(2, Const(8))])
        .hidden(&[Hidden::of_object(State::Tokens, 2, Continues(0))]),
    ext("__strtok_r", Ret::Pointer)
        .reads(&[range!(1, CStr), range!(ret, CStr)])
        .writes(&[range!(ret, CStr), range!(2, Const(8))])
        .hidden(&[Hidden::of_object(State::Tokens, 2, Continues(0))]),
    ext("strsep", Ret::Pointer)
        .reads(&[range!(1, CStr), range!(ret, CStr), range!(0, Const(8))])
        .writes(&[range!(ret, CStr), range!(0, Const(8))]),
    ext("strerror", Ret::Pointer).writes(&[range!(ret, CStr)]),
    ext("strerror_r", Ret::Pointer).writes(&[range!(ret, CStr)]),
    ext("__xpg_strerror_r", Ret::Int).writes(&[range!(1, CStrMax(2), Zero)]),
    ext("strsignal", Ret::Pointer).writes(&[range!(ret, CStr)]),
    ext("swab", Ret::Void).reads(&[range!(0, Arg(2))]).writes(&[range!(1, Arg(2))]),
    ext("ffs", Ret::Int).model(Model::Ffs),
    ext("ffsl", Ret::Int).model(Model::Ffsl),
    ext("ffsll", Ret::Int).model(Model::Ffsl),
    ext("basename", Ret::Pointer).reads(&[range!(0, CStr)]).writes(&[range!(ret, CStr)]),
    ext("__xpg_basename", Ret::Pointer)
        .reads(&[range!(0, CStr)])
        .writes(&[range!(0, CStr), range!(ret, CStr)]),
    ext("dirname", Ret::Pointer).reads(&[range!(0, CStr)]).writes(&[range!(0, CStr), range!(ret, CStr)]),
];
