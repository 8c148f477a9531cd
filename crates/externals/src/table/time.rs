//! `time.h`, `sys/time.h`, and sources of randomness.

use crate::effect::{Channel::Clock, Channel::Random, Data, External, Ret, ext, range};

/// Bytes of `struct tm`, `struct timespec`, `struct itimerval`.
const TM: u32 = 56;
const SPEC: u32 = 16;
const ITIMER: u32 = 32;

pub(super) const PART: &[External] = &[
    ext("time", Ret::Long).writes(&[range!(0, Const(8))]).input(Clock, Data::Result),
    ext("gettimeofday", Ret::Int)
        .writes(&[range!(0, Const(16)), range!(1, Const(8))])
        .input(Clock, Data::Written(0)),
    ext("clock_gettime", Ret::Int).writes(&[range!(1, Const(SPEC), Zero)]).input(Clock, Data::Written(0)),
    ext("clock_getres", Ret::Int).writes(&[range!(1, Const(SPEC), Zero)]),
    ext("clock_settime", Ret::Int).reads(&[range!(1, Const(SPEC))]),
    ext("timespec_get", Ret::Int).writes(&[range!(0, Const(SPEC), NonZero)]).input(Clock, Data::Written(0)),
    ext("clock", Ret::Long).input(Clock, Data::Result),
    ext("times", Ret::Long).writes(&[range!(0, Const(32))]).input(Clock, Data::Written(0)),
    ext("ftime", Ret::Int).writes(&[range!(0, Const(16))]).input(Clock, Data::Written(0)),
    ext("localtime", Ret::Pointer).reads(&[range!(0, Const(8))]).writes(&[range!(ret, Const(TM))]),
    ext("gmtime", Ret::Pointer).reads(&[range!(0, Const(8))]).writes(&[range!(ret, Const(TM))]),
    ext("localtime_r", Ret::Into(1)).reads(&[range!(0, Const(8))]).writes(&[range!(ret, Const(TM))]),
    ext("gmtime_r", Ret::Into(1)).reads(&[range!(0, Const(8))]).writes(&[range!(ret, Const(TM))]),
    ext("mktime", Ret::Long).reads(&[range!(0, Const(TM))]).writes(&[range!(0, Const(TM))]),
    ext("timegm", Ret::Long).reads(&[range!(0, Const(TM))]).writes(&[range!(0, Const(TM))]),
    ext("timelocal", Ret::Long).reads(&[range!(0, Const(TM))]).writes(&[range!(0, Const(TM))]),
    ext("difftime", Ret::Double),
    ext("asctime", Ret::Pointer).reads(&[range!(0, Const(TM))]).writes(&[range!(ret, CStr)]),
    ext("asctime_r", Ret::Pointer).reads(&[range!(0, Const(TM))]).writes(&[range!(ret, CStr)]),
    ext("ctime", Ret::Pointer).reads(&[range!(0, Const(8))]).writes(&[range!(ret, CStr)]),
    ext("ctime_r", Ret::Pointer).reads(&[range!(0, Const(8))]).writes(&[range!(ret, CStr)]),
    ext("strftime", Ret::Count)
        .reads(&[range!(2, CStr), range!(3, Const(TM))])
        .writes(&[range!(0, RetAndNul)]),
    ext("strptime", Ret::Into(0)).reads(&[range!(0, CStr), range!(1, CStr)]).writes(&[range!(2, Const(TM))]),
    ext("tzset", Ret::Void),
    ext("sleep", Ret::Int),
    ext("usleep", Ret::Int),
    ext("nanosleep", Ret::Int).reads(&[range!(0, Const(SPEC))]).writes(&[range!(1, Const(SPEC))]),
    ext("clock_nanosleep", Ret::Int).reads(&[range!(2, Const(SPEC))]).writes(&[range!(3, Const(SPEC))]),
    ext("alarm", Ret::Int),
    ext("ualarm", Ret::Int),
    ext("setitimer", Ret::Int).reads(&[range!(1, Const(ITIMER))]).writes(&[range!(2, Const(ITIMER), Zero)]),
    ext("getitimer", Ret::Int).writes(&[range!(1, Const(ITIMER), Zero)]),
    ext("timer_create", Ret::Int).writes(&[range!(2, Const(8), Zero)]),
    ext("timer_settime", Ret::Int).reads(&[range!(2, Const(32))]).writes(&[range!(3, Const(32), Zero)]),
    ext("timer_gettime", Ret::Int).writes(&[range!(1, Const(32), Zero)]),
    ext("timer_delete", Ret::Int),
    ext("settimeofday", Ret::Int).reads(&[range!(0, Const(16))]),
    ext("getrandom", Ret::Count).writes(&[range!(0, Ret)]).input(Random, Data::Written(0)),
    ext("getentropy", Ret::Int).writes(&[range!(0, Arg(1), Zero)]).input(Random, Data::Written(0)),
    ext("arc4random", Ret::Int).input(Random, Data::Result),
    ext("arc4random_uniform", Ret::Int).input(Random, Data::Result),
    ext("arc4random_buf", Ret::Void).writes(&[range!(0, Arg(1))]).input(Random, Data::Written(0)),
];
