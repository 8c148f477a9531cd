//! The recording format: the files that a recorded program writes, and their readers.
//! `docs/recording-format.md` describes the format.
//!
//! # What lives here
//! The writing half, which the runtime links into recorded programs:
//! * [`event`]: the events of a stream, offsets and constants of the raw files;
//! * [`encode`]: events to bytes. No allocation, no panic, no standard library: the runtime calls
//!   it inside the recorded program, also in signal handlers.
//!
//! The reading half (feature `read`, on by default):
//! * [`decode`]: bytes to events;
//! * [`open`]: a recording on disk, raw or packed, complete or damaged;
//! * [`header`], [`modules`], [`process`], [`manifest`]: its small files;
//! * [`frames`], [`pack`]: the compressed form, written when the program ended; [`models`]: the
//!   models of the binaries, in the same form;
//! * [`damage`]: errors and partial damage.
//!
//! # What must not be known here
//! Instructions, shadow memory, the causes of events and their effect on replay. The writing half
//! does not know files either: it fills slices.
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
//!
//! # #[cfg(feature = "read")] {
//! use recording::decode::Decoder;
//! let mut decoder = Decoder::new(&bytes[..used]);
//! assert!(decoder.is_next(3, 1, 40));
//! assert_eq!(decoder.next(), Ok(Some((at, Event::Load { size: 4, delta: 2, writer: None }))));
//! assert_eq!(decoder.next(), Ok(None));
//! # }
//! ```

#![cfg_attr(not(feature = "read"), no_std)]
#![warn(missing_docs)]

#[cfg(feature = "read")]
pub mod argument;
#[cfg(feature = "read")]
pub mod damage;
#[cfg(feature = "read")]
pub mod decode;
pub mod encode;
pub mod event;
#[cfg(feature = "read")]
pub mod frames;
#[cfg(feature = "read")]
pub mod header;
#[cfg(feature = "read")]
pub mod manifest;
#[cfg(feature = "read")]
pub mod models;
#[cfg(feature = "read")]
pub mod modules;
#[cfg(feature = "read")]
pub mod open;
#[cfg(feature = "read")]
pub mod pack;
#[cfg(feature = "read")]
pub mod process;
mod slots;
pub mod witness;

#[cfg(feature = "read")]
pub use damage::{Damage, RecordingError};
#[cfg(feature = "read")]
pub use decode::{DecodeError, Decoder, EventHead, Mark};
pub use encode::Encoder;
pub use event::{Event, Position, Slots};
#[cfg(feature = "read")]
pub use manifest::{Manifest, Outcome};
#[cfg(feature = "read")]
pub use open::{Events, Process, Recording, Stream, process_directories};
