//! Zlib (rfbproto 7.7.9): Raw, compressed in one zlib stream per connection.
//!
//! ```text
//! | 4      | length        |
//! | length | deflated data |
//! ```

use super::inflate::Inflater;
use super::{Decoder, Progress, Scan, announced, raw};
use crate::error::{Fault, Reason};
use crate::screen::framebuffer::Framebuffer;
use crate::screen::geometry::Rect;
use crate::wire::Bytes;

#[derive(Default)]
pub(super) struct Zlib {
    stream: Inflater,
}

const HEADER: usize = 4 /* length */;

impl Decoder for Zlib {
    fn scan(&self, bytes: &[u8], rect: Rect, _: &mut Progress) -> Result<Scan, Fault> {
        match Bytes::new(bytes).u32() {
            None => Ok(Scan::More(HEADER)),
            Some(length) => announced(bytes, HEADER, length as usize, rect.area()),
        }
    }

    fn decode(&mut self, payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Fault> {
        self.draw(&payload[HEADER..], rect, screen).map_err(|reason| reason.at(HEADER))
    }
}

impl Zlib {
    fn draw(&mut self, data: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Reason> {
        let row = usize::from(rect.width) * 4;
        let mut part = self.stream.part(data);
        for band in rect.bands(row) {
            let pixels = part.take(row * usize::from(band.height), rect.area() * 4)?;
            raw::draw(pixels, band, screen)?;
        }
        part.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoders::testing::{draw, fault, pixel};
    use flate2::{Compress, Compression, FlushCompress};

    fn payload(stream: &mut Compress, data: &[u8]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(1000);
        stream.compress_vec(data, &mut packed, FlushCompress::Sync).unwrap();
        [&(packed.len() as u32).to_be_bytes()[..], &packed].concat()
    }

    #[test]
    fn the_stream_continues_from_rect_to_rect() {
        let (mut compress, mut zlib) = (Compress::new(Compression::fast(), true), Zlib::default());
        for round in 1..4_u8 {
            let data = payload(&mut compress, &[round; 4 * 4]);
            let screen = draw(&mut zlib, Rect::new(1, 1, 2, 2), &data).unwrap();
            assert_eq!(pixel(&screen, 2, 2), [round; 3]);
        }
    }

    #[test]
    fn wrong_sizes_are_refused() {
        let rect = Rect::new(1, 1, 2, 2);
        let data = payload(&mut Compress::new(Compression::fast(), true), &[1; 15]);
        assert_eq!(fault(&mut Zlib::default(), rect, &data), "15 bytes of data, 16 needed at 4");
        let data = payload(&mut Compress::new(Compression::fast(), true), &[1; 17]);
        assert_eq!(fault(&mut Zlib::default(), rect, &data), "data after the last pixel at 4");
        assert!(fault(&mut Zlib::default(), rect, &[255; 4]).starts_with("4294967295 bytes announced"));
    }
}
