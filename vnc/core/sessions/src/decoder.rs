//! The connection of a session, and the frames that are copied out of it.

use rfb::Connection;

pub(crate) struct Decoder {
    pub connection: Connection,
    /// Whether Python has been told of a frame that nobody has taken since.
    pub announced: bool,
}

/// The array for a frame has another shape than the frame, which has this one.
#[derive(Debug)]
pub struct Mismatch(pub [usize; 3]);

impl Decoder {
    /// Copy the newest frame into `target`; see `Session::copy`.
    pub fn copy(
        &mut self,
        shape: [usize; 3],
        since: Option<u64>,
        target: &mut [u8],
    ) -> Result<u64, Mismatch> {
        // Whoever has the newest frame is told of the next.
        self.announced = false;
        let Some(frame) = self.connection.frame() else { return Ok(since.unwrap_or_default()) };
        let size = [usize::from(frame.height()), usize::from(frame.width()), 3];
        if shape != size {
            return Err(Mismatch(size));
        }
        match since {
            Some(frames) => {
                frame.copy_damage(frames, target);
            }
            None => target.copy_from_slice(frame.pixels()),
        }
        Ok(self.connection.frames())
    }
}
