//! Rectangles on the screen, always in the order x, y, width, height.

use std::fmt;

/// The header fields of a rect (RFC 6143 7.6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    /// Pixels from the left edge.
    pub x: u16,
    /// Pixels from the top edge.
    pub y: u16,
    /// Pixels.
    pub width: u16,
    /// Pixels.
    pub height: u16,
}

impl Rect {
    /// Return a rect.
    #[must_use]
    pub const fn new(x: u16, y: u16, width: u16, height: u16) -> Self {
        Self { x, y, width, height }
    }

    /// The number of pixels. It cannot overflow, because both sides have 16 bits.
    #[must_use]
    pub const fn area(self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Whether the whole rect is inside a screen of `width` by `height` pixels.
    #[must_use]
    pub const fn fits(self, width: u16, height: u16) -> bool {
        self.x as u32 + self.width as u32 <= width as u32
            && self.y as u32 + self.height as u32 <= height as u32
    }

    /// Split the rect into bands, from top to bottom. A band has at most `inflate::PIECE` bytes, if a row has `row_bytes`.
    pub(crate) fn bands(self, row_bytes: usize) -> impl Iterator<Item = Self> {
        let rows = (inflate::PIECE / row_bytes.max(1)).clamp(1, u16::MAX.into());
        (0..self.height).step_by(rows).map(move |top| {
            let height = (self.height - top).min(rows as u16);
            Self { y: self.y + top, height, ..self }
        })
    }

    /// Split the rect into tiles of at most `side` by `side` pixels, left to right and top to bottom, and skip the first
    /// `first` of them. Their coordinates are relative to the rect.
    #[inline]
    pub(crate) const fn tiles(self, side: usize, first: usize) -> Tiles {
        let (width, height) = (self.width as usize, self.height as usize);
        let columns = width.div_ceil(side);
        if columns == 0 {
            return Tiles { side, width, height, x: 0, y: height };
        }
        Tiles { side, width, height, x: first % columns * side, y: first / columns * side }
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}+{}+{}", self.width, self.height, self.x, self.y)
    }
}

/// A part of a rect, in coordinates relative to the rect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tile {
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
}

/// The tiles of a rect.
pub(crate) struct Tiles {
    side: usize,
    width: usize,
    height: usize,
    /// The corner of the next tile.
    x: usize,
    y: usize,
}

impl Iterator for Tiles {
    type Item = Tile;

    #[inline]
    fn next(&mut self) -> Option<Tile> {
        let Self { side, width, height, x, y } = *self;
        if y >= height {
            return None;
        }
        self.x += side;
        if self.x >= width {
            (self.x, self.y) = (0, y + side);
        }
        Some(Tile { x, y, width: side.min(width - x), height: side.min(height - y) })
    }
}

impl Tile {
    /// The number of pixels.
    pub const fn area(self) -> usize {
        self.width * self.height
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_compared_without_overflow() {
        assert!(Rect::new(0, 0, 800, 600).fits(800, 600));
        assert!(!Rect::new(1, 0, 800, 600).fits(800, 600));
        assert!(!Rect::new(65_535, 0, 65_535, 1).fits(800, 600));
        assert!(!Rect::new(0, 65_535, 1, 2).fits(800, 600));
    }

    #[test]
    fn bands_contain_every_row_once() {
        let bands = |rect: Rect, row| rect.bands(row).map(|band| (band.y, band.height)).collect::<Vec<_>>();
        assert_eq!(bands(Rect::new(3, 5, 100, 65_530), 0), [(5, 65_530)]);
        assert_eq!(bands(Rect::new(3, 5, 100, 65_530), 300)[..2], [(5, 873), (878, 873)]);
        assert_eq!(bands(Rect::new(0, 1, 9, 3), 1 << 20), [(1, 1), (2, 1), (3, 1)]);
        assert_eq!(bands(Rect::new(0, 1, 9, 0), 27), []);
    }

    #[test]
    fn tiles_at_the_edges_are_cut() {
        let tiles: Vec<_> = Rect::new(9, 9, 20, 17).tiles(16, 0).collect();
        assert_eq!(tiles.len(), 4);
        assert_eq!(tiles[3], Tile { x: 16, y: 16, width: 4, height: 1 });
        for number in 0..5 {
            assert_eq!(Rect::new(9, 9, 20, 17).tiles(16, number).collect::<Vec<_>>(), tiles[number.min(4)..]);
            assert_eq!(Rect::new(0, 0, 0, 17).tiles(16, number).count(), 0);
            assert_eq!(Rect::new(0, 0, 17, 0).tiles(16, number).count(), 0);
        }
    }
}
