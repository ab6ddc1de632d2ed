//! Which tiles of a screen a client has not received yet.

use crate::frame::TILE;

/// The most rectangles of an update; beyond it their bounding box is sent, because each rectangle costs time.
const MAX_RECTS: usize = 32;

/// An area: x, y, width and height.
pub type Area = [u16; 4];

/// The changed tiles of a screen.
#[derive(Debug)]
pub struct Damage {
    width: u16,
    height: u16,
    columns: usize,
    grid: Vec<bool>,
    /// No tile has changed if this is false.
    any: bool,
}

impl Damage {
    /// Mark all tiles of a screen.
    #[must_use]
    pub fn new(width: u16, height: u16) -> Damage {
        let (rows, columns) = (tiles(height), tiles(width));
        Damage { width, height, columns, grid: vec![true; rows * columns], any: true }
    }

    /// The number of tiles.
    #[must_use]
    pub fn tiles(&self) -> usize {
        self.grid.len()
    }

    /// Mark the set tiles of `grid`, which has a flag for each tile, row by row.
    pub fn add(&mut self, grid: &[bool]) {
        for (own, other) in self.grid.iter_mut().zip(grid) {
            *own |= other;
        }
        self.any = true;
    }

    /// Mark every tile that `area` touches; what is outside the screen does not count.
    pub fn add_area(&mut self, area: Area) {
        let [left, top, right, bottom] = self.touched(area);
        for row in self.grid.chunks_exact_mut(self.columns).take(bottom).skip(top) {
            row[left..right].fill(true);
        }
        self.any = true;
    }

    /// Return the changed areas inside `region` and the screen, and mark them as sent.
    ///
    /// They are runs of tiles of a row, joined with equal runs above, and clipped to the region.
    pub fn take(&mut self, [x, y, width, height]: Area) -> Vec<Area> {
        if !self.any || x >= self.width || y >= self.height {
            return Vec::new();
        }
        let region = [x, y, width.min(self.width - x), height.min(self.height - y)];
        let [left, top, right, bottom] = self.touched(region);
        let rows = self.grid.chunks_exact(self.columns).take(bottom).skip(top);
        let areas = bounded(merge(rows.map(|row| &row[left..right])));
        self.forget(region);
        areas.into_iter().map(|area| clip(area, [left, top], region)).collect()
    }

    /// Clear the tiles that lie completely in `region`; tiles may extend beyond the edge of the screen.
    fn forget(&mut self, [x, y, width, height]: Area) {
        let (right, bottom) = (x + width, y + height);
        let end = |end: u16, side: u16| if end == side { tiles(end) } else { usize::from(end) / TILE };
        let (left, right) = (tiles(x), end(right, self.width));
        for row in self.grid.chunks_exact_mut(self.columns).take(end(bottom, self.height)).skip(tiles(y)) {
            row[left..right.max(left)].fill(false);
        }
        self.any = [x, y, width, height] != [0, 0, self.width, self.height];
    }

    /// The first column and row of tiles that `area` touches, and those after the last.
    fn touched(&self, [x, y, width, height]: Area) -> [usize; 4] {
        let end = |start: u16, length: u16, side: u16| tiles(start.saturating_add(length).min(side));
        let (right, bottom) = (end(x, width, self.width), end(y, height, self.height));
        [(usize::from(x) / TILE).min(right), (usize::from(y) / TILE).min(bottom), right, bottom]
    }
}

/// A rectangle of tiles: the first column and row, and those after the last.
type Tiles = [usize; 4];

/// Join runs of set tiles in a row with equal runs above.
fn merge<'a>(rows: impl Iterator<Item = &'a [bool]>) -> Vec<Tiles> {
    let mut found: Vec<Tiles> = Vec::new();
    // Where the runs of the row above are in `found`, from left to right, and those of this row.
    let (mut above, mut here): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (y, row) in rows.enumerate() {
        let mut candidates = above.iter().copied().peekable();
        let mut end = 0;
        while let Some(gap) = row[end..].iter().position(|&set| set) {
            let start = end + gap;
            end = row[start..].iter().position(|&set| !set).map_or(row.len(), |length| start + length);
            while candidates.next_if(|&place| found[place][0] < start).is_some() {}
            let joined = candidates.next_if(|&place| found[place][0] == start && found[place][2] == end);
            let place = joined.unwrap_or(found.len());
            if joined.is_none() {
                found.push([start, y, end, y]);
            }
            found[place][3] = y + 1;
            here.push(place);
        }
        std::mem::swap(&mut above, &mut here);
        here.clear();
    }
    found
}

/// The rectangles, or their bounding box if they are more than `MAX_RECTS`.
fn bounded(rects: Vec<Tiles>) -> Vec<Tiles> {
    if rects.len() <= MAX_RECTS {
        return rects;
    }
    let union = |a: Tiles, b: Tiles| [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])];
    rects.into_iter().reduce(union).into_iter().collect()
}

/// The pixels of `rect`, whose tiles count from `origin`, inside `region`.
fn clip(rect: Tiles, origin: [usize; 2], [x, y, width, height]: Area) -> Area {
    let pixel = |tile: usize, first: u16, length: u16| {
        let pixel = u16::try_from(tile * TILE).unwrap_or(u16::MAX);
        pixel.clamp(first, first + length)
    };
    let (left, right) = (pixel(origin[0] + rect[0], x, width), pixel(origin[0] + rect[2], x, width));
    let (top, bottom) = (pixel(origin[1] + rect[1], y, height), pixel(origin[1] + rect[3], y, height));
    [left, top, right - left, bottom - top]
}

/// The number of tiles that cover `length` pixels.
fn tiles(length: u16) -> usize {
    usize::from(length).div_ceil(TILE)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_set_tile_is_sent_once(flags in prop::collection::vec(any::<bool>(), 7 * 4)) {
            let mut damage = Damage::new(7 * 16 - 3, 4 * 16 - 5);
            damage.take([0, 0, u16::MAX, u16::MAX]);
            damage.add(&flags);
            let mut sent = vec![0; flags.len()];
            for [x, y, width, height] in damage.take([0, 0, u16::MAX, u16::MAX]) {
                for row in usize::from(y) / TILE..tiles(y + height) {
                    for column in usize::from(x) / TILE..tiles(x + width) {
                        sent[row * 7 + column] += 1;
                    }
                }
            }
            prop_assert_eq!(sent, flags.iter().map(|&flag| i32::from(flag)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn many_areas_become_one() {
        let mut damage = Damage::new(1600, 1600);
        damage.take([0, 0, 1600, 1600]);
        for n in 0..40 {
            damage.add_area([n * 32, n * 32, 1, 1]);
        }
        assert_eq!(damage.take([0, 0, 1600, 1600]), [[0, 0, 1264, 1264]]);
        assert!(damage.take([0, 0, 1600, 1600]).is_empty());
    }
}
