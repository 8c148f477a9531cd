//! `ctype.h`, `locale.h`, conversions of `stdlib.h`.

use crate::effect::Access::{Changes, Sets, Uses};
use crate::effect::{External, Hidden, Ret, State, ext, flag, range};
use crate::model::Model;

pub(super) const PART: &[External] = &[
    ext("isalnum", Ret::Int),
    ext("isalpha", Ret::Int),
    ext("isblank", Ret::Int),
    ext("iscntrl", Ret::Int),
    ext("isdigit", Ret::Int),
    ext("isgraph", Ret::Int),
    ext("islower", Ret::Int),
    ext("isprint", Ret::Int),
    ext("ispunct", Ret::Int),
    ext("isspace", Ret::Int),
    ext("isupper", Ret::Int),
    ext("isxdigit", Ret::Int),
    ext("isascii", Ret::Int).model(Model::Isascii),
    ext("toascii", Ret::Int).model(Model::Toascii),
    ext("toupper", Ret::Int).model(Model::Toupper),
    ext("tolower", Ret::Int).model(Model::Tolower),
    // Inlined code reads the tables they point to; those loads miss once.
    ext("__ctype_b_loc", Ret::Pointer).writes(&[range!(ret, Const(8))]),
    ext("__ctype_tolower_loc", Ret::Pointer).writes(&[range!(ret, Const(8))]),
    ext("__ctype_toupper_loc", Ret::Pointer).writes(&[range!(ret, Const(8))]),
    ext("__ctype_get_mb_cur_max", Ret::Count),
    ext("__errno_location", Ret::Pointer).writes(&[range!(ret, Const(4))]),
    ext("setlocale", Ret::Pointer)
        .reads(&[range!(1, CStr)])
        .writes(&[range!(ret, CStr)])
        .hidden(&[Hidden::of_process(State::Locale, Changes)]),
    ext("localeconv", Ret::Pointer)
        .writes(&[range!(ret, Const(96))])
        .hidden(&[Hidden::of_process(State::Locale, Uses)]),
    ext("nl_langinfo", Ret::Pointer)
        .writes(&[range!(ret, CStr)])
        .hidden(&[Hidden::of_process(State::Locale, Uses)]),
    ext("newlocale", Ret::Pointer).reads(&[range!(1, CStr)]),
    ext("uselocale", Ret::Pointer).hidden(&[Hidden::of_process(State::Locale, Changes)]),
    ext("freelocale", Ret::Void),
    ext("duplocale", Ret::Pointer),
    ext("gettext", Ret::Pointer).reads(&[range!(0, CStr)]).writes(&[range!(ret, CStr)]),
    ext("dgettext", Ret::Pointer).reads(&[range!(1, CStr)]).writes(&[range!(ret, CStr)]),
    ext("dcgettext", Ret::Pointer).reads(&[range!(1, CStr)]).writes(&[range!(ret, CStr)]),
    ext("ngettext", Ret::Pointer).reads(&[range!(0, CStr), range!(1, CStr)]).writes(&[range!(ret, CStr)]),
    ext("textdomain", Ret::Pointer).reads(&[range!(0, CStr)]).writes(&[range!(ret, CStr)]),
    ext("bindtextdomain", Ret::Pointer).reads(&[range!(0, CStr)]).writes(&[range!(ret, CStr)]),
    ext("atoi", Ret::Int).reads(&[range!(0, CStr)]),
    ext("atol", Ret::Long).reads(&[range!(0, CStr)]),
    ext("atoll", Ret::Long).reads(&[range!(0, CStr)]),
    ext("atof", Ret::Double).reads(&[range!(0, CStr)]).hidden(&[Hidden::of_process(State::Locale, Uses)]),
    ext("strtol", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("strtoll", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("strtoul", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("strtoull", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("strtoimax", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("strtoumax", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("__isoc23_strtol", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("__isoc23_strtoll", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("__isoc23_strtoul", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("__isoc23_strtoull", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("__isoc23_strtoimax", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("__isoc23_strtoumax", Ret::Long).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(8))]),
    ext("strtof", Ret::Float)
        .reads(&[range!(0, CStr)])
        .writes(&[range!(1, Const(8))])
        .hidden(&[Hidden::of_process(State::Locale, Uses)]),
    ext("strtod", Ret::Double)
        .reads(&[range!(0, CStr)])
        .writes(&[range!(1, Const(8))])
        .hidden(&[Hidden::of_process(State::Locale, Uses)]),
    ext("strtold", Ret::LongDouble)
        .reads(&[range!(0, CStr)])
        .writes(&[range!(1, Const(8))])
        .hidden(&[Hidden::of_process(State::Locale, Uses)]),
    ext("abs", Ret::Int).model(Model::Abs),
    ext("labs", Ret::Long).model(Model::Labs),
    ext("llabs", Ret::Long).model(Model::Labs),
    ext("imaxabs", Ret::Long).model(Model::Labs),
    ext("div", Ret::Long),
    ext("ldiv", Ret::Long),
    ext("lldiv", Ret::Long),
    ext("rand", Ret::Int).hidden(&[Hidden::of_process(State::Random, Changes)]),
    ext("srand", Ret::Void).hidden(&[Hidden::of_process(State::Random, Sets)]),
    ext("rand_r", Ret::Int).reads(&[range!(0, Const(4))]).writes(&[range!(0, Const(4))]),
    ext("random", Ret::Long).hidden(&[Hidden::of_process(State::Random, Changes)]),
    ext("srandom", Ret::Void).hidden(&[Hidden::of_process(State::Random, Sets)]),
    ext("initstate", Ret::Pointer).hidden(&[Hidden::of_process(State::Random, Sets)]),
    ext("setstate", Ret::Pointer).hidden(&[Hidden::of_process(State::Random, Sets)]),
    ext("drand48", Ret::Double).hidden(&[Hidden::of_process(State::Random48, Changes)]),
    ext("erand48", Ret::Double).reads(&[range!(0, Const(6))]).writes(&[range!(0, Const(6))]),
    ext("lrand48", Ret::Long).hidden(&[Hidden::of_process(State::Random48, Changes)]),
    ext("nrand48", Ret::Long).reads(&[range!(0, Const(6))]).writes(&[range!(0, Const(6))]),
    ext("mrand48", Ret::Long).hidden(&[Hidden::of_process(State::Random48, Changes)]),
    ext("srand48", Ret::Void).hidden(&[Hidden::of_process(State::Random48, Sets)]),
    ext("qsort", Ret::Void)
        .reads(&[range!(0, Mul(1, 2))])
        .writes(&[range!(0, Mul(1, 2))])
        .flags(flag::CALLS_BACK),
    ext("qsort_r", Ret::Void)
        .reads(&[range!(0, Mul(1, 2))])
        .writes(&[range!(0, Mul(1, 2))])
        .flags(flag::CALLS_BACK),
    ext("bsearch", Ret::Into(1)).reads(&[range!(1, Mul(2, 3))]).flags(flag::CALLS_BACK),
    ext("lfind", Ret::Into(1)).flags(flag::CALLS_BACK),
    ext("lsearch", Ret::Into(1)).writes(&[range!(2, Const(8))]).flags(flag::CALLS_BACK),
    ext("tsearch", Ret::Pointer).flags(flag::CALLS_BACK),
    ext("tfind", Ret::Pointer).flags(flag::CALLS_BACK),
    ext("tdelete", Ret::Pointer).flags(flag::CALLS_BACK),
    ext("twalk", Ret::Void).flags(flag::CALLS_BACK),
    ext("hcreate", Ret::Int).hidden(&[Hidden::of_process(State::Hashes, Changes)]),
    ext("hsearch", Ret::Pointer).hidden(&[Hidden::of_process(State::Hashes, Changes)]),
    ext("hdestroy", Ret::Void).hidden(&[Hidden::of_process(State::Hashes, Changes)]),
    ext("regcomp", Ret::Int).reads(&[range!(1, CStr)]).writes(&[range!(0, Const(64))]),
    // With REG_STARTEND the text need not end with a NUL, so it is not read as a string.
    ext("regexec", Ret::Int)
        .reads(&[range!(0, Const(64)), range!(1, CStr, Clear(4, 4))])
        .writes(&[range!(3, Times(2, 8))]),
    ext("regerror", Ret::Count).reads(&[range!(1, Const(64))]).writes(&[range!(2, CStrMax(3))]),
    ext("regfree", Ret::Void).writes(&[range!(0, Const(64))]),
    ext("fnmatch", Ret::Int).reads(&[range!(0, CStr), range!(1, CStr)]),
    ext("a64l", Ret::Long).reads(&[range!(0, CStr)]),
    ext("l64a", Ret::Pointer).writes(&[range!(ret, CStr)]),
    ext("getopt", Ret::Int)
        .reads(&[range!(1, Strings), range!(2, CStr)])
        .hidden(&[Hidden::of_process(State::Options, Changes)]),
    ext("getopt_long", Ret::Int)
        .reads(&[range!(1, Strings), range!(2, CStr)])
        .writes(&[range!(4, Const(4))])
        .hidden(&[Hidden::of_process(State::Options, Changes)]),
    ext("getopt_long_only", Ret::Int)
        .reads(&[range!(1, Strings), range!(2, CStr)])
        .writes(&[range!(4, Const(4))])
        .hidden(&[Hidden::of_process(State::Options, Changes)]),
    ext("getsubopt", Ret::Int).writes(&[range!(0, Const(8)), range!(2, Const(8))]),
    ext("htons", Ret::Int).model(Model::Swap16),
    ext("ntohs", Ret::Int).model(Model::Swap16),
    ext("htonl", Ret::Int).model(Model::Swap32),
    ext("ntohl", Ret::Int).model(Model::Swap32),
];
