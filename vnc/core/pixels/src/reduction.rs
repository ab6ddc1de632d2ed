//! Smaller pictures of a screen: a part of it, area averages, brightness instead of colours.

use std::ops::Range;

use crate::level::Level;

/// 2^15 times the weights of red, green and blue in the brightness (ITU-R BT.601), as in `COLOR_RGB2GRAY` of `OpenCV`.
const LUMA: [u64; 3] = [9_798, 19_235, 3_735];
const LUMA_TOTAL: f64 = 32_768.0;

/// A rectangle of a frame: x, y, width, height, in pixels.
pub type Part = [u16; 4];

/// Which smaller picture to make of frames of one shape.
///
/// Each pixel of the picture is the mean of the pixels that it covers, weighted by the covered area. All sums are exact
/// integers, so the result does not depend on which rows and columns are drawn together.
#[derive(Clone, Debug)]
pub struct Reduction {
    /// Height, width and channels of the frames.
    shape: [usize; 3],
    x: usize,
    y: usize,
    columns: Axis,
    rows: Axis,
    grey: bool,
    /// What the sum of a pixel is multiplied by.
    scale: f64,
}

impl Reduction {
    /// Return a reduction of frames of `shape` (height, width, channels): their `part`, averaged to `size` (width,
    /// height), and if `grey`, the brightness of three channels. None if the part is empty or not within the frames, the
    /// size is empty, or a grey frame has not three channels.
    #[must_use]
    pub fn new(shape: [u16; 3], part: Part, size: [u16; 2], grey: bool) -> Option<Self> {
        let [height, width, channels] = shape.map(usize::from);
        let [x, y, part_width, part_height] = part.map(usize::from);
        let [new_width, new_height] = size.map(usize::from);
        let within = x + part_width <= width && y + part_height <= height;
        let empty = [part_width, part_height, new_width, new_height, channels].contains(&0);
        if !within || empty || grey && channels != 3 {
            return None;
        }
        let (columns, rows) = (Axis::new(part_width, new_width), Axis::new(part_height, new_height));
        let total = f64::from(columns.total) * f64::from(rows.total) * if grey { LUMA_TOTAL } else { 1.0 };
        let scale = 1.0 / total;
        Some(Self { shape: [height, width, channels], x, y, columns, rows, grey, scale })
    }

    /// Height, width and channels of the frames.
    #[must_use]
    pub const fn source(&self) -> [usize; 3] {
        self.shape
    }

    /// Height, width and channels of the pictures.
    #[must_use]
    pub const fn target(&self) -> [usize; 3] {
        let channels = if self.grey { 1 } else { self.shape[2] };
        [self.rows.spans.len(), self.columns.spans.len(), channels]
    }

    /// The rows of the frame that row `row` of the picture covers.
    #[must_use]
    pub fn covered_rows(&self, row: usize) -> Range<usize> {
        let Span { first, last, .. } = self.rows.spans[row];
        self.y + first..self.y + last + 1
    }

    /// The columns of the picture that cover any of these columns of the frame.
    #[must_use]
    pub fn covering_columns(&self, columns: &Range<usize>) -> Range<usize> {
        let [start, end] = [columns.start, columns.end].map(|x| x.saturating_sub(self.x));
        self.columns.covering(start..end)
    }

    /// Draw a whole picture.
    ///
    /// # Panics
    /// If `frame` or `picture` has another size.
    pub fn draw(&self, frame: &[u8], picture: &mut [u8]) {
        let [height, width, _] = self.target();
        let mut sums = Vec::new();
        for row in 0..height {
            self.draw_row(frame, row, 0..width, &mut sums, picture);
        }
    }

    /// Draw some columns of one row of the picture. `sums` is memory that the next row can use again.
    ///
    /// # Panics
    /// If `frame` or `picture` has another size.
    pub fn draw_row(
        &self,
        frame: &[u8],
        row: usize,
        columns: Range<usize>,
        sums: &mut Vec<u32>,
        picture: &mut [u8],
    ) {
        if columns.is_empty() {
            return;
        }
        let ([_, width, channels], [_, new_width, depth]) = (self.shape, self.target());
        let spans = &self.columns.spans[columns.clone()];
        let (left, right) = (spans[0].first, spans[spans.len() - 1].last + 1);
        let Span { first, last, ends } = self.rows.spans[row];
        let lines = &frame[((self.y + first) * width + self.x + left) * channels..];
        let target = &mut picture[(row * new_width + columns.start) * depth..][..columns.len() * depth];
        if self.columns.is_same() && self.rows.is_same() {
            if self.grey {
                turn_grey(lines, target);
            } else {
                target.copy_from_slice(&lines[..target.len()]);
            }
            return;
        }
        sums.resize((right - left) * channels, 0);
        let weights = [ends[0], self.rows.unit, ends[1]];
        Level::best().sum_lines(lines, width * channels, last - first + 1, weights, sums);
        self.finish(sums, left, spans, target);
    }

    /// Set the pixels that `spans` are the columns of; `sums` are those of the columns from `left` on.
    fn finish(&self, sums: &[u32], left: usize, spans: &[Span], target: &mut [u8]) {
        let channels = self.shape[2];
        let Axis { unit, .. } = self.columns;
        if self.grey {
            for (span, pixel) in spans.iter().zip(target) {
                let [red, green, blue] = [0, 1, 2].map(|channel| span.sum(sums, left, 3, channel, unit));
                *pixel = self.mean(LUMA[0] * red + LUMA[1] * green + LUMA[2] * blue);
            }
        } else {
            for (span, pixel) in spans.iter().zip(target.chunks_exact_mut(channels)) {
                for (channel, value) in pixel.iter_mut().enumerate() {
                    *value = self.mean(span.sum(sums, left, channels, channel, unit));
                }
            }
        }
    }

    #[inline(always)]
    fn mean(&self, sum: u64) -> u8 {
        (sum as f64 * self.scale + 0.5) as u8
    }
}

/// How the lines of a frame (its rows or columns) become fewer or more lines.
#[derive(Clone, Debug)]
struct Axis {
    spans: Vec<Span>,
    /// The weight of a line of the frame that one line of the picture covers whole.
    unit: u32,
    /// The sum of the weights of the lines that one line of the picture covers.
    total: u32,
}

/// The lines of the frame, from `first` to `last`, that one line of the picture covers, and the weights of these two; if
/// they are one line, the second weight is 0.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: usize,
    last: usize,
    ends: [u32; 2],
}

impl Axis {
    fn new(before: usize, after: usize) -> Self {
        let divisor = greatest_divisor(before, after);
        let (total, unit) = (before / divisor, after / divisor);
        let spans = (0..after).map(|line| Span::new(line * total, total, unit)).collect();
        Self { spans, unit: unit as u32, total: total as u32 }
    }

    /// Whether each line of the frame becomes one line of the picture.
    const fn is_same(&self) -> bool {
        self.total == 1 && self.unit == 1
    }

    fn covering(&self, lines: Range<usize>) -> Range<usize> {
        let (unit, total) = (self.unit as usize, self.total as usize);
        let end = (lines.end * unit).div_ceil(total).min(self.spans.len());
        (lines.start * unit / total).min(end)..end
    }
}

impl Span {
    fn new(start: usize, total: usize, unit: usize) -> Self {
        let end = start + total;
        let (first, last) = (start / unit, (end - 1) / unit);
        let ends = if first == last { [total, 0] } else { [(first + 1) * unit - start, end - last * unit] };
        Self { first, last, ends: ends.map(|weight| weight as u32) }
    }

    /// Return the weighted sum of one channel of the columns of this span.
    #[inline(always)]
    fn sum(&self, sums: &[u32], left: usize, channels: usize, channel: usize, unit: u32) -> u64 {
        let at = |column: usize| u64::from(sums[(column - left) * channels + channel]);
        let whole: u64 = (self.first + 1..self.last).map(at).sum();
        let [first, last] = self.ends.map(u64::from);
        whole * u64::from(unit) + first * at(self.first) + last * at(self.last)
    }
}

/// Set the brightness of R G B pixels: `Reduction::finish` for means of single pixels.
fn turn_grey(pixels: &[u8], target: &mut [u8]) {
    let weights = LUMA.map(|weight| weight as u32);
    for (pixel, grey) in pixels.as_chunks::<3>().0.iter().zip(target) {
        let [red, green, blue] = pixel.map(u32::from);
        *grey = ((weights[0] * red + weights[1] * green + weights[2] * blue + (1 << 14)) >> 15) as u8;
    }
}

const fn greatest_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Return the mean of the area of one pixel of the picture, from single pixels of an enlarged frame.
    fn mean(frame: &[u8], [width, channels]: [usize; 2], part: Part, size: [u16; 2], at: [usize; 3]) -> f64 {
        let [left, top, part_width, part_height] = part.map(usize::from);
        let [new_width, new_height] = size.map(usize::from);
        let [x, y, channel] = at;
        let mut sum = 0;
        for fine_y in y * part_height..(y + 1) * part_height {
            for fine_x in x * part_width..(x + 1) * part_width {
                let (row, column) = (top + fine_y / new_height, left + fine_x / new_width);
                sum += u64::from(frame[(row * width + column) * channels + channel]);
            }
        }
        sum as f64 / (part_width * part_height) as f64
    }

    proptest! {
        #[test]
        fn every_pixel_is_the_mean_of_what_it_covers(
            (width, height) in (1..40_u16, 1..20_u16),
            corner in any::<[u16; 2]>(),
            extent in any::<[u16; 2]>(),
            size in [1..25_u16, 1..25_u16],
            channels in 1..5_u16,
            seed in any::<u64>(),
        ) {
            let (x, y) = (corner[0] % width, corner[1] % height);
            let part = [x, y, 1 + extent[0] % (width - x), 1 + extent[1] % (height - y)];
            let frame = noise(seed, usize::from(width) * usize::from(height) * usize::from(channels));
            let reduction = Reduction::new([height, width, channels], part, size, false).unwrap();
            let [new_height, new_width, depth] = reduction.target();
            let mut picture = vec![0; new_height * new_width * depth];
            reduction.draw(&frame, &mut picture);
            for (i, &value) in picture.iter().enumerate() {
                let at = [i / depth % new_width, i / depth / new_width, i % depth];
                let expected = mean(&frame, [width.into(), depth], part, size, at);
                prop_assert!((f64::from(value) - expected).abs() < 0.500_001, "{value} for {expected} at {at:?}");
            }
        }

        #[test]
        fn a_row_covers_what_covers_it(before in 1..100_usize, after in 1..100_usize, start in 0..100_usize, length in 1..100_usize) {
            let axis = Axis::new(before, after);
            let lines = start.min(before - 1)..(start + length).min(before).max(start.min(before - 1) + 1);
            let covering = axis.covering(lines.clone());
            for (number, span) in axis.spans.iter().enumerate() {
                prop_assert_eq!(covering.contains(&number), span.first < lines.end && span.last >= lines.start);
            }
        }
    }

    fn noise(seed: u64, length: usize) -> Vec<u8> {
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        (0..length).map(|_| next()).collect()
    }

    #[test]
    fn brightness_is_rounded_as_opencv_does() {
        let reduction = Reduction::new([1, 3, 3], [0, 0, 3, 1], [3, 1], true).unwrap();
        let mut picture = [0; 3];
        reduction.draw(&[255, 255, 255, 255, 0, 0, 10, 20, 30], &mut picture);
        assert_eq!(picture, [255, 76, 18]);
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        let shape = [30, 40, 3];
        for part in [[1, 0, 40, 30], [0, 1, 40, 30], [0, 0, 0, 30], [0, 0, 40, 0], [u16::MAX; 4]] {
            assert!(Reduction::new(shape, part, [8, 8], false).is_none());
        }
        assert!(Reduction::new(shape, [0, 0, 40, 30], [0, 8], false).is_none());
        assert!(Reduction::new([30, 40, 4], [0, 0, 40, 30], [8, 8], true).is_none());
    }

    #[test]
    fn many_lines_do_not_overflow() {
        let reduction = Reduction::new([2000, 2, 3], [0, 0, 2, 2000], [1, 1], true).unwrap();
        let mut picture = [0];
        reduction.draw(&[255; 12_000], &mut picture);
        assert_eq!(picture, [255]);
    }
}
