//! The recording format: what a recorded program writes down and how it is
//! read again. The format itself is described in `docs/recording-format.md`.
//!
//! # What lives here
//! * [`event`]: the events of a stream, offsets and constants of the raw files;
//! * [`encode`]: events to bytes. No allocation, no panic, no standard library:
//!   the runtime calls it inside the recorded program, in signal handlers too.
//!
//! # What must not be known here
//! Instructions, shadow memory, how events come about or what replay makes of
//! them. The writing half knows no files either: it fills slices.
//!
//! # Example
//! ```
//! use recording::encode::Encoder;
//! use recording::event::{Event, Position};
//! let mut encoder = Encoder::new();
//! let mut bytes = [0u8; 64];
//! let at = Position { time: 3, module: 1, site: 40, seq: None };
//! let used = encoder.encode(&mut bytes, at, &Event::load(4, 10, 12, None)).unwrap();
//! // kind, time, module, site, size, zigzag of the difference
//! assert_eq!(&bytes[..used], [0x81, 3, 1, 80, 4, 4]);
//! ```

#![cfg_attr(not(feature = "read"), no_std)]
#![warn(missing_docs)]

#[cfg(feature = "read")]
pub mod decode;
pub mod encode;
pub mod event;
