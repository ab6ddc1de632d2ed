//! For processors with AVX-512 VBMI (Intel since 2019, AMD since 2022): palettes, 64 pixels at a time, and tiles.
#![allow(unsafe_code, reason = "intrinsics that load and store where no slice is checked")]

pub mod tile;

use core::arch::x86_64::{
    __m512i, _mm_storeu_si128, _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepi32_epi8,
    _mm512_cvtepu8_epi16, _mm512_loadu_si512, _mm512_mask_blend_epi8, _mm512_mask_permutexvar_epi8,
    _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_maskz_set1_epi8, _mm512_movepi8_mask,
    _mm512_multishift_epi64_epi8, _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8,
    _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_slli_epi16,
    _mm512_srli_epi16, _mm512_srlv_epi32, _mm512_storeu_si512, _mm512_test_epi8_mask,
};

use crate::palette::{Depth, Palette};

const LANES: usize = 64;

/// Whether this processor has all that is used here.
#[inline(always)]
pub fn available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
}

/// One byte table a channel: 64 entries, or four times as many.
struct Tables<const PARTS: usize>([[__m512i; PARTS]; 3]);

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub fn expand<'a>(palette: &Palette, depth: Depth, rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    match depth {
        Depth::One => expand_in::<1, 1>(palette, rows),
        Depth::Two => expand_in::<2, 1>(palette, rows),
        Depth::Four => expand_in::<4, 1>(palette, rows),
        Depth::Eight if palette.size() <= LANES => expand_in::<8, 1>(palette, rows),
        Depth::Eight => expand_in::<8, 4>(palette, rows),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn expand_in<'a, const BITS: usize, const PARTS: usize>(
    palette: &Palette,
    rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>,
) {
    let tables = tables::<PARTS>(palette);
    for (packed, row) in rows {
        let (step, mut start) = (LANES * BITS / 8, 0);
        for pixels in row.chunks_mut(3 * LANES) {
            let indices = indices::<BITS>(load(&packed[start..], (pixels.len() / 3 * BITS).div_ceil(8)));
            store(interleave(lookup(&tables, indices)), pixels);
            start += step;
        }
    }
}

/// The first `count` bytes, at most 64, and zeros.
#[target_feature(enable = "avx512f,avx512bw")]
fn load(bytes: &[u8], count: usize) -> __m512i {
    let bytes = &bytes[..count];
    // SAFETY: no more bytes are touched than the mask has bits.
    unsafe { _mm512_maskz_loadu_epi8(low(bytes.len()), bytes.as_ptr().cast()) }
}

/// As many bytes as `out` is long, at most 192.
#[target_feature(enable = "avx512f,avx512bw")]
fn store(pixels: [__m512i; 3], out: &mut [u8]) {
    // A store without a mask is the cheaper one.
    if let Some(whole) = out.first_chunk_mut::<{ 3 * LANES }>() {
        for (part, bytes) in pixels.into_iter().zip(whole.as_chunks_mut::<LANES>().0) {
            // SAFETY: there are 64 bytes.
            unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), part) }
        }
        return;
    }
    for (part, bytes) in pixels.into_iter().zip(out.chunks_mut(LANES)) {
        // SAFETY: no more bytes are touched than the mask has bits.
        unsafe { _mm512_mask_storeu_epi8(bytes.as_mut_ptr().cast(), low(bytes.len()), part) }
    }
}

/// A mask of the lowest `count` bits, at most 64.
#[inline(always)]
const fn low(count: usize) -> u64 {
    if count >= LANES { u64::MAX } else { (1 << count) - 1 }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn tables<const PARTS: usize>(palette: &Palette) -> Tables<PARTS> {
    let mut bytes = [[[0_u8; LANES]; PARTS]; 3];
    for (channel, parts) in bytes.iter_mut().enumerate() {
        let words = palette.words.as_chunks::<16>().0;
        for (words, sixteen) in words.iter().zip(parts.as_flattened_mut().as_chunks_mut::<16>().0) {
            // SAFETY: sixteen words are read, and sixteen bytes written.
            unsafe {
                let words = _mm512_loadu_si512(words.as_ptr().cast());
                let shifted = _mm512_srlv_epi32(words, _mm512_set1_epi32(8 * channel as i32));
                _mm_storeu_si128(sixteen.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(shifted));
            }
        }
    }
    Tables(bytes.map(|parts| parts.map(|part| load(&part, LANES))))
}

/// One index a lane.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn indices<const BITS: usize>(packed: __m512i) -> __m512i {
    const FOURS: [u8; LANES] = repeated(4);
    const EIGHTS: [u8; LANES] = repeated(8);
    match BITS {
        1 => {
            let spread = _mm512_permutexvar_epi8(load(&EIGHTS, LANES), packed);
            let places = _mm512_set1_epi64(0x0102_0408_1020_4080);
            _mm512_maskz_set1_epi8(_mm512_test_epi8_mask(spread, places), 1)
        }
        2 => {
            let spread = _mm512_permutexvar_epi8(load(&FOURS, LANES), packed);
            let shifts = _mm512_set1_epi64(0x2022_2426_0002_0406);
            _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, spread), _mm512_set1_epi8(3))
        }
        4 => {
            let pairs = _mm512_cvtepu8_epi16(_mm512_castsi512_si256(packed));
            let right = _mm512_and_si512(_mm512_slli_epi16(pairs, 8), _mm512_set1_epi16(0x0f00));
            _mm512_or_si512(_mm512_srli_epi16(pairs, 4), right)
        }
        _ => packed,
    }
}

/// 0, 0, ..., 1, 1, ...: each number `times` times.
const fn repeated(times: usize) -> [u8; LANES] {
    let mut lanes = [0; LANES];
    let mut i = 0;
    while i < LANES {
        lanes[i] = (i / times) as u8;
        i += 1;
    }
    lanes
}

/// Red, green and blue of 64 indices.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn lookup<const PARTS: usize>(Tables(tables): &Tables<PARTS>, indices: __m512i) -> [__m512i; 3] {
    let mut channels = [indices; 3];
    for (channel, table) in channels.iter_mut().zip(tables) {
        *channel = match table.as_slice() {
            &[first, second, third, fourth] => {
                let lower = _mm512_permutex2var_epi8(first, indices, second);
                let upper = _mm512_permutex2var_epi8(third, indices, fourth);
                _mm512_mask_blend_epi8(_mm512_movepi8_mask(indices), lower, upper)
            }
            parts => _mm512_permutexvar_epi8(indices, parts[0]),
        };
    }
    channels
}

/// From one register a channel to 64 pixels one after the other.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn interleave([red, green, blue]: [__m512i; 3]) -> [__m512i; 3] {
    const ORDER: [([u8; LANES], u64); 3] = [order(0), order(1), order(2)];
    let mut out = [red; 3];
    for (part, (lanes, blues)) in out.iter_mut().zip(&ORDER) {
        let lanes = load(lanes, LANES);
        let others = _mm512_permutex2var_epi8(red, lanes, green);
        *part = _mm512_mask_permutexvar_epi8(others, *blues, lanes, blue);
    }
    out
}

/// Where each byte of a third of the pixels comes from: a red lane, a green one (64 more), or a blue one.
const fn order(third: usize) -> ([u8; LANES], u64) {
    let (mut lanes, mut blues) = ([0; LANES], 0);
    let mut i = 0;
    while i < LANES {
        let at = third * LANES + i;
        lanes[i] = (at / 3 + if at % 3 == 1 { LANES } else { 0 }) as u8;
        if at % 3 == 2 {
            blues |= 1 << i;
        }
        i += 1;
    }
    (lanes, blues)
}
