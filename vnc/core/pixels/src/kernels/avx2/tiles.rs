//! Tiles: the painting of `plain`, compiled for AVX2, and rows stored eight pixels at a time.

use core::arch::x86_64::_mm256_loadu_si256;

use super::{drop_row_padding, pack};
use crate::Rgb;
use crate::canvas::{Canvas, SIDE, Subrects};
use crate::kernels::plain::tiles::{filled, paint};

/// See `Canvas::draw`.
#[target_feature(enable = "avx2")]
pub fn draw(background: Rgb, subrects: Subrects<'_>, canvas: &mut Canvas<'_>) -> Result<(), usize> {
    let mut tile = filled(background);
    paint(&mut tile, subrects, canvas)?;
    for (words, row) in tile.iter().zip(canvas.rows()) {
        show(words, row);
    }
    Ok(())
}

/// Store a row of words as R G B pixels, as many as `row` has room for.
#[target_feature(enable = "avx2")]
#[inline]
fn show(words: &[u32; SIDE], row: &mut [u8]) {
    let Some(whole) = row.first_chunk_mut::<{ 3 * SIDE }>() else {
        return drop_row_padding::<false>(words.map(u32::to_le_bytes).as_flattened(), row);
    };
    for (half, target) in words.as_chunks::<8>().0.iter().zip(whole.as_chunks_mut::<24>().0) {
        // SAFETY: `half` has eight words.
        pack::<false>(unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }, target);
    }
}
