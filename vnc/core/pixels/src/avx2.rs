//! For processors with AVX2: about all x86 ones since 2015.
#![allow(unsafe_code, reason = "intrinsics that load and store where no slice is checked")]

pub mod palette;

use core::arch::x86_64::{
    __m256i, _mm_storel_epi64, _mm_storeu_si128, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_permutevar8x32_epi32, _mm256_setr_epi8, _mm256_setr_epi32,
    _mm256_shuffle_epi8,
};

use crate::tile::{Canvas, Subrects};
use crate::words::{self, Words};
use crate::{Rgb, plain};

#[target_feature(enable = "avx2")]
pub fn drop_padding<'a>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    for (source, row) in rows {
        drop_padding_of(source, row);
    }
}

#[target_feature(enable = "avx2")]
#[inline]
fn drop_padding_of(source: &[u8], row: &mut [u8]) {
    let done = (source.len() / 32).min(row.len() / 24);
    for (eight, target) in source.as_chunks::<32>().0.iter().zip(row.as_chunks_mut::<24>().0) {
        // SAFETY: 32 bytes can be read.
        pack(unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) }, target);
    }
    plain::drop_padding(&source[done * 32..], &mut row[done * 24..]);
}

/// See `TileWriter::draw`.
#[target_feature(enable = "avx2")]
pub fn draw(background: Rgb, subrects: Subrects<'_>, canvas: &mut Canvas<'_>) -> Result<(), usize> {
    let mut tile = words::filled(background);
    words::paint(&mut tile, subrects, canvas)?;
    show(&tile, canvas.rows());
    Ok(())
}

/// See `TileWriter::copy`.
#[target_feature(enable = "avx2")]
pub fn copy(pixels: &[u8], canvas: &mut Canvas<'_>) {
    drop_padding(pixels.chunks_exact(4 * canvas.width()).zip(canvas.rows()));
}

/// Rows of sixteen words to rows of at most as many pixels.
#[target_feature(enable = "avx2")]
fn show<'a>(tile: &Words, rows: impl Iterator<Item = &'a mut [u8]>) {
    for (words, row) in tile.iter().zip(rows) {
        let (halves, _) = words.as_chunks::<8>();
        if let Some(whole) = row.first_chunk_mut::<48>() {
            let (targets, _) = whole.as_chunks_mut::<24>();
            for (half, target) in halves.iter().zip(targets) {
                // SAFETY: eight words can be read.
                pack(unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }, target);
            }
        } else {
            let bytes = words.map(u32::to_le_bytes);
            drop_padding_of(bytes.as_flattened(), row);
        }
    }
}

/// Eight pixels.
#[target_feature(enable = "avx2")]
#[inline]
fn pack(eight: __m256i, target: &mut [u8; 24]) {
    let order = _mm256_setr_epi8(
        0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, //
        0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
    );
    let close = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    let packed = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(eight, order), close);
    // SAFETY: there is room for 16 bytes and 8.
    unsafe {
        _mm_storeu_si128(target.as_mut_ptr().cast(), _mm256_castsi256_si128(packed));
        _mm_storel_epi64(target[16..].as_mut_ptr().cast(), _mm256_extracti128_si256::<1>(packed));
    }
}
