//! Copies of frames for other threads.

use std::sync::TryLockError;

use rfb::Reduction;

use super::Session;
use crate::decoder::Mismatch;
use crate::sync::lock;

impl Session {
    /// Copy the newest frame like `copy`, or return None if the decoder is locked.
    pub fn try_copy(
        &self,
        shape: [usize; 3],
        since: Option<u64>,
        reduction: Option<&Reduction>,
        target: &mut [u8],
    ) -> Option<Result<u64, Mismatch>> {
        let mut decoder = match self.decoder.try_lock() {
            Ok(decoder) => decoder,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.notice.copied();
        Some(decoder.copy(shape, since, reduction, target))
    }

    /// Copy the newest frame into `target`, and return its number.
    ///
    /// `shape` is the frame's that the caller expects: (height, width, 3). If the target contains frame `since`, only later
    /// changes are copied. If there is no whole frame, the target is not changed. With a `reduction`, whose source has this
    /// shape, the target is a picture of it.
    pub fn copy(
        &self,
        shape: [usize; 3],
        since: Option<u64>,
        reduction: Option<&Reduction>,
        target: &mut [u8],
    ) -> Result<u64, Mismatch> {
        let mut decoder = lock(&self.decoder);
        self.notice.copied();
        decoder.copy(shape, since, reduction, target)
    }
}
