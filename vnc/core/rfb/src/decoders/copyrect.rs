//! `CopyRect` (RFC 6143 7.7.2).
//!
//! ```text
//! | 2 | source x |
//! | 2 | source y |
//! ```

use super::{Decoder, Progress, Scan, sized};
use crate::error::{Fault, Reason};
use crate::screen::framebuffer::Framebuffer;
use crate::screen::geometry::Rect;
use crate::wire::Bytes;

pub(super) struct CopyRect;

impl Decoder for CopyRect {
    fn scan(&self, bytes: &[u8], _: Rect, _: &mut Progress) -> Result<Scan, Fault> {
        Ok(sized(bytes, 2 /* x */ + 2 /* y */))
    }

    fn decode(&mut self, payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Fault> {
        let mut bytes = Bytes::new(payload);
        let (Some(x), Some(y)) = (bytes.u16(), bytes.u16()) else {
            return Err(Reason::Short(4, payload.len()).at(0));
        };
        screen.copy(x, y, rect).map_err(|reason| reason.at(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoders::testing::fault;

    #[test]
    fn a_source_outside_is_refused() {
        assert_eq!(
            fault(&mut CopyRect, Rect::new(0, 0, 10, 10), &[0, 71, 0, 0]),
            "copy source 71,0 outside the framebuffer at 0"
        );
        assert!(fault(&mut CopyRect, Rect::new(0, 0, 1, 1), &[255; 4]).contains("65535,65535"));
    }
}
