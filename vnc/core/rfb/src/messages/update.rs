//! One `FramebufferUpdate` (RFC 6143 7.6.1) while it is received.
//!
//! ```text
//! | 1 type 0 | 1 padding | 2 number of rects, 65535: until LastRect |
//! | each: 2 x, 2 y, 2 width, 2 height, 4 encoding, payload           |
//! ```
//! `scan` walks through the bytes as they arrive and records the position of each whole rect. `draw` decodes the recorded
//! rects. Normally it is called once, after the last rect has arrived, so that a partial update is never visible.

use std::ops::AddAssign;

use crate::decoders::{Progress, Registry, Scan};
use crate::encodings::{
    CURSOR, DESKTOP_SIZE, EXTENDED_DESKTOP_SIZE, EXTENDED_MOUSE_BUTTONS, LAST_RECT, RAW, SHARED_OFFER,
};
use crate::error::{Error, Reason};
use crate::handshake::check_size;
use crate::limits::Limits;
use crate::messages::offer::{self, Offer};
use crate::screen::framebuffer::Framebuffer;
use crate::screen::geometry::Rect;
use crate::wire::Bytes;

const RECT_HEADER: usize = 2 + 2 + 2 + 2 /* x, y, width, height */ + 4 /* encoding */;
const UNTIL_LAST_RECT: u16 = 0xffff;
/// The x of an `ExtendedDesktopSize` that answers this client's own request (rfbproto 7.8.2).
const ASKED_BY_US: u16 = 1;

/// The contents of an update, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Rects with pixels.
    pub rects: u64,
    /// Pixels of these rects.
    pub pixels: u64,
    /// Bytes of these rects, headers included.
    pub bytes: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.rects += other.rects;
        self.pixels += other.pixels;
        self.bytes += other.bytes;
    }
}

/// A whole rect, whose payload is `start..end` of the input.
#[derive(Debug)]
struct Job {
    number: u32,
    rect: Rect,
    encoding: i32,
    start: usize,
    end: usize,
}

/// A rect whose header was read and whose payload is incomplete.
#[derive(Debug)]
struct Open {
    number: u32,
    rect: Rect,
    encoding: i32,
    progress: Progress,
}

/// The state of an update.
#[derive(Debug)]
pub(crate) struct Update {
    /// The number of rect headers that have not arrived; `None` if `LastRect` ends the update.
    left: Option<u16>,
    seen: u32,
    jobs: Vec<Job>,
    open: Option<Open>,
    /// Input bytes that were scanned.
    position: usize,
    /// The least length of the input with which scanning can continue.
    need: usize,
    /// Bytes of this update that were drawn and removed from the input.
    consumed: usize,
    /// The size of the screen at this point of the update. `draw` resizes the screen later.
    size: (u16, u16),
    pub resized: bool,
    /// Whether one of the rects is the offer of shared frames.
    offer: bool,
    /// Whether the server has confirmed that it knows more than eight buttons.
    pub more_buttons: bool,
    pub totals: Totals,
}

/// What one rect has changed.
#[derive(Debug)]
pub(crate) enum Drawn {
    Pixels,
    Resized,
    Cursor(Cursor),
    Offer(Offer),
}

/// A cursor shape (RFC 6143 7.8.1), reported and never drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The hotspot's x.
    pub x: u16,
    /// The hotspot's y.
    pub y: u16,
    /// The width, in pixels.
    pub width: u16,
    /// The height, in pixels.
    pub height: u16,
    /// R G B A pixels, row by row. A is 0 or 255.
    pub rgba: Vec<u8>,
}

impl Update {
    /// Return an update whose header announced `count` rects.
    pub fn new(count: u16, screen: &Framebuffer) -> Self {
        Self {
            left: (count != UNTIL_LAST_RECT).then_some(count),
            seen: 0,
            jobs: Vec::new(),
            open: None,
            position: 0,
            need: 0,
            consumed: 0,
            size: (screen.width(), screen.height()),
            resized: false,
            offer: false,
            more_buttons: false,
            totals: Totals::default(),
        }
    }

    /// Whether the last rect was scanned.
    pub fn complete(&self) -> bool {
        self.left == Some(0) && self.open.is_none()
    }

    /// Whether the update answers a request. One with nothing but an offer of shared frames answers `SetEncodings`.
    pub fn is_answer(&self) -> bool {
        !(self.offer && self.seen == 1)
    }

    /// Scan the input, which begins where the last `drop_drawn` ended.
    pub fn scan(&mut self, input: &[u8], decoders: &mut Registry, limits: &Limits) -> Result<(), Error> {
        while !self.complete() && input.len() >= self.need {
            match self.open.take() {
                None => self.header(input, limits)?,
                Some(open) => self.payload(open, input, decoders, limits)?,
            }
        }
        self.check_total(input.len())
    }

    fn check_total(&self, pending: usize) -> Result<(), Error> {
        let most = Limits::update_bytes(usize::from(self.size.0) * usize::from(self.size.1));
        let size = self.consumed + if self.complete() { self.position } else { pending };
        if size > most {
            return Err(Error::Limit { what: "bytes of one update", size: size as u64, limit: most as u64 });
        }
        Ok(())
    }

    fn header(&mut self, input: &[u8], limits: &Limits) -> Result<(), Error> {
        let mut bytes = Bytes::starting_at(input, self.position);
        let (Some([x, y, width, height]), Some(encoding)) = (numbers(&mut bytes), bytes.i32()) else {
            self.need = self.position + RECT_HEADER;
            return Ok(());
        };
        self.position += RECT_HEADER;
        self.seen += 1;
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        let rect = Rect::new(x, y, width, height);
        if self.seen > limits.rects {
            let reason = Reason::Limit("rects in one update", self.seen.into(), limits.rects.into());
            return Err(reason.at(0).into_error(self.seen - 1, rect, encoding));
        }
        if encoding == LAST_RECT {
            self.left = Some(0);
            return Ok(());
        }
        if encoding >= 0 && !rect.fits(self.size.0, self.size.1) {
            let reason = Reason::OutsideFramebuffer(self.size.0, self.size.1);
            return Err(reason.at(0).into_error(self.seen - 1, rect, encoding));
        }
        self.open = Some(Open { number: self.seen - 1, rect, encoding, progress: Progress::default() });
        Ok(())
    }

    fn payload(
        &mut self,
        mut open: Open,
        input: &[u8],
        decoders: &mut Registry,
        limits: &Limits,
    ) -> Result<(), Error> {
        let (number, rect, encoding) = (open.number, open.rect, open.encoding);
        let bytes = &input[self.position..];
        let scan = match encoding {
            DESKTOP_SIZE | EXTENDED_MOUSE_BUTTONS => Scan::Whole(0),
            EXTENDED_DESKTOP_SIZE => scan_layout(bytes),
            CURSOR => scan_cursor(bytes, &open, limits)?,
            SHARED_OFFER if decoders.shared.awaits_offer() => {
                offer::scan(bytes, rect).map_err(|fault| fault.into_error(number, rect, encoding))?
            }
            _ => {
                let unknown = || Reason::Unknown.at(0).into_error(number, rect, encoding);
                let decoder = decoders.get(encoding).ok_or_else(unknown)?;
                decoder
                    .scan(bytes, rect, &mut open.progress)
                    .map_err(|fault| fault.into_error(number, rect, encoding))?
            }
        };
        match scan {
            Scan::Whole(length) => {
                if encoding == SHARED_OFFER {
                    decoders.shared.offered();
                    self.offer = true;
                }
                self.more_buttons |= encoding == EXTENDED_MOUSE_BUTTONS;
                self.close(&open, length, limits)?;
            }
            Scan::More(need) | Scan::Rows { need, .. } => {
                self.need = self.position + need;
                self.open = Some(open);
            }
        }
        Ok(())
    }

    fn close(&mut self, open: &Open, length: usize, limits: &Limits) -> Result<(), Error> {
        let Open { number, rect, encoding, .. } = *open;
        let resizes = match encoding {
            DESKTOP_SIZE => true,
            // In the answer to our own request, y is a status, and a refusal does not change the size.
            EXTENDED_DESKTOP_SIZE => rect.x != ASKED_BY_US || rect.y == 0,
            _ => false,
        };
        if resizes {
            check_size(rect.width, rect.height, limits)
                .map_err(|error| error.in_rect(number, rect, encoding))?;
            self.size = (rect.width, rect.height);
        }
        if resizes || [CURSOR, SHARED_OFFER].contains(&encoding) || encoding >= 0 {
            self.jobs.push(Job { number, rect, encoding, start: self.position, end: self.position + length });
        }
        if encoding >= 0 {
            self.totals.rects += 1;
            self.totals.pixels += rect.area() as u64;
            self.totals.bytes += (RECT_HEADER + length) as u64;
        }
        self.position += length;
        Ok(())
    }

    /// Whether a recorded rect changes the size of the screen.
    pub fn resizes(&self, screen: &Framebuffer) -> bool {
        let size = (screen.width(), screen.height());
        let mut resizes =
            self.jobs.iter().filter(|job| [DESKTOP_SIZE, EXTENDED_DESKTOP_SIZE].contains(&job.encoding));
        resizes.any(|job| (job.rect.width, job.rect.height) != size)
    }

    /// Decode the recorded rects; `frame` is the number of the frame that this update completes.
    pub fn draw(
        &mut self,
        input: &[u8],
        screen: &mut Framebuffer,
        decoders: &mut Registry,
        frame: u64,
        mut drawn: impl FnMut(Drawn),
    ) -> Result<(), Error> {
        screen.begin(frame);
        for Job { number, rect, encoding, start, end } in self.jobs.drain(..) {
            let payload = &input[start..end];
            drawn(match encoding {
                DESKTOP_SIZE | EXTENDED_DESKTOP_SIZE => {
                    if (rect.width, rect.height) == (screen.width(), screen.height()) {
                        continue;
                    }
                    screen.resize(rect.width, rect.height);
                    self.resized = true;
                    Drawn::Resized
                }
                CURSOR => Drawn::Cursor(cursor(payload, rect)),
                SHARED_OFFER => Drawn::Offer(
                    offer::parse(payload).map_err(|fault| fault.into_error(number, rect, encoding))?,
                ),
                _ => {
                    let unknown = || Reason::Unknown.at(0).into_error(number, rect, encoding);
                    let decoder = decoders.get(encoding).ok_or_else(unknown)?;
                    decoder
                        .decode(payload, rect, screen)
                        .map_err(|fault| fault.into_error(number, rect, encoding))?;
                    Drawn::Pixels
                }
            });
        }
        Ok(())
    }

    /// Return how many bytes were scanned. The caller removes them from the input.
    pub fn drop_drawn(&mut self) -> usize {
        let count = std::mem::take(&mut self.position);
        self.need = self.need.saturating_sub(count);
        self.consumed += count;
        count
    }

    /// Whether rects are recorded that `draw` has not decoded.
    pub const fn is_drawable(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// Record the whole rows of an incomplete raw rect as a rect, so that they can be drawn now.
    pub fn split_rows(&mut self, input: &[u8], decoders: &mut Registry) -> Result<(), Error> {
        let Some(Open { number, rect, encoding: RAW, progress }) = &mut self.open else { return Ok(()) };
        let Some(decoder) = decoders.get(RAW) else { return Ok(()) };
        let scan = decoder.scan(&input[self.position..], *rect, progress);
        if let Scan::Rows { rows, bytes, .. } = scan.map_err(|fault| fault.into_error(*number, *rect, RAW))? {
            let top = Rect { height: rows, ..*rect };
            self.jobs.push(Job {
                number: *number,
                rect: top,
                encoding: RAW,
                start: self.position,
                end: self.position + bytes,
            });
            self.totals.pixels += top.area() as u64;
            self.totals.bytes += bytes as u64;
            self.position += bytes;
            (rect.y, rect.height) = (rect.y + rows, rect.height - rows);
        }
        Ok(())
    }
}

fn numbers(bytes: &mut Bytes<'_>) -> Option<[u16; 4]> {
    Some([bytes.u16()?, bytes.u16()?, bytes.u16()?, bytes.u16()?])
}

// rfbproto 7.8.2: | 1 number of screens | 3 padding | 16 each screen |
fn scan_layout(bytes: &[u8]) -> Scan {
    let Some(&screens) = bytes.first() else { return Scan::More(1) };
    let length = 1 + 3 + 16 * usize::from(screens);
    if bytes.len() < length { Scan::More(length) } else { Scan::Whole(length) }
}

// RFC 6143 7.8.1: | width x height x 4 pixels | (width + 7) / 8 x height bitmask |
fn scan_cursor(bytes: &[u8], open: &Open, limits: &Limits) -> Result<Scan, Error> {
    let rect = open.rect;
    if rect.width > limits.cursor || rect.height > limits.cursor {
        return Err(Reason::Cursor(rect.width, rect.height).at(0).into_error(open.number, rect, CURSOR));
    }
    if rect.area() > 0 && (rect.x >= rect.width || rect.y >= rect.height) {
        return Err(Reason::Hotspot(rect.x, rect.y).at(0).into_error(open.number, rect, CURSOR));
    }
    let length = rect.area() * 4 + usize::from(rect.width).div_ceil(8) * usize::from(rect.height);
    Ok(if bytes.len() < length { Scan::More(length) } else { Scan::Whole(length) })
}

fn cursor(payload: &[u8], rect: Rect) -> Cursor {
    let (pixels, mask) = payload.split_at(rect.area() * 4);
    let (width, mask_row) = (usize::from(rect.width), usize::from(rect.width).div_ceil(8));
    let mut rgba = pixels.to_vec();
    for (i, pixel) in rgba.chunks_exact_mut(4).enumerate() {
        let (x, y) = (i % width, i / width);
        let opaque = mask[y * mask_row + x / 8] >> (7 - x % 8) & 1 != 0;
        pixel[3] = if opaque { 255 } else { 0 };
    }
    Cursor { x: rect.x, y: rect.y, width: rect.width, height: rect.height, rgba }
}
