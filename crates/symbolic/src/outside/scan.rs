//! `scanf` and `sscanf`.

use crate::engine::Engine;
use crate::watch::Watch;
use replay::observer::{ExternalCall, View};

impl<W: Watch> Engine<'_, W> {
    pub(super) fn scans_string(&mut self, _view: &View<'_>, _call: &ExternalCall<'_>) -> bool {
        false
    }

    pub(super) fn scans_stream(&mut self, _view: &View<'_>, _call: &ExternalCall<'_>) -> bool {
        false
    }
}
