//! The system calls of x86-64 that are traced, and their properties.
//!
//! Information that a program obtains through other calls (sleeping, waiting, memory of its own, threads) is
//! not part of a recording; those calls run at full speed.

use nix::libc::{self, c_long};

/// The length of the memory that a call writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    Fixed(u32),
    /// The result is the number of bytes.
    Result,
    /// The result is the number of four-byte words.
    Words,
    /// A word at this argument is the number of bytes.
    At(u8),
}

/// Memory that a call writes: the argument that points to it, and its length.
pub type Out = (u8, Length);

/// The kind of a call, with the arguments that determine its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Opens the path of `path`; `flags` is the argument with the flags, if there is one.
    Open {
        dir: Option<u8>,
        path: u8,
        flags: Option<u8>,
    },
    /// Queries a path. `flags`: the argument that may contain `AT_EMPTY_PATH`, which makes it query a
    /// descriptor.
    AskPath {
        dir: Option<u8>,
        path: u8,
        flags: Option<u8>,
        detail: Option<u8>,
    },
    /// Changes the file system.
    Change {
        dir: Option<u8>,
        path: u8,
    },
    /// Changes the file system at two paths; the key is the second.
    Move {
        dir: Option<u8>,
        from: u8,
        to_dir: Option<u8>,
        to: u8,
    },
    /// Creates a link `to`; its target is not resolved as a path.
    Link {
        to_dir: Option<u8>,
        to: u8,
    },
    /// Queries a descriptor.
    AskFile {
        detail: Option<u8>,
    },
    /// Reads from a descriptor into one buffer or a vector of them.
    Read {
        vector: bool,
        at: Option<u8>,
    },
    Write {
        vector: bool,
    },
    Seek,
    Map,
    /// Creates a second descriptor; `to`: the argument with its number.
    Dup {
        to: Option<u8>,
    },
    /// Creates two descriptors.
    Pair {
        at: u8,
    },
    /// Creates a descriptor that is internal to the run.
    Own,
    Exec {
        dir: Option<u8>,
        path: u8,
    },
    Enter {
        path: bool,
    },
    GetDirectory,
    Socket,
    Bind,
    Connect,
    Accept,
    Receive {
        message: bool,
    },
    /// Sends a datagram to an address.
    Send,
    /// Addresses of sockets.
    SocketName,
    SocketOption,
    Clock,
    Random,
    System,
    Memory,
    Identity,
    Processors,
    Limit {
        which: u8,
        new: Option<u8>,
    },
    /// Only the result matters, and only whether the kernel allows the call.
    Allowed,
}

#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub number: c_long,
    pub name: &'static str,
    pub shape: Shape,
    pub outs: &'static [Out],
}

const STAT: Length = Length::Fixed(144);

const fn known(number: c_long, name: &'static str, shape: Shape, outs: &'static [Out]) -> Known {
    Known { number, name, shape, outs }
}

pub const KNOWN: &[Known] = &[
    known(libc::SYS_open, "open", Shape::Open { dir: None, path: 0, flags: Some(1) }, &[]),
    known(libc::SYS_openat, "openat", Shape::Open { dir: Some(0), path: 1, flags: Some(2) }, &[]),
    known(libc::SYS_openat2, "openat2", Shape::Open { dir: Some(0), path: 1, flags: Some(2) }, &[]),
    known(libc::SYS_creat, "creat", Shape::Open { dir: None, path: 0, flags: None }, &[]),
    known(
        libc::SYS_stat,
        "stat",
        Shape::AskPath { dir: None, path: 0, flags: None, detail: None },
        &[(1, STAT)],
    ),
    known(
        libc::SYS_lstat,
        "lstat",
        Shape::AskPath { dir: None, path: 0, flags: None, detail: None },
        &[(1, STAT)],
    ),
    known(
        libc::SYS_newfstatat,
        "newfstatat",
        Shape::AskPath { dir: Some(0), path: 1, flags: Some(3), detail: Some(3) },
        &[(2, STAT)],
    ),
    known(
        libc::SYS_statx,
        "statx",
        Shape::AskPath { dir: Some(0), path: 1, flags: Some(2), detail: Some(2) },
        &[(4, Length::Fixed(256))],
    ),
    known(
        libc::SYS_access,
        "access",
        Shape::AskPath { dir: None, path: 0, flags: None, detail: Some(1) },
        &[],
    ),
    known(
        libc::SYS_faccessat,
        "faccessat",
        Shape::AskPath { dir: Some(0), path: 1, flags: None, detail: Some(2) },
        &[],
    ),
    known(
        libc::SYS_faccessat2,
        "faccessat2",
        Shape::AskPath { dir: Some(0), path: 1, flags: Some(3), detail: Some(2) },
        &[],
    ),
    known(
        libc::SYS_readlink,
        "readlink",
        Shape::AskPath { dir: None, path: 0, flags: None, detail: None },
        &[(1, Length::Result)],
    ),
    known(
        libc::SYS_readlinkat,
        "readlinkat",
        Shape::AskPath { dir: Some(0), path: 1, flags: None, detail: None },
        &[(2, Length::Result)],
    ),
    known(
        libc::SYS_statfs,
        "statfs",
        Shape::AskPath { dir: None, path: 0, flags: None, detail: None },
        &[(1, Length::Fixed(120))],
    ),
    known(
        libc::SYS_getxattr,
        "getxattr",
        Shape::AskPath { dir: None, path: 0, flags: None, detail: Some(3) },
        &[(2, Length::Result)],
    ),
    known(
        libc::SYS_lgetxattr,
        "lgetxattr",
        Shape::AskPath { dir: None, path: 0, flags: None, detail: Some(3) },
        &[(2, Length::Result)],
    ),
    known(
        libc::SYS_listxattr,
        "listxattr",
        Shape::AskPath { dir: None, path: 0, flags: None, detail: Some(2) },
        &[(1, Length::Result)],
    ),
    known(
        libc::SYS_llistxattr,
        "llistxattr",
        Shape::AskPath { dir: None, path: 0, flags: None, detail: Some(2) },
        &[(1, Length::Result)],
    ),
    known(libc::SYS_mkdir, "mkdir", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_mkdirat, "mkdirat", Shape::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_rmdir, "rmdir", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_unlink, "unlink", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_unlinkat, "unlinkat", Shape::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_chmod, "chmod", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_fchmodat, "fchmodat", Shape::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_chown, "chown", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_lchown, "lchown", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_fchownat, "fchownat", Shape::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_truncate, "truncate", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_mknod, "mknod", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_mknodat, "mknodat", Shape::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_utime, "utime", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_utimes, "utimes", Shape::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_utimensat, "utimensat", Shape::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_rename, "rename", Shape::Move { dir: None, from: 0, to_dir: None, to: 1 }, &[]),
    known(libc::SYS_renameat, "renameat", Shape::Move { dir: Some(0), from: 1, to_dir: Some(2), to: 3 }, &[]),
    known(
        libc::SYS_renameat2,
        "renameat2",
        Shape::Move { dir: Some(0), from: 1, to_dir: Some(2), to: 3 },
        &[],
    ),
    known(libc::SYS_link, "link", Shape::Move { dir: None, from: 0, to_dir: None, to: 1 }, &[]),
    known(libc::SYS_linkat, "linkat", Shape::Move { dir: Some(0), from: 1, to_dir: Some(2), to: 3 }, &[]),
    known(libc::SYS_symlink, "symlink", Shape::Link { to_dir: None, to: 1 }, &[]),
    known(libc::SYS_symlinkat, "symlinkat", Shape::Link { to_dir: Some(1), to: 2 }, &[]),
    known(libc::SYS_fstat, "fstat", Shape::AskFile { detail: None }, &[(1, STAT)]),
    known(libc::SYS_fstatfs, "fstatfs", Shape::AskFile { detail: None }, &[(1, Length::Fixed(120))]),
    known(libc::SYS_getdents64, "getdents64", Shape::AskFile { detail: None }, &[(1, Length::Result)]),
    known(libc::SYS_fgetxattr, "fgetxattr", Shape::AskFile { detail: Some(3) }, &[(2, Length::Result)]),
    known(libc::SYS_ioctl, "ioctl", Shape::AskFile { detail: Some(1) }, &[]),
    known(libc::SYS_read, "read", Shape::Read { vector: false, at: None }, &[(1, Length::Result)]),
    known(libc::SYS_pread64, "pread64", Shape::Read { vector: false, at: Some(3) }, &[(1, Length::Result)]),
    known(libc::SYS_readv, "readv", Shape::Read { vector: true, at: None }, &[(1, Length::Result)]),
    known(libc::SYS_preadv, "preadv", Shape::Read { vector: true, at: Some(3) }, &[(1, Length::Result)]),
    known(libc::SYS_preadv2, "preadv2", Shape::Read { vector: true, at: Some(3) }, &[(1, Length::Result)]),
    known(libc::SYS_write, "write", Shape::Write { vector: false }, &[]),
    known(libc::SYS_pwrite64, "pwrite64", Shape::Write { vector: false }, &[]),
    known(libc::SYS_writev, "writev", Shape::Write { vector: true }, &[]),
    known(libc::SYS_lseek, "lseek", Shape::Seek, &[]),
    known(libc::SYS_mmap, "mmap", Shape::Map, &[]),
    known(libc::SYS_dup, "dup", Shape::Dup { to: None }, &[]),
    known(libc::SYS_dup2, "dup2", Shape::Dup { to: Some(1) }, &[]),
    known(libc::SYS_dup3, "dup3", Shape::Dup { to: Some(1) }, &[]),
    known(libc::SYS_fcntl, "fcntl", Shape::Dup { to: None }, &[]),
    known(libc::SYS_pipe, "pipe", Shape::Pair { at: 0 }, &[]),
    known(libc::SYS_pipe2, "pipe2", Shape::Pair { at: 0 }, &[]),
    known(libc::SYS_socketpair, "socketpair", Shape::Pair { at: 3 }, &[]),
    known(libc::SYS_epoll_create, "epoll_create", Shape::Own, &[]),
    known(libc::SYS_epoll_create1, "epoll_create1", Shape::Own, &[]),
    known(libc::SYS_eventfd, "eventfd", Shape::Own, &[]),
    known(libc::SYS_eventfd2, "eventfd2", Shape::Own, &[]),
    known(libc::SYS_timerfd_create, "timerfd_create", Shape::Own, &[]),
    known(libc::SYS_signalfd, "signalfd", Shape::Own, &[]),
    known(libc::SYS_signalfd4, "signalfd4", Shape::Own, &[]),
    known(libc::SYS_inotify_init, "inotify_init", Shape::Own, &[]),
    known(libc::SYS_inotify_init1, "inotify_init1", Shape::Own, &[]),
    known(libc::SYS_memfd_create, "memfd_create", Shape::Own, &[]),
    known(libc::SYS_pidfd_open, "pidfd_open", Shape::Own, &[]),
    known(libc::SYS_execve, "execve", Shape::Exec { dir: None, path: 0 }, &[]),
    known(libc::SYS_execveat, "execveat", Shape::Exec { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_chdir, "chdir", Shape::Enter { path: true }, &[]),
    known(libc::SYS_fchdir, "fchdir", Shape::Enter { path: false }, &[]),
    known(libc::SYS_getcwd, "getcwd", Shape::GetDirectory, &[(0, Length::Result)]),
    known(libc::SYS_socket, "socket", Shape::Socket, &[]),
    known(libc::SYS_bind, "bind", Shape::Bind, &[]),
    known(libc::SYS_connect, "connect", Shape::Connect, &[]),
    known(libc::SYS_accept, "accept", Shape::Accept, &[]),
    known(libc::SYS_accept4, "accept4", Shape::Accept, &[]),
    known(libc::SYS_sendto, "sendto", Shape::Send, &[]),
    known(libc::SYS_recvfrom, "recvfrom", Shape::Receive { message: false }, &[(1, Length::Result)]),
    known(libc::SYS_recvmsg, "recvmsg", Shape::Receive { message: true }, &[(1, Length::Result)]),
    known(libc::SYS_getsockname, "getsockname", Shape::SocketName, &[(1, Length::At(2))]),
    known(libc::SYS_getpeername, "getpeername", Shape::SocketName, &[(1, Length::At(2))]),
    known(libc::SYS_getsockopt, "getsockopt", Shape::SocketOption, &[(3, Length::At(4))]),
    known(libc::SYS_clock_gettime, "clock_gettime", Shape::Clock, &[(1, Length::Fixed(16))]),
    known(libc::SYS_gettimeofday, "gettimeofday", Shape::Clock, &[(0, Length::Fixed(16))]),
    known(libc::SYS_time, "time", Shape::Clock, &[]),
    known(libc::SYS_getrandom, "getrandom", Shape::Random, &[(0, Length::Result)]),
    known(libc::SYS_uname, "uname", Shape::System, &[(0, Length::Fixed(390))]),
    known(libc::SYS_sysinfo, "sysinfo", Shape::Memory, &[(0, Length::Fixed(112))]),
    known(libc::SYS_getuid, "getuid", Shape::Identity, &[]),
    known(libc::SYS_geteuid, "geteuid", Shape::Identity, &[]),
    known(libc::SYS_getgid, "getgid", Shape::Identity, &[]),
    known(libc::SYS_getegid, "getegid", Shape::Identity, &[]),
    known(libc::SYS_getgroups, "getgroups", Shape::Identity, &[(1, Length::Words)]),
    known(
        libc::SYS_getresuid,
        "getresuid",
        Shape::Identity,
        &[(0, Length::Fixed(4)), (1, Length::Fixed(4)), (2, Length::Fixed(4))],
    ),
    known(
        libc::SYS_getresgid,
        "getresgid",
        Shape::Identity,
        &[(0, Length::Fixed(4)), (1, Length::Fixed(4)), (2, Length::Fixed(4))],
    ),
    known(libc::SYS_sched_getaffinity, "sched_getaffinity", Shape::Processors, &[(2, Length::Result)]),
    known(libc::SYS_getrlimit, "getrlimit", Shape::Limit { which: 0, new: None }, &[(1, Length::Fixed(16))]),
    known(libc::SYS_setrlimit, "setrlimit", Shape::Limit { which: 0, new: Some(1) }, &[]),
    known(
        libc::SYS_prlimit64,
        "prlimit64",
        Shape::Limit { which: 1, new: Some(2) },
        &[(3, Length::Fixed(16))],
    ),
    known(libc::SYS_setuid, "setuid", Shape::Allowed, &[]),
    known(libc::SYS_setgid, "setgid", Shape::Allowed, &[]),
    known(libc::SYS_setreuid, "setreuid", Shape::Allowed, &[]),
    known(libc::SYS_setregid, "setregid", Shape::Allowed, &[]),
    known(libc::SYS_setresuid, "setresuid", Shape::Allowed, &[]),
    known(libc::SYS_setresgid, "setresgid", Shape::Allowed, &[]),
    known(libc::SYS_setgroups, "setgroups", Shape::Allowed, &[]),
    known(libc::SYS_setfsuid, "setfsuid", Shape::Allowed, &[]),
    known(libc::SYS_setfsgid, "setfsgid", Shape::Allowed, &[]),
    known(libc::SYS_chroot, "chroot", Shape::Allowed, &[]),
    known(libc::SYS_pivot_root, "pivot_root", Shape::Allowed, &[]),
    known(libc::SYS_mount, "mount", Shape::Allowed, &[]),
    known(libc::SYS_umount2, "umount2", Shape::Allowed, &[]),
    known(libc::SYS_unshare, "unshare", Shape::Allowed, &[]),
    known(libc::SYS_setns, "setns", Shape::Allowed, &[]),
    known(libc::SYS_ptrace, "ptrace", Shape::Allowed, &[]),
    known(libc::SYS_io_uring_setup, "io_uring_setup", Shape::Allowed, &[]),
    known(libc::SYS_userfaultfd, "userfaultfd", Shape::Allowed, &[]),
    known(libc::SYS_perf_event_open, "perf_event_open", Shape::Allowed, &[]),
    known(libc::SYS_bpf, "bpf", Shape::Allowed, &[]),
    known(libc::SYS_shmget, "shmget", Shape::Allowed, &[]),
    known(libc::SYS_semget, "semget", Shape::Allowed, &[]),
    known(libc::SYS_msgget, "msgget", Shape::Allowed, &[]),
    known(libc::SYS_mq_open, "mq_open", Shape::Allowed, &[]),
    known(libc::SYS_add_key, "add_key", Shape::Allowed, &[]),
    known(libc::SYS_keyctl, "keyctl", Shape::Allowed, &[]),
    known(libc::SYS_sched_setaffinity, "sched_setaffinity", Shape::Allowed, &[]),
    known(libc::SYS_sched_setscheduler, "sched_setscheduler", Shape::Allowed, &[]),
    known(libc::SYS_setpriority, "setpriority", Shape::Allowed, &[]),
    known(libc::SYS_mlock, "mlock", Shape::Allowed, &[]),
    known(libc::SYS_mlockall, "mlockall", Shape::Allowed, &[]),
    known(libc::SYS_setsockopt, "setsockopt", Shape::Allowed, &[]),
    known(libc::SYS_listen, "listen", Shape::Allowed, &[]),
    known(libc::SYS_capset, "capset", Shape::Allowed, &[]),
    known(libc::SYS_sethostname, "sethostname", Shape::Allowed, &[]),
    known(libc::SYS_personality, "personality", Shape::Allowed, &[]),
    known(libc::SYS_seccomp, "seccomp", Shape::Allowed, &[]),
    known(libc::SYS_fallocate, "fallocate", Shape::Allowed, &[]),
];

/// The index in [`KNOWN`] for each number, or none.
static INDEX: [u8; 512] = index();

const fn index() -> [u8; 512] {
    let mut index = [u8::MAX; 512];
    let mut at = 0;
    while at < KNOWN.len() {
        index[KNOWN[at].number as usize] = at as u8;
        at += 1;
    }
    index
}

pub fn find(number: i64) -> Option<&'static Known> {
    let at = *INDEX.get(usize::try_from(number).ok()?)?;
    KNOWN.get(usize::from(at))
}

/// Whether a process may see other files after a call, or have other rights.
pub fn changes_view(number: c_long) -> bool {
    [
        libc::SYS_setuid,
        libc::SYS_setgid,
        libc::SYS_setreuid,
        libc::SYS_setregid,
        libc::SYS_setresuid,
        libc::SYS_setresgid,
        libc::SYS_setgroups,
        libc::SYS_setfsuid,
        libc::SYS_setfsgid,
        libc::SYS_capset,
        libc::SYS_chroot,
        libc::SYS_pivot_root,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_unshare,
        libc::SYS_setns,
    ]
    .contains(&number)
}

/// The name of a call, for display.
pub fn name(number: u32) -> String {
    find(i64::from(number)).map_or_else(|| format!("system call {number}"), |known| known.name.to_owned())
}

/// `ENOENT`, or the number.
pub fn error_name(error: i64) -> String {
    let error = error.unsigned_abs() as i32;
    match nix::errno::Errno::from_raw(error) {
        nix::errno::Errno::UnknownErrno => format!("error {error}"),
        known => format!("{known:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_there_once() {
        let mut numbers: Vec<c_long> = KNOWN.iter().map(|known| known.number).collect();
        numbers.sort_unstable();
        let all = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), all);
    }

    #[test]
    fn every_number_is_found() {
        assert!(KNOWN.len() < usize::from(u8::MAX));
        for known in KNOWN {
            assert_eq!(find(known.number).map(|found| found.name), Some(known.name));
        }
        assert!(find(-1).is_none() && find(libc::SYS_futex).is_none() && find(100_000).is_none());
    }

    #[test]
    fn errors_have_their_names() {
        assert_eq!(error_name(-2), "ENOENT");
        assert_eq!(error_name(98), "EADDRINUSE");
        assert_eq!(error_name(-4000), "error 4000");
    }
}
