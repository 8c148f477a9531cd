//! The system calls of x86-64 that are traced, and their properties.
//!
//! Information that a program obtains through other calls (sleeping, waiting, memory of its own, threads) is
//! not part of a recording; those calls run at full speed.

use nix::libc::{self, c_long};

/// The length of the memory that a call writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// This number of bytes.
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
pub enum CallKind {
    /// Opens the path of `path`; `flags` is the argument with the flags, if there is one.
    Open {
        /// The argument with the descriptor of the directory that relative paths start from; `None`: the
        /// working directory.
        dir: Option<u8>,
        /// The argument that points to the path.
        path: u8,
        /// The argument with the flags; `None` for `creat`, whose flags are fixed.
        flags: Option<u8>,
    },
    /// Queries a path. `flags`: the argument that may contain `AT_EMPTY_PATH`, which makes it query a
    /// descriptor.
    QueryPath {
        /// As in `Open`.
        dir: Option<u8>,
        /// As in `Open`.
        path: u8,
        /// `None`: the call queries a path only.
        flags: Option<u8>,
        /// The argument that distinguishes queries of one path, for [`crate::record::Call::detail`]; `None`:
        /// there is one query.
        detail: Option<u8>,
    },
    /// Changes the file system.
    Change {
        /// As in `Open`.
        dir: Option<u8>,
        /// As in `Open`.
        path: u8,
    },
    /// Changes the file system at two paths; the key is the second.
    Move {
        /// The directory of `from`, as in `Open`.
        dir: Option<u8>,
        /// The argument that points to the old path.
        from: u8,
        /// The directory of `to`, as in `Open`.
        to_dir: Option<u8>,
        /// The argument that points to the new path.
        to: u8,
    },
    /// Creates a link `to`; its target is not resolved as a path.
    Link {
        /// The directory of `to`, as in `Open`.
        to_dir: Option<u8>,
        /// The argument that points to the path of the link.
        to: u8,
    },
    /// Queries a descriptor.
    QueryFile {
        /// The argument that distinguishes queries of one file, such as the request of `ioctl`.
        detail: Option<u8>,
    },
    /// Reads from a descriptor into one buffer or a vector of them.
    Read {
        /// The arguments are an array of `struct iovec` and its length, not a buffer and its size.
        vector: bool,
        /// The argument with the offset in the file; `None`: at the current offset.
        at: Option<u8>,
    },
    /// Writes one buffer or a vector of them to a descriptor.
    Write {
        /// As in `Read`.
        vector: bool,
    },
    /// Moves the offset of an open file (`lseek`).
    Seek,
    /// Maps a file into memory (`mmap`; the filter lets anonymous mappings run).
    Map,
    /// Creates a second descriptor; `to`: the argument with its number.
    Dup {
        /// `None`: the kernel chooses the number. The result is the new descriptor in any case.
        to: Option<u8>,
    },
    /// Creates two descriptors.
    Pair {
        /// The argument that points to the two numbers.
        at: u8,
    },
    /// Creates a descriptor that is internal to the run.
    Own,
    /// Executes a program.
    Exec {
        /// As in `Open`.
        dir: Option<u8>,
        /// As in `Open`.
        path: u8,
    },
    /// Changes the working directory.
    Enter {
        /// The argument is a path (`chdir`), not a descriptor (`fchdir`).
        path: bool,
    },
    /// Queries the name of the working directory (`getcwd`).
    GetDirectory,
    /// Creates a socket.
    Socket,
    /// Binds a socket to an address.
    Bind,
    /// Connects a socket to a peer.
    Connect,
    /// Accepts a connection; the new descriptor is internal to the run.
    Accept,
    /// Receives from a socket.
    Receive {
        /// The argument is a `struct msghdr` (`recvmsg`), not a buffer (`recvfrom`).
        message: bool,
    },
    /// Sends a datagram to an address.
    Send,
    /// Addresses of sockets.
    SocketName,
    /// Queries an option of a socket (`getsockopt`).
    SocketOption,
    /// Queries the time of day.
    Clock,
    /// Random bytes (`getrandom`).
    Random,
    /// Name and version of the kernel and name of the machine (`uname`).
    System,
    /// Memory, load and uptime (`sysinfo`).
    Memory,
    /// Numbers of the user or the group, also the supplementary groups.
    Identity,
    /// The processors that a thread may use (`sched_getaffinity`).
    Processors,
    /// Queries or sets a resource limit.
    Limit {
        /// The argument with the number of the resource.
        which: u8,
        /// The argument that points to the new limit, 0 if there is none; `None`: the call only queries.
        new: Option<u8>,
    },
    /// Only the result matters, and only whether the kernel allows the call.
    Allowed,
}

/// A system call that stops for the tracer.
#[derive(Clone, Copy, Debug)]
pub struct TracedCall {
    /// Its number on x86-64.
    pub number: c_long,
    /// Its name in the kernel, as in `man 2`.
    pub name: &'static str,
    /// Which arguments determine its key and how it is handled.
    pub shape: CallKind,
    /// The memory that the kernel writes if the call succeeds; empty for `ioctl`, whose memory depends on the
    /// request.
    pub outs: &'static [Out],
}

const STAT: Length = Length::Fixed(144);

const fn known(number: c_long, name: &'static str, shape: CallKind, outs: &'static [Out]) -> TracedCall {
    TracedCall { number, name, shape, outs }
}

/// Every call that stops for the tracer, each number once; there must be fewer than 255.
pub const TRACED_CALLS: &[TracedCall] = &[
    known(libc::SYS_open, "open", CallKind::Open { dir: None, path: 0, flags: Some(1) }, &[]),
    known(libc::SYS_openat, "openat", CallKind::Open { dir: Some(0), path: 1, flags: Some(2) }, &[]),
    known(libc::SYS_openat2, "openat2", CallKind::Open { dir: Some(0), path: 1, flags: Some(2) }, &[]),
    known(libc::SYS_creat, "creat", CallKind::Open { dir: None, path: 0, flags: None }, &[]),
    known(
        libc::SYS_stat,
        "stat",
        CallKind::QueryPath { dir: None, path: 0, flags: None, detail: None },
        &[(1, STAT)],
    ),
    known(
        libc::SYS_lstat,
        "lstat",
        CallKind::QueryPath { dir: None, path: 0, flags: None, detail: None },
        &[(1, STAT)],
    ),
    known(
        libc::SYS_newfstatat,
        "newfstatat",
        CallKind::QueryPath { dir: Some(0), path: 1, flags: Some(3), detail: Some(3) },
        &[(2, STAT)],
    ),
    known(
        libc::SYS_statx,
        "statx",
        CallKind::QueryPath { dir: Some(0), path: 1, flags: Some(2), detail: Some(2) },
        &[(4, Length::Fixed(256))],
    ),
    known(
        libc::SYS_access,
        "access",
        CallKind::QueryPath { dir: None, path: 0, flags: None, detail: Some(1) },
        &[],
    ),
    known(
        libc::SYS_faccessat,
        "faccessat",
        CallKind::QueryPath { dir: Some(0), path: 1, flags: None, detail: Some(2) },
        &[],
    ),
    known(
        libc::SYS_faccessat2,
        "faccessat2",
        CallKind::QueryPath { dir: Some(0), path: 1, flags: Some(3), detail: Some(2) },
        &[],
    ),
    known(
        libc::SYS_readlink,
        "readlink",
        CallKind::QueryPath { dir: None, path: 0, flags: None, detail: None },
        &[(1, Length::Result)],
    ),
    known(
        libc::SYS_readlinkat,
        "readlinkat",
        CallKind::QueryPath { dir: Some(0), path: 1, flags: None, detail: None },
        &[(2, Length::Result)],
    ),
    known(
        libc::SYS_statfs,
        "statfs",
        CallKind::QueryPath { dir: None, path: 0, flags: None, detail: None },
        &[(1, Length::Fixed(120))],
    ),
    known(
        libc::SYS_getxattr,
        "getxattr",
        CallKind::QueryPath { dir: None, path: 0, flags: None, detail: Some(3) },
        &[(2, Length::Result)],
    ),
    known(
        libc::SYS_lgetxattr,
        "lgetxattr",
        CallKind::QueryPath { dir: None, path: 0, flags: None, detail: Some(3) },
        &[(2, Length::Result)],
    ),
    known(
        libc::SYS_listxattr,
        "listxattr",
        CallKind::QueryPath { dir: None, path: 0, flags: None, detail: Some(2) },
        &[(1, Length::Result)],
    ),
    known(
        libc::SYS_llistxattr,
        "llistxattr",
        CallKind::QueryPath { dir: None, path: 0, flags: None, detail: Some(2) },
        &[(1, Length::Result)],
    ),
    known(libc::SYS_mkdir, "mkdir", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_mkdirat, "mkdirat", CallKind::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_rmdir, "rmdir", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_unlink, "unlink", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_unlinkat, "unlinkat", CallKind::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_chmod, "chmod", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_fchmodat, "fchmodat", CallKind::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_chown, "chown", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_lchown, "lchown", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_fchownat, "fchownat", CallKind::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_truncate, "truncate", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_mknod, "mknod", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_mknodat, "mknodat", CallKind::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_utime, "utime", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_utimes, "utimes", CallKind::Change { dir: None, path: 0 }, &[]),
    known(libc::SYS_utimensat, "utimensat", CallKind::Change { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_rename, "rename", CallKind::Move { dir: None, from: 0, to_dir: None, to: 1 }, &[]),
    known(
        libc::SYS_renameat,
        "renameat",
        CallKind::Move { dir: Some(0), from: 1, to_dir: Some(2), to: 3 },
        &[],
    ),
    known(
        libc::SYS_renameat2,
        "renameat2",
        CallKind::Move { dir: Some(0), from: 1, to_dir: Some(2), to: 3 },
        &[],
    ),
    known(libc::SYS_link, "link", CallKind::Move { dir: None, from: 0, to_dir: None, to: 1 }, &[]),
    known(libc::SYS_linkat, "linkat", CallKind::Move { dir: Some(0), from: 1, to_dir: Some(2), to: 3 }, &[]),
    known(libc::SYS_symlink, "symlink", CallKind::Link { to_dir: None, to: 1 }, &[]),
    known(libc::SYS_symlinkat, "symlinkat", CallKind::Link { to_dir: Some(1), to: 2 }, &[]),
    known(libc::SYS_fstat, "fstat", CallKind::QueryFile { detail: None }, &[(1, STAT)]),
    known(libc::SYS_fstatfs, "fstatfs", CallKind::QueryFile { detail: None }, &[(1, Length::Fixed(120))]),
    known(libc::SYS_getdents64, "getdents64", CallKind::QueryFile { detail: None }, &[(1, Length::Result)]),
    known(libc::SYS_fgetxattr, "fgetxattr", CallKind::QueryFile { detail: Some(3) }, &[(2, Length::Result)]),
    known(libc::SYS_ioctl, "ioctl", CallKind::QueryFile { detail: Some(1) }, &[]),
    known(libc::SYS_read, "read", CallKind::Read { vector: false, at: None }, &[(1, Length::Result)]),
    known(
        libc::SYS_pread64,
        "pread64",
        CallKind::Read { vector: false, at: Some(3) },
        &[(1, Length::Result)],
    ),
    known(libc::SYS_readv, "readv", CallKind::Read { vector: true, at: None }, &[(1, Length::Result)]),
    known(libc::SYS_preadv, "preadv", CallKind::Read { vector: true, at: Some(3) }, &[(1, Length::Result)]),
    known(libc::SYS_preadv2, "preadv2", CallKind::Read { vector: true, at: Some(3) }, &[(1, Length::Result)]),
    known(libc::SYS_write, "write", CallKind::Write { vector: false }, &[]),
    known(libc::SYS_pwrite64, "pwrite64", CallKind::Write { vector: false }, &[]),
    known(libc::SYS_writev, "writev", CallKind::Write { vector: true }, &[]),
    known(libc::SYS_lseek, "lseek", CallKind::Seek, &[]),
    known(libc::SYS_mmap, "mmap", CallKind::Map, &[]),
    known(libc::SYS_dup, "dup", CallKind::Dup { to: None }, &[]),
    known(libc::SYS_dup2, "dup2", CallKind::Dup { to: Some(1) }, &[]),
    known(libc::SYS_dup3, "dup3", CallKind::Dup { to: Some(1) }, &[]),
    known(libc::SYS_fcntl, "fcntl", CallKind::Dup { to: None }, &[]),
    known(libc::SYS_pipe, "pipe", CallKind::Pair { at: 0 }, &[]),
    known(libc::SYS_pipe2, "pipe2", CallKind::Pair { at: 0 }, &[]),
    known(libc::SYS_socketpair, "socketpair", CallKind::Pair { at: 3 }, &[]),
    known(libc::SYS_epoll_create, "epoll_create", CallKind::Own, &[]),
    known(libc::SYS_epoll_create1, "epoll_create1", CallKind::Own, &[]),
    known(libc::SYS_eventfd, "eventfd", CallKind::Own, &[]),
    known(libc::SYS_eventfd2, "eventfd2", CallKind::Own, &[]),
    known(libc::SYS_timerfd_create, "timerfd_create", CallKind::Own, &[]),
    known(libc::SYS_signalfd, "signalfd", CallKind::Own, &[]),
    known(libc::SYS_signalfd4, "signalfd4", CallKind::Own, &[]),
    known(libc::SYS_inotify_init, "inotify_init", CallKind::Own, &[]),
    known(libc::SYS_inotify_init1, "inotify_init1", CallKind::Own, &[]),
    known(libc::SYS_memfd_create, "memfd_create", CallKind::Own, &[]),
    known(libc::SYS_pidfd_open, "pidfd_open", CallKind::Own, &[]),
    known(libc::SYS_execve, "execve", CallKind::Exec { dir: None, path: 0 }, &[]),
    known(libc::SYS_execveat, "execveat", CallKind::Exec { dir: Some(0), path: 1 }, &[]),
    known(libc::SYS_chdir, "chdir", CallKind::Enter { path: true }, &[]),
    known(libc::SYS_fchdir, "fchdir", CallKind::Enter { path: false }, &[]),
    known(libc::SYS_getcwd, "getcwd", CallKind::GetDirectory, &[(0, Length::Result)]),
    known(libc::SYS_socket, "socket", CallKind::Socket, &[]),
    known(libc::SYS_bind, "bind", CallKind::Bind, &[]),
    known(libc::SYS_connect, "connect", CallKind::Connect, &[]),
    known(libc::SYS_accept, "accept", CallKind::Accept, &[]),
    known(libc::SYS_accept4, "accept4", CallKind::Accept, &[]),
    known(libc::SYS_sendto, "sendto", CallKind::Send, &[]),
    known(libc::SYS_recvfrom, "recvfrom", CallKind::Receive { message: false }, &[(1, Length::Result)]),
    known(libc::SYS_recvmsg, "recvmsg", CallKind::Receive { message: true }, &[(1, Length::Result)]),
    known(libc::SYS_getsockname, "getsockname", CallKind::SocketName, &[(1, Length::At(2))]),
    known(libc::SYS_getpeername, "getpeername", CallKind::SocketName, &[(1, Length::At(2))]),
    known(libc::SYS_getsockopt, "getsockopt", CallKind::SocketOption, &[(3, Length::At(4))]),
    known(libc::SYS_clock_gettime, "clock_gettime", CallKind::Clock, &[(1, Length::Fixed(16))]),
    known(libc::SYS_gettimeofday, "gettimeofday", CallKind::Clock, &[(0, Length::Fixed(16))]),
    known(libc::SYS_time, "time", CallKind::Clock, &[]),
    known(libc::SYS_getrandom, "getrandom", CallKind::Random, &[(0, Length::Result)]),
    known(libc::SYS_uname, "uname", CallKind::System, &[(0, Length::Fixed(390))]),
    known(libc::SYS_sysinfo, "sysinfo", CallKind::Memory, &[(0, Length::Fixed(112))]),
    known(libc::SYS_getuid, "getuid", CallKind::Identity, &[]),
    known(libc::SYS_geteuid, "geteuid", CallKind::Identity, &[]),
    known(libc::SYS_getgid, "getgid", CallKind::Identity, &[]),
    known(libc::SYS_getegid, "getegid", CallKind::Identity, &[]),
    known(libc::SYS_getgroups, "getgroups", CallKind::Identity, &[(1, Length::Words)]),
    known(
        libc::SYS_getresuid,
        "getresuid",
        CallKind::Identity,
        &[(0, Length::Fixed(4)), (1, Length::Fixed(4)), (2, Length::Fixed(4))],
    ),
    known(
        libc::SYS_getresgid,
        "getresgid",
        CallKind::Identity,
        &[(0, Length::Fixed(4)), (1, Length::Fixed(4)), (2, Length::Fixed(4))],
    ),
    known(libc::SYS_sched_getaffinity, "sched_getaffinity", CallKind::Processors, &[(2, Length::Result)]),
    known(
        libc::SYS_getrlimit,
        "getrlimit",
        CallKind::Limit { which: 0, new: None },
        &[(1, Length::Fixed(16))],
    ),
    known(libc::SYS_setrlimit, "setrlimit", CallKind::Limit { which: 0, new: Some(1) }, &[]),
    known(
        libc::SYS_prlimit64,
        "prlimit64",
        CallKind::Limit { which: 1, new: Some(2) },
        &[(3, Length::Fixed(16))],
    ),
    known(libc::SYS_setuid, "setuid", CallKind::Allowed, &[]),
    known(libc::SYS_setgid, "setgid", CallKind::Allowed, &[]),
    known(libc::SYS_setreuid, "setreuid", CallKind::Allowed, &[]),
    known(libc::SYS_setregid, "setregid", CallKind::Allowed, &[]),
    known(libc::SYS_setresuid, "setresuid", CallKind::Allowed, &[]),
    known(libc::SYS_setresgid, "setresgid", CallKind::Allowed, &[]),
    known(libc::SYS_setgroups, "setgroups", CallKind::Allowed, &[]),
    known(libc::SYS_setfsuid, "setfsuid", CallKind::Allowed, &[]),
    known(libc::SYS_setfsgid, "setfsgid", CallKind::Allowed, &[]),
    known(libc::SYS_chroot, "chroot", CallKind::Allowed, &[]),
    known(libc::SYS_pivot_root, "pivot_root", CallKind::Allowed, &[]),
    known(libc::SYS_mount, "mount", CallKind::Allowed, &[]),
    known(libc::SYS_umount2, "umount2", CallKind::Allowed, &[]),
    known(libc::SYS_unshare, "unshare", CallKind::Allowed, &[]),
    known(libc::SYS_setns, "setns", CallKind::Allowed, &[]),
    known(libc::SYS_ptrace, "ptrace", CallKind::Allowed, &[]),
    known(libc::SYS_io_uring_setup, "io_uring_setup", CallKind::Allowed, &[]),
    known(libc::SYS_userfaultfd, "userfaultfd", CallKind::Allowed, &[]),
    known(libc::SYS_perf_event_open, "perf_event_open", CallKind::Allowed, &[]),
    known(libc::SYS_bpf, "bpf", CallKind::Allowed, &[]),
    known(libc::SYS_shmget, "shmget", CallKind::Allowed, &[]),
    known(libc::SYS_semget, "semget", CallKind::Allowed, &[]),
    known(libc::SYS_msgget, "msgget", CallKind::Allowed, &[]),
    known(libc::SYS_mq_open, "mq_open", CallKind::Allowed, &[]),
    known(libc::SYS_add_key, "add_key", CallKind::Allowed, &[]),
    known(libc::SYS_keyctl, "keyctl", CallKind::Allowed, &[]),
    known(libc::SYS_sched_setaffinity, "sched_setaffinity", CallKind::Allowed, &[]),
    known(libc::SYS_sched_setscheduler, "sched_setscheduler", CallKind::Allowed, &[]),
    known(libc::SYS_setpriority, "setpriority", CallKind::Allowed, &[]),
    known(libc::SYS_mlock, "mlock", CallKind::Allowed, &[]),
    known(libc::SYS_mlockall, "mlockall", CallKind::Allowed, &[]),
    known(libc::SYS_setsockopt, "setsockopt", CallKind::Allowed, &[]),
    known(libc::SYS_listen, "listen", CallKind::Allowed, &[]),
    known(libc::SYS_capset, "capset", CallKind::Allowed, &[]),
    known(libc::SYS_sethostname, "sethostname", CallKind::Allowed, &[]),
    known(libc::SYS_personality, "personality", CallKind::Allowed, &[]),
    known(libc::SYS_seccomp, "seccomp", CallKind::Allowed, &[]),
    known(libc::SYS_fallocate, "fallocate", CallKind::Allowed, &[]),
];

/// The index in [`TRACED_CALLS`] for each number, or none.
static INDEX: [u8; 512] = index();

const fn index() -> [u8; 512] {
    let mut index = [u8::MAX; 512];
    let mut at = 0;
    while at < TRACED_CALLS.len() {
        index[TRACED_CALLS[at].number as usize] = at as u8;
        at += 1;
    }
    index
}

/// The properties of the call with this number; `None` if it is not traced.
pub fn find(number: i64) -> Option<&'static TracedCall> {
    let at = *INDEX.get(usize::try_from(number).ok()?)?;
    TRACED_CALLS.get(usize::from(at))
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
        let mut numbers: Vec<c_long> = TRACED_CALLS.iter().map(|known| known.number).collect();
        numbers.sort_unstable();
        let all = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), all);
    }

    #[test]
    fn every_number_is_found() {
        assert!(TRACED_CALLS.len() < usize::from(u8::MAX));
        for known in TRACED_CALLS {
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
