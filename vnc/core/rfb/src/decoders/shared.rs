//! Pixels in memory that the server shares with this process.
//!
//! ```text
//! | 4 number of the buffer |
//! ```
//! The server leaves a buffer as it is from the rect that names it until this client releases it, after the update.

use super::{Decoder, Progress, Scan, sized};
use crate::error::{Fault, Reason};
use crate::screen::framebuffer::Framebuffer;
use crate::screen::geometry::Rect;
use crate::wire::Bytes;

/// Buffers in shared memory, with a frame in each. A hostile server may write to them at any time.
pub trait SharedFrames: Send {
    /// The number of buffers.
    fn buffers(&self) -> u32;

    /// The width and height of the frames, in pixels.
    fn size(&self) -> (u16, u16);

    /// Copy pixels of one row, from (x, y) on, to `out`.
    ///
    /// # Panics
    /// If there is no such buffer, or the pixels are not inside its frame.
    fn copy_row(&self, buffer: u32, x: u16, y: u16, out: &mut [u8]);
}

/// How far client and server have agreed on shared frames.
#[derive(Default)]
enum State {
    /// The client has not asked for them.
    #[default]
    Off,
    /// The client has asked for them.
    Asked,
    /// The server has offered them.
    Offered,
    /// The client can read them.
    Mapped(Box<dyn SharedFrames>),
}

/// The shared frames of a connection.
#[derive(Default)]
pub(crate) struct Shared {
    state: State,
    /// The buffer that the current update names.
    held: Option<u32>,
}

impl Shared {
    pub fn new(asked: bool) -> Self {
        Self { state: if asked { State::Asked } else { State::Off }, held: None }
    }

    /// Whether the server may make an offer. It may make one.
    pub const fn awaits_offer(&self) -> bool {
        matches!(self.state, State::Asked)
    }

    /// Record that the offer has arrived.
    pub fn offered(&mut self) {
        self.state = State::Offered;
    }

    /// Use these frames, if the server has offered them and none are used yet; return whether they are used.
    pub fn map(&mut self, frames: Box<dyn SharedFrames>) -> bool {
        let offered = matches!(self.state, State::Offered);
        if offered {
            self.state = State::Mapped(frames);
        }
        offered
    }

    /// Whether the server may send frames.
    pub const fn is_mapped(&self) -> bool {
        matches!(self.state, State::Mapped(_))
    }

    /// Return the buffer that the update has named, if any. The caller releases it.
    pub const fn take_held(&mut self) -> Option<u32> {
        self.held.take()
    }

    fn draw(&mut self, buffer: u32, rect: Rect, screen: &mut Framebuffer) -> Result<(), Reason> {
        let State::Mapped(frames) = &self.state else { return Err(Reason::Unknown) };
        if buffer >= frames.buffers() {
            return Err(Reason::Buffer(buffer, frames.buffers()));
        }
        if let Some(held) = self.held.replace(buffer)
            && held != buffer
        {
            return Err(Reason::SecondBuffer(buffer, held));
        }
        if frames.size() != (screen.width(), screen.height()) {
            return Err(Reason::FrameSize(frames.size(), (screen.width(), screen.height())));
        }
        let mut window = screen.window(rect)?;
        for (y, row) in (rect.y..).zip(window.all_rows()) {
            frames.copy_row(buffer, rect.x, y, row);
        }
        Ok(())
    }
}

impl Decoder for Shared {
    fn scan(&self, bytes: &[u8], _: Rect, _: &mut Progress) -> Result<Scan, Fault> {
        Ok(sized(bytes, 4 /* buffer */))
    }

    fn decode(&mut self, payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Fault> {
        let buffer = Bytes::new(payload).u32().ok_or(Reason::Short(4, payload.len()).at(0))?;
        self.draw(buffer, rect, screen).map_err(|reason| reason.at(0))
    }
}
