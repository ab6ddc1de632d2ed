//! The buffer of inflated bytes. New bytes are written behind the earlier ones, to which they refer.

/// The largest distance (RFC 1951 2).
const HISTORY: usize = 32 << 10;

/// When this many bytes are stored, all but the history is dropped. A larger value moves bytes less often; a smaller one
/// fits the caches.
const FULL: usize = 192 << 10;

/// The bytes that are inflated at once. Most rects fit one piece.
pub const PIECE: usize = 256 << 10;

/// The most bytes that are written between two checks of the room: the longest match, and some literals before it and
/// bytes behind it.
pub const MARGIN: usize = 320;

/// The first size of the buffer, which is doubled on demand.
const FIRST: usize = 16 << 10;

/// The history and the pending output. INVARIANT: `start <= at <= bytes.len()`.
#[derive(Default)]
pub struct Window {
    bytes: Vec<u8>,
    /// The start of the pending output, its end, and the end that was requested.
    start: usize,
    at: usize,
    goal: usize,
}

impl Window {
    /// The output that is not consumed.
    #[inline]
    pub fn pending(&self) -> &[u8] {
        &self.bytes[self.start..self.at]
    }

    /// Mark `count` pending bytes as consumed.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.at);
    }

    /// Request that a piece is pending, and at least `size` bytes.
    pub fn aim(&mut self, size: usize) {
        if self.at > FULL {
            let kept = self.start.min(self.at - HISTORY);
            self.bytes.copy_within(kept..self.at, 0);
            (self.start, self.at) = (self.start - kept, self.at - kept);
        }
        self.goal = self.start + size.max(PIECE);
    }

    /// Drop all bytes.
    pub const fn clear(&mut self) {
        (self.start, self.at, self.goal) = (0, 0, 0);
    }

    /// The number of bytes that are missing of those requested by `aim`.
    pub const fn missing(&self) -> usize {
        self.goal.saturating_sub(self.at)
    }

    /// Return room for some symbols; `None` if nothing is missing.
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

    /// Append bytes of a stored block.
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
/// INVARIANT: `bytes` has `MARGIN` more bytes behind `end`.
pub struct Room<'a> {
    pub bytes: &'a mut [u8],
    pub at: &'a mut usize,
    /// No symbol is started after this offset.
    pub end: usize,
}
