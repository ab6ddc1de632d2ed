//! Where inflated bytes go: behind those that came before, to which they refer.

/// How far back a distance may reach (RFC 1951 2).
const HISTORY: usize = 32 << 10;

/// When so much has come, all but the history is forgotten. More of it means less to move, less of it fits the caches.
const FULL: usize = 192 << 10;

/// Bytes that are inflated at once, so that most rects are one piece.
pub const PIECE: usize = 256 << 10;

/// The longest match and what is written in front of it and beyond it before the room is looked at again.
pub const MARGIN: usize = 320;

/// The first room; what needs more is doubled.
const FIRST: usize = 16 << 10;

/// INVARIANT: `start <= at <= bytes.len()`.
#[derive(Default)]
pub struct Window {
    bytes: Vec<u8>,
    /// Where the output begins that nobody has consumed, how far it has come and how far it is to come.
    start: usize,
    at: usize,
    goal: usize,
}

impl Window {
    /// Output that nobody has consumed.
    #[inline]
    pub fn pending(&self) -> &[u8] {
        &self.bytes[self.start..self.at]
    }

    /// `count` pending bytes are done with.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.at);
    }

    /// From now on there is room until a piece is pending, and `size` bytes at least.
    pub fn aim(&mut self, size: usize) {
        if self.at > FULL {
            let kept = self.start.min(self.at - HISTORY);
            self.bytes.copy_within(kept..self.at, 0);
            (self.start, self.at) = (self.start - kept, self.at - kept);
        }
        self.goal = self.start + size.max(PIECE);
    }

    /// Forget everything.
    pub const fn clear(&mut self) {
        (self.start, self.at, self.goal) = (0, 0, 0);
    }

    /// How many bytes are missing to what was aimed at.
    pub const fn missing(&self) -> usize {
        self.goal.saturating_sub(self.at)
    }

    /// Room for some symbols; None when nothing is missing.
    pub fn make_room(&mut self) -> Option<Room<'_>> {
        if self.missing() == 0 {
            return None;
        }
        if self.bytes.len() < self.at + MARGIN {
            let wanted = (2 * self.bytes.len()).max(FIRST).min(self.goal).max(self.at);
            self.bytes.resize(wanted + MARGIN, 0);
        }
        let end = self.goal.min(self.bytes.len() - MARGIN);
        Some(Room { bytes: &mut self.bytes, at: &mut self.at, end })
    }

    /// Write what needs no inflating.
    pub fn extend(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end + MARGIN, 0);
        }
        self.bytes[self.at..end].copy_from_slice(bytes);
        self.at = end;
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
