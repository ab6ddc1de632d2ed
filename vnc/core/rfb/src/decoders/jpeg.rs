//! The JPEG rects of Tight (rfbproto 7.7.8, "jpeg").

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::error::Reason;
use crate::framebuffer::Framebuffer;
use crate::geometry::Rect;
use crate::inflate::Scratch;

/// Draw a JPEG that must have exactly the rect's size.
pub(super) fn draw(
    data: &[u8],
    rect: Rect,
    screen: &mut Framebuffer,
    scratch: &mut Scratch,
) -> Result<(), Reason> {
    let (width, height) = (usize::from(rect.width), usize::from(rect.height));
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
    let pixels = scratch.sized(width * height * 3);
    decoder.decode_into(pixels).map_err(broken)?;
    let mut window = screen.window(rect)?;
    for (source, row) in pixels.chunks_exact(width * 3).zip(window.all_rows()) {
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
        draw(SOLID, Rect::new(4, 4, 16, 16), &mut screen, &mut Scratch::default()).unwrap();
        let corner = &screen.pixels()[(19 * 20 + 19) * 3..];
        assert!(corner.iter().zip([200, 40, 90]).all(|(&got, want)| got.abs_diff(want) <= 2), "{corner:?}");
        assert_eq!(screen.pixels()[0], 0);
    }

    #[test]
    fn another_size_or_garbage_is_refused() {
        let mut screen = Framebuffer::new(20, 20, 0);
        for (width, height) in [(15, 16), (16, 15), (17, 16), (16, 17), (0, 0)] {
            let rect = Rect::new(0, 0, width, height);
            assert!(draw(SOLID, rect, &mut screen, &mut Scratch::default()).is_err(), "{rect}");
        }
        for cut in [0, 1, 2, 20, SOLID.len() / 2] {
            let result = draw(&SOLID[..cut], Rect::new(0, 0, 16, 16), &mut screen, &mut Scratch::default());
            assert!(
                matches!(result, Err(Reason::Jpeg(_) | Reason::JpegSize(..))),
                "cut at {cut}: {result:?}"
            );
        }
    }
}
