//! Tiles of at most 16x16 pixels, the unit of Hextile, and the subrects in them.

use crate::Rgb;
use crate::level::Level;

/// Pixels along a side of the largest tile.
pub(crate) const SIDE: usize = 16;

/// Subrects of a tile. Each ends in two bytes: x << 4 | y, (width - 1) << 4 | (height - 1) (RFC 6143 7.7.4).
#[derive(Clone, Copy)]
pub enum Subrects<'a> {
    /// Subrects that share one colour.
    Plain(Rgb, &'a [[u8; 2]]),
    /// Subrects that each begin with a colour: R G B X.
    Coloured(&'a [[u8; 6]]),
}

/// The part of a framebuffer that one tile fills.
pub struct Canvas<'a> {
    /// INVARIANT: a row of `width` pixels begins at each of the first `height` multiples of `stride`.
    pixels: &'a mut [u8],
    stride: usize,
    /// INVARIANT: 1 to 16, and so is `height`.
    width: usize,
    height: usize,
}

impl<'a> Canvas<'a> {
    /// Return the tile of `width` by `height` pixels, each 1 to 16, whose first pixel is the first of `pixels` and whose
    /// rows begin `stride` bytes apart.
    ///
    /// # Panics
    /// If `pixels` is too short, or a side is not within 1 to 16.
    #[inline]
    #[must_use]
    pub fn new(pixels: &'a mut [u8], stride: usize, width: usize, height: usize) -> Self {
        assert!((1..=SIDE).contains(&width) && (1..=SIDE).contains(&height));
        assert!(stride <= isize::MAX as usize / SIDE && (height - 1) * stride + width * 3 <= pixels.len());
        Self { pixels, stride, width, height }
    }

    /// Fill the tile with a background and paint subrects over it, in their order.
    ///
    /// # Errors
    /// The index of the first subrect that is not inside the tile. The tile's pixels are then unspecified.
    #[inline]
    pub fn draw(mut self, background: Rgb, subrects: Subrects<'_>) -> Result<(), usize> {
        Level::best().draw(background, subrects, &mut self)
    }

    /// Fill the tile with R G B X pixels, row by row.
    ///
    /// # Panics
    /// If `pixels` has fewer pixels than the tile.
    #[inline]
    pub fn copy(mut self, pixels: &[u8]) {
        let pixels = &pixels[..self.width * self.height * 4];
        Level::best().copy(pixels, &mut self);
    }

    #[inline(always)]
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    pub(crate) const fn height(&self) -> usize {
        self.height
    }

    #[inline]
    pub(crate) fn rows(&mut self) -> impl Iterator<Item = &mut [u8]> {
        let length = self.width * 3;
        self.pixels.chunks_mut(self.stride).take(self.height).map(move |row| &mut row[..length])
    }
}
