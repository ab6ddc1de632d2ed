//! The loops for every processor.

use crate::Rgb;
use crate::palette::{Depth, Palette};
use crate::tile::{Canvas, Subrects};
use crate::words::{self, Words};

/// Four pixels held in the low 24 bits of four words, as 12 bytes.
#[inline(always)]
fn join([a, b, c, d]: [u32; 4]) -> [u8; 12] {
    let mut out = [0; 12];
    out[..4].copy_from_slice(&(a | b << 24).to_le_bytes());
    out[4..8].copy_from_slice(&(b >> 8 | c << 16).to_le_bytes());
    out[8..].copy_from_slice(&(c >> 16 | d << 8).to_le_bytes());
    out
}

#[inline(always)]
pub fn drop_padding(source: &[u8], row: &mut [u8]) {
    let source = &source[..row.len() / 3 * 4];
    let (fours, rest) = source.as_chunks::<16>();
    let (targets, tail) = row.as_chunks_mut::<12>();
    for (four, target) in fours.iter().zip(targets) {
        let (words, _) = four.as_chunks::<4>();
        *target = join([0, 1, 2, 3].map(|i| u32::from_le_bytes(words[i]) & 0x00ff_ffff));
    }
    for (pixel, target) in rest.chunks_exact(4).zip(tail.chunks_exact_mut(3)) {
        target.copy_from_slice(&pixel[..3]);
    }
}

/// See `TileWriter::draw`.
pub fn draw(background: Rgb, subrects: Subrects<'_>, canvas: &mut Canvas<'_>) -> Result<(), usize> {
    let mut tile = words::filled(background);
    words::paint(&mut tile, subrects, canvas)?;
    show(&tile, canvas.rows());
    Ok(())
}

/// See `TileWriter::copy`.
pub fn copy(pixels: &[u8], canvas: &mut Canvas<'_>) {
    for (source, row) in pixels.chunks_exact(4 * canvas.width()).zip(canvas.rows()) {
        drop_padding(source, row);
    }
}

/// Rows of sixteen words to rows of at most as many pixels.
fn show<'a>(tile: &Words, rows: impl Iterator<Item = &'a mut [u8]>) {
    for (words, row) in tile.iter().zip(rows) {
        let bytes = words.map(u32::to_le_bytes);
        drop_padding(bytes.as_flattened(), row);
    }
}

/// Draw rows of indices.
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

/// Twelve bytes for each four bits of a two-colour bitmap.
pub fn bit_table(palette: &Palette) -> [[u8; 12]; 16] {
    let mut table = [[0; 12]; 16];
    for (bits, entry) in table.iter_mut().enumerate() {
        *entry = join([3, 2, 1, 0].map(|shift| palette.words[bits >> shift & 1]));
    }
    table
}

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
