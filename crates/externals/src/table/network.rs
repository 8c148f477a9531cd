//! Sockets and name resolution.

use crate::effect::{Channel::Fd, Data, External, Ret, ext, flag, range};

/// Bytes of `struct msghdr`.
const MSGHDR: u32 = 56;

pub(super) const PART: &[External] = &[
    ext("socket", Ret::Fd).flags(flag::OPENS),
    ext("socketpair", Ret::Int).writes(&[range!(3, Const(8), Zero)]).flags(flag::OPENS_TWO),
    ext("bind", Ret::Int).reads(&[range!(1, Arg(2))]),
    ext("listen", Ret::Int),
    ext("connect", Ret::Int).reads(&[range!(1, Arg(2))]),
    ext("accept", Ret::Fd).writes(&[range!(2, Const(4), Ok), range!(1, At32(2), Ok)]).flags(flag::OPENS),
    ext("accept4", Ret::Fd).writes(&[range!(2, Const(4), Ok), range!(1, At32(2), Ok)]).flags(flag::OPENS),
    ext("shutdown", Ret::Int),
    ext("recv", Ret::Count).writes(&[range!(1, RetMax(2))]).input(Fd(0), Data::Written(0)),
    ext("__recv_chk", Ret::Count).writes(&[range!(1, RetMax(2))]).input(Fd(0), Data::Written(0)),
    ext("recvfrom", Ret::Count)
        .writes(&[range!(1, RetMax(2)), range!(5, Const(4), Ok), range!(4, At32(5), Ok)])
        .input(Fd(0), Data::Written(0)),
    ext("recvmsg", Ret::Count).writes(&[range!(1, Const(MSGHDR))]).input(Fd(0), Data::Count),
    ext("send", Ret::Count).reads(&[range!(1, Ret)]).output(Fd(0), Data::Read(0)),
    ext("sendto", Ret::Count).reads(&[range!(1, Ret), range!(4, Arg(5))]).output(Fd(0), Data::Read(0)),
    ext("sendmsg", Ret::Count).reads(&[range!(1, Const(MSGHDR))]).output(Fd(0), Data::Count),
    ext("getsockopt", Ret::Int).writes(&[range!(4, Const(4), Zero), range!(3, At32(4), Zero)]),
    ext("setsockopt", Ret::Int).reads(&[range!(3, Arg(4))]),
    ext("getsockname", Ret::Int).writes(&[range!(2, Const(4), Zero), range!(1, At32(2), Zero)]),
    ext("getpeername", Ret::Int).writes(&[range!(2, Const(4), Zero), range!(1, At32(2), Zero)]),
    ext("getaddrinfo", Ret::Int)
        .reads(&[range!(0, CStr), range!(1, CStr), range!(2, Const(48))])
        .writes(&[range!(3, Const(8), Zero)]),
    ext("freeaddrinfo", Ret::Void),
    ext("gai_strerror", Ret::Pointer).writes(&[range!(ret, CStr)]),
    ext("getnameinfo", Ret::Int).writes(&[range!(2, CStrMax(3), Zero), range!(4, CStrMax(5), Zero)]),
    ext("gethostbyname", Ret::Pointer).reads(&[range!(0, CStr)]).writes(&[range!(ret, Const(32))]),
    ext("getservbyname", Ret::Pointer)
        .reads(&[range!(0, CStr), range!(1, CStr)])
        .writes(&[range!(ret, Const(32))]),
    ext("inet_addr", Ret::Int).reads(&[range!(0, CStr)]),
    ext("inet_aton", Ret::Int).reads(&[range!(0, CStr)]).writes(&[range!(1, Const(4), NonZero)]),
    ext("inet_ntoa", Ret::Pointer).writes(&[range!(ret, CStr)]),
    ext("inet_pton", Ret::Int).reads(&[range!(1, CStr)]).writes(&[range!(2, Const(4), NonZero)]),
    ext("inet_ntop", Ret::Into(2)).reads(&[range!(1, Const(4))]).writes(&[range!(2, CStrMax(3), NonZero)]),
    ext("if_nametoindex", Ret::Int).reads(&[range!(0, CStr)]),
];
