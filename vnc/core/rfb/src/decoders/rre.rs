//! RRE (RFC 6143 7.7.3).
//!
//! ```text
//! | 4  | number of subrects |
//! | 4  | background pixel   |
//! | 12 | each: 4 pixel, 2 x, 2 y, 2 width, 2 height |
//! ```

use super::{Decoder, Progress, Scan, announced};
use crate::error::{Fault, Reason};
use crate::screen::framebuffer::Framebuffer;
use crate::screen::geometry::{Rect, Tile};
use crate::wire::Bytes;

pub(super) struct Rre;

const HEADER: usize = 4 /* count */ + 4 /* background */;
const SUBRECT: usize = 4 /* pixel */ + 2 + 2 + 2 + 2 /* x, y, width, height */;

impl Decoder for Rre {
    fn scan(&self, bytes: &[u8], rect: Rect, _: &mut Progress) -> Result<Scan, Fault> {
        let Some(count) = Bytes::new(bytes).u32() else {
            return Ok(Scan::More(HEADER));
        };
        // 12 * (2^32 - 1) fits 64 bits: no overflow before the bound is checked.
        announced(bytes, HEADER, count as usize * SUBRECT, rect.area())
    }

    fn decode(&mut self, payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Fault> {
        let mut window = screen.window(rect).map_err(|reason| reason.at(0))?;
        let mut bytes = Bytes::starting_at(payload, 4);
        window.fill(window.tile(), bytes.pixel().unwrap_or_default());
        let local = Rect { x: 0, y: 0, ..rect };
        while let Some(colour) = bytes.pixel() {
            let (subrect, tile) = subrect(&mut bytes).ok_or(Reason::Short(SUBRECT, 4).at(bytes.offset()))?;
            if !subrect.fits(local.width, local.height) {
                return Err(Reason::SubrectOutside.at(bytes.offset() - SUBRECT));
            }
            window.fill(tile, colour);
        }
        Ok(())
    }
}

fn subrect(bytes: &mut Bytes<'_>) -> Option<(Rect, Tile)> {
    let rect = Rect::new(bytes.u16()?, bytes.u16()?, bytes.u16()?, bytes.u16()?);
    let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(usize::from);
    Some((rect, Tile { x, y, width, height }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoders::testing::{draw, fault, pixel};

    fn payload(count: u32, subrects: &[[u16; 4]]) -> Vec<u8> {
        let mut bytes = count.to_be_bytes().to_vec();
        bytes.extend([1, 2, 3, 0]);
        for subrect in subrects {
            bytes.extend([9, 8, 7, 0]);
            bytes.extend(subrect.iter().flat_map(|n| n.to_be_bytes()));
        }
        bytes
    }

    #[test]
    fn subrects_are_drawn_on_the_background() {
        let screen = draw(&mut Rre, Rect::new(10, 10, 8, 8), &payload(1, &[[6, 7, 2, 1]])).unwrap();
        assert_eq!(pixel(&screen, 10, 10), [1, 2, 3]);
        assert_eq!(pixel(&screen, 17, 17), [9, 8, 7]);
        assert_eq!(pixel(&screen, 15, 17), [1, 2, 3]);
        assert_eq!(pixel(&screen, 18, 17), [0, 0, 0]);
    }

    #[test]
    fn a_subrect_outside_its_rect_is_refused() {
        for bad in [[7, 0, 2, 1], [0, 8, 1, 1], [65_535, 0, 65_535, 1]] {
            let text = fault(&mut Rre, Rect::new(10, 10, 8, 8), &payload(1, &[bad]));
            assert_eq!(text, "subrect outside its rect at 8");
        }
    }

    #[test]
    fn a_huge_count_is_refused_at_once() {
        let scan = Rre.scan(&payload(u32::MAX, &[]), Rect::new(0, 0, 8, 8), &mut Progress::default());
        assert!(matches!(scan.unwrap_err().reason, Reason::TooLong(51_539_607_540, _)));
    }
}
