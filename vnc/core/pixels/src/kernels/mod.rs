//! The loops over pixels, one folder per instruction set, and the dispatch to them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod plain;
#[cfg(test)]
mod tests;

use crate::Rgb;
use crate::canvas::{Canvas, Subrects};
use crate::level::{Level, Set};
use crate::palette::{Depth, Palette};

#[allow(unsafe_code, reason = "the compiler cannot know the processor")]
impl Level {
    /// See `crate::drop_padding`.
    #[inline]
    pub fn drop_padding<'a>(self, rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
        match self.set() {
            Set::Plain => plain::drop_padding::<false>(rows),
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { avx2::drop_padding::<false>(rows) },
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "aarch64")]
            Set::Neon => unsafe { neon::drop_padding::<false>(rows) },
        }
    }

    /// See `crate::bgrx_to_rgb`.
    #[inline]
    pub fn bgrx_to_rgb<'a>(self, rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
        match self.set() {
            Set::Plain => plain::drop_padding::<true>(rows),
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { avx2::drop_padding::<true>(rows) },
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "aarch64")]
            Set::Neon => unsafe { neon::drop_padding::<true>(rows) },
        }
    }

    /// See `crate::copy_frame`.
    #[inline]
    pub fn copy_frame(self, frame: &[u8], row: usize, before: &[u8], after: &mut [u8], changed: &mut [bool]) {
        match self.set() {
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { avx2::copy_frame(frame, row, before, after, changed) },
            // Every 64-bit ARM compiles the plain loop to NEON.
            _ => plain::frame::copy_frame(frame, row, before, after, changed),
        }
    }

    /// See `Palette::expand`.
    #[inline]
    pub fn expand<'a>(
        self,
        palette: &Palette,
        depth: Depth,
        rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>,
    ) {
        match self.set() {
            Set::Plain => plain::palette::expand(palette, depth, rows),
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { avx2::palette::expand(palette, depth, rows) },
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "aarch64")]
            Set::Neon => unsafe { neon::expand(palette, depth, rows) },
        }
    }

    /// See `Canvas::draw`.
    #[inline]
    pub fn draw(self, background: Rgb, subrects: Subrects<'_>, canvas: &mut Canvas<'_>) -> Result<(), usize> {
        match self.set() {
            Set::Plain => plain::tiles::draw(background, subrects, canvas),
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { avx2::tiles::draw(background, subrects, canvas) },
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "aarch64")]
            Set::Neon => unsafe { neon::draw(background, subrects, canvas) },
        }
    }

    /// See `Canvas::copy`.
    #[inline]
    pub fn copy(self, pixels: &[u8], canvas: &mut Canvas<'_>) {
        let sources = pixels.chunks_exact(4 * canvas.width());
        self.drop_padding(sources.zip(canvas.rows()));
    }

    /// Sum lines of bytes with weights: `first` for the first, `last` for the last, `whole` for those in between. `pixels`
    /// begins with the first line, and the lines are `stride` bytes apart. A single line has the weight `first + last`.
    ///
    /// # Panics
    /// If there is no line, or `pixels` has less than these lines.
    #[inline]
    pub fn sum_lines(self, pixels: &[u8], stride: usize, lines: usize, weights: [u32; 3], sums: &mut [u32]) {
        match self.set() {
            // SAFETY: the invariant of `Level`.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { avx2::sum_lines(pixels, stride, lines, weights, sums) },
            _ => plain::lines::sum_lines(pixels, stride, lines, weights, sums),
        }
    }
}
