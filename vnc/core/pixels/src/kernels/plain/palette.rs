//! Palette indices to colours, four pixels at a time.

use super::join;
use crate::palette::{Depth, Palette};

/// See `Palette::expand`.
pub fn expand<'a>(palette: &Palette, depth: Depth, rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    match depth {
        Depth::One => {
            let table = bit_table(palette);
            rows.for_each(|(packed, row)| bits(&table, packed, row));
        }
        Depth::Two => rows.for_each(|(packed, row)| pairs(palette, packed, row)),
        Depth::Four => rows.for_each(|(packed, row)| nibbles(palette, packed, row)),
        Depth::Eight => rows.for_each(|(indices, row)| bytes(palette, indices, row)),
    }
}

/// Expand one row of 8-bit indices.
pub fn bytes(palette: &Palette, indices: &[u8], row: &mut [u8]) {
    let (fours, rest) = indices.as_chunks::<4>();
    let (targets, tail) = row.as_chunks_mut::<12>();
    for (four, target) in fours.iter().zip(targets) {
        *target = join(four.map(|index| palette.words[usize::from(index)]));
    }
    for (&index, target) in rest.iter().zip(tail.chunks_exact_mut(3)) {
        target.copy_from_slice(&palette.rgb(index));
    }
}

/// Expand one row of 4-bit indices.
pub fn nibbles(palette: &Palette, packed: &[u8], row: &mut [u8]) {
    let (targets, tail) = row.as_chunks_mut::<12>();
    let (pairs, _) = packed.as_chunks::<2>();
    let done = targets.len().min(pairs.len());
    for (&[a, b], target) in pairs.iter().zip(targets) {
        *target = join([a >> 4, a & 15, b >> 4, b & 15].map(|index| palette.words[usize::from(index)]));
    }
    for (i, target) in tail.chunks_exact_mut(3).enumerate() {
        let index = packed[2 * done + i / 2] >> (4 - 4 * (i & 1)) & 15;
        target.copy_from_slice(&palette.rgb(index));
    }
}

/// Expand one row of 2-bit indices.
pub fn pairs(palette: &Palette, packed: &[u8], row: &mut [u8]) {
    let (targets, tail) = row.as_chunks_mut::<12>();
    let done = targets.len();
    for (&byte, target) in packed.iter().zip(targets) {
        *target = join([6, 4, 2, 0].map(|shift| palette.words[usize::from(byte >> shift & 3)]));
    }
    for (i, target) in tail.chunks_exact_mut(3).enumerate() {
        target.copy_from_slice(&palette.rgb(packed[done] >> (6 - 2 * i) & 3));
    }
}

/// Return the four pixels of each possible half byte of 1-bit indices.
pub fn bit_table(palette: &Palette) -> [[u8; 12]; 16] {
    let mut table = [[0; 12]; 16];
    for (bits, entry) in table.iter_mut().enumerate() {
        *entry = join([3, 2, 1, 0].map(|shift| palette.words[bits >> shift & 1]));
    }
    table
}

/// Expand one row of 1-bit indices.
pub fn bits(table: &[[u8; 12]; 16], packed: &[u8], row: &mut [u8]) {
    let (targets, tail) = row.as_chunks_mut::<24>();
    let done = targets.len();
    let eight = |byte: u8, target: &mut [u8; 24]| {
        target[..12].copy_from_slice(&table[usize::from(byte >> 4)]);
        target[12..].copy_from_slice(&table[usize::from(byte & 15)]);
    };
    for (&byte, target) in packed.iter().zip(targets) {
        eight(byte, target);
    }
    if !tail.is_empty() {
        let mut last = [0; 24];
        eight(packed[done], &mut last);
        tail.copy_from_slice(&last[..tail.len()]);
    }
}
