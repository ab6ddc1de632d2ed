//! Which pixels were drawn since a certain moment, exactly. It exists only while something waits for all of them.

use crate::screen::geometry::Rect;

/// One bit per pixel; each row begins in a new word. INVARIANT: `left` is the number of clear bits of pixels.
#[derive(Clone, Debug)]
pub(crate) struct Coverage {
    words: Vec<u64>,
    per_row: usize,
    left: usize,
}

impl Coverage {
    pub fn new(width: u16, height: u16) -> Self {
        let per_row = usize::from(width).div_ceil(64);
        let left = usize::from(width) * usize::from(height);
        Self { words: vec![0; per_row * usize::from(height)], per_row, left }
    }

    /// Record that `rect`, which must be inside, was drawn.
    pub fn add(&mut self, rect: Rect) {
        let (begin, end) = (usize::from(rect.x), usize::from(rect.x) + usize::from(rect.width));
        for y in usize::from(rect.y)..usize::from(rect.y) + usize::from(rect.height) {
            let row = &mut self.words[y * self.per_row..(y + 1) * self.per_row];
            for (i, word) in row.iter_mut().enumerate().take(end.div_ceil(64)).skip(begin / 64) {
                let from = begin.saturating_sub(i * 64);
                let mask = u64::MAX << from & u64::MAX >> (64 - (end - i * 64).min(64));
                self.left -= (mask & !*word).count_ones() as usize;
                *word |= mask;
            }
        }
    }

    /// Whether every pixel was drawn.
    pub const fn complete(&self) -> bool {
        self.left == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_counts_the_same_pixels_as_a_plain_grid(rects in proptest::collection::vec((0..150_u16, 0..9_u16, 1..150_u16, 0..9_u16), 0..12)) {
            let (mut coverage, mut grid) = (Coverage::new(150, 9), [[false; 150]; 9]);
            for (x, y, width, height) in rects {
                let rect = Rect::new(x, y, width.min(150 - x), height.min(9 - y));
                coverage.add(rect);
                for row in &mut grid[y.into()..(y + rect.height).into()] {
                    row[x.into()..(x + rect.width).into()].fill(true);
                }
                prop_assert_eq!(coverage.left, grid.as_flattened().iter().filter(|&&drawn| !drawn).count());
            }
        }
    }
}
