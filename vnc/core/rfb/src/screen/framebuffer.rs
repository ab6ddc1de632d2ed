//! The screen: contiguous RGB, three bytes a pixel, and the frame in which each part changed last.

use pixels::{Canvas, Reduction, Rgb};

use crate::error::Reason;
use crate::screen::brush::Brush;
use crate::screen::coverage::Coverage;
use crate::screen::geometry::{Rect, Tile};

/// The size of a damage cell, in pixels. 64 pixels are 192 bytes: three cache lines of each row.
const CELL_WIDTH: usize = 64;
const CELL_HEIGHT: usize = 16;

/// The pixels of a screen and their damage.
#[derive(Clone, Debug)]
pub struct Framebuffer {
    width: u16,
    height: u16,
    pixels: Vec<u8>,
    /// The number of the frame that last changed each cell. INVARIANT: one entry per cell, row by row.
    stamps: Vec<u64>,
    columns: usize,
    /// The first frame of this screen. A copy with an older frame needs all pixels.
    born: u64,
    /// The number of the frame that is being drawn.
    frame: u64,
    /// The pixels drawn since `expect_all`, until all are.
    coverage: Option<Coverage>,
    /// The pixels drawn since `expect_fill`, until all are.
    filled: Option<Coverage>,
}

impl Framebuffer {
    /// Return a black screen. `frame` is the number of the first frame that draws on it.
    #[must_use]
    pub fn new(width: u16, height: u16, frame: u64) -> Self {
        let columns = usize::from(width).div_ceil(CELL_WIDTH);
        let cells = columns * usize::from(height).div_ceil(CELL_HEIGHT);
        let pixels = vec![0; usize::from(width) * usize::from(height) * 3];
        let stamps = vec![0; cells];
        Self { width, height, pixels, stamps, columns, born: frame, frame, coverage: None, filled: None }
    }

    /// The width, in pixels.
    #[must_use]
    pub const fn width(&self) -> u16 {
        self.width
    }

    /// The height, in pixels.
    #[must_use]
    pub const fn height(&self) -> u16 {
        self.height
    }

    /// The screen as a rect.
    #[must_use]
    pub const fn whole(&self) -> Rect {
        Rect::new(0, 0, self.width, self.height)
    }

    /// All pixels, row by row, R G B.
    #[must_use]
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// The pixel at (0, 0); black if the screen has none.
    pub(crate) fn origin(&self) -> Rgb {
        self.pixels.first_chunk().copied().unwrap_or_default()
    }

    /// Set the pixel at (0, 0).
    pub(crate) fn set_origin(&mut self, colour: Rgb) {
        if let Some(origin) = self.pixels.first_chunk_mut() {
            *origin = colour;
        }
    }

    /// Start drawing frame number `frame`.
    pub(crate) const fn begin(&mut self, frame: u64) {
        self.frame = frame;
    }

    /// Replace the screen by a black one of another size.
    pub(crate) fn resize(&mut self, width: u16, height: u16) {
        let waiting = self.coverage.is_some();
        *self = Self::new(width, height, self.frame);
        self.expect_fill();
        if waiting {
            self.expect_all();
        }
    }

    /// Record from now on which pixels are drawn, for `all_drawn`.
    pub(crate) fn expect_all(&mut self) {
        self.coverage = Some(Coverage::new(self.width, self.height));
    }

    /// Stop the recording of `expect_all`.
    pub(crate) fn expect_nothing(&mut self) {
        self.coverage = None;
    }

    /// Whether every pixel was drawn since `expect_all`. It returns true once.
    pub(crate) fn all_drawn(&mut self) -> bool {
        self.coverage.take_if(|coverage| coverage.complete()).is_some()
    }

    /// Record from now on which pixels are drawn, for `is_filled`.
    pub(crate) fn expect_fill(&mut self) {
        self.filled = Some(Coverage::new(self.width, self.height));
    }

    /// Whether every pixel was drawn since `expect_fill`.
    pub(crate) fn is_filled(&mut self) -> bool {
        self.filled.take_if(|filled| filled.complete());
        self.filled.is_none()
    }

    /// Mark a rect as damaged by the current frame.
    fn mark(&mut self, rect: Rect) {
        if rect.area() == 0 {
            return;
        }
        let (x, y) = (usize::from(rect.x), usize::from(rect.y));
        let last_column = (x + usize::from(rect.width) - 1) / CELL_WIDTH;
        let last_row = (y + usize::from(rect.height) - 1) / CELL_HEIGHT;
        for coverage in [&mut self.coverage, &mut self.filled].into_iter().flatten() {
            coverage.add(rect);
        }
        for row in y / CELL_HEIGHT..=last_row {
            let start = row * self.columns;
            self.stamps[start + x / CELL_WIDTH..=start + last_column].fill(self.frame);
        }
    }

    /// Return the part of the screen that a rect may draw on, and mark it as damaged.
    pub(crate) fn window(&mut self, rect: Rect) -> Result<Window<'_>, Reason> {
        if !rect.fits(self.width, self.height) {
            return Err(Reason::OutsideFramebuffer(self.width, self.height));
        }
        self.mark(rect);
        let stride = usize::from(self.width) * 3;
        let start = usize::from(rect.y) * stride + usize::from(rect.x) * 3;
        let pixels = if rect.area() == 0 { &mut [][..] } else { &mut self.pixels[start..] };
        Ok(Window { pixels, stride, width: usize::from(rect.width), height: usize::from(rect.height) })
    }

    /// Copy the pixels at (x, y) to `rect`. Source and target may overlap.
    pub(crate) fn copy(&mut self, x: u16, y: u16, rect: Rect) -> Result<(), Reason> {
        let source = Rect { x, y, ..rect };
        if !source.fits(self.width, self.height) {
            return Err(Reason::SourceOutside(x, y));
        }
        if !rect.fits(self.width, self.height) {
            return Err(Reason::OutsideFramebuffer(self.width, self.height));
        }
        self.mark(rect);
        let stride = usize::from(self.width) * 3;
        let length = usize::from(rect.width) * 3;
        let from = usize::from(y) * stride + usize::from(x) * 3;
        let to = usize::from(rect.y) * stride + usize::from(rect.x) * 3;
        let mut line = |row: usize| {
            let start = from + row * stride;
            self.pixels.copy_within(start..start + length, to + row * stride);
        };
        // A copy downwards starts with the last row, so that no source row is overwritten before it is copied.
        if rect.y > y {
            (0..usize::from(rect.height)).rev().for_each(&mut line);
        } else {
            (0..usize::from(rect.height)).for_each(&mut line);
        }
        Ok(())
    }

    /// Copy all cells that were drawn after frame `since` into `out`, and return the number of copied bytes.
    ///
    /// # Panics
    /// If `out` has another size.
    pub fn copy_damage(&self, since: u64, out: &mut [u8]) -> usize {
        assert_eq!(out.len(), self.pixels.len());
        if since < self.born {
            out.copy_from_slice(&self.pixels);
            return out.len();
        }
        let mut copied = 0;
        for (row, stamps) in self.stamps.chunks_exact(self.columns.max(1)).enumerate() {
            let mut column = 0;
            while column < stamps.len() {
                let run = stamps[column..].iter().take_while(|&&stamp| stamp > since).count();
                copied += self.copy_cells(row, column, run, out);
                column += run + 1;
            }
        }
        copied
    }

    /// Draw all pixels of a smaller picture that cover anything that was drawn after frame `since`; None draws all of it.
    ///
    /// # Panics
    /// If the reduction is of frames of another shape, or `picture` has another size.
    pub fn reduce_damage(&self, since: Option<u64>, reduction: &Reduction, picture: &mut [u8]) {
        let Some(since) = since.filter(|&since| since >= self.born) else {
            return reduction.draw(&self.pixels, picture);
        };
        let mut sums = Vec::new();
        for row in 0..reduction.target()[0] {
            let lines = reduction.covered_rows(row);
            let cells =
                lines.start / CELL_HEIGHT * self.columns..lines.end.div_ceil(CELL_HEIGHT) * self.columns;
            let stamps = &self.stamps[cells];
            let damaged =
                |column: usize| stamps[column..].iter().step_by(self.columns).any(|&stamp| stamp > since);
            let mut column = 0;
            while column < self.columns {
                let run = (column..self.columns).take_while(|&column| damaged(column)).count();
                let drawn = column * CELL_WIDTH..((column + run) * CELL_WIDTH).min(self.width.into());
                let columns = if run == 0 { 0..0 } else { reduction.covering_columns(&drawn) };
                reduction.draw_row(&self.pixels, row, columns, &mut sums, picture);
                column += run + 1;
            }
        }
    }

    fn copy_cells(&self, row: usize, column: usize, run: usize, out: &mut [u8]) -> usize {
        if run == 0 {
            return 0;
        }
        let stride = usize::from(self.width) * 3;
        let (top, bottom) = (row * CELL_HEIGHT, ((row + 1) * CELL_HEIGHT).min(usize::from(self.height)));
        let left = column * CELL_WIDTH * 3;
        let length = (run * CELL_WIDTH * 3).min(stride - left);
        if length == stride {
            out[top * stride..bottom * stride].copy_from_slice(&self.pixels[top * stride..bottom * stride]);
        } else {
            for start in (top..bottom).map(|y| y * stride + left) {
                out[start..start + length].copy_from_slice(&self.pixels[start..start + length]);
            }
        }
        length * (bottom - top)
    }
}

/// A rect of the framebuffer, in coordinates relative to the rect.
pub(crate) struct Window<'a> {
    /// From the first pixel of the rect to the end of the screen.
    pixels: &'a mut [u8],
    stride: usize,
    pub width: usize,
    pub height: usize,
}

impl Window<'_> {
    /// The rows of a tile, which must be inside the rect.
    #[inline]
    pub fn rows(&mut self, tile: Tile) -> impl Iterator<Item = &mut [u8]> {
        let skip = if tile.area() == 0 { self.pixels.len() } else { tile.y * self.stride + tile.x * 3 };
        let count = if tile.area() == 0 { 0 } else { tile.height };
        self.pixels[skip..]
            .chunks_mut(self.stride.max(1))
            .take(count)
            .map(move |row| &mut row[..tile.width * 3])
    }

    /// The canvas of a tile, which must be inside the rect.
    #[inline]
    pub fn canvas(&mut self, tile: Tile) -> Canvas<'_> {
        let pixels = &mut self.pixels[tile.y * self.stride + tile.x * 3..];
        Canvas::new(pixels, self.stride, tile.width, tile.height)
    }

    /// All rows of the rect.
    #[inline]
    pub fn all_rows(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.rows(self.tile())
    }

    /// The whole rect as a tile.
    pub const fn tile(&self) -> Tile {
        Tile { x: 0, y: 0, width: self.width, height: self.height }
    }

    /// Fill a tile, which must be inside the rect, with one colour.
    #[inline]
    pub fn fill(&mut self, tile: Tile, colour: Rgb) {
        let brush = Brush::new(colour);
        let mut start = tile.y * self.stride + tile.x * 3;
        for _ in 0..if tile.width > 0 { tile.height } else { 0 } {
            brush.paint(&mut self.pixels[start..start + tile.width * 3]);
            start += self.stride;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(width: u16, height: u16) -> Framebuffer {
        let mut screen = Framebuffer::new(width, height, 0);
        for (i, pixel) in screen.pixels.chunks_exact_mut(3).enumerate() {
            pixel.fill(i as u8);
        }
        screen
    }

    #[test]
    fn copies_overlap_in_every_direction() {
        for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)] {
            let before = numbered(8, 8);
            let mut screen = numbered(8, 8);
            let to = Rect::new((2 + dx) as u16, (2 + dy) as u16, 4, 4);
            screen.copy(2, 2, to).unwrap();
            for y in 0..4_usize {
                for x in 0..4_usize {
                    let target = ((usize::from(to.y) + y) * 8 + usize::from(to.x) + x) * 3;
                    let source = ((2 + y) * 8 + 2 + x) * 3;
                    assert_eq!(screen.pixels[target], before.pixels[source], "shift {dx},{dy} at {x},{y}");
                }
            }
        }
    }

    #[test]
    fn a_copy_source_outside_is_refused() {
        let mut screen = Framebuffer::new(8, 8, 0);
        assert_eq!(screen.copy(6, 0, Rect::new(0, 0, 4, 4)), Err(Reason::SourceOutside(6, 0)));
        assert_eq!(screen.copy(0, 65_535, Rect::new(0, 0, 4, 4)), Err(Reason::SourceOutside(0, 65_535)));
    }

    #[test]
    fn only_damage_is_copied() {
        let mut screen = Framebuffer::new(200, 40, 0);
        let mut out = vec![7; screen.pixels().len()];
        assert_eq!(screen.copy_damage(0, &mut out), 0);
        screen.begin(1);
        let rect = Rect::new(190, 30, 10, 10);
        screen.window(rect).unwrap().fill(Tile { x: 0, y: 0, width: 10, height: 10 }, [1, 2, 3]);
        // The cell at the corner is 8 pixels wide (200 - 3 * 64), so the rect touches two columns.
        assert_eq!(screen.copy_damage(0, &mut out), (64 + 8) * 3 * (16 + 8));
        assert_eq!(out[0], 7);
        assert_eq!(&out[out.len() - 3..], &[1, 2, 3]);
        assert_eq!(screen.copy_damage(1, &mut out), 0);
        screen.expect_all();
        assert!(screen.window(Rect::new(0, 0, 199, 40)).is_ok());
        assert!(!screen.all_drawn());
        screen.resize(20, 20);
        assert!(screen.window(Rect::new(0, 0, 20, 19)).is_ok());
        assert!(!screen.all_drawn());
        screen.copy(0, 0, Rect::new(0, 1, 20, 19)).unwrap();
        assert!(screen.all_drawn());
    }

    #[test]
    fn a_reduced_picture_has_all_damage() {
        for (part, size) in
            [([0, 0, 200, 40], [7, 5]), ([70, 10, 100, 20], [100, 20]), ([10, 3, 90, 37], [91, 1])]
        {
            let reduction = Reduction::new([40, 200, 3], part, size, true).unwrap();
            let mut screen = numbered(200, 40);
            let mut picture = vec![0; usize::from(size[0]) * usize::from(size[1])];
            screen.reduce_damage(None, &reduction, &mut picture);
            for frame in 1..20 {
                screen.begin(frame);
                let (x, y) = (frame as u16 * 67 % 190, frame as u16 * 23 % 36);
                let tile = Tile { x: 0, y: 0, width: 10, height: 4 };
                screen.window(Rect::new(x, y, 10, 4)).unwrap().fill(tile, [frame as u8 * 11, 0, 200]);
                screen.reduce_damage(Some(frame - 1), &reduction, &mut picture);
                let mut whole = vec![0; picture.len()];
                reduction.draw(screen.pixels(), &mut whole);
                assert_eq!(picture, whole, "{part:?} {size:?} frame {frame}");
            }
            screen.reduce_damage(Some(19), &reduction, &mut picture[..0]);
        }
    }

    #[test]
    fn a_window_outside_is_refused() {
        let mut screen = Framebuffer::new(8, 8, 0);
        assert!(screen.window(Rect::new(8, 8, 0, 0)).is_ok());
        assert!(screen.window(Rect::new(8, 0, 1, 1)).is_err());
        assert!(screen.window(Rect::new(0, 7, 8, 2)).is_err());
    }
}
