//! A stopped thread: its registers, its memory, and resuming it.
//!
//! The only file that calls `ptrace`. Signals are plain numbers here, because programs use real-time signals,
//! for which the usual wrappers have no name.

#![allow(unsafe_code)]

use nix::libc::{self, c_long, c_void, pid_t, user_regs_struct};
use std::io;

/// A thread of the traced run, by the kernel's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tid(pub pid_t);

/// The result of `wait`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Exited(u8),
    Killed(u8),
    /// A traced call is about to begin.
    Entry,
    /// A call has ended.
    Exit,
    Forked,
    Execed,
    /// A new thread's first stop, or, with a stopping signal, a stop of the whole process.
    Paused(i32),
    Signal(i32),
    Other,
}

const OPTIONS: i32 = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

fn check(result: c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The next stop of any thread that this thread traces. `None`: there is none left.
pub fn wait() -> io::Result<Option<(Tid, Stop)>> {
    loop {
        let mut status = 0;
        // SAFETY: `status` outlives the call. `__WNOTHREAD` excludes the children of other threads of this
        // process.
        let pid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD) };
        if pid < 0 {
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => continue,
                Some(libc::ECHILD) => return Ok(None),
                _ => return Err(error),
            }
        }
        return Ok(Some((Tid(pid), told(status))));
    }
}

fn told(status: i32) -> Stop {
    if libc::WIFEXITED(status) {
        return Stop::Exited(libc::WEXITSTATUS(status) as u8);
    }
    if libc::WIFSIGNALED(status) {
        return Stop::Killed(libc::WTERMSIG(status) as u8);
    }
    if !libc::WIFSTOPPED(status) {
        return Stop::Other;
    }
    let signal = libc::WSTOPSIG(status);
    match status >> 16 {
        0 if signal == libc::SIGTRAP | 0x80 => Stop::Exit,
        0 => Stop::Signal(signal),
        libc::PTRACE_EVENT_SECCOMP => Stop::Entry,
        libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => Stop::Forked,
        libc::PTRACE_EVENT_EXEC => Stop::Execed,
        libc::PTRACE_EVENT_STOP => Stop::Paused(signal),
        _ => Stop::Other,
    }
}

impl Tid {
    /// Begins to trace a running thread.
    pub fn seize(self) -> io::Result<()> {
        // SAFETY: all arguments are numbers; the kernel checks them.
        check(unsafe { libc::ptrace(libc::PTRACE_SEIZE, self.0, 0usize, OPTIONS as usize) })
    }

    fn resume(self, how: libc::c_uint, signal: i32) {
        // SAFETY: all arguments are numbers. `wait` reports a thread that is gone.
        unsafe { libc::ptrace(how, self.0, 0usize, signal as usize) };
    }

    /// Resumes to the next traced call.
    pub fn go(self, signal: i32) {
        self.resume(libc::PTRACE_CONT, signal);
    }

    /// Resumes to the exit of this call.
    pub fn resume_to_exit(self, signal: i32) {
        self.resume(libc::PTRACE_SYSCALL, signal);
    }

    /// Leaves the thread stopped until it receives `SIGCONT`.
    pub fn listen(self) {
        self.resume(libc::PTRACE_LISTEN, 0);
    }

    /// The number that belongs to the event: that of the new thread.
    pub fn message(self) -> io::Result<u64> {
        let mut message: libc::c_ulong = 0;
        // SAFETY: the kernel writes one long.
        check(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, self.0, 0usize, &raw mut message) })?;
        Ok(message)
    }

    pub fn registers(self) -> io::Result<user_regs_struct> {
        // SAFETY: the structure consists of numbers, for which zero is valid.
        let mut registers: user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one such structure.
        check(unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.0, 0usize, &raw mut registers) })?;
        Ok(registers)
    }

    pub fn set_registers(self, registers: &user_regs_struct) -> io::Result<()> {
        // SAFETY: the kernel reads one such structure.
        check(unsafe { libc::ptrace(libc::PTRACE_SETREGS, self.0, 0usize, &raw const *registers) })
    }

    /// Reads as much as possible of `length` bytes at an address of the thread.
    pub fn read(self, address: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0u8; length];
        let read = self.read_into(address, &mut bytes);
        bytes.truncate(read);
        bytes
    }

    fn read_into(self, address: u64, bytes: &mut [u8]) -> usize {
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast::<c_void>(), iov_len: bytes.len() };
        let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes.len() };
        // SAFETY: `local` is a slice of this process; the kernel checks the other side.
        let read = unsafe { libc::process_vm_readv(self.0, &local, 1, &remote, 1, 0) };
        usize::try_from(read).unwrap_or(0)
    }

    /// A text that ends with a zero byte; `None` if there is none at the address.
    pub fn text(self, address: u64) -> Option<Vec<u8>> {
        let (mut text, mut at) = (Vec::new(), address);
        while text.len() <= libc::PATH_MAX as usize {
            // Not beyond the end of a page: the next one may not be mapped.
            let bytes = self.read(at, (256 - at % 256) as usize);
            if bytes.is_empty() {
                return None;
            }
            at += bytes.len() as u64;
            match bytes.iter().position(|b| *b == 0) {
                Some(end) => {
                    text.extend_from_slice(&bytes[..end]);
                    return Some(text);
                }
                None => text.extend_from_slice(&bytes),
            }
        }
        None
    }

    pub fn word(self, address: u64) -> Option<u64> {
        self.read(address, 8).try_into().ok().map(u64::from_le_bytes)
    }

    /// Writes all the bytes, or fails.
    pub fn write(self, address: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let local = libc::iovec { iov_base: bytes.as_ptr() as *mut c_void, iov_len: bytes.len() };
        let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes.len() };
        // SAFETY: the kernel only reads `local`, which is a slice of this process.
        let written = unsafe { libc::process_vm_writev(self.0, &local, 1, &remote, 1, 0) };
        match usize::try_from(written) {
            Ok(all) if all == bytes.len() => Ok(()),
            Ok(_) => Err(io::Error::from_raw_os_error(libc::EFAULT)),
            Err(_) => Err(io::Error::last_os_error()),
        }
    }

    /// Kills the process that contains the thread.
    pub fn kill(self) {
        // SAFETY: all arguments are numbers.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }

    /// Removes the address of the vDSO from the auxiliary vector of a program that has just been loaded, so
    /// that reading the time is a system call.
    pub fn hide_vdso(self) -> io::Result<()> {
        let gone = || io::Error::from_raw_os_error(libc::EFAULT);
        let stack = self.registers()?.rsp;
        let arguments = self.word(stack).ok_or_else(gone)?;
        let mut at = stack + 8 * (arguments + 2);
        while self.word(at).ok_or_else(gone)? != 0 {
            at += 8;
        }
        at += 8;
        loop {
            match self.word(at).ok_or_else(gone)? {
                libc::AT_NULL => return Ok(()),
                libc::AT_SYSINFO_EHDR => self.write(at, &libc::AT_IGNORE.to_le_bytes())?,
                _ => {}
            }
            at += 16;
        }
    }
}
