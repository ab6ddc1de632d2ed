//! The steps of the state machine: each processes one message, or the part of it that was received.

use pixels::Rgb;

use super::{Connection, Pause, State};
use crate::buffer::Buffer;
use crate::decoders::Registry;
use crate::error::Error;
use crate::event::Event;
use crate::handshake::{Handshake, ServerInit, Step};
use crate::messages::client;
use crate::messages::server::{begin_update, colour_map, cut_text, fence};
use crate::messages::update::{Drawn, Update};
use crate::screen::framebuffer::Framebuffer;
use crate::wire::Bytes;

impl Connection {
    /// Process the pending input. This is the only place where the error of a parser ends the connection.
    pub(super) fn advance(&mut self) {
        if matches!(self.pause, Pause::Now) {
            return;
        }
        let frames = self.shown.frames();
        loop {
            match self.step() {
                Ok(true) if matches!(self.pause, Pause::AtFrames) && self.shown.frames() > frames => {
                    self.pause = Pause::Now;
                    return;
                }
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    self.state = State::Failed(error);
                    self.out.clear();
                    return self.release();
                }
            }
        }
    }

    /// Free all memory except the screen.
    pub(super) fn release(&mut self) {
        self.buffer = Buffer::default();
        self.decoders = Registry::new(&[]);
        self.shown.close(&mut self.screen);
        self.screen.expect_nothing();
    }

    /// Process one message or a part of it; return false if more bytes are needed.
    fn step(&mut self) -> Result<bool, Error> {
        match std::mem::replace(&mut self.state, State::Message) {
            State::Handshake(handshake) => self.handshake(handshake),
            State::Message => self.message(),
            State::Update(update) => self.update(update),
            State::Skip(left) => Ok(self.skip(left)),
            State::Failed(error) => Err(error),
            State::Closed => {
                self.state = State::Closed;
                Ok(false)
            }
        }
    }

    fn handshake(&mut self, mut handshake: Handshake) -> Result<bool, Error> {
        let step = handshake.step(self.buffer.pending(), &mut self.out, &self.config.limits)?;
        let (used, go_on) = match step {
            Step::More => (0, false),
            Step::Used(used) => (used, true),
            Step::Tls(used, certificate) => {
                self.events.push_back(Event::StartTls { certificate });
                (used, true)
            }
            Step::Done(used, init) => {
                self.buffer.consume(used);
                self.ready(init);
                return Ok(true);
            }
        };
        self.buffer.consume(used);
        self.state = State::Handshake(handshake);
        Ok(go_on)
    }

    fn ready(&mut self, init: ServerInit) {
        self.screen = Framebuffer::new(init.width, init.height, 1);
        client::set_pixel_format(&mut self.out);
        client::set_encodings(&mut self.out, &self.config.encodings);
        self.flow.start(self.screen.whole(), &mut self.out);
        self.events.push_back(Event::Ready(init));
    }

    fn skip(&mut self, left: usize) -> bool {
        let count = left.min(self.buffer.pending().len());
        self.buffer.consume(count);
        if count < left {
            self.state = State::Skip(left - count);
        }
        count == left
    }

    fn message(&mut self) -> Result<bool, Error> {
        let mut bytes = Bytes::new(self.buffer.pending());
        let Some(number) = bytes.u8() else { return Ok(false) };
        let done = match number {
            0 => begin_update(&mut bytes)
                .map(|count| State::Update(Box::new(Update::new(count, &self.screen)))),
            1 => colour_map(&mut bytes).map(State::Skip),
            2 => {
                // One event for consecutive bells, so that they do not accumulate.
                if self.events.back() != Some(&Event::Bell) {
                    self.events.push_back(Event::Bell);
                }
                Some(State::Message)
            }
            3 => cut_text(&mut bytes)?.map(|length| {
                self.long_cut_texts += u64::from(length > self.config.limits.cut_text);
                State::Skip(length)
            }),
            150 => {
                self.flow.end_of_continuous_updates(self.screen.whole(), &mut self.out);
                Some(State::Message)
            }
            248 => {
                let Some((flags, payload)) = fence(&mut bytes)? else { return Ok(false) };
                let (payload, used) = (payload.to_vec(), bytes.offset());
                self.fence(flags, &payload);
                self.buffer.consume(used);
                self.begun += 1;
                return Ok(true);
            }
            other => return Err(Error::Protocol(format!("message type {other} does not exist"))),
        };
        let used = bytes.offset();
        let Some(state) = done else { return Ok(false) };
        self.buffer.consume(used);
        self.state = state;
        (self.begun, self.kind) = (self.begun + 1, number);
        Ok(true)
    }

    fn fence(&mut self, flags: u32, payload: &[u8]) {
        if flags & client::FENCE_REQUEST == 0 {
            self.flow.fence_reply(payload, &mut self.screen, &mut self.out);
        } else {
            client::fence(&mut self.out, flags & client::FENCE_SUPPORTED, payload);
            self.flow.server_fence(self.screen.whole(), &mut self.out);
        }
    }

    fn update(&mut self, mut update: Box<Update>) -> Result<bool, Error> {
        update.scan(self.buffer.pending(), &mut self.decoders, &self.config.limits)?;
        let complete = update.complete();
        let input = self.buffer.pending();
        let large = input.len() > self.config.limits.whole_update;
        if large && !complete {
            update.split_rows(input, &mut self.decoders)?;
        }
        if !complete && (!large || !update.is_drawable()) {
            self.state = State::Update(update);
            return Ok(false);
        }
        self.shown.begin(&update, &self.screen);
        let origin = self.screen.origin();
        let (events, frame) = (&mut self.events, self.shown.frames() + 1);
        update.draw(input, &mut self.screen, &mut self.decoders, frame, |drawn| match drawn {
            Drawn::Cursor(cursor) => events.push_back(Event::Cursor(cursor)),
            Drawn::Offer(offer) => events.push_back(Event::Offer(offer)),
            Drawn::Pixels | Drawn::Resized => {}
        })?;
        self.shown.drawn();
        self.buffer.consume(update.drop_drawn());
        if complete {
            self.finish(&update, origin);
        } else {
            self.state = State::Update(update);
        }
        Ok(complete)
    }

    fn finish(&mut self, update: &Update, origin: Rgb) {
        self.release_buffer(update);
        self.more_buttons |= update.more_buttons;
        if update.resized {
            self.flow.resized(self.screen.whole(), &mut self.out);
        }
        // The frame is published before the refresh that it may complete.
        if self.shown.finish(update, origin, &mut self.screen, &mut self.events) {
            self.flow.again(self.screen.whole(), &mut self.out);
        }
        if update.is_answer() {
            self.flow.updated(&mut self.screen, &mut self.out);
        }
    }

    /// Release the shared buffer of an update, if it has one, in the write that also contains the next request.
    fn release_buffer(&mut self, update: &Update) {
        let held = self.decoders.shared.take_held();
        if let Some(buffer) = held {
            client::shared_release(&mut self.out, buffer);
        }
        if update.totals.pixels > 0 {
            self.shared = held.is_some();
        }
    }
}
