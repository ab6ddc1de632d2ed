//! Hextile (RFC 6143 7.7.4): 16x16 tiles, left to right, top to bottom.
//!
//! ```text
//! | 1 | flags: 1 raw, 2 background, 4 foreground, 8 any subrects, 16 subrects coloured |
//! | raw: width x height x 4 pixels, nothing else                                       |
//! | 4 | background, if flag 2                                                          |
//! | 4 | foreground, if flag 4                                                          |
//! | 1 | number of subrects, if flag 8                                                  |
//! | each: 4 pixel (if flag 16), 1 x<<4|y, 1 (width-1)<<4|(height-1)                    |
//! ```

use pixels::{Rgb, Subrects};

use super::{Decoder, Progress, Scan};
use crate::error::{Fault, Reason};
use crate::screen::framebuffer::{Framebuffer, Window};
use crate::screen::geometry::{Rect, Tile};
use crate::wire::Bytes;

pub(super) struct Hextile;

const SIDE: usize = 16;
const RAW: u8 = 1;
const BACKGROUND: u8 = 2;
const FOREGROUND: u8 = 4;
const SUBRECTS: u8 = 8;
const COLOURED: u8 = 16;

impl Decoder for Hextile {
    fn scan(&self, bytes: &[u8], rect: Rect, progress: &mut Progress) -> Result<Scan, Fault> {
        for tile in rect.tiles(SIDE, progress.tile) {
            let start = progress.offset;
            let Some(length) = bytes.get(start..).and_then(|rest| tile_length(rest, tile)) else {
                return Ok(Scan::More(bytes.len().max(start) + 1));
            };
            progress.offset += length;
            progress.tile += 1;
        }
        Ok(super::sized(bytes, progress.offset))
    }

    fn decode(&mut self, payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Fault> {
        let mut painter = Painter {
            window: screen.window(rect).map_err(|reason| reason.at(0))?,
            bytes: Bytes::new(payload),
            background: [0; 3],
            foreground: [0; 3],
        };
        for tile in rect.tiles(SIDE, 0) {
            let at = painter.bytes.offset();
            painter.tile(tile).ok_or(Reason::Short(at + 1, payload.len()).at(at))??;
        }
        Ok(())
    }
}

/// Return the length of the tile at the start of `bytes`; `None` if more bytes are needed.
fn tile_length(bytes: &[u8], tile: Tile) -> Option<usize> {
    let flags = *bytes.first()?;
    if flags & RAW != 0 {
        return Some(1 /* flags */ + tile.area() * 4);
    }
    let colours = usize::from(flags & BACKGROUND != 0) + usize::from(flags & FOREGROUND != 0);
    let fixed = 1 /* flags */ + 4 * colours;
    if flags & SUBRECTS == 0 {
        return Some(fixed);
    }
    let count = usize::from(*bytes.get(fixed)?);
    let each = if flags & COLOURED != 0 {
        4 /* pixel */ + 2 /* place */
    } else {
        2 /* place */
    };
    Some(fixed + 1 /* count */ + count * each)
}

/// Draws the tiles of one rect in their order.
struct Painter<'a, 'b> {
    window: Window<'a>,
    bytes: Bytes<'b>,
    /// Both colours carry over from tile to tile (RFC 6143 7.7.4).
    background: Rgb,
    foreground: Rgb,
}

impl Painter<'_, '_> {
    /// Draw one tile; `None` if the payload ends inside it.
    fn tile(&mut self, tile: Tile) -> Option<Result<(), Fault>> {
        let flags = self.bytes.u8()?;
        if flags & RAW != 0 {
            let pixels = self.bytes.take(tile.area() * 4)?;
            self.window.canvas(tile).copy(pixels);
            return Some(Ok(()));
        }
        if flags & BACKGROUND != 0 {
            self.background = self.bytes.pixel()?;
        }
        if flags & FOREGROUND != 0 {
            self.foreground = self.bytes.pixel()?;
        }
        let count = if flags & SUBRECTS == 0 { 0 } else { usize::from(self.bytes.u8()?) };
        let size = if flags & COLOURED != 0 { 6 } else { 2 };
        let bytes = self.bytes.take(size * count)?;
        let subrects = if flags & COLOURED != 0 {
            Subrects::Coloured(bytes.as_chunks().0)
        } else {
            Subrects::Plain(self.foreground, bytes.as_chunks().0)
        };
        let drawn = self.window.canvas(tile).draw(self.background, subrects);
        Some(drawn.map_err(|first| Reason::SubrectOutside.at(self.bytes.offset() - size * (count - first))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoders::testing::{draw, fault, pixel};

    const TILE: Rect = Rect::new(3, 3, 16, 16);

    #[test]
    fn colours_carry_over_and_subrects_are_drawn() {
        // Two tiles: the second one uses both colours of the first.
        let mut payload = vec![BACKGROUND | FOREGROUND | SUBRECTS, 1, 1, 1, 0, 2, 2, 2, 0, 1, 0x12, 0x34];
        payload.extend([SUBRECTS, 1, 0x00, 0x00]);
        let screen = draw(&mut Hextile, Rect::new(0, 0, 20, 16), &payload).unwrap();
        assert_eq!(pixel(&screen, 0, 0), [1; 3]);
        assert_eq!(pixel(&screen, 1, 2), [2; 3]);
        assert_eq!(pixel(&screen, 4, 6), [2; 3]);
        assert_eq!(pixel(&screen, 5, 6), [1; 3]);
        assert_eq!(pixel(&screen, 16, 0), [2; 3]);
        assert_eq!(pixel(&screen, 17, 0), [1; 3]);
    }

    #[test]
    fn raw_and_coloured_tiles() {
        let mut payload = vec![RAW];
        payload.extend([5, 6, 7, 0].repeat(256));
        payload.extend([BACKGROUND | SUBRECTS | COLOURED, 1, 1, 1, 0, 1, 9, 8, 7, 0, 0x00, 0xf0]);
        let screen = draw(&mut Hextile, Rect::new(0, 0, 32, 16), &payload).unwrap();
        assert_eq!(pixel(&screen, 15, 15), [5, 6, 7]);
        assert_eq!(pixel(&screen, 31, 0), [9, 8, 7]);
        assert_eq!(pixel(&screen, 31, 1), [1, 1, 1]);
    }

    #[test]
    fn a_subrect_outside_its_tile_is_refused() {
        let bad = [SUBRECTS, 1, 0x10, 0xf0];
        assert_eq!(fault(&mut Hextile, TILE, &bad), "subrect outside its rect at 2");
        let bad = [SUBRECTS | COLOURED, 1, 0, 0, 0, 0, 0x01, 0x0f];
        assert_eq!(fault(&mut Hextile, TILE, &bad), "subrect outside its rect at 2");
        // A tile at the edge is smaller than 16x16.
        let bad = [SUBRECTS, 1, 0x00, 0x40];
        assert_eq!(fault(&mut Hextile, Rect::new(3, 3, 4, 4), &bad), "subrect outside its rect at 2");
    }
}
