//! Tiles painted as words, for processors without wide masks.

use crate::Rgb;
use crate::tile::{Canvas, SIDE, Subrects, word};

/// Rows of words, R in the lowest byte.
pub type Words = [[u32; SIDE]; SIDE];

/// Pieces of one colour for which it pays to find out first which pixels they cover.
const MANY: usize = 4;

/// A rectangle of one colour.
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
pub const fn filled(colour: Rgb) -> Words {
    [[word(colour); SIDE]; SIDE]
}

/// Paint subrects, one over the other; `Err` is the number of the first that reaches beyond the canvas.
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

/// A bit for each pixel under a piece, a number for each row: all of them are looked at, which is cheaper than a branch
/// that no processor foretells.
#[inline(always)]
fn cover(pieces: impl Iterator<Item = Piece>, canvas: &Canvas<'_>) -> Result<[u32; SIDE], usize> {
    let ones = |from: usize, count: usize| ((1_u32 << count) - 1) << from;
    let mut covered = [0; SIDE];
    for (number, piece) in pieces.enumerate() {
        if !piece.fits(canvas) {
            return Err(number);
        }
        let (rows, columns) = (ones(piece.y, piece.height), ones(piece.x, piece.width));
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

/// As words, any piece of a row is painted with the same few instructions, where stores of each width would need a
/// branch that no processor foretells.
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
