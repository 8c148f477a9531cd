//! `stdio.h`: the reading and the writing side.

use crate::effect::Access::{Changes, Sets, Uses};
use crate::effect::{Channel, Data, External, FormatArgs, Hidden, Ret, State, ext, flag, range};
use Channel::{Stderr, Stdin, Stdout, Stream};
use FormatArgs::{From, List};

/// A `printf` whose bytes go to a stream. Replay formats them again.
const fn prints(name: &'static str, to: Channel, format: u8, args: FormatArgs) -> External {
    ext(name, Ret::Count).output(to, Data::Count).printf(format, args)
}

/// A `scanf`. The format determines the memory it writes.
const fn scans(name: &'static str, from: Channel, format: u8, args: FormatArgs) -> External {
    let scan = ext(name, Ret::Count).input(from, Data::Consumed).scanf(format, args).flags(flag::BEFORE);
    match from {
        Stream(_) => scan.hidden(const { &[Hidden::of_object(State::Stream, 0, Uses)] }),
        _ => scan.hidden(const { &[Hidden::of_process(State::Stream, Uses)] }),
    }
}

const fn gets_byte(name: &'static str, from: Channel) -> External {
    let byte = ext(name, Ret::Int).input(from, Data::Byte);
    match from {
        Stream(_) => byte.hidden(const { &[Hidden::of_object(State::Stream, 0, Uses)] }),
        _ => byte.hidden(const { &[Hidden::of_process(State::Stream, Uses)] }),
    }
}

const fn puts_byte(name: &'static str, to: Channel) -> External {
    ext(name, Ret::Int).output(to, Data::Byte)
}

pub(super) const PART: &[External] = &[
    prints("printf", Stdout, 0, From(1)).reads(&[range!(0, CStr)]),
    prints("vprintf", Stdout, 0, List(1)).reads(&[range!(0, CStr)]),
    prints("__printf_chk", Stdout, 1, From(2)).reads(&[range!(1, CStr)]),
    prints("__vprintf_chk", Stdout, 1, List(2)).reads(&[range!(1, CStr)]),
    prints("fprintf", Stream(0), 1, From(2)).reads(&[range!(1, CStr)]),
    prints("vfprintf", Stream(0), 1, List(2)).reads(&[range!(1, CStr)]),
    prints("__fprintf_chk", Stream(0), 2, From(3)).reads(&[range!(2, CStr)]),
    prints("__vfprintf_chk", Stream(0), 2, List(3)).reads(&[range!(2, CStr)]),
    prints("dprintf", Channel::Fd(0), 1, From(2)).reads(&[range!(1, CStr)]),
    prints("vdprintf", Channel::Fd(0), 1, List(2)).reads(&[range!(1, CStr)]),
    prints("__dprintf_chk", Channel::Fd(0), 2, From(3)).reads(&[range!(2, CStr)]),
    prints("__vdprintf_chk", Channel::Fd(0), 2, List(3)).reads(&[range!(2, CStr)]),
    ext("sprintf", Ret::Count).reads(&[range!(1, CStr)]).writes(&[range!(0, RetAndNul)]).printf(1, From(2)),
    ext("vsprintf", Ret::Count).reads(&[range!(1, CStr)]).writes(&[range!(0, RetAndNul)]).printf(1, List(2)),
    ext("__sprintf_chk", Ret::Count)
        .reads(&[range!(3, CStr)])
        .writes(&[range!(0, RetAndNul)])
        .printf(3, From(4)),
    ext("__vsprintf_chk", Ret::Count)
        .reads(&[range!(3, CStr)])
        .writes(&[range!(0, RetAndNul)])
        .printf(3, List(4)),
    ext("snprintf", Ret::Count)
        .reads(&[range!(2, CStr)])
        .writes(&[range!(0, CStrMax(1), Ok)])
        .printf(2, From(3)),
    ext("vsnprintf", Ret::Count)
        .reads(&[range!(2, CStr)])
        .writes(&[range!(0, CStrMax(1), Ok)])
        .printf(2, List(3)),
    ext("__snprintf_chk", Ret::Count)
        .reads(&[range!(4, CStr)])
        .writes(&[range!(0, CStrMax(1), Ok)])
        .printf(4, From(5)),
    ext("__vsnprintf_chk", Ret::Count)
        .reads(&[range!(4, CStr)])
        .writes(&[range!(0, CStrMax(1), Ok)])
        .printf(4, List(5)),
    ext("asprintf", Ret::Count)
        .reads(&[range!(1, CStr)])
        .writes(&[range!(0, Const(8)), range!(at 0, RetAndNul)])
        .printf(1, From(2))
        .allocates(range!(at 0, RetAndNul)),
    ext("vasprintf", Ret::Count)
        .reads(&[range!(1, CStr)])
        .writes(&[range!(0, Const(8)), range!(at 0, RetAndNul)])
        .printf(1, List(2))
        .allocates(range!(at 0, RetAndNul)),
    ext("__asprintf_chk", Ret::Count)
        .reads(&[range!(2, CStr)])
        .writes(&[range!(0, Const(8)), range!(at 0, RetAndNul)])
        .printf(2, From(3))
        .allocates(range!(at 0, RetAndNul)),
    ext("__vasprintf_chk", Ret::Count)
        .reads(&[range!(2, CStr)])
        .writes(&[range!(0, Const(8)), range!(at 0, RetAndNul)])
        .printf(2, List(3))
        .allocates(range!(at 0, RetAndNul)),
    scans("scanf", Stdin, 0, From(1)).reads(&[range!(0, CStr)]),
    scans("vscanf", Stdin, 0, List(1)).reads(&[range!(0, CStr)]),
    scans("fscanf", Stream(0), 1, From(2)).reads(&[range!(1, CStr)]),
    scans("vfscanf", Stream(0), 1, List(2)).reads(&[range!(1, CStr)]),
    scans("__isoc99_scanf", Stdin, 0, From(1)).reads(&[range!(0, CStr)]),
    scans("__isoc99_vscanf", Stdin, 0, List(1)).reads(&[range!(0, CStr)]),
    scans("__isoc99_fscanf", Stream(0), 1, From(2)).reads(&[range!(1, CStr)]),
    scans("__isoc99_vfscanf", Stream(0), 1, List(2)).reads(&[range!(1, CStr)]),
    scans("__isoc23_scanf", Stdin, 0, From(1)).reads(&[range!(0, CStr)]),
    scans("__isoc23_vscanf", Stdin, 0, List(1)).reads(&[range!(0, CStr)]),
    scans("__isoc23_fscanf", Stream(0), 1, From(2)).reads(&[range!(1, CStr)]),
    scans("__isoc23_vfscanf", Stream(0), 1, List(2)).reads(&[range!(1, CStr)]),
    ext("sscanf", Ret::Count).reads(&[range!(0, CStr), range!(1, CStr)]).scanf(1, From(2)),
    ext("vsscanf", Ret::Count).reads(&[range!(0, CStr), range!(1, CStr)]).scanf(1, List(2)),
    ext("__isoc99_sscanf", Ret::Count).reads(&[range!(0, CStr), range!(1, CStr)]).scanf(1, From(2)),
    ext("__isoc99_vsscanf", Ret::Count).reads(&[range!(0, CStr), range!(1, CStr)]).scanf(1, List(2)),
    ext("__isoc23_sscanf", Ret::Count).reads(&[range!(0, CStr), range!(1, CStr)]).scanf(1, From(2)),
    ext("__isoc23_vsscanf", Ret::Count).reads(&[range!(0, CStr), range!(1, CStr)]).scanf(1, List(2)),
    gets_byte("fgetc", Stream(0)),
    gets_byte("getc", Stream(0)),
    gets_byte("_IO_getc", Stream(0)),
    gets_byte("getc_unlocked", Stream(0)),
    gets_byte("fgetc_unlocked", Stream(0)),
    gets_byte("getchar", Stdin),
    gets_byte("getchar_unlocked", Stdin),
    gets_byte("__uflow", Stream(0)),
    ext("getw", Ret::Int).input(Stream(0), Data::Consumed),
    ext("ungetc", Ret::Int)
        .flags(flag::UNGETS)
        .hidden(&[Hidden::of_object(State::Stream, 1, Changes), Hidden::of_process(State::Stream, Changes)]),
    ext("fgets", Ret::Into(0))
        .writes(&[range!(0, CStrMax(1), NonZero)])
        .input(Stream(2), Data::Written(0))
        .hidden(&[Hidden::of_object(State::Stream, 2, Uses)]),
    ext("fgets_unlocked", Ret::Into(0))
        .writes(&[range!(0, CStrMax(1), NonZero)])
        .input(Stream(2), Data::Written(0))
        .hidden(&[Hidden::of_object(State::Stream, 2, Uses)]),
    ext("__fgets_chk", Ret::Into(0))
        .writes(&[range!(0, CStrMax(2), NonZero)])
        .input(Stream(3), Data::Written(0))
        .hidden(&[Hidden::of_object(State::Stream, 3, Uses)]),
    ext("gets", Ret::Into(0)).writes(&[range!(0, CStr, NonZero)]).input(Stdin, Data::Written(0)),
    ext("fread", Ret::Count)
        .writes(&[range!(0, RetTimes(1))])
        .input(Stream(3), Data::Written(0))
        .hidden(&[Hidden::of_object(State::Stream, 3, Uses)]),
    ext("fread_unlocked", Ret::Count)
        .writes(&[range!(0, RetTimes(1))])
        .input(Stream(3), Data::Written(0))
        .hidden(&[Hidden::of_object(State::Stream, 3, Uses)]),
    ext("__fread_chk", Ret::Count)
        .writes(&[range!(0, RetTimes(2))])
        .input(Stream(4), Data::Written(0))
        .hidden(&[Hidden::of_object(State::Stream, 4, Uses)]),
    ext("getline", Ret::Count)
        .writes(&[range!(at 0, RetAndNul), range!(0, Const(8)), range!(1, Const(8))])
        .input(Stream(2), Data::Written(0))
        .allocates(range!(at 0, At32(1)))
        .hidden(&[Hidden::of_object(State::Stream, 2, Uses)]),
    ext("getdelim", Ret::Count)
        .writes(&[range!(at 0, RetAndNul), range!(0, Const(8)), range!(1, Const(8))])
        .input(Stream(3), Data::Written(0))
        .allocates(range!(at 0, At32(1)))
        .hidden(&[Hidden::of_object(State::Stream, 3, Uses)]),
    ext("__getdelim", Ret::Count)
        .writes(&[range!(at 0, RetAndNul), range!(0, Const(8)), range!(1, Const(8))])
        .input(Stream(3), Data::Written(0))
        .allocates(range!(at 0, At32(1)))
        .hidden(&[Hidden::of_object(State::Stream, 3, Uses)]),
    puts_byte("fputc", Stream(1)),
    puts_byte("putc", Stream(1)),
    puts_byte("_IO_putc", Stream(1)),
    puts_byte("putc_unlocked", Stream(1)),
    puts_byte("fputc_unlocked", Stream(1)),
    puts_byte("putchar", Stdout),
    puts_byte("putchar_unlocked", Stdout),
    // Here slot 0 is the stream. The byte is in slot 1 and in the result.
    ext("__overflow", Ret::Int).output(Stream(0), Data::Byte),
    ext("putw", Ret::Int).output(Stream(1), Data::Consumed),
    ext("puts", Ret::Int).reads(&[range!(0, CStr)]).output(Stdout, Data::Line(0)),
    ext("fputs", Ret::Int).reads(&[range!(0, CStr)]).output(Stream(1), Data::Text(0)),
    ext("fputs_unlocked", Ret::Int).reads(&[range!(0, CStr)]).output(Stream(1), Data::Text(0)),
    ext("fwrite", Ret::Count).reads(&[range!(0, RetTimes(1))]).output(Stream(3), Data::Read(0)),
    ext("fwrite_unlocked", Ret::Count).reads(&[range!(0, RetTimes(1))]).output(Stream(3), Data::Read(0)),
    ext("perror", Ret::Void)
        .reads(&[range!(0, CStr)])
        .output(Stderr, Data::Consumed)
        .hidden(&[Hidden::of_process(State::Errno, Uses)]),
    ext("psignal", Ret::Void).reads(&[range!(1, CStr)]).output(Stderr, Data::Consumed),
    ext("fopen", Ret::Stream).reads(&[range!(0, CStr), range!(1, CStr)]).flags(flag::OPENS),
    ext("fopen64", Ret::Stream).reads(&[range!(0, CStr), range!(1, CStr)]).flags(flag::OPENS),
    ext("freopen", Ret::Stream).reads(&[range!(0, CStr), range!(1, CStr)]).flags(flag::OPENS),
    ext("freopen64", Ret::Stream).reads(&[range!(0, CStr), range!(1, CStr)]).flags(flag::OPENS),
    ext("fdopen", Ret::Stream).reads(&[range!(1, CStr)]).flags(flag::OPENS),
    // Data read from the stream was in the buffer.
    ext("fmemopen", Ret::Stream)
        .reads(&[range!(0, Arg(1)), range!(2, CStr)])
        .flags(flag::OPENS)
        .hidden(&[Hidden::of_result(State::Stream, Sets), Hidden::of_result(State::MemoryStream, Sets)]),
    ext("open_memstream", Ret::Stream)
        .writes(&[range!(0, Const(8)), range!(1, Const(8))])
        .flags(flag::OPENS)
        .hidden(&[Hidden::of_result(State::MemoryStream, Sets)]),
    ext("fopencookie", Ret::Stream).flags(flag::OPENS | flag::CALLS_BACK),
    ext("popen", Ret::Stream).reads(&[range!(0, CStr), range!(1, CStr)]).flags(flag::OPENS),
    ext("pclose", Ret::Int).flags(flag::CLOSES),
    ext("fclose", Ret::Int).flags(flag::CLOSES | flag::CALLS_BACK),
    ext("fcloseall", Ret::Int),
    ext("fflush", Ret::Int).flags(flag::CALLS_BACK),
    ext("fflush_unlocked", Ret::Int),
    ext("fpurge", Ret::Void).flags(flag::SEEKS),
    ext("fseek", Ret::Int).flags(flag::SEEKS).hidden(&[Hidden::of_object(State::Stream, 0, Sets)]),
    ext("fseeko", Ret::Int).flags(flag::SEEKS).hidden(&[Hidden::of_object(State::Stream, 0, Sets)]),
    ext("fseeko64", Ret::Int).flags(flag::SEEKS).hidden(&[Hidden::of_object(State::Stream, 0, Sets)]),
    ext("rewind", Ret::Void).flags(flag::SEEKS).hidden(&[Hidden::of_object(State::Stream, 0, Sets)]),
    ext("fsetpos", Ret::Int).reads(&[range!(1, Const(16))]).flags(flag::SEEKS).hidden(&[Hidden::of_object(
        State::Stream,
        0,
        Sets,
    )]),
    ext("fgetpos", Ret::Int).writes(&[range!(1, Const(16), Zero)]).hidden(&[Hidden::of_object(
        State::Stream,
        0,
        Uses,
    )]),
    ext("ftell", Ret::Long).hidden(&[Hidden::of_object(State::Stream, 0, Uses)]),
    ext("ftello", Ret::Long).hidden(&[Hidden::of_object(State::Stream, 0, Uses)]),
    ext("ftello64", Ret::Long).hidden(&[Hidden::of_object(State::Stream, 0, Uses)]),
    ext("feof", Ret::Int),
    ext("feof_unlocked", Ret::Int),
    ext("ferror", Ret::Int),
    ext("ferror_unlocked", Ret::Int),
    ext("clearerr", Ret::Void),
    ext("clearerr_unlocked", Ret::Void),
    ext("fileno", Ret::Fd),
    ext("fileno_unlocked", Ret::Fd),
    ext("setvbuf", Ret::Int),
    ext("setbuf", Ret::Void),
    ext("setbuffer", Ret::Void),
    ext("setlinebuf", Ret::Void),
    ext("flockfile", Ret::Void),
    ext("ftrylockfile", Ret::Int),
    ext("funlockfile", Ret::Void),
    ext("remove", Ret::Int).reads(&[range!(0, CStr)]),
    ext("rename", Ret::Int).reads(&[range!(0, CStr), range!(1, CStr)]),
    ext("tmpfile", Ret::Stream).flags(flag::OPENS),
    ext("tmpfile64", Ret::Stream).flags(flag::OPENS),
    ext("tmpnam", Ret::Pointer).writes(&[range!(ret, CStr)]),
    ext("tempnam", Ret::Pointer).writes(&[range!(ret, CStr)]).allocates(range!(ret, CStr)),
    ext("ctermid", Ret::Pointer).writes(&[range!(ret, CStr)]),
];
