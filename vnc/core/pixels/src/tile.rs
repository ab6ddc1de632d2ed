//! A small square of rectangles, as Hextile and its kin have it.

use crate::{Rgb, plain};
#[cfg(target_arch = "x86_64")]
use crate::{avx2, vbmi};

/// Pixels along the sides of the largest tile.
pub const SIDE: usize = 16;

/// Rectangles of a tile. Each ends in two bytes: x << 4 | y, (width - 1) << 4 | (height - 1).
#[derive(Clone, Copy)]
pub enum Subrects<'a> {
    /// All of one colour.
    Plain(Rgb, &'a [[u8; 2]]),
    /// Each behind its colour, R G B X.
    Coloured(&'a [[u8; 6]]),
}

/// The part of a framebuffer that a tile fills.
pub struct Canvas<'a> {
    /// INVARIANT: a row of `width` pixels begins at each of the first `height` multiples of `stride`.
    pixels: &'a mut [u8],
    stride: usize,
    /// INVARIANT: both 1 to 16.
    width: usize,
    height: usize,
}

impl<'a> Canvas<'a> {
    /// `width` by `height` pixels, 1 to 16, from the first of `pixels` on; rows are `stride` bytes apart.
    ///
    /// # Panics
    /// If there are fewer pixels.
    #[inline]
    #[must_use]
    pub fn new(pixels: &'a mut [u8], stride: usize, width: usize, height: usize) -> Self {
        assert!((1..=SIDE).contains(&width) && (1..=SIDE).contains(&height));
        assert!(stride <= isize::MAX as usize / SIDE && (height - 1) * stride + width * 3 <= pixels.len());
        Self { pixels, stride, width, height }
    }

    #[inline(always)]
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    pub(crate) const fn height(&self) -> usize {
        self.height
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) const fn stride(&self) -> usize {
        self.stride
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) const fn pixels(&mut self) -> &mut [u8] {
        self.pixels
    }

    #[inline]
    pub(crate) fn rows(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let length = self.width * 3;
        self.pixels.chunks_mut(self.stride).take(self.height).map(move |row| &mut row[..length])
    }
}

type DrawTile = unsafe fn(Rgb, Subrects<'_>, &mut Canvas<'_>) -> Result<(), usize>;
type CopyTile = unsafe fn(&[u8], &mut Canvas<'_>);

/// Draws tiles. What the processor can do is looked up when it is made, not for each tile.
pub struct TileWriter {
    /// INVARIANT: this processor has the instructions of both.
    draw: DrawTile,
    copy: CopyTile,
}

impl Default for TileWriter {
    fn default() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if vbmi::available() {
                return Self { draw: vbmi::tile::draw, copy: vbmi::tile::copy };
            }
            if is_x86_feature_detected!("avx2") {
                return Self { draw: avx2::draw, copy: avx2::copy };
            }
        }
        Self { draw: plain::draw, copy: plain::copy }
    }
}

#[allow(unsafe_code, reason = "the compiler cannot know the processor")]
impl TileWriter {
    /// Paint subrects, one over the other, on a background.
    ///
    /// # Errors
    /// The number of the first subrect that reaches beyond the canvas, which may then hold anything.
    #[inline]
    pub fn draw(&self, background: Rgb, subrects: Subrects<'_>, mut canvas: Canvas<'_>) -> Result<(), usize> {
        // SAFETY: the invariant.
        unsafe { (self.draw)(background, subrects, &mut canvas) }
    }

    /// Fill the canvas with pixels R G B X, row by row.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn copy(&self, pixels: &[u8], mut canvas: Canvas<'_>) {
        let pixels = &pixels[..canvas.width * canvas.height * 4];
        // SAFETY: the invariant, and the pixels were counted.
        unsafe { (self.copy)(pixels, &mut canvas) }
    }
}

pub const fn word([r, g, b]: Rgb) -> u32 {
    u32::from_le_bytes([r, g, b, 0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WIDE: usize = 20;

    /// All that this processor has.
    fn writers() -> Vec<TileWriter> {
        let mut writers = vec![TileWriter::default(), TileWriter { draw: plain::draw, copy: plain::copy }];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            writers.push(TileWriter { draw: avx2::draw, copy: avx2::copy });
        }
        writers
    }

    /// What a writer makes of a screen of nines that is larger than the tile.
    fn drawn<T>(width: usize, height: usize, draw: impl FnOnce(Canvas<'_>) -> T) -> (T, Vec<u8>) {
        let mut pixels = vec![9; WIDE * 3 * (height + 1)];
        let result = draw(Canvas::new(&mut pixels, WIDE * 3, width, height));
        (result, pixels)
    }

    fn subrects() -> impl Strategy<Value = Vec<[u8; 6]>> {
        proptest::collection::vec(any::<[u8; 6]>(), 0..100)
    }

    /// Cut to what fits the canvas.
    fn fitting([r, g, b, x, place, size]: [u8; 6], width: u8, height: u8) -> [u8; 6] {
        let (left, top) = ((place >> 4) % width, (place & 15) % height);
        let (right, bottom) = ((size >> 4) % (width - left), (size & 15) % (height - top));
        [r, g, b, x, left << 4 | top, right << 4 | bottom]
    }

    proptest! {
        #[test]
        fn subrects_lie_where_a_plain_grid_has_them(
            subrects in subrects(), width in 1..17_u8, height in 1..17_u8, plain in any::<bool>(),
        ) {
            let subrects: Vec<_> = subrects.into_iter().map(|all| fitting(all, width, height)).collect();
            let places: Vec<_> = subrects.iter().map(|&[.., place, size]| [place, size]).collect();
            let (width, height) = (width.into(), height.into());
            let ((), expected) = drawn(width, height, |mut canvas| {
                canvas.rows().for_each(|row| row.as_chunks_mut().0.fill([7_u8, 8, 6]));
                for &[r, g, b, _, place, size] in &subrects {
                    let colour = if plain { [1, 2, 3] } else { [r, g, b] };
                    for row in canvas.rows().skip((place & 15).into()).take(usize::from(size & 15) + 1) {
                        let (x, more) = (usize::from(place >> 4), usize::from(size >> 4));
                        row.as_chunks_mut().0[x..=x + more].fill(colour);
                    }
                }
            });
            let subrects =
                if plain { Subrects::Plain([1, 2, 3], &places) } else { Subrects::Coloured(&subrects) };
            for writer in writers() {
                let (result, pixels) = drawn(width, height, |canvas| writer.draw([7, 8, 6], subrects, canvas));
                prop_assert_eq!(result, Ok(()));
                prop_assert_eq!(&pixels, &expected);
            }
        }

        #[test]
        fn the_first_subrect_beyond_the_canvas_is_named(
            subrects in subrects(), width in 1..17_u8, height in 1..17_u8, fine in 0..100_usize,
        ) {
            let cut = |(i, all)| if i < fine { fitting(all, width, height) } else { all };
            let subrects: Vec<_> = subrects.into_iter().enumerate().map(cut).collect();
            let places: Vec<_> = subrects.iter().map(|&[.., place, size]| [place, size]).collect();
            let beyond = |&[place, size]: &[u8; 2]| {
                (place >> 4) + (size >> 4) >= width || (place & 15) + (size & 15) >= height
            };
            let expected = places.iter().position(beyond).map_or(Ok(()), Err);
            for writer in writers() {
                for subrects in [Subrects::Plain([0; 3], &places), Subrects::Coloured(&subrects)] {
                    let draw = |canvas: Canvas<'_>| writer.draw([0; 3], subrects, canvas);
                    prop_assert_eq!(drawn(width.into(), height.into(), draw).0, expected);
                }
            }
        }

        #[test]
        fn pixels_are_copied(pixels in any::<[[u8; 16]; 64]>(), width in 1..17_usize, height in 1..17_usize) {
            let pixels = &pixels.as_flattened()[..width * height * 4];
            let ((), expected) = drawn(width, height, |mut canvas| {
                for (row, source) in canvas.rows().zip(pixels.chunks(width * 4)) {
                    for (pixel, &[r, g, b, _]) in row.as_chunks_mut().0.iter_mut().zip(source.as_chunks().0) {
                        *pixel = [r, g, b];
                    }
                }
            });
            for writer in writers() {
                prop_assert_eq!(&drawn(width, height, |canvas| writer.copy(pixels, canvas)).1, &expected);
            }
        }
    }
}
