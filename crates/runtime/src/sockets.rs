//! Names of sockets that identify both ends of a connection.
//!
//! The kernel names a socket by a number of its own, and the other end by another number. Known at both ends
//! is only who is connected to whom: the addresses of both ends, or, for a socket without an address, the
//! number of the process that connected it. The two sockets of `socketpair` have no such link; the runtime
//! stores the pair when it is created.

use crate::process::Path;
use crate::sys;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Number of stored pairs; the oldest are replaced.
const PAIRS: usize = 256;
static SOCKET_PAIRS: [[AtomicU64; 2]; PAIRS] = [const { [const { AtomicU64::new(0) }; 2] }; PAIRS];
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Stores the pair that `socketpair` has created.
pub fn record_pair(fds: [i32; 2]) {
    let (Some(one), Some(other)) = (sys::socket_number(fds[0]), sys::socket_number(fds[1])) else { return };
    let place = NEXT.fetch_add(1, Relaxed) as usize % PAIRS;
    SOCKET_PAIRS[place][0].store(one, Relaxed);
    SOCKET_PAIRS[place][1].store(other, Relaxed);
}

fn partner(number: u64) -> Option<u64> {
    let newest = NEXT.load(Relaxed) as usize;
    (0..PAIRS).map(|back| &SOCKET_PAIRS[newest.wrapping_sub(back + 1) % PAIRS]).find_map(|pair| {
        let [one, other] = [pair[0].load(Relaxed), pair[1].load(Relaxed)];
        match number {
            _ if one == 0 => None,
            n if n == one => Some(other),
            n if n == other => Some(one),
            _ => None,
        }
    })
}

/// Appends the names of both ends to a socket's name: ` LOCAL > PEER`. Nothing if they have no names.
pub fn describe(fd: i32, name: &mut Path) {
    let Some(number) = sys::socket_number(fd) else { return };
    let (mut local, mut peer) = ([0; sys::ADDRESS], [0; sys::ADDRESS]);
    let (local, peer) = (sys::socket_name(fd, &mut local), sys::peer_name(fd, &mut peer));
    let family = local.and_then(<[u8]>::first_chunk).map(|bytes| u16::from_ne_bytes(*bytes));
    match (family, peer) {
        (Some(1), _) if partner(number).is_some() => {
            name.push(b" [").push_number(number).push(b"] > [");
            name.push_number(partner(number).unwrap_or(0)).push(b"]");
        }
        (Some(family @ (1 | 2 | 10)), Some(peer)) => {
            let local = local.unwrap_or_default();
            // Two ends without addresses cannot be identified.
            if family == 1 && local.len() <= 2 && peer.len() <= 2 {
                return;
            }
            name.push(b" ");
            push(family, local, sys::pid(), name);
            name.push(b" > ");
            push(family, peer, sys::peer_process(fd).unwrap_or(0), name);
        }
        _ => {}
    }
}

/// Appends the address of one end, or `process` if it has none.
fn push(family: u16, address: &[u8], process: u32, name: &mut Path) {
    let rest = address.get(2..).unwrap_or_default();
    match (family, rest) {
        // Port, address.
        (2, [high, low, a, b, c, d, ..]) => push_v4([*a, *b, *c, *d], [*high, *low], name),
        // Port, flow, address.
        (10, [high, low, _, _, _, _, ip @ ..]) if ip.len() >= 16 => {
            let (ip, port) = (&ip[..16], [*high, *low]);
            if let ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff], [a, b, c, d]) = ip.split_at(12) {
                push_v4([*a, *b, *c, *d], port, name);
                return;
            }
            name.push(b"[");
            for (n, group) in ip.chunks(2).enumerate() {
                if n > 0 {
                    name.push(b":");
                }
                name.push_hex(group);
            }
            name.push(b"]:").push_number(u16::from_be_bytes(port).into());
        }
        (1, [0, hidden @ ..]) if !hidden.is_empty() => {
            name.push(b"@").push(hidden);
        }
        (1, [_, ..]) => {
            let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
            name.push(&rest[..end]);
        }
        _ => {
            name.push(b"pid:").push_number(process.into());
        }
    }
}

fn push_v4(address: [u8; 4], port: [u8; 2], name: &mut Path) {
    for (n, byte) in address.into_iter().enumerate() {
        name.push(if n > 0 { b"." } else { b"" }).push_number(byte.into());
    }
    name.push(b":").push_number(u16::from_be_bytes(port).into());
}
