//! Tiles, painted as 32-bit words and then shown as R G B rows.
//!
//! `paint` is the same code for every instruction set. It has almost no branches that depend on where a subrect is,
//! because those are mispredicted.

use super::drop_row_padding;
use crate::Rgb;
use crate::canvas::{Canvas, SIDE, Subrects};
use crate::palette::word;

/// The rows of a tile as words with R in the lowest byte.
pub type Words = [[u32; SIDE]; SIDE];

/// From this many subrects of one colour on, it is faster to compute first which pixels they cover.
const MANY: usize = 4;

/// See `Canvas::draw`.
pub fn draw(background: Rgb, subrects: Subrects<'_>, canvas: &mut Canvas<'_>) -> Result<(), usize> {
    let mut tile = filled(background);
    paint(&mut tile, subrects, canvas)?;
    for (words, row) in tile.iter().zip(canvas.rows()) {
        drop_row_padding::<false>(words.map(u32::to_le_bytes).as_flattened(), row);
    }
    Ok(())
}

/// A subrect and its colour.
struct Piece {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    colour: Rgb,
}

impl Piece {
    #[inline(always)]
    const fn new(place: u8, size: u8, colour: Rgb) -> Self {
        let (x, y) = ((place >> 4) as usize, (place & 15) as usize);
        Self { x, y, width: (size >> 4) as usize + 1, height: (size & 15) as usize + 1, colour }
    }

    #[inline(always)]
    const fn fits(&self, canvas: &Canvas<'_>) -> bool {
        self.x + self.width <= canvas.width() && self.y + self.height <= canvas.height()
    }
}

/// Entry n has all bits set in its first n words.
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

/// Return a tile of one colour.
#[inline(always)]
pub const fn filled(colour: Rgb) -> Words {
    [[word(colour); SIDE]; SIDE]
}

/// Paint subrects in their order; `Err` is the index of the first one that is not inside the canvas.
#[inline(always)]
pub fn paint(tile: &mut Words, subrects: Subrects<'_>, canvas: &Canvas<'_>) -> Result<(), usize> {
    match subrects {
        Subrects::Plain(colour, subrects) => {
            let pieces = subrects.iter().map(|&[place, size]| Piece::new(place, size, colour));
            if subrects.len() < MANY {
                return paint_pieces(tile, pieces, canvas);
            }
            paint_covered(tile, &cover(pieces, canvas)?, colour);
            Ok(())
        }
        Subrects::Coloured(subrects) => {
            let pieces = subrects.iter().map(|&[r, g, b, _, place, size]| Piece::new(place, size, [r, g, b]));
            paint_pieces(tile, pieces, canvas)
        }
    }
}

/// Return one number per row with a bit for each pixel that a piece covers.
#[inline(always)]
fn cover(pieces: impl Iterator<Item = Piece>, canvas: &Canvas<'_>) -> Result<[u32; SIDE], usize> {
    let ones = |from: usize, count: usize| ((1_u32 << count) - 1) << from;
    let mut covered = [0; SIDE];
    for (number, piece) in pieces.enumerate() {
        if !piece.fits(canvas) {
            return Err(number);
        }
        let (rows, columns) = (ones(piece.y, piece.height), ones(piece.x, piece.width));
        // Every row, because a loop over the piece's rows alone ends in a mispredicted branch.
        for (y, covered) in covered.iter_mut().enumerate() {
            *covered |= columns & (rows >> y & 1).wrapping_neg();
        }
    }
    Ok(covered)
}

#[inline(always)]
fn paint_covered(tile: &mut Words, covered: &[u32; SIDE], colour: Rgb) {
    for (columns, row) in covered.iter().zip(tile) {
        for (i, pixel) in row.iter_mut().enumerate() {
            let mask = (columns >> i & 1).wrapping_neg();
            *pixel = *pixel & !mask | word(colour) & mask;
        }
    }
}

/// Paint whole rows of words under a mask: stores of different widths would need mispredicted branches.
#[inline(always)]
fn paint_pieces(
    tile: &mut Words,
    pieces: impl Iterator<Item = Piece>,
    canvas: &Canvas<'_>,
) -> Result<(), usize> {
    for (number, piece) in pieces.enumerate() {
        if !piece.fits(canvas) {
            return Err(number);
        }
        let Piece { x, y, width, height, colour } = piece;
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
    Ok(())
}
