//! AVX2: eight pixels an instruction, and 32 for palettes of at most sixteen colours.
#![allow(unsafe_code, reason = "loads and stores through pointers")]

pub mod palette;
pub mod tiles;

use core::arch::x86_64::{
    __m256i, _mm_storel_epi64, _mm_storeu_si128, _mm256_castsi256_si128, _mm256_extracti128_si256,
    _mm256_loadu_si256, _mm256_permutevar8x32_epi32, _mm256_setr_epi8, _mm256_setr_epi32,
    _mm256_shuffle_epi8,
};

use super::plain;

/// See `plain::drop_padding`.
#[target_feature(enable = "avx2")]
pub fn drop_padding<'a, const SWAP: bool>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    for (source, row) in rows {
        drop_row_padding::<SWAP>(source, row);
    }
}

/// See `crate::copy_frame`. The compiler makes AVX2 of the plain loop, which takes half the time then.
#[target_feature(enable = "avx2")]
pub fn copy_frame(frame: &[u8], row: usize, before: &[u8], after: &mut [u8], changed: &mut [bool]) {
    plain::frame::copy_frame(frame, row, before, after, changed);
}

#[target_feature(enable = "avx2")]
#[inline]
fn drop_row_padding<const SWAP: bool>(source: &[u8], row: &mut [u8]) {
    let done = (source.len() / 32).min(row.len() / 24);
    for (eight, target) in source.as_chunks::<32>().0.iter().zip(row.as_chunks_mut::<24>().0) {
        // SAFETY: `eight` has 32 bytes.
        pack::<SWAP>(unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) }, target);
    }
    plain::drop_row_padding::<SWAP>(&source[done * 32..], &mut row[done * 24..]);
}

/// Store eight R G B X pixels, or B G R X pixels if `SWAP`, as R G B.
#[target_feature(enable = "avx2")]
#[inline]
fn pack<const SWAP: bool>(eight: __m256i, target: &mut [u8; 24]) {
    let order = if SWAP {
        _mm256_setr_epi8(
            2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1, //
            2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1,
        )
    } else {
        _mm256_setr_epi8(
            0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1, //
            0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
        )
    };
    let close = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    let packed = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(eight, order), close);
    // SAFETY: `target` has room for 16 bytes and 8 bytes behind them.
    unsafe {
        _mm_storeu_si128(target.as_mut_ptr().cast(), _mm256_castsi256_si128(packed));
        _mm_storel_epi64(target[16..].as_mut_ptr().cast(), _mm256_extracti128_si256::<1>(packed));
    }
}

/// See `Level::sum_lines`: the loop of `plain`, compiled for AVX2.
#[target_feature(enable = "avx2")]
pub fn sum_lines(pixels: &[u8], stride: usize, lines: usize, weights: [u32; 3], sums: &mut [u32]) {
    plain::lines::sum_lines(pixels, stride, lines, weights, sums);
}
