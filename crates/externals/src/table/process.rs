//! Processes, signals, jumps, the environment, identity.

use crate::effect::Access::{Sets, Uses};
use crate::effect::{Channel, Data, External, Hidden, Ret, State, ext, flag, range};

const EXIT: u32 = flag::NORETURN | flag::EXITS;

pub(super) const PART: &[External] = &[
    ext("exit", Ret::Void).flags(flag::NORETURN | flag::CALLS_BACK),
    ext("_exit", Ret::Void).flags(EXIT | flag::BEFORE),
    ext("_Exit", Ret::Void).flags(EXIT | flag::BEFORE),
    ext("quick_exit", Ret::Void).flags(EXIT | flag::BEFORE),
    ext("abort", Ret::Void).flags(flag::NORETURN),
    ext("__assert_fail", Ret::Void)
        .reads(&[range!(0, CStr), range!(1, CStr), range!(3, CStr)])
        .flags(flag::NORETURN | flag::BEFORE),
    ext("__stack_chk_fail", Ret::Void).flags(flag::NORETURN),
    ext("__chk_fail", Ret::Void).flags(flag::NORETURN),
    ext("atexit", Ret::Int),
    ext("__cxa_atexit", Ret::Int),
    ext("on_exit", Ret::Int),
    ext("at_quick_exit", Ret::Int),
    ext("fork", Ret::Int).flags(flag::FORKS),
    ext("vfork", Ret::Int).flags(flag::FORKS | flag::RETURNS_TWICE),
    ext("execve", Ret::Int)
        .reads(&[range!(0, CStr), range!(1, Strings), range!(2, Strings)])
        .flags(flag::EXECS | flag::BEFORE),
    ext("execv", Ret::Int).reads(&[range!(0, CStr), range!(1, Strings)]).flags(flag::EXECS | flag::BEFORE),
    ext("execvp", Ret::Int).reads(&[range!(0, CStr), range!(1, Strings)]).flags(flag::EXECS | flag::BEFORE),
    ext("execvpe", Ret::Int)
        .reads(&[range!(0, CStr), range!(1, Strings), range!(2, Strings)])
        .flags(flag::EXECS | flag::BEFORE),
    ext("execl", Ret::Int).reads(&[range!(0, CStr)]).flags(flag::EXECS | flag::BEFORE),
    ext("execlp", Ret::Int).reads(&[range!(0, CStr)]).flags(flag::EXECS | flag::BEFORE),
    ext("execle", Ret::Int).reads(&[range!(0, CStr)]).flags(flag::EXECS | flag::BEFORE),
    ext("fexecve", Ret::Int)
        .reads(&[range!(1, Strings), range!(2, Strings)])
        .flags(flag::EXECS | flag::BEFORE),
    ext("posix_spawn", Ret::Int).reads(&[range!(1, CStr), range!(4, Strings)]).writes(&[range!(
        0,
        Const(4),
        Zero
    )]),
    ext("posix_spawnp", Ret::Int).reads(&[range!(1, CStr), range!(4, Strings)]).writes(&[range!(
        0,
        Const(4),
        Zero
    )]),
    ext("system", Ret::Int).reads(&[range!(0, CStr)]),
    ext("wait", Ret::Int).writes(&[range!(0, Const(4), Ok)]),
    ext("waitpid", Ret::Int).writes(&[range!(1, Const(4), Ok)]),
    ext("waitid", Ret::Int).writes(&[range!(2, Const(128), Ok)]),
    ext("wait3", Ret::Int).writes(&[range!(0, Const(4), Ok), range!(2, Const(144), Ok)]),
    ext("wait4", Ret::Int).writes(&[range!(1, Const(4), Ok), range!(3, Const(144), Ok)]),
    ext("getpid", Ret::Int),
    ext("getppid", Ret::Int),
    ext("gettid", Ret::Int),
    ext("getpgid", Ret::Int),
    ext("setpgid", Ret::Int),
    ext("getpgrp", Ret::Int),
    ext("setsid", Ret::Int),
    ext("getsid", Ret::Int),
    ext("getuid", Ret::Int),
    ext("geteuid", Ret::Int),
    ext("getgid", Ret::Int),
    ext("getegid", Ret::Int),
    ext("setuid", Ret::Int),
    ext("setgid", Ret::Int),
    ext("seteuid", Ret::Int),
    ext("setegid", Ret::Int),
    ext("getgroups", Ret::Int).writes(&[range!(1, RetConst(4))]),
    ext("getlogin", Ret::Pointer).writes(&[range!(ret, CStr)]),
    ext("getlogin_r", Ret::Int).writes(&[range!(0, CStrMax(1), Zero)]),
    ext("getpwnam", Ret::Pointer).reads(&[range!(0, CStr)]).writes(&[range!(ret, Const(48))]),
    ext("getpwuid", Ret::Pointer).writes(&[range!(ret, Const(48))]),
    ext("getgrnam", Ret::Pointer).reads(&[range!(0, CStr)]).writes(&[range!(ret, Const(32))]),
    ext("getgrgid", Ret::Pointer).writes(&[range!(ret, Const(32))]),
    ext("nice", Ret::Int),
    ext("getpriority", Ret::Int),
    ext("setpriority", Ret::Int),
    ext("getrlimit", Ret::Int).writes(&[range!(1, Const(16), Zero)]),
    ext("getrlimit64", Ret::Int).writes(&[range!(1, Const(16), Zero)]),
    ext("setrlimit", Ret::Int).reads(&[range!(1, Const(16))]),
    ext("setrlimit64", Ret::Int).reads(&[range!(1, Const(16))]),
    ext("getrusage", Ret::Int).writes(&[range!(1, Const(144), Zero)]).input(Channel::Clock, Data::Written(0)),
    ext("sysconf", Ret::Long),
    ext("confstr", Ret::Count).writes(&[range!(1, CStrMax(2))]),
    ext("getpagesize", Ret::Int),
    ext("uname", Ret::Int).writes(&[range!(0, Const(390), Zero)]),
    ext("gethostname", Ret::Int).writes(&[range!(0, CStrMax(1), Zero)]),
    ext("sysinfo", Ret::Int).writes(&[range!(0, Const(112), Zero)]),
    ext("get_nprocs", Ret::Int),
    ext("getauxval", Ret::Long),
    ext("syscall", Ret::Long),
    ext("getenv", Ret::Pointer)
        .reads(&[range!(0, CStr)])
        .writes(&[range!(ret, CStr)])
        .input(Channel::Environment, Data::Written(0))
        .hidden(&[Hidden::of_variable(0, Uses), Hidden::of_process(State::Environment, Uses)]),
    ext("secure_getenv", Ret::Pointer)
        .reads(&[range!(0, CStr)])
        .writes(&[range!(ret, CStr)])
        .input(Channel::Environment, Data::Written(0))
        .hidden(&[Hidden::of_variable(0, Uses), Hidden::of_process(State::Environment, Uses)]),
    ext("setenv", Ret::Int)
        .reads(&[range!(0, CStr), range!(1, CStr)])
        .hidden(&[Hidden::of_variable(0, Sets)]),
    ext("putenv", Ret::Int).reads(&[range!(0, CStr)]).hidden(&[Hidden::of_variable(0, Sets)]),
    ext("unsetenv", Ret::Int).reads(&[range!(0, CStr)]).hidden(&[Hidden::of_variable(0, Sets)]),
    ext("clearenv", Ret::Int).hidden(&[Hidden::of_process(State::Environment, Sets)]),
    ext("kill", Ret::Int).flags(flag::CALLS_BACK),
    ext("killpg", Ret::Int).flags(flag::CALLS_BACK),
    ext("raise", Ret::Int).flags(flag::CALLS_BACK),
    ext("pause", Ret::Int).flags(flag::CALLS_BACK),
    ext("signal", Ret::Pointer).flags(flag::SIGNALS),
    ext("bsd_signal", Ret::Pointer).flags(flag::SIGNALS),
    ext("sysv_signal", Ret::Pointer).flags(flag::SIGNALS),
    ext("sigaction", Ret::Int)
        .reads(&[range!(1, Const(152))])
        .writes(&[range!(2, Const(152), Zero)])
        .flags(flag::SIGNALS),
    ext("sigaltstack", Ret::Int).reads(&[range!(0, Const(24))]).writes(&[range!(1, Const(24), Zero)]),
    ext("sigemptyset", Ret::Int).writes(&[range!(0, Const(128))]),
    ext("sigfillset", Ret::Int).writes(&[range!(0, Const(128))]),
    ext("sigaddset", Ret::Int).writes(&[range!(0, Const(128))]),
    ext("sigdelset", Ret::Int).writes(&[range!(0, Const(128))]),
    ext("sigismember", Ret::Int).reads(&[range!(0, Const(128))]),
    ext("sigprocmask", Ret::Int)
        .reads(&[range!(1, Const(128))])
        .writes(&[range!(2, Const(128), Zero)])
        .flags(flag::CALLS_BACK),
    ext("sigpending", Ret::Int).writes(&[range!(0, Const(128), Zero)]),
    ext("sigsuspend", Ret::Int).reads(&[range!(0, Const(128))]).flags(flag::CALLS_BACK),
    ext("sigwait", Ret::Int).reads(&[range!(0, Const(128))]).writes(&[range!(1, Const(4), Zero)]),
    ext("sigwaitinfo", Ret::Int).reads(&[range!(0, Const(128))]).writes(&[range!(1, Const(128), Ok)]),
    ext("sigtimedwait", Ret::Int).reads(&[range!(0, Const(128))]).writes(&[range!(1, Const(128), Ok)]),
    ext("siginterrupt", Ret::Int),
    ext("setjmp", Ret::Int).flags(flag::RETURNS_TWICE),
    ext("_setjmp", Ret::Int).flags(flag::RETURNS_TWICE),
    ext("sigsetjmp", Ret::Int).flags(flag::RETURNS_TWICE),
    ext("__sigsetjmp", Ret::Int).flags(flag::RETURNS_TWICE),
    ext("swapcontext", Ret::Int).flags(flag::SWITCHES | flag::BEFORE),
    ext("setcontext", Ret::Int).flags(flag::SWITCHES | flag::BEFORE),
    ext("longjmp", Ret::Void).flags(flag::NORETURN | flag::JUMPS),
    ext("_longjmp", Ret::Void).flags(flag::NORETURN | flag::JUMPS),
    ext("siglongjmp", Ret::Void).flags(flag::NORETURN | flag::JUMPS),
    ext("__longjmp_chk", Ret::Void).flags(flag::NORETURN | flag::JUMPS),
    ext("getcontext", Ret::Int).flags(flag::RETURNS_TWICE),
    ext("openlog", Ret::Void),
    ext("syslog", Ret::Void).reads(&[range!(1, CStr)]),
    ext("__syslog_chk", Ret::Void).reads(&[range!(2, CStr)]),
    ext("closelog", Ret::Void),
    ext("err", Ret::Void).flags(flag::NORETURN | flag::CALLS_BACK),
    ext("errx", Ret::Void).flags(flag::NORETURN | flag::CALLS_BACK),
    ext("warn", Ret::Void).output(Channel::Stderr, Data::Consumed),
    ext("warnx", Ret::Void).output(Channel::Stderr, Data::Consumed),
    ext("error", Ret::Void).output(Channel::Stderr, Data::Consumed).flags(flag::CALLS_BACK),
    ext("dlopen", Ret::Pointer).reads(&[range!(0, CStr)]).flags(flag::CALLS_BACK),
    ext("dlsym", Ret::Pointer).reads(&[range!(1, CStr)]),
    ext("dlclose", Ret::Int).flags(flag::CALLS_BACK),
    ext("dlerror", Ret::Pointer).writes(&[range!(ret, CStr)]),
    ext("dladdr", Ret::Int).writes(&[range!(1, Const(32), NonZero)]),
    ext("backtrace", Ret::Int).writes(&[range!(0, RetConst(8))]),
];
