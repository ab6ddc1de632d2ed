//! What others may see of the screen: whole frames.

use std::collections::VecDeque;

use pixels::Rgb;

use crate::event::Event;
use crate::framebuffer::Framebuffer;
use crate::update::{Totals, Update};

#[derive(Default)]
pub(crate) struct Shown {
    frames: u64,
    /// The newest whole frame, while the screen is not one: a part of a huge update or the answer to a probe is on it,
    /// or it has another size, and not all of its pixels have come.
    kept: Option<Framebuffer>,
    /// A decoder failed while it drew.
    broken: bool,
    /// Probes whose pixel has not come alone: at least as many as answers that may still come alone.
    probes: u32,
    /// What was drawn, and whether the size changed, since the newest frame.
    drawn: Totals,
    resized: bool,
}

impl Shown {
    /// How many frames there have been.
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// The newest frame; None after a decoder failed while it drew over that frame.
    pub const fn newest<'a>(&'a self, screen: &'a Framebuffer) -> Option<&'a Framebuffer> {
        match &self.kept {
            Some(kept) => Some(kept),
            None if self.broken => None,
            None => Some(screen),
        }
    }

    /// An update is about to be drawn; keep the newest frame unless all that makes the next one is there.
    pub fn begin(&mut self, update: &Update, screen: &Framebuffer) {
        if self.kept.is_none() && (!update.complete() || update.resizes(screen)) {
            self.kept = Some(screen.clone());
        }
        self.broken = true;
    }

    /// Nothing more will be drawn: the newest frame takes the place of a screen that is not one.
    pub fn close(&mut self, screen: &mut Framebuffer) {
        if let Some(kept) = self.kept.take() {
            *screen = kept;
            self.broken = false;
        }
    }

    /// A pixel, that at the origin, is asked for as a sign of life.
    pub const fn probe(&mut self) {
        self.probes = self.probes.saturating_add(1);
    }

    /// No decoder failed.
    pub const fn drawn(&mut self) {
        self.broken = false;
    }

    /// The last rect of an update is drawn: there is a new frame if it changed anything, and all pixels are there.
    ///
    /// The pixel at the origin was `before`. If it came alone, for a probe, and has changed, it is a part of a newer
    /// frame: true, all of that is to be asked for.
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
