//! The JPEG rects of Tight (rfbproto 7.7.8, "jpeg").
//!
//! Our own decoder does what servers send at high quality; subsampled and progressive images go to zune-jpeg.

use jpeg::{Decoder, Target};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::error::Reason;
use crate::framebuffer::{Framebuffer, Window};
use crate::geometry::Rect;

#[derive(Default)]
pub(super) struct Jpeg {
    decoder: Decoder,
    /// What the other decoder draws on; kept, so that its pages are touched once.
    pixels: Vec<u8>,
}

impl Jpeg {
    /// Draw a JPEG that must have exactly the rect's size.
    pub fn draw(&mut self, data: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Reason> {
        let mut window = screen.window(rect)?;
        let (width, height) = (window.width, window.height);
        let (pixels, stride) = window.raw_parts();
        match self.decoder.decode(data, &mut Target { pixels, stride, width, height }) {
            Ok(()) => Ok(()),
            Err(jpeg::Error::Unsupported) => draw_any(data, &mut window, &mut self.pixels),
            Err(jpeg::Error::Broken(what)) => Err(Reason::Jpeg(what.into())),
            Err(jpeg::Error::Size(width, height)) => Err(Reason::JpegSize(width, height)),
        }
    }
}

fn draw_any(data: &[u8], window: &mut Window<'_>, kept: &mut Vec<u8>) -> Result<(), Reason> {
    let (width, height) = (window.width, window.height);
    let options = DecoderOptions::default()
        .jpeg_set_out_colorspace(ColorSpace::RGB)
        .set_max_width(width)
        .set_max_height(height);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(data), options);
    let broken = |error| Reason::Jpeg(format!("{error:?}").chars().take(120).collect());
    decoder.decode_headers().map_err(broken)?;
    match decoder.dimensions() {
        Some(size) if size == (width, height) => {}
        size => return Err(size.map_or(Reason::JpegSize(0, 0), |(w, h)| Reason::JpegSize(w, h))),
    }
    let size = width * height * 3;
    if kept.len() < size {
        kept.resize(size, 0);
    }
    let pixels = &mut kept[..size];
    decoder.decode_into(pixels).map_err(broken)?;
    for (source, row) in pixels.chunks_exact((width * 3).max(1)).zip(window.all_rows()) {
        row.copy_from_slice(source);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16x16 pixels of (200, 40, 90), written by libjpeg-turbo at quality 100, 4:4:4.
    const SOLID: &[u8] = include_bytes!("../../tests/vectors/solid.jpg");

    #[test]
    fn a_jpeg_of_the_rects_size_is_drawn() {
        let mut screen = Framebuffer::new(20, 20, 0);
        Jpeg::default().draw(SOLID, Rect::new(4, 4, 16, 16), &mut screen).unwrap();
        let corner = &screen.pixels()[(19 * 20 + 19) * 3..];
        assert!(corner.iter().zip([200, 40, 90]).all(|(&got, want)| got.abs_diff(want) <= 2), "{corner:?}");
        assert_eq!(screen.pixels()[0], 0);
    }

    #[test]
    fn another_size_or_garbage_is_refused() {
        let mut screen = Framebuffer::new(20, 20, 0);
        for (width, height) in [(15, 16), (16, 15), (17, 16), (16, 17), (0, 0)] {
            let rect = Rect::new(0, 0, width, height);
            assert!(Jpeg::default().draw(SOLID, rect, &mut screen).is_err(), "{rect}");
        }
        for cut in [0, 1, 2, 20, SOLID.len() / 2] {
            let result = Jpeg::default().draw(&SOLID[..cut], Rect::new(0, 0, 16, 16), &mut screen);
            assert!(
                matches!(result, Err(Reason::Jpeg(_) | Reason::JpegSize(..))),
                "cut at {cut}: {result:?}"
            );
        }
    }

    #[test]
    fn kinds_that_are_not_ours_are_drawn_too() {
        let halved = include_bytes!("../../../jpeg/tests/vectors/halved.jpg");
        let expected = include_bytes!("../../../jpeg/tests/vectors/halved.rgb");
        let mut screen = Framebuffer::new(30, 21, 0);
        let rect = Rect::new(3, 0, 27, 21);
        Jpeg::default().draw(halved, rect, &mut screen).unwrap();
        for (row, expected) in screen.pixels().chunks(90).zip(expected.chunks(81)) {
            assert!(row[9..].iter().zip(expected).all(|(&a, &b)| a.abs_diff(b) <= 24));
        }
    }
}
