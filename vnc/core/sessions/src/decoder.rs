//! A session's connection, and the copies of its frames.

use rfb::{Connection, Reduction};

use crate::looks::Looks;

/// A session's connection with its framebuffer. The session locks it.
pub(crate) struct Decoder {
    pub connection: Connection,
    pub looks: Looks,
}

/// The target array has another shape than the frame, whose shape is (height, width, 3) as given here.
#[derive(Debug)]
pub struct Mismatch(pub [usize; 3]);

impl Decoder {
    /// Copy the newest frame into `target`; see `Session::copy`.
    pub fn copy(
        &mut self,
        shape: [usize; 3],
        since: Option<u64>,
        reduction: Option<&Reduction>,
        target: &mut [u8],
    ) -> Result<u64, Mismatch> {
        let Some(frame) = self.connection.frame() else { return Ok(since.unwrap_or_default()) };
        let size = [usize::from(frame.height()), usize::from(frame.width()), 3];
        if shape != size {
            return Err(Mismatch(size));
        }
        match (reduction, since) {
            (Some(reduction), _) => frame.reduce_damage(since, reduction, target),
            (None, Some(frames)) => {
                frame.copy_damage(frames, target);
            }
            (None, None) => target.copy_from_slice(frame.pixels()),
        }
        Ok(self.connection.frames())
    }
}
