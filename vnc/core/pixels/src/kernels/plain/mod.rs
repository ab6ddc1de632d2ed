//! Plain Rust, for every processor.

pub mod frame;
pub mod lines;
pub mod palette;
pub mod tiles;

/// See `crate::drop_padding`. `SWAP`: the pixels are B G R X, see `crate::bgrx_to_rgb`.
pub fn drop_padding<'a, const SWAP: bool>(rows: impl Iterator<Item = (&'a [u8], &'a mut [u8])>) {
    rows.for_each(|(source, row)| drop_row_padding::<SWAP>(source, row));
}

#[inline(always)]
pub fn drop_row_padding<const SWAP: bool>(source: &[u8], row: &mut [u8]) {
    let source = &source[..row.len() / 3 * 4];
    let (fours, rest) = source.as_chunks::<16>();
    let (targets, tail) = row.as_chunks_mut::<12>();
    for (four, target) in fours.iter().zip(targets) {
        let (words, _) = four.as_chunks::<4>();
        *target = join([0, 1, 2, 3].map(|i| word::<SWAP>(words[i])));
    }
    for (pixel, target) in rest.chunks_exact(4).zip(tail.chunks_exact_mut(3)) {
        target.copy_from_slice(&pixel[..3]);
        if SWAP {
            target.reverse();
        }
    }
}

/// Return a pixel as a word whose low 24 bits are R G B in memory, and the high bits 0.
#[inline(always)]
fn word<const SWAP: bool>(pixel: [u8; 4]) -> u32 {
    if SWAP { u32::from_be_bytes(pixel) >> 8 } else { u32::from_le_bytes(pixel) & 0x00ff_ffff }
}

/// Join the low 24 bits of four words to 12 bytes; their high bits are 0.
#[inline(always)]
fn join([a, b, c, d]: [u32; 4]) -> [u8; 12] {
    let mut out = [0; 12];
    out[..4].copy_from_slice(&(a | b << 24).to_le_bytes());
    out[4..8].copy_from_slice(&(b >> 8 | c << 16).to_le_bytes());
    out[8..].copy_from_slice(&(c >> 16 | d << 8).to_le_bytes());
    out
}
