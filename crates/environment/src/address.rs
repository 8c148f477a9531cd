//! Socket addresses: conversion between the kernel's structures and text.

use nix::libc;
use std::net::{Ipv4Addr, Ipv6Addr};

/// `127.0.0.1:80`, `[::1]:80`, `unix:/path` or `unix:@name`; `None` for families without peers outside of the
/// run.
pub fn text(bytes: &[u8]) -> Option<String> {
    let family = i32::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
    let port = || Some(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?));
    match family {
        libc::AF_INET => {
            let host: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some(format!("{}:{}", Ipv4Addr::from(host), port()?))
        }
        libc::AF_INET6 => {
            let host: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            Some(format!("[{}]:{}", Ipv6Addr::from(host), port()?))
        }
        libc::AF_UNIX => match bytes.get(2..)? {
            [] => None,
            [0, name @ ..] => Some(format!("unix:@{}", String::from_utf8_lossy(name))),
            path => {
                let path = path.split(|b| *b == 0).next().unwrap_or(path);
                Some(format!("unix:{}", String::from_utf8_lossy(path)))
            }
        },
        _ => None,
    }
}

/// An address of this machine in the same family: a port of the loopback interface (0: any), or a path.
pub fn substitute(original: &[u8], port: u16, path: &str) -> Option<Vec<u8>> {
    let family = i32::from(u16::from_ne_bytes(original.get(..2)?.try_into().ok()?));
    let mut bytes = (family as u16).to_ne_bytes().to_vec();
    match family {
        libc::AF_INET => {
            bytes.extend(port.to_be_bytes());
            bytes.extend(Ipv4Addr::LOCALHOST.octets());
            bytes.extend([0; 8]);
        }
        libc::AF_INET6 => {
            bytes.extend(port.to_be_bytes());
            bytes.extend([0; 4]);
            // An IPv6 socket connects to an IPv4 listener through a mapped address.
            bytes.extend(Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets());
            bytes.extend([0; 4]);
        }
        libc::AF_UNIX => {
            bytes.extend(path.as_bytes());
            bytes.push(0);
            if bytes.len() > 110 {
                return None;
            }
        }
        _ => return None,
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_as_people_write_them() {
        let v4 = [&2u16.to_ne_bytes()[..], &[0x1f, 0x90, 127, 0, 0, 1], &[0; 8]].concat();
        assert_eq!(text(&v4).unwrap(), "127.0.0.1:8080");
        let v6 =
            [&10u16.to_ne_bytes()[..], &[0, 80, 0, 0, 0, 0], &Ipv6Addr::LOCALHOST.octets(), &[0; 4]].concat();
        assert_eq!(text(&v6).unwrap(), "[::1]:80");
        let unix = [&1u16.to_ne_bytes()[..], b"/run/x\0\0"].concat();
        assert_eq!(text(&unix).unwrap(), "unix:/run/x");
        assert_eq!(text(&[16, 0, 1]), None);
        assert_eq!(text(&[2]), None);
    }

    #[test]
    fn a_substitute_is_of_the_same_family() {
        let v4 = [&2u16.to_ne_bytes()[..], &[0x1f, 0x90, 10, 0, 0, 1], &[0; 8]].concat();
        assert_eq!(text(&substitute(&v4, 99, "").unwrap()).unwrap(), "127.0.0.1:99");
        let unix = [&1u16.to_ne_bytes()[..], b"/run/x\0"].concat();
        assert_eq!(text(&substitute(&unix, 99, "/tmp/y").unwrap()).unwrap(), "unix:/tmp/y");
    }
}
