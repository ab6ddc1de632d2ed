//! NEON: sixteen pixels at a time. Its loads and stores separate and interleave the channels themselves.
#![allow(unsafe_code, reason = "loads and stores through pointers")]

use core::arch::aarch64::{
    uint8x16_t, uint8x16x3_t, uint8x16x4_t, vandq_u8, vdupq_n_s8, vdupq_n_u8, vld1q_u8, vld4q_u8, vqtbl1q_u8,
    vshlq_u8, vst3q_u8, vzip1q_u8,
};

use super::plain;
use super::plain::palette::bit_table;
use crate::Rgb;
use crate::canvas::{Canvas, Subrects};
use crate::palette::{Depth, Palette};

/// Bytes in a register, so pixels at a time.
const LANES: usize = 16;

/// See `plain::drop_padding`.
#[target_feature(enable = "neon")]
pub fn drop_padding<'a, const SWAP: bool>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    for (source, row) in rows {
        drop_row_padding::<SWAP>(source, row);
    }
}

#[target_feature(enable = "neon")]
#[inline]
fn drop_row_padding<const SWAP: bool>(source: &[u8], row: &mut [u8]) {
    let done = (source.len() / (4 * LANES)).min(row.len() / (3 * LANES));
    let (sources, targets) = (source.as_chunks::<{ 4 * LANES }>().0, row.as_chunks_mut::<{ 3 * LANES }>().0);
    for (source, target) in sources.iter().zip(targets) {
        // SAFETY: `source` has 64 bytes.
        let uint8x16x4_t(first, green, third, _) = unsafe { vld4q_u8(source.as_ptr()) };
        let (red, blue) = if SWAP { (third, first) } else { (first, third) };
        store(uint8x16x3_t(red, green, blue), target);
    }
    plain::drop_row_padding::<SWAP>(&source[done * 4 * LANES..], &mut row[done * 3 * LANES..]);
}

#[target_feature(enable = "neon")]
#[inline]
fn store(channels: uint8x16x3_t, target: &mut [u8; 3 * LANES]) {
    // SAFETY: `target` has room for 48 bytes.
    unsafe { vst3q_u8(target.as_mut_ptr(), channels) }
}

/// See `Canvas::draw`.
#[target_feature(enable = "neon")]
pub fn draw(background: Rgb, subrects: Subrects<'_>, canvas: &mut Canvas<'_>) -> Result<(), usize> {
    let mut tile = plain::tiles::filled(background);
    plain::tiles::paint(&mut tile, subrects, canvas)?;
    for (words, row) in tile.iter().zip(canvas.rows()) {
        drop_row_padding::<false>(words.map(u32::to_le_bytes).as_flattened(), row);
    }
    Ok(())
}

/// See `Palette::expand`. More than sixteen colours are expanded by the plain kernel.
#[target_feature(enable = "neon")]
pub fn expand<'a>(palette: &Palette, depth: Depth, rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    match depth {
        Depth::One => {
            let table = bit_table(palette);
            expand_in::<1>(palette, rows, |packed, row| plain::palette::bits(&table, packed, row));
        }
        Depth::Two => {
            expand_in::<2>(palette, rows, |packed, row| plain::palette::pairs(palette, packed, row));
        }
        Depth::Four => {
            expand_in::<4>(palette, rows, |packed, row| plain::palette::nibbles(palette, packed, row));
        }
        Depth::Eight if palette.size() <= LANES => {
            expand_in::<8>(palette, rows, |indices, row| plain::palette::bytes(palette, indices, row));
        }
        Depth::Eight => plain::palette::expand(palette, depth, rows),
    }
}

/// Expand rows of `BITS`-bit indices sixteen pixels at a time; `finish` expands the remaining pixels of each row.
#[target_feature(enable = "neon")]
fn expand_in<'a, const BITS: usize>(
    palette: &Palette,
    rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>,
    finish: impl Fn(&[u8], &mut [u8]),
) {
    let step = LANES * BITS / 8;
    let [red, green, blue] = tables(palette);
    for (packed, row) in rows {
        let (whole, tail) = row.as_chunks_mut::<{ 3 * LANES }>();
        let (first, rest) = packed.split_at(whole.len() * step);
        for (packed, pixels) in first.chunks_exact(step).zip(whole) {
            let indices = indices::<BITS>(packed);
            let channels =
                uint8x16x3_t(vqtbl1q_u8(red, indices), vqtbl1q_u8(green, indices), vqtbl1q_u8(blue, indices));
            store(channels, pixels);
        }
        finish(rest, tail);
    }
}

/// Return a palette's first sixteen colours, one register per channel.
#[target_feature(enable = "neon")]
fn tables(palette: &Palette) -> [uint8x16_t; 3] {
    let mut bytes = [[0; LANES]; 3];
    for (i, word) in palette.words[..LANES].iter().enumerate() {
        for (table, channel) in bytes.iter_mut().zip(word.to_le_bytes()) {
            table[i] = channel;
        }
    }
    bytes.map(|table| load(&table))
}

/// Unpack sixteen indices, one per lane.
#[target_feature(enable = "neon")]
#[inline]
fn indices<const BITS: usize>(packed: &[u8]) -> uint8x16_t {
    let mut bytes = [0; LANES];
    bytes[..packed.len()].copy_from_slice(packed);
    let mut lanes = load(&bytes);
    let mut bits = 8;
    while bits > BITS {
        bits /= 2;
        let mask = vdupq_n_u8((1 << bits) - 1);
        let left = vandq_u8(vshlq_u8(lanes, vdupq_n_s8(-(bits as i8))), mask);
        lanes = vzip1q_u8(left, vandq_u8(lanes, mask));
    }
    lanes
}

#[target_feature(enable = "neon")]
#[inline]
fn load(bytes: &[u8; LANES]) -> uint8x16_t {
    // SAFETY: `bytes` has sixteen bytes.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}
