//! ZRLE (RFC 6143 7.7.6): 64x64 tiles through one zlib stream.
//!
//! ```text
//! | 4      | length                                                            |
//! | length | deflated tiles, each: 1 sub-encoding and                          |
//! |        |   0       raw: width x height x 3                                 |
//! |        |   1       solid: 3 colour                                         |
//! |        |   2-16    palette: 3n colours, 1, 2 or 4 bits a pixel, rows padded|
//! |        |   128     runs: 3 colour, 1+ length                               |
//! |        |   130-255 palette runs: 3(n-128) colours, 1 index, 1+ length      |
//! ```
//! The offsets of faults inside tiles count inflated bytes.

use pixels::{Depth, Palette, Rgb};

use super::inflate::Inflater;
use super::{Decoder, Progress, Scan, announced};
use crate::error::{Fault, Reason};
use crate::screen::brush::{Brush, Dab};
use crate::screen::framebuffer::{Framebuffer, Window};
use crate::screen::geometry::{Rect, Tile};
use crate::wire::Bytes;

const HEADER: usize = 4 /* length */;
const SIDE: usize = 64;
const TILE_BYTES: usize = SIDE * SIDE * 3;
/// The largest size of a tile in bytes: every pixel is a run, and the palette is full.
const LARGEST_TILE: usize =
    SIDE * SIDE * (3 /* colour */ + 1/* run */) + 1 /* sub-encoding */ + 127 * 3 /* palette */;
/// The bytes that are painted at a time. `Runs` has as many behind its last pixel.
const STROKE: usize = 48;

#[derive(Default)]
pub(super) struct Zrle {
    stream: Inflater,
    runs: Runs,
}

/// The pixels of one tile without row boundaries. Runs are painted here and then copied to the rows.
struct Runs(Box<[u8; TILE_BYTES + STROKE]>);

impl Default for Runs {
    fn default() -> Self {
        Self(Box::new([0; TILE_BYTES + STROKE]))
    }
}

impl Decoder for Zrle {
    fn scan(&self, bytes: &[u8], rect: Rect, _: &mut Progress) -> Result<Scan, Fault> {
        match Bytes::new(bytes).u32() {
            None => Ok(Scan::More(HEADER)),
            Some(length) => announced(bytes, HEADER, length as usize, rect.area()),
        }
    }

    fn decode(&mut self, payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Fault> {
        let mut part = self.stream.part(&payload[HEADER..]);
        let mut window = screen.window(rect).map_err(|reason| reason.at(0))?;
        for tile in rect.tiles(SIDE, 0) {
            let offset = part.offset();
            let inflated = part.fill(LARGEST_TILE).map_err(|reason| reason.at(HEADER))?;
            let short = Reason::Short(offset + inflated.len() + 1, offset + inflated.len());
            let mut bytes = Bytes::new(inflated);
            let drawn = draw_tile(&mut bytes, tile, &mut window, &mut self.runs);
            let used = bytes.offset();
            drawn.ok_or(short).flatten().map_err(|reason| reason.at(offset + used))?;
            part.consume(used);
        }
        let offset = part.offset();
        part.finish().map_err(|reason| reason.at(offset))
    }
}

/// Draw one tile; `None` if the data ends inside it.
fn draw_tile(
    bytes: &mut Bytes<'_>,
    tile: Tile,
    window: &mut Window<'_>,
    runs: &mut Runs,
) -> Option<Result<(), Reason>> {
    match bytes.u8()? {
        0 => {
            let pixels = bytes.take(tile.area() * 3)?;
            for (source, row) in pixels.chunks_exact(tile.width * 3).zip(window.rows(tile)) {
                row.copy_from_slice(source);
            }
        }
        1 => window.fill(tile, bytes.short_pixel()?),
        size @ 2..=16 => return packed(bytes, size.into(), tile, window),
        128 => {
            if let Err(reason) = plain_runs(bytes, tile.area(), runs)? {
                return Some(Err(reason));
            }
            runs.cut(tile, window);
        }
        size @ 130.. => {
            let palette = Palette::new(bytes.take((usize::from(size) - 128) * 3)?);
            if let Err(reason) = palette_runs(bytes, &palette, tile.area(), runs)? {
                return Some(Err(reason));
            }
            runs.cut(tile, window);
        }
        other => return Some(Err(Reason::Reserved("zrle sub-encoding", other.into()))),
    }
    Some(Ok(()))
}

fn packed(
    bytes: &mut Bytes<'_>,
    size: usize,
    tile: Tile,
    window: &mut Window<'_>,
) -> Option<Result<(), Reason>> {
    let palette = Palette::new(bytes.take(size * 3)?);
    let depth = match size {
        2 => Depth::One,
        3..=4 => Depth::Two,
        _ => Depth::Four,
    };
    let row_bytes = depth.row_bytes(tile.width);
    let data = bytes.take(row_bytes * tile.height)?;
    if let Some(index) = stray(data, depth as usize, size, tile.width) {
        return Some(Err(Reason::PaletteIndex(index.into(), size as u32)));
    }
    palette.expand(depth, data.chunks_exact(row_bytes).zip(window.rows(tile)));
    Some(Ok(()))
}

/// Return an index that is not in the palette. The padding at the end of rows is ignored.
fn stray(data: &[u8], bits: usize, size: usize, width: usize) -> Option<u8> {
    if size == 1 << bits {
        return None;
    }
    // If rows have no padding, a fast check of whole bytes comes first.
    let fine = match bits {
        _ if !(width * bits).is_multiple_of(8) => false,
        4 => data.iter().fold(0, |most, &byte| (byte >> 4).max(byte & 15).max(most)) < size as u8,
        _ => data.iter().fold(0, |threes, &byte| byte & byte >> 1 & 0x55 | threes) == 0,
    };
    if fine {
        return None;
    }
    let row_bytes = (width * bits).div_ceil(8);
    let mask = (1 << bits) - 1;
    let index = |row: &[u8], x: usize| row[x * bits / 8] >> (8 - bits - x * bits % 8) & mask;
    data.chunks_exact(row_bytes)
        .flat_map(|row| (0..width).map(move |x| index(row, x)))
        .find(|&index| usize::from(index) >= size)
}

/// Read the length of a run: one more than the sum of its bytes, of which all but the last are 255.
#[inline]
fn run_length(bytes: &mut Bytes<'_>) -> Option<usize> {
    let mut length = 1;
    loop {
        let byte = bytes.u8()?;
        length += usize::from(byte);
        if byte != 255 {
            return Some(length);
        }
    }
}

fn plain_runs(bytes: &mut Bytes<'_>, area: usize, runs: &mut Runs) -> Option<Result<(), Reason>> {
    let mut done = 0;
    while done < area {
        let colour = bytes.short_pixel()?;
        let length = run_length(bytes)?;
        if length > area - done {
            return Some(Err(Reason::Run(length, area - done)));
        }
        runs.stroke(done, length, colour);
        done += length;
    }
    Some(Ok(()))
}

fn palette_runs(
    bytes: &mut Bytes<'_>,
    palette: &Palette,
    area: usize,
    runs: &mut Runs,
) -> Option<Result<(), Reason>> {
    let mut done = 0;
    while done < area {
        let code = bytes.u8()?;
        let index = code & 0x7f;
        if usize::from(index) >= palette.size() {
            return Some(Err(Reason::PaletteIndex(index.into(), palette.size() as u32)));
        }
        let length = if code & 0x80 == 0 { 1 } else { run_length(bytes)? };
        if length > area - done {
            return Some(Err(Reason::Run(length, area - done)));
        }
        runs.stroke(done, length, palette.rgb(index));
        done += length;
    }
    Some(Ok(()))
}

impl Runs {
    /// Paint `length` pixels from pixel `start` on, and up to `STROKE` bytes behind them, which the next run overwrites.
    /// Most runs are short, so runs of up to four pixels have a shorter store.
    #[inline]
    fn stroke(&mut self, start: usize, length: usize, colour: Rgb) {
        let Dab(dab) = Dab::new(colour);
        // INVARIANT: start + length <= 64 * 64, and the buffer has `STROKE` more bytes behind these pixels.
        let Some(mut room) = self.0.get_mut(start * 3..) else { return };
        if length <= 4 {
            if let Some(first) = room.first_chunk_mut() {
                *first = dab;
            }
            return;
        }
        let brush = Brush::new(colour);
        let mut left = length * 3;
        while let Some((chunk, rest)) = room.split_first_chunk_mut() {
            *chunk = brush.0;
            if left <= STROKE {
                return;
            }
            left -= STROKE;
            room = rest;
        }
    }

    /// Copy the pixels to the rows of the tile.
    fn cut(&self, tile: Tile, window: &mut Window<'_>) {
        for (source, row) in self.0.chunks_exact(tile.width * 3).zip(window.rows(tile)) {
            row.copy_from_slice(source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoders::testing::{draw, fault, pixel};
    use flate2::{Compress, Compression, FlushCompress};

    fn payload(tiles: &[u8]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(tiles.len() + 1000);
        Compress::new(Compression::fast(), true)
            .compress_vec(tiles, &mut packed, FlushCompress::Sync)
            .unwrap();
        [&(packed.len() as u32).to_be_bytes()[..], &packed].concat()
    }

    const RECT: Rect = Rect::new(1, 2, 5, 3);

    fn refused(tile: &[u8]) -> String {
        fault(&mut Zrle::default(), RECT, &payload(tile))
    }

    fn row(tile: &[u8], y: usize) -> [u8; 5] {
        let screen = draw(&mut Zrle::default(), RECT, &payload(tile)).unwrap();
        assert_eq!(pixel(&screen, 6, 2), [0; 3], "drawn beyond the rect");
        [1, 2, 3, 4, 5].map(|x| pixel(&screen, x, y)[0])
    }

    #[test]
    fn every_sub_encoding_is_drawn() {
        let raw: Vec<u8> = (0..15_u8).flat_map(|i| [i; 3]).collect();
        assert_eq!(row(&[&[0][..], &raw].concat(), 4), [10, 11, 12, 13, 14]);
        assert_eq!(row(&[1, 7, 8, 9], 3), [7; 5]);
        assert_eq!(row(&[2, 1, 1, 1, 2, 2, 2, 0, 0, 0b1010_1000], 4), [2, 1, 2, 1, 2]);
        let three = [3, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0, 0, 0b0001_1000, 0b0100_0000, 0, 0];
        assert_eq!(row(&three, 3), [1, 2, 3, 1, 2]);
        let mut five = vec![5];
        five.extend((1..=5).flat_map(|i| [i; 3]));
        five.extend([0x01, 0x23, 0x40].repeat(3));
        assert_eq!(row(&five, 2), [1, 2, 3, 4, 5]);
        assert_eq!(row(&[128, 1, 1, 1, 6, 2, 2, 2, 7], 3), [1, 1, 2, 2, 2]);
        assert_eq!(row(&[130, 1, 1, 1, 2, 2, 2, 0x80, 5, 1, 0x80, 7], 3), [1, 2, 1, 1, 1]);
    }

    #[test]
    fn long_runs_and_tiles_at_the_edge() {
        let mut tiles = vec![128, 1, 1, 1];
        tiles.extend([255; 16]);
        tiles.push(15);
        tiles.extend([1, 2, 2, 2]);
        let screen = draw(&mut Zrle::default(), Rect::new(0, 0, 70, 64), &payload(&tiles)).unwrap();
        assert_eq!(pixel(&screen, 63, 63), [1; 3]);
        assert_eq!(pixel(&screen, 69, 63), [2; 3]);
    }

    #[test]
    fn reserved_sub_encodings_are_refused() {
        for code in (17..=127).chain([129]) {
            assert_eq!(refused(&[code, 0, 0, 0]), format!("zrle sub-encoding {code} does not exist at 1"));
        }
    }

    #[test]
    fn indices_and_runs_stay_inside() {
        assert_eq!(
            refused(&[&[3][..], &[0; 9], &[0xff; 6]].concat()),
            "palette index 3, palette has 3 at 16"
        );
        assert_eq!(refused(&[130, 1, 1, 1, 2, 2, 2, 2]), "palette index 2, palette has 2 at 8");
        assert_eq!(refused(&[128, 1, 1, 1, 15]), "run of 16 pixels, 15 left at 5");
        assert_eq!(refused(&[130, 1, 1, 1, 2, 2, 2, 0x81, 255, 0]), "run of 256 pixels, 15 left at 10");
    }

    #[test]
    fn padding_bits_may_be_anything() {
        assert_eq!(row(&[&[3][..], &[9; 9], &[0, 0x3f].repeat(3)].concat(), 2), [9; 5]);
    }

    #[test]
    fn wrong_lengths_are_refused() {
        assert_eq!(refused(&[1, 7, 8]), "3 bytes of data, 4 needed at 1");
        assert_eq!(refused(&[1, 7, 8, 9, 0]), "data after the last pixel at 4");
        assert_eq!(refused(&[0; 1000]), "data after the last pixel at 46");
        let huge = fault(&mut Zrle::default(), RECT, &[255; 4]);
        assert!(huge.starts_with("4294967295 bytes announced"), "{huge}");
    }
}
