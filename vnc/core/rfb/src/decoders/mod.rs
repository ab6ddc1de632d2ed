//! The decoders of the encodings: a new encoding is one file here and one line in `Registry::new`.

use crate::error::{Fault, Reason};
use crate::screen::framebuffer::Framebuffer;
use crate::screen::geometry::Rect;

mod copyrect;
mod hextile;
mod inflate;
mod jpeg;
mod raw;
mod rre;
pub(crate) mod shared;
mod tight;
mod zlib;
mod zrle;

/// The length of a rect's payload, as far as its first bytes determine it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scan {
    /// The payload is incomplete, and has at least this many bytes.
    More(usize),
    /// The payload is incomplete and has at least `need` bytes; the first `rows` rows, in `bytes` bytes, can be decoded.
    Rows { need: usize, rows: u16, bytes: usize },
    /// The payload is complete and has this many bytes.
    Whole(usize),
}

/// How far `scan` has come in a rect whose length is not announced.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub tile: usize,
    pub offset: usize,
}

/// A decoder works in two phases: `scan` until the payload is complete, then `decode` all of it.
pub(crate) trait Decoder: Send {
    /// Determine the length of the payload at the start of `bytes`, which may contain anything.
    fn scan(&self, bytes: &[u8], rect: Rect, progress: &mut Progress) -> Result<Scan, Fault>;

    /// Draw a complete payload, of the length that `scan` returned.
    fn decode(&mut self, payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Fault>;
}

/// The decoders of one connection, with their zlib streams.
pub(crate) struct Registry {
    decoders: Vec<(i32, Box<dyn Decoder>)>,
    pub shared: shared::Shared,
}

impl Registry {
    /// Return the decoders of a connection that requests these encodings.
    pub fn new(requested: &[i32]) -> Self {
        let shared = shared::Shared::new(requested.contains(&crate::encodings::SHARED_FRAMES));
        let decoders = vec![
            (crate::encodings::TIGHT, Box::new(tight::Tight::default()) as Box<dyn Decoder>),
            (crate::encodings::ZRLE, Box::new(zrle::Zrle::default())),
            (crate::encodings::RAW, Box::new(raw::Raw)),
            (crate::encodings::COPY_RECT, Box::new(copyrect::CopyRect)),
            (crate::encodings::HEXTILE, Box::new(hextile::Hextile)),
            (crate::encodings::ZLIB, Box::new(zlib::Zlib::default())),
            (crate::encodings::RRE, Box::new(rre::Rre)),
        ];
        Self { decoders, shared }
    }

    pub fn get(&mut self, encoding: i32) -> Option<&mut dyn Decoder> {
        if encoding == crate::encodings::SHARED_FRAMES {
            return self.shared.is_mapped().then_some(&mut self.shared);
        }
        for (number, decoder) in &mut self.decoders {
            if *number == encoding {
                return Some(decoder.as_mut());
            }
        }
        None
    }
}

/// Return `Whole` or `More` for a payload of `total` bytes.
pub(crate) fn sized(bytes: &[u8], total: usize) -> Scan {
    if bytes.len() < total { Scan::More(total) } else { Scan::Whole(total) }
}

/// Return `Whole` or `More` for a header of `header` bytes and announced data of `length` bytes, if the length is possible
/// for a rect of `pixels` pixels.
fn announced(bytes: &[u8], header: usize, length: usize, pixels: usize) -> Result<Scan, Fault> {
    let most = crate::limits::Limits::rect_bytes(pixels);
    if length > most {
        return Err(Reason::TooLong(length as u64, most as u64).at(header));
    }
    Ok(sized(bytes, header + length))
}

#[cfg(test)]
pub(crate) mod testing {
    //! Decode one rect as a connection does.

    use super::{Decoder, Progress, Scan};
    use crate::error::Fault;
    use crate::screen::framebuffer::Framebuffer;
    use crate::screen::geometry::Rect;

    /// Scan every prefix of the payload, then decode it on an 80x80 screen.
    pub fn draw(decoder: &mut dyn Decoder, rect: Rect, payload: &[u8]) -> Result<Framebuffer, Fault> {
        let mut screen = Framebuffer::new(80, 80, 0);
        let mut progress = Progress::default();
        for length in 0..payload.len() {
            let scan = decoder.scan(&payload[..length], rect, &mut progress)?;
            assert!(!matches!(scan, Scan::Whole(_)), "whole after {length} of {} bytes", payload.len());
        }
        assert_eq!(decoder.scan(payload, rect, &mut progress)?, Scan::Whole(payload.len()));
        decoder.decode(payload, rect, &mut screen)?;
        Ok(screen)
    }

    /// Return the error text of a payload that must be refused.
    pub fn fault(decoder: &mut dyn Decoder, rect: Rect, payload: &[u8]) -> String {
        match draw(decoder, rect, payload) {
            Ok(_) => panic!("the payload was accepted"),
            Err(fault) => format!("{} at {}", fault.reason, fault.offset),
        }
    }

    /// The pixel at (x, y).
    pub fn pixel(screen: &Framebuffer, x: usize, y: usize) -> [u8; 3] {
        let start = (y * usize::from(screen.width()) + x) * 3;
        screen.pixels()[start..start + 3].try_into().unwrap()
    }
}
