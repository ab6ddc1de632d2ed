//! The JPEG rects of Tight (rfbproto 7.7.8, "jpeg"), decoded by zune-jpeg.

use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::error::Reason;
use crate::screen::framebuffer::Framebuffer;
use crate::screen::geometry::Rect;

/// Characters of zune-jpeg's error messages that are kept.
const MESSAGE: usize = 120;

#[derive(Default)]
pub(super) struct Jpeg {
    /// The decoded image. It is kept from rect to rect, so that its pages are mapped only once.
    pixels: Vec<u8>,
}

impl Jpeg {
    /// Draw an image, which must have exactly the size of the rect.
    pub fn draw(&mut self, data: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Reason> {
        let mut window = screen.window(rect)?;
        let (width, height) = (window.width, window.height);
        // Strict, because otherwise a broken image is drawn as far as it goes, without an error.
        let options =
            DecoderOptions::default().set_strict_mode(true).jpeg_set_out_colorspace(ColorSpace::RGB);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(data), options);
        let broken = |error| Reason::Jpeg(format!("{error:?}").chars().take(MESSAGE).collect());
        // The headers alone need no memory for pixels.
        decoder.decode_headers().map_err(broken)?;
        match decoder.dimensions() {
            Some(size) if size == (width, height) => {}
            size => return Err(size.map_or(Reason::JpegSize(0, 0), |(w, h)| Reason::JpegSize(w, h))),
        }
        let size = width * height * 3;
        if self.pixels.len() < size {
            self.pixels.resize(size, 0);
        }
        let pixels = &mut self.pixels[..size];
        decoder.decode_into(pixels).map_err(broken)?;
        for (source, row) in pixels.chunks_exact((width * 3).max(1)).zip(window.all_rows()) {
            row.copy_from_slice(source);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! vector {
        ($name:literal) => {
            include_bytes!(concat!("../../tests/vectors/jpeg/", $name))
        };
    }

    /// 16x16 pixels of (200, 40, 90), written by libjpeg-turbo at quality 100, 4:4:4.
    const SOLID: &[u8] = vector!("solid.jpg");
    /// Images of 27x21 pixels, each with the pixels that libjpeg-turbo decodes it to and the largest accepted difference
    /// per channel. Where chroma is subsampled, decoders interpolate differently.
    const IMAGES: [(&[u8], &[u8], u8); 5] = [
        (vector!("colour.jpg"), vector!("colour.rgb"), 3),
        (vector!("optimized.jpg"), vector!("optimized.rgb"), 3),
        (vector!("grey.jpg"), vector!("grey.rgb"), 3),
        (vector!("progressive.jpg"), vector!("progressive.rgb"), 3),
        (vector!("halved.jpg"), vector!("halved.rgb"), 24),
    ];
    const WIDTH: u16 = 27;
    const HEIGHT: u16 = 21;

    #[test]
    fn a_jpeg_of_the_rects_size_is_drawn() {
        let mut screen = Framebuffer::new(20, 20, 0);
        Jpeg::default().draw(SOLID, Rect::new(4, 4, 16, 16), &mut screen).unwrap();
        let corner = &screen.pixels()[(19 * 20 + 19) * 3..];
        assert!(corner.iter().zip([200, 40, 90]).all(|(&got, want)| got.abs_diff(want) <= 2), "{corner:?}");
        assert_eq!(screen.pixels()[0], 0);
    }

    #[test]
    fn every_kind_of_image_is_drawn_inside_its_rect_and_nowhere_else() {
        const STRIDE: usize = 40 * 3;
        let mut jpeg = Jpeg::default();
        let rect = Rect::new(5, 2, WIDTH, HEIGHT);
        let (left, right) = (5 * 3, usize::from(5 + WIDTH) * 3);
        // Twice, because the decoder keeps its buffer from image to image.
        for (number, (image, expected, most)) in IMAGES.iter().chain(&IMAGES).enumerate() {
            let mut screen = Framebuffer::new(40, 30, 0);
            jpeg.draw(image, rect, &mut screen).unwrap();
            let (above, below) = screen.pixels().split_at(2 * STRIDE);
            let (rows, below) = below.split_at(usize::from(HEIGHT) * STRIDE);
            assert!(above.iter().chain(below).all(|&byte| byte == 0), "image {number}");
            for (row, expected) in rows.chunks(STRIDE).zip(expected.chunks(right - left)) {
                assert!(row[..left].iter().chain(&row[right..]).all(|&byte| byte == 0), "image {number}");
                let mut pairs = row[left..right].iter().zip(expected);
                assert!(pairs.all(|(&a, &b)| a.abs_diff(b) <= *most), "image {number}");
            }
        }
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
    fn an_image_that_is_cut_short_is_refused() {
        let (mut jpeg, image) = (Jpeg::default(), IMAGES[0].0);
        let mut screen = Framebuffer::new(WIDTH, HEIGHT, 0);
        // Of data that ends later, zune-jpeg may decode all but the last rows without an error.
        for length in 0..image.len() / 2 {
            let result = jpeg.draw(&image[..length], Rect::new(0, 0, WIDTH, HEIGHT), &mut screen);
            assert!(
                matches!(result, Err(Reason::Jpeg(_) | Reason::JpegSize(..))),
                "{length} bytes: {result:?}"
            );
        }
    }

    #[test]
    fn broken_images_are_errors_or_drawn_inside_their_rect() {
        let (mut jpeg, image) = (Jpeg::default(), IMAGES[0].0);
        let mut screen = Framebuffer::new(WIDTH, HEIGHT + 1, 0);
        let rect = Rect::new(0, 0, WIDTH, HEIGHT);
        for place in 0..image.len() {
            for value in [0, 1, 0x7f, 0xff, image[place] ^ 0x10] {
                let mut broken = image.to_vec();
                broken[place] = value;
                // Either result is right; a panic or a pixel below the rect is not.
                let _ = jpeg.draw(&broken, rect, &mut screen);
            }
        }
        let below = usize::from(HEIGHT) * usize::from(WIDTH) * 3;
        assert!(screen.pixels()[below..].iter().all(|&byte| byte == 0));
        jpeg.draw(image, rect, &mut screen).unwrap();
    }
}
