//! The state machine of a connection: bytes in, events and bytes out.
//!
//! ```text
//! Handshake ─→ Message ⇄ Update, Skip
//!     └───────────┴──→ Failed, Closed: ignore input
//! ```

mod machine;
mod requests;

use std::collections::VecDeque;

use crate::buffer::Buffer;
use crate::config::Config;
use crate::decoders::Registry;
use crate::decoders::shared::SharedFrames;
use crate::error::Error;
use crate::event::Event;
use crate::flow::Flow;
use crate::handshake::Handshake;
use crate::messages::client;
use crate::messages::update::Update;
use crate::screen::framebuffer::Framebuffer;
use crate::screen::shown::Shown;

enum State {
    Handshake(Handshake),
    Message,
    Update(Box<Update>),
    /// The remaining bytes of a message that is skipped.
    Skip(usize),
    /// Input is ignored, as in `Closed`.
    Failed(Error),
    Closed,
}

/// Whether input is processed only to the end of the next frame.
enum Pause {
    Never,
    AtFrames,
    /// A frame is complete, and further input waits for `resume`.
    Now,
}

/// One RFB connection.
pub struct Connection {
    state: State,
    config: Config,
    buffer: Buffer,
    out: Vec<u8>,
    events: VecDeque<Event>,
    decoders: Registry,
    screen: Framebuffer,
    flow: Flow,
    shown: Shown,
    /// Whether the pixels of the newest update came through shared memory.
    shared: bool,
    more_buttons: bool,
    long_cut_texts: u64,
    /// The number of messages whose header was read, and the type of the newest one.
    begun: u64,
    kind: u8,
    pause: Pause,
}

impl Connection {
    /// Return a connection on which nothing was received.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            state: State::Handshake(Handshake::new(config.credentials.clone())),
            decoders: Registry::new(&config.encodings),
            config,
            buffer: Buffer::default(),
            out: Vec::new(),
            events: VecDeque::new(),
            screen: Framebuffer::new(0, 0, 0),
            flow: Flow::default(),
            shown: Shown::default(),
            shared: false,
            more_buttons: false,
            long_cut_texts: 0,
            begun: 0,
            kind: 0,
            pause: Pause::Never,
        }
    }

    /// Process bytes from the server.
    pub fn receive(&mut self, bytes: &[u8]) {
        if self.listens() {
            self.buffer.extend(bytes);
            self.advance();
        }
    }

    const fn listens(&self) -> bool {
        !matches!(self.state, State::Failed(_) | State::Closed)
    }

    /// Return room for bytes from the server, which saves a copy; follow with `received`.
    pub fn space(&mut self) -> &mut [u8] {
        self.buffer.space()
    }

    /// Free memory that an idle connection does not need. The caller calls this at intervals of a fraction of a second.
    pub fn trim(&mut self) {
        self.buffer.trim();
    }

    /// Process the first `count` bytes of `space`.
    pub fn received(&mut self, count: usize) {
        if self.listens() {
            self.buffer.filled(count);
            self.advance();
        }
    }

    /// Close the connection: ignore further input, and free all memory except the screen.
    ///
    /// If the server has refused the login and its reason has not arrived, `error` then returns the refusal.
    pub fn close(&mut self) {
        let error = match std::mem::replace(&mut self.state, State::Closed) {
            State::Handshake(handshake) => handshake.unexplained_refusal(),
            State::Failed(error) => Some(error),
            State::Message | State::Update(_) | State::Skip(_) | State::Closed => None,
        };
        if let Some(error) = error {
            self.state = State::Failed(error);
        }
        self.release();
    }

    /// Continue after `Event::StartTls`: from now on the caller encrypts and decrypts all bytes.
    pub fn secured(&mut self) {
        if let State::Handshake(handshake) = &mut self.state {
            handshake.secured(&mut self.out);
        }
    }

    /// Return the oldest event that was not returned before.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Return the bytes to send to the server now.
    pub fn data_to_send(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Why the connection failed; None if it did not.
    #[must_use]
    pub const fn error(&self) -> Option<&Error> {
        if let State::Failed(error) = &self.state { Some(error) } else { None }
    }

    /// Whether a part of an update was received, and not all of it.
    #[must_use]
    pub const fn in_update(&self) -> bool {
        matches!(self.state, State::Update(_))
    }

    /// The number on this connection and the type of a message that was received in part.
    #[must_use]
    pub fn unfinished(&self) -> Option<(u64, u8)> {
        match self.state {
            State::Update(_) | State::Skip(_) => Some((self.begun, self.kind)),
            State::Message => self.buffer.pending().first().map(|&kind| (self.begun + 1, kind)),
            State::Handshake(_) | State::Failed(_) | State::Closed => None,
        }
    }

    /// The newest whole frame; None after a decoder failed while it was drawing over that frame.
    #[must_use]
    pub const fn frame(&self) -> Option<&Framebuffer> {
        self.shown.newest(&self.screen)
    }

    /// The screen that decoders draw on. A part of an update may be on it; `frame` is always whole.
    #[must_use]
    pub const fn screen(&self) -> &Framebuffer {
        &self.screen
    }

    /// The number of whole frames so far. An update that draws something completes a frame; after a change of size, only
    /// when every pixel of the new screen was drawn.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.shown.frames()
    }

    /// The number of clipboard texts that were longer than the limit.
    #[must_use]
    pub const fn long_cut_texts(&self) -> u64 {
        self.long_cut_texts
    }

    /// Read frames from shared memory from now on, and tell the server so. This has an effect once after `Event::Offer`.
    pub fn map(&mut self, frames: Box<dyn SharedFrames>) {
        if self.decoders.shared.map(frames) {
            client::shared_ready(&mut self.out);
        }
    }

    /// Whether the pixels of the newest update came through shared memory.
    #[must_use]
    pub const fn shares(&self) -> bool {
        self.shared
    }

    /// Whether the server takes pointer events with more than eight buttons.
    #[must_use]
    pub const fn more_buttons(&self) -> bool {
        self.more_buttons
    }

    /// From now on, process input only to the end of the next frame; `resume` continues.
    pub const fn pause_at_frames(&mut self) {
        if matches!(self.pause, Pause::Never) {
            self.pause = Pause::AtFrames;
        }
    }

    /// Continue with the input behind a frame; return whether there was a pause.
    pub fn resume(&mut self) -> bool {
        if !matches!(self.pause, Pause::Now) || !self.listens() {
            return false;
        }
        self.pause = Pause::AtFrames;
        self.advance();
        true
    }
}
