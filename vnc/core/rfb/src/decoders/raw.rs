//! Raw (RFC 6143 7.7.1).
//!
//! ```text
//! | width x height x 4 | pixels, R G B X |
//! ```

use pixels::drop_padding;

use super::{Decoder, Progress, Scan};
use crate::error::{Fault, Reason};
use crate::screen::framebuffer::Framebuffer;
use crate::screen::geometry::Rect;

pub(super) struct Raw;

impl Decoder for Raw {
    fn scan(&self, bytes: &[u8], rect: Rect, _: &mut Progress) -> Result<Scan, Fault> {
        let need = rect.area() * 4;
        if bytes.len() >= need {
            return Ok(Scan::Whole(need));
        }
        let row = usize::from(rect.width) * 4;
        let rows = bytes.len() / row;
        Ok(if rows == 0 {
            Scan::More(need)
        } else {
            Scan::Rows { need, rows: rows as u16, bytes: rows * row }
        })
    }

    fn decode(&mut self, payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Fault> {
        draw(payload, rect, screen).map_err(|reason| reason.at(0))
    }
}

/// Draw `payload`, which has exactly the rect's pixels.
pub(super) fn draw(payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Reason> {
    let mut window = screen.window(rect)?;
    let row_bytes = usize::from(rect.width).max(1) * 4;
    drop_padding(payload.chunks_exact(row_bytes).zip(window.all_rows()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoders::testing::{draw, pixel};

    #[test]
    fn pixels_are_drawn_at_their_places() {
        let payload: Vec<u8> = (0..6_u8).flat_map(|i| [i, i + 10, i + 20, 99]).collect();
        let screen = draw(&mut Raw, Rect::new(78, 5, 2, 3), &payload).unwrap();
        assert_eq!(pixel(&screen, 78, 5), [0, 10, 20]);
        assert_eq!(pixel(&screen, 79, 7), [5, 15, 25]);
        assert_eq!(pixel(&screen, 77, 7), [0, 0, 0]);
    }

    #[test]
    fn a_rect_of_no_height_needs_no_bytes() {
        assert_eq!(Raw.scan(&[], Rect::new(0, 0, 10, 0), &mut Progress::default()).unwrap(), Scan::Whole(0));
        assert!(draw(&mut Raw, Rect::new(0, 0, 10, 0), &[]).is_ok());
        assert!(draw(&mut Raw, Rect::new(0, 0, 0, 10), &[]).is_ok());
    }
}
