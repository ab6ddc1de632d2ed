//! Palettes of at most sixteen colours: one table per channel, in which one instruction looks up 32 pixels.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_and_si128, _mm_cvtsi32_si128, _mm_loadl_epi64, _mm_loadu_si128, _mm_set1_epi8,
    _mm_srl_epi16, _mm_unpackhi_epi8, _mm_unpacklo_epi8, _mm256_blendv_epi8, _mm256_broadcastsi128_si256,
    _mm256_loadu_si256, _mm256_permute2x128_si256, _mm256_set_m128i, _mm256_shuffle_epi8,
    _mm256_storeu_si256,
};

use crate::kernels::plain::palette::{self as plain, bit_table};
use crate::palette::{Depth, Palette};

/// Pixels in a register, and in half of one.
const LANES: usize = 32;
const HALF: usize = LANES / 2;

/// See `Palette::expand`. More than sixteen colours are expanded by the plain kernel.
#[target_feature(enable = "avx2")]
pub fn expand<'a>(palette: &Palette, depth: Depth, rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    match depth {
        Depth::One => {
            let table = bit_table(palette);
            expand_in::<1>(palette, rows, |packed, row| plain::bits(&table, packed, row));
        }
        Depth::Two => expand_in::<2>(palette, rows, |packed, row| plain::pairs(palette, packed, row)),
        Depth::Four => expand_in::<4>(palette, rows, |packed, row| plain::nibbles(palette, packed, row)),
        Depth::Eight if palette.size() <= HALF => {
            expand_in::<8>(palette, rows, |indices, row| plain::bytes(palette, indices, row));
        }
        Depth::Eight => plain::expand(palette, depth, rows),
    }
}

/// Expand rows of `BITS`-bit indices 32 pixels at a time; `finish` expands the remaining pixels of each row.
#[target_feature(enable = "avx2")]
fn expand_in<'a, const BITS: usize>(
    palette: &Palette,
    rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>,
    finish: impl Fn(&[u8], &mut [u8]),
) {
    let step = LANES * BITS / 8;
    let tables = tables(palette);
    for (packed, row) in rows {
        let (whole, tail) = row.as_chunks_mut::<{ 3 * LANES }>();
        let (first, rest) = packed.split_at(whole.len() * step);
        for (packed, pixels) in first.chunks_exact(step).zip(whole) {
            draw::<BITS>(&tables, packed, pixels);
        }
        finish(rest, tail);
    }
}

/// Sixteen colours in one register per channel; both halves of a register are equal.
type Tables = [__m256i; 3];

/// Return the tables of a palette's first sixteen colours.
#[target_feature(enable = "avx2")]
fn tables(palette: &Palette) -> Tables {
    let mut bytes = [[0; HALF]; 3];
    for (i, word) in palette.words[..HALF].iter().enumerate() {
        for (table, channel) in bytes.iter_mut().zip(word.to_le_bytes()) {
            table[i] = channel;
        }
    }
    bytes.map(|table| both(&table))
}

/// Draw 32 pixels: look each channel up, and blend the three into the order R G B.
#[target_feature(enable = "avx2")]
fn draw<const BITS: usize>(tables: &Tables, packed: &[u8], pixels: &mut [u8; 3 * LANES]) {
    const ORDER: [[u8; HALF]; 3] = [order(0), order(1), order(2)];
    const PLACES: [[u8; HALF]; 3] = [every_third(0), every_third(1), every_third(2)];
    let indices = indices::<BITS>(packed);
    let mut channels = *tables;
    for (table, order) in channels.iter_mut().zip(&ORDER) {
        *table = _mm256_shuffle_epi8(*table, _mm256_shuffle_epi8(indices, both(order)));
    }
    let [red, green, blue] = channels;
    let mut thirds = [red; 3];
    for (third, out) in thirds.iter_mut().enumerate() {
        let with_green = _mm256_blendv_epi8(red, green, both(&PLACES[(4 - third) % 3]));
        *out = _mm256_blendv_epi8(with_green, blue, both(&PLACES[(5 - third) % 3]));
    }
    let [first, second, last] = thirds;
    let parts = [
        _mm256_permute2x128_si256::<0x20>(first, second),
        _mm256_permute2x128_si256::<0x30>(last, first),
        _mm256_permute2x128_si256::<0x31>(second, last),
    ];
    for (part, bytes) in parts.into_iter().zip(pixels.as_chunks_mut::<LANES>().0) {
        // SAFETY: `bytes` has room for 32 bytes.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), part) }
    }
}

/// Unpack 32 indices, one per lane.
#[target_feature(enable = "avx2")]
#[inline]
fn indices<const BITS: usize>(packed: &[u8]) -> __m256i {
    match BITS {
        1 => {
            let four = i32::from_le_bytes(*packed.first_chunk().expect("32 bits"));
            join(split(split(_mm_cvtsi32_si128(four), 4)[0], 2)[0], 1)
        }
        2 => {
            let eight: &[u8; 8] = packed.first_chunk().expect("32 pairs");
            // SAFETY: `eight` has eight bytes.
            join(split(unsafe { _mm_loadl_epi64(eight.as_ptr().cast()) }, 4)[0], 2)
        }
        4 => join(load(packed.first_chunk().expect("32 nibbles")), 4),
        _ => {
            let all: &[u8; LANES] = packed.first_chunk().expect("32 bytes");
            // SAFETY: `all` has 32 bytes.
            unsafe { _mm256_loadu_si256(all.as_ptr().cast()) }
        }
    }
}

/// Return the lanes of `split` in one register.
#[target_feature(enable = "avx2")]
#[inline]
fn join(lanes: __m128i, bits: i32) -> __m256i {
    let [first, second] = split(lanes, bits);
    _mm256_set_m128i(second, first)
}

/// Split each lane into two: the `bits` bits above its lowest `bits`, then its lowest `bits`.
#[target_feature(enable = "avx2")]
#[inline]
fn split(lanes: __m128i, bits: i32) -> [__m128i; 2] {
    let mask = _mm_set1_epi8((1 << bits) - 1);
    let left = _mm_and_si128(_mm_srl_epi16(lanes, _mm_cvtsi32_si128(bits)), mask);
    let right = _mm_and_si128(lanes, mask);
    [_mm_unpacklo_epi8(left, right), _mm_unpackhi_epi8(left, right)]
}

/// Return a register with `half` in both halves.
#[target_feature(enable = "avx2")]
#[inline]
fn both(half: &[u8; HALF]) -> __m256i {
    _mm256_broadcastsi128_si256(load(half))
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(bytes: &[u8; HALF]) -> __m128i {
    // SAFETY: `bytes` has sixteen bytes.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Return the shuffle that moves a channel's byte of pixel p to lane (3p + `channel`) % 16.
///
/// That is its lane in the 48 bytes of sixteen R G B pixels, whichever third of these it is in. No two pixels share a
/// lane, because 3 and 16 are coprime.
const fn order(channel: usize) -> [u8; HALF] {
    let mut lanes = [0; HALF];
    let mut pixel = 0;
    while pixel < HALF {
        lanes[(3 * pixel + channel) % HALF] = pixel as u8;
        pixel += 1;
    }
    lanes
}

/// Return a mask of every third lane from `first` on.
const fn every_third(first: usize) -> [u8; HALF] {
    let mut lanes = [0; HALF];
    let mut i = first;
    while i < HALF {
        lanes[i] = 0xff;
        i += 3;
    }
    lanes
}
