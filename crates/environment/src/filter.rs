//! The seccomp program: which calls stop for the tracer.
//!
//! ```text
//! other architecture → run
//! number == 9 (mmap) and no MAP_ANONYMOUS → trace
//! number == 44 (sendto) and an address    → trace
//! number == 2 (open)                      → trace
//! …
//! anything else → run
//! ```
//! The kernel caches the numbers that always run and does not start the program for them.

use crate::calls::TRACED_CALLS;
use nix::libc::{self, sock_filter};

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const X86_64: u32 = 0xc000_003e;

const fn argument(index: u32) -> u32 {
    // The low half; every argument examined here is an int.
    16 + 8 * index
}

fn op(code: u32, yes: u8, no: u8, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: yes, jf: no, k }
}

fn load(offset: u32) -> sock_filter {
    op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

fn equal(value: u32, yes: u8, no: u8) -> sock_filter {
    op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, yes, no, value)
}

fn give(action: u32) -> sock_filter {
    op(libc::BPF_RET | libc::BPF_K, 0, 0, action)
}

/// The requests of `ioctl` that query whether a descriptor is a terminal.
pub const TERMINAL_REQUESTS: [(u32, u32); 2] = [(0x5401, 36), (0x5413, 8)];

/// A call that is traced only if this argument has one of these values.
fn only_if(number: i64) -> Option<(u32, &'static [u32])> {
    match number {
        libc::SYS_ioctl => Some((1, &[TERMINAL_REQUESTS[0].0, TERMINAL_REQUESTS[1].0])),
        libc::SYS_fcntl => Some((1, &[libc::F_DUPFD as u32, libc::F_DUPFD_CLOEXEC as u32])),
        // Real time, its coarse variant, and atomic time; other clocks are not part of the environment.
        libc::SYS_clock_gettime => Some((0, &[0, 5, 11])),
        _ => None,
    }
}

/// The program for the calls of [`TRACED_CALLS`].
pub fn program() -> Vec<sock_filter> {
    let (run, trace) = (give(libc::SECCOMP_RET_ALLOW), give(libc::SECCOMP_RET_TRACE));
    let mut code = vec![load(ARCHITECTURE), equal(X86_64, 1, 0), run, load(NUMBER)];
    for known in TRACED_CALLS {
        let number = known.number as u32;
        if known.number == libc::SYS_mmap {
            code.extend([
                equal(number, 0, 4),
                load(argument(3)),
                op(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 0, 1, libc::MAP_ANONYMOUS as u32),
                run,
                trace,
            ]);
        } else if known.number == libc::SYS_sendto {
            // `send` has no address, and so no length of one.
            code.extend([equal(number, 0, 4), load(argument(5)), equal(0, 0, 1), run, trace]);
        } else if let Some((index, values)) = only_if(known.number) {
            // The number, the load, two operations for each value, and the end.
            code.push(equal(number, 0, 2 * values.len() as u8 + 2));
            code.push(load(argument(index)));
            for value in values {
                code.extend([equal(*value, 0, 1), trace]);
            }
            code.push(run);
        } else {
            code.extend([equal(number, 0, 1), trace]);
        }
    }
    code.push(run);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates the kernel for the operations that are used here.
    fn run(number: i64, architecture: u32, arguments: [u64; 6]) -> u32 {
        let code = program();
        let (mut at, mut loaded) = (0, 0);
        loop {
            let op = code[at];
            at += 1;
            match u32::from(op.code) & 0x07 {
                0 => {
                    loaded = match op.k {
                        NUMBER => number as u32,
                        ARCHITECTURE => architecture,
                        offset => arguments[(offset as usize - 16) / 8] as u32,
                    }
                }
                5 => {
                    let holds = match u32::from(op.code) & 0xf0 {
                        0x10 => loaded == op.k,
                        _ => loaded & op.k != 0,
                    };
                    at += usize::from(if holds { op.jt } else { op.jf });
                }
                _ => return op.k,
            }
        }
    }

    #[test]
    fn only_calls_that_matter_stop() {
        let trace = libc::SECCOMP_RET_TRACE;
        for known in TRACED_CALLS
            .iter()
            .filter(|k| only_if(k.number).is_none() && k.shape != crate::calls::CallKind::Send)
        {
            assert_eq!(run(known.number, X86_64, [0; 6]), trace, "{}", known.name);
        }
        for free in [libc::SYS_futex, libc::SYS_close, libc::SYS_brk, libc::SYS_poll, libc::SYS_getpid] {
            assert_eq!(run(free, X86_64, [0; 6]), libc::SECCOMP_RET_ALLOW, "{free}");
        }
        assert_eq!(run(libc::SYS_read, 0x4000_0003, [0; 6]), libc::SECCOMP_RET_ALLOW);
    }

    #[test]
    fn arguments_decide_for_some() {
        let private_file = [0, 0, 0, libc::MAP_PRIVATE as u64, 3, 0];
        let anonymous = [0, 0, 0, (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64, 0, 0];
        assert_eq!(run(libc::SYS_mmap, X86_64, private_file), libc::SECCOMP_RET_TRACE);
        assert_eq!(run(libc::SYS_mmap, X86_64, anonymous), libc::SECCOMP_RET_ALLOW);
        assert_eq!(
            run(libc::SYS_sendto, X86_64, [3, 0, 0, 0, 0x7fff_0000_0010, 16]),
            libc::SECCOMP_RET_TRACE
        );
        assert_eq!(run(libc::SYS_sendto, X86_64, [3, 0, 0, 0, 0, 0]), libc::SECCOMP_RET_ALLOW);
        assert_eq!(run(libc::SYS_clock_gettime, X86_64, [1, 0, 0, 0, 0, 0]), libc::SECCOMP_RET_ALLOW);
        assert_eq!(run(libc::SYS_clock_gettime, X86_64, [5, 0, 0, 0, 0, 0]), libc::SECCOMP_RET_TRACE);
        assert_eq!(run(libc::SYS_ioctl, X86_64, [0, 0x5413, 0, 0, 0, 0]), libc::SECCOMP_RET_TRACE);
        assert_eq!(run(libc::SYS_ioctl, X86_64, [0, 0x5414, 0, 0, 0, 0]), libc::SECCOMP_RET_ALLOW);
    }
}
