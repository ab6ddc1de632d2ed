//! A small square of rectangles, as Hextile and its kin have it.

#[cfg(target_arch = "x86_64")]
use crate::avx2;
use crate::{Rgb, plain};

const SIDE: usize = 16;

/// Rows of words, R in the lowest byte.
pub type Tile = [[u32; SIDE]; SIDE];

/// A rectangle of one colour; what lies beyond the tile is not painted.
pub struct Piece {
    /// Pixels from the left edge, at most 15.
    pub x: usize,
    /// Pixels from the top edge, at most 15.
    pub y: usize,
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
    /// Its colour.
    pub colour: Rgb,
}

/// All ones in so many words from the left.
const PREFIXES: [[u32; SIDE]; SIDE + 1] = {
    let mut masks = [[0; SIDE]; SIDE + 1];
    let mut i = 0;
    while i < masks.len() * SIDE {
        if i % SIDE < i / SIDE {
            masks[i / SIDE][i % SIDE] = u32::MAX;
        }
        i += 1;
    }
    masks
};

#[inline(always)]
const fn filled(colour: Rgb) -> Tile {
    [[word(colour); SIDE]; SIDE]
}

const fn word([r, g, b]: Rgb) -> u32 {
    u32::from_le_bytes([r, g, b, 0])
}

/// Paint `pieces`, one over the other, on sixteen rows of sixteen pixels of one colour, and copy as much of these into
/// `rows`, R G B, as they have room for.
#[inline]
pub fn draw_tile<'a>(
    background: Rgb,
    pieces: impl Iterator<Item = Piece>,
    rows: impl Iterator<Item = &'a mut [u8]>,
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2<'a>(
            background: Rgb,
            pieces: impl Iterator<Item = Piece>,
            rows: impl Iterator<Item = &'a mut [u8]>,
        ) {
            let mut tile = filled(background);
            paint(&mut tile, pieces);
            avx2::show(&tile, rows);
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function was compiled for.
            #[allow(unsafe_code, reason = "the compiler cannot know the processor")]
            return unsafe { with_avx2(background, pieces, rows) };
        }
    }
    let mut tile = filled(background);
    paint(&mut tile, pieces);
    plain::show(&tile, rows);
}

/// As words, any piece of a row is painted with the same few instructions, where stores of each width would need a
/// branch that no processor foretells.
#[inline(always)]
fn paint(tile: &mut Tile, pieces: impl Iterator<Item = Piece>) {
    for Piece { x, y, width, height, colour } in pieces {
        let (before, until) = (&PREFIXES[x.min(SIDE)], &PREFIXES[(x + width).min(SIDE)]);
        let (mut kept, mut painted) = ([0; SIDE], [word(colour); SIDE]);
        for i in 0..SIDE {
            let mask = until[i] & !before[i];
            kept[i] = !mask;
            painted[i] &= mask;
        }
        for row in tile.iter_mut().skip(y).take(height) {
            for i in 0..SIDE {
                row[i] = row[i] & kept[i] | painted[i];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_lie_where_a_plain_grid_has_them(
            pieces in proptest::collection::vec((0..16_usize, 0..16_usize, 1..17_usize, 1..17_usize, any::<Rgb>()), 0..12),
            width in 1..17_usize,
        ) {
            let drawn = pieces.iter().map(|&(x, y, width, height, colour)| Piece { x, y, width, height, colour });
            let mut shown = [vec![0; 16 * width * 3], vec![0; 16 * width * 3]];
            draw_tile([7, 8, 9], drawn.clone(), shown[0].chunks_mut(width * 3));
            let mut tile = filled([7, 8, 9]);
            paint(&mut tile, drawn);
            plain::show(&tile, shown[1].chunks_mut(width * 3));
            let mut grid = [[[7, 8, 9]; 16]; 16];
            for (x, y, width, height, colour) in pieces {
                for row in grid.iter_mut().skip(y).take(height) {
                    row[x..(x + width).min(16)].fill(colour);
                }
            }
            for (y, expected) in grid.iter().enumerate() {
                let row = y * width * 3..(y + 1) * width * 3;
                prop_assert_eq!(&shown[0][row.clone()], expected[..width].as_flattened());
                prop_assert_eq!(&shown[1][row], expected[..width].as_flattened());
            }
        }
    }
}
