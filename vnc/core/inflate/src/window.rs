//! Where inflated bytes go: behind those that came before, to which they refer.

use crate::Error;

/// How far back a distance may reach (RFC 1951 2).
const HISTORY: usize = 32 << 10;

/// When so much has come, all but the history is forgotten. More of it means less to move, less of it fits the caches.
const FULL: usize = 192 << 10;

/// The longest match and what is written in front of it and beyond it before the room is looked at again.
pub const MARGIN: usize = 320;

/// The first room; what needs more is doubled.
const FIRST: usize = 16 << 10;

#[derive(Default)]
pub struct Window {
    bytes: Vec<u8>,
    /// Where the present output begins, how far it has come and how far it may come.
    start: usize,
    at: usize,
    limit: usize,
}

impl Window {
    /// Begin an output of at most `most` bytes.
    pub fn begin(&mut self, most: usize) {
        if self.at > FULL {
            self.bytes.copy_within(self.at - HISTORY..self.at, 0);
            self.at = HISTORY;
        }
        self.start = self.at;
        self.limit = self.at.saturating_add(most);
    }

    /// Forget everything.
    pub const fn clear(&mut self) {
        (self.start, self.at, self.limit) = (0, 0, 0);
    }

    /// What has come since the beginning; symbols may have brought more than allowed.
    pub fn output(&self) -> Result<&[u8], Error> {
        if self.at > self.limit { Err(Error::TooMuch) } else { Ok(&self.bytes[self.start..self.at]) }
    }

    /// Room for a few symbols more, so long as there is not too much already.
    pub fn make_room(&mut self) -> Result<Room<'_>, Error> {
        if self.at > self.limit {
            return Err(Error::TooMuch);
        }
        if self.bytes.len() < self.at + MARGIN {
            let wanted = (2 * self.bytes.len()).max(FIRST).min(self.limit).max(self.at);
            self.bytes.resize(wanted + MARGIN, 0);
        }
        let end = self.limit.min(self.bytes.len() - MARGIN);
        Ok(Room { bytes: &mut self.bytes, at: &mut self.at, end })
    }

    /// Write what needs no inflating.
    pub fn extend(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let end = self.at + bytes.len();
        if end > self.limit {
            return Err(Error::TooMuch);
        }
        if self.bytes.len() < end {
            self.bytes.resize(end + MARGIN, 0);
        }
        self.bytes[self.at..end].copy_from_slice(bytes);
        self.at = end;
        Ok(())
    }
}

/// Room for output behind its history.
///
/// INVARIANT: `bytes` go on for `MARGIN` behind `end`.
pub struct Room<'a> {
    pub bytes: &'a mut [u8],
    pub at: &'a mut usize,
    /// Nothing more is begun beyond this.
    pub end: usize,
}
