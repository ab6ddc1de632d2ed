//! Which frame callers may see: the newest whole one.

use std::collections::VecDeque;

use pixels::Rgb;

use crate::event::Event;
use crate::messages::update::{Totals, Update};
use crate::screen::framebuffer::Framebuffer;

/// The newest whole frame, and what the next one will contain.
#[derive(Default)]
pub(crate) struct Shown {
    /// The number of whole frames so far.
    frames: u64,
    /// A copy of the newest whole frame, while the screen is not one: a part of a huge update or the answer to a probe is
    /// on it, or it has a new size and some of its pixels were not drawn yet.
    kept: Option<Framebuffer>,
    /// A decoder failed, or is drawing.
    broken: bool,
    /// Probes whose answer, an update of one pixel, has not arrived; it may also be part of a larger update.
    probes: u32,
    /// What was drawn since the newest frame, and whether the size changed.
    drawn: Totals,
    resized: bool,
}

impl Shown {
    /// The number of whole frames so far.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// The newest whole frame; None after a decoder failed while it was drawing over that frame.
    pub const fn newest<'a>(&'a self, screen: &'a Framebuffer) -> Option<&'a Framebuffer> {
        match &self.kept {
            Some(kept) => Some(kept),
            None if self.broken => None,
            None => Some(screen),
        }
    }

    /// Prepare for drawing an update. Copy the newest frame, unless the update completes the next one.
    pub fn begin(&mut self, update: &Update, screen: &Framebuffer) {
        if self.kept.is_none() && (!update.complete() || update.resizes(screen)) {
            self.kept = Some(screen.clone());
        }
        self.broken = true;
    }

    /// Handle the end of the connection: restore the newest frame if the screen is not a whole one.
    pub fn close(&mut self, screen: &mut Framebuffer) {
        if let Some(kept) = self.kept.take() {
            *screen = kept;
            self.broken = false;
        }
    }

    /// Record that the pixel at (0, 0) was requested to test whether the server answers.
    pub const fn probe(&mut self) {
        self.probes = self.probes.saturating_add(1);
    }

    /// Record that all rects were drawn without an error.
    pub const fn drawn(&mut self) {
        self.broken = false;
    }

    /// Handle the end of an update: publish a frame if the update drew something and every pixel is known.
    ///
    /// `before` is the pixel at (0, 0) before the update. If the update is the answer to a probe and this pixel has
    /// changed, the rest of the screen may have changed too: return true, and the caller requests all of it.
    pub fn finish(
        &mut self,
        update: &Update,
        before: Rgb,
        screen: &mut Framebuffer,
        events: &mut VecDeque<Event>,
    ) -> bool {
        let torn = self.is_torn(update, before, screen);
        if torn {
            screen.expect_fill();
        }
        self.publish(update, screen, events);
        torn
    }

    /// Whether the update is the answer to a probe and has changed its pixel.
    fn is_torn(&mut self, update: &Update, before: Rgb, screen: &Framebuffer) -> bool {
        if self.probes == 0 || update.totals.pixels != 1 || update.resized {
            return false;
        }
        self.probes -= 1;
        let torn = screen.origin() != before;
        if torn && self.kept.is_none() {
            let mut kept = screen.clone();
            kept.set_origin(before);
            self.kept = Some(kept);
        }
        torn
    }

    fn publish(&mut self, update: &Update, screen: &mut Framebuffer, events: &mut VecDeque<Event>) {
        self.drawn += update.totals;
        self.resized |= update.resized;
        if !screen.is_filled() {
            return;
        }
        self.kept = None;
        let (resized, drawn) = (std::mem::take(&mut self.resized), std::mem::take(&mut self.drawn));
        if resized {
            events.push_back(Event::Resized(screen.width(), screen.height()));
        }
        if resized || drawn.pixels > 0 {
            self.frames += 1;
            events.push_back(Event::Frame(drawn));
        }
    }
}
