//! Which variables of a program the recorded code has seen so far.
//!
//! Replay's memory holds what instrumented code wrote or saw. A variable with an initial value that
//! was neither read nor written yet is zero there, and its value is that of the binary.

use crate::Result;
use crate::criterion::Occurrence;
use crate::slicer::Slicer;
use recording::event::{Event, Position};
use replay::constants::Initial;
use replay::image::Image;
use replay::observer::{Effect, ExternalCall, Moment, Observer, View};
use std::collections::HashSet;

/// Bytes with an initial value that were read or written.
pub struct Touched<'a> {
    image: &'a Image,
    bytes: HashSet<u64>,
}

impl<'a> Touched<'a> {
    #[must_use]
    pub fn new(image: &'a Image) -> Touched<'a> {
        Touched { image, bytes: HashSet::new() }
    }

    /// What an untouched byte holds; none if memory is to be believed.
    #[must_use]
    pub fn initial(&self, address: u64) -> Option<Initial> {
        let initial = self.image.initial(address)?;
        (!self.bytes.contains(&address)).then_some(initial)
    }

    fn touch(&mut self, address: u64, len: u64) {
        for part in self.image.initial_within(address, len) {
            self.bytes.extend(part);
        }
    }
}

impl Observer for Touched<'_> {
    const ALL_STEPS: bool = false;

    fn step(&mut self, _: &View<'_>, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Load { address, len }
            | Effect::Store { address, len }
            | Effect::Update { address, len, .. } => self.touch(address, len.into()),
            Effect::Copy { to, from, len } => {
                self.touch(to, len);
                self.touch(from, len);
            }
            Effect::Fill { to, len } => self.touch(to, len),
        }
    }

    fn external(&mut self, _: &View<'_>, call: &ExternalCall<'_>) {
        for (address, len) in call.reads.iter().chain(call.writes) {
            self.touch(*address, *len);
        }
    }

    fn event(&mut self, _: &Moment<'_>, _: Position, event: &Event<'_>) {
        match event {
            Event::Patch { address, bytes } => self.touch(*address, bytes.len() as u64),
            Event::Zeroed { address, length } => self.touch(*address, *length),
            _ => {}
        }
    }
}

impl<'p> Slicer<'p> {
    /// What was touched before a step.
    pub(crate) fn touched(&self, at: Occurrence) -> Result<Touched<'p>> {
        let mut touched = Touched::new(&self.process.image);
        self.machine_at(Occurrence { step: 0, ..at })?.run(&mut touched, at.step)?;
        Ok(touched)
    }
}
