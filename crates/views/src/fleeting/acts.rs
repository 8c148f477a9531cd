//! Events that show a label instead of a value.

use super::{ADDRESS, Label, all};
use crate::extract::Extractor;
use crate::names::mix;
use crate::trace::{Encoding, Shape};
use crate::values;
use replay::observer::View;

impl Extractor<'_> {
    /// Represents a value that may have a label: returns the stored number and the one that enters the key.
    #[inline]
    pub(crate) fn represent_labelled(
        &mut self,
        take: Encoding,
        label: Label,
        raw: u64,
        address: u64,
        view: &View<'_>,
    ) -> (u64, u64) {
        match label {
            0 => self.represent(take, raw, address, view),
            ADDRESS => (raw, values::ADDRESS),
            _ => (raw, values::FLEETING),
        }
    }

    /// The event site of events whose value has a label.
    pub(crate) fn fleeting_site(&mut self, act: u32, label: Label) -> u32 {
        let parts = all(label);
        let key = u64::from(act) << 8 | u64::from(parts);
        if let Some(known) = self.fleeting_sites.get(&key) {
            return *known;
        }
        let shape = Shape::Fleeting(parts);
        let number = self.trace_tables.add_variant(act, |a| a.shape = shape);
        self.fleeting_sites.insert(key, number);
        number
    }

    /// The event site of calls with labelled arguments.
    pub(crate) fn fleeting_call(&mut self, act: u32, labels: &[Label]) -> u32 {
        let parts: Vec<u8> = labels.iter().map(|l| all(*l)).collect();
        let key = parts.iter().fold(mix(act.into(), 0xF1EE), |sum, p| mix(sum, u64::from(*p)));
        if let Some(known) = self.fleeting_sites.get(&key) {
            return *known;
        }
        let number = self.trace_tables.add_variant(act, |a| {
            let shown = |(i, (name, shape)): (usize, &(u32, Shape))| match parts.get(i) {
                Some(p) if *p != 0 => (*name, Shape::Fleeting(*p)),
                _ => (*name, shape.clone()),
            };
            a.arguments = a.arguments.iter().enumerate().map(shown).collect();
        });
        self.fleeting_sites.insert(key, number);
        number
    }
}
