//! Received bytes in contiguous memory, so that decoders work on them in place.

/// The least room for one read of the socket.
const READ: usize = 64 << 10;
/// The most room for one read, so that a complete update is decoded before more of the next one is read.
const MOST: usize = 256 << 10;
/// A buffer larger than this is freed when less than half of it was needed for `UPDATES` updates. One large update then
/// does not cost memory for ever, and a stream of large updates does not allocate for each.
const KEEP: usize = 512 << 10;
const UPDATES: u32 = 64;
/// It is also freed when no bytes arrive between this many calls of `trim`.
const TRIMS: u32 = 3;

/// INVARIANT: `start <= end <= data.len()`. The bytes between them are received and not consumed.
#[derive(Default)]
pub(crate) struct Buffer {
    data: Vec<u8>,
    start: usize,
    end: usize,
    /// The largest `end` since the size was last checked, and how often the buffer was empty since then.
    most: usize,
    emptied: u32,
    /// Calls of `trim` since the last bytes arrived.
    trims: u32,
}

impl Buffer {
    pub fn pending(&self) -> &[u8] {
        &self.data[self.start..self.end]
    }

    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        self.emptied += 1;
        if self.emptied >= UPDATES {
            if self.data.len() > KEEP && self.most < self.data.len() / 2 {
                self.data = Vec::new();
            }
            (self.most, self.emptied) = (0, 0);
        }
    }

    /// Free a large buffer that is not used. The caller calls this at intervals of a fraction of a second.
    pub fn trim(&mut self) {
        self.trims += 1;
        if self.trims >= TRIMS && self.start == self.end && self.data.len() > KEEP {
            self.data = Vec::new();
        }
    }

    /// Return room for the next read; follow with `filled`.
    pub fn space(&mut self) -> &mut [u8] {
        if self.data.len() - self.end < READ {
            self.data.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.data.len() - self.end < READ {
                let size = (2 * self.data.len()).max(self.end + READ);
                // A new vector of zeros, because its pages take no memory before they are written to.
                let old = std::mem::replace(&mut self.data, vec![0; size]);
                self.data[..self.end].copy_from_slice(&old[..self.end]);
            }
        }
        let most = self.data.len().min(self.end + MOST);
        &mut self.data[self.end..most]
    }

    /// Add the first `count` bytes of `space` to the pending bytes.
    pub fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.data.len());
        self.most = self.most.max(self.end);
        self.trims = 0;
    }

    pub fn extend(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let space = self.space();
            let count = bytes.len().min(space.len());
            space[..count].copy_from_slice(&bytes[..count]);
            self.filled(count);
            bytes = &bytes[count..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let mut buffer = Buffer::default();
        let (mut sent, mut got) = (0_u32, 0_u32);
        for round in 1..2000_u32 {
            let piece: Vec<u8> = (sent..sent + round).map(|i| (i % 251) as u8).collect();
            buffer.extend(&piece);
            sent += round;
            let take = buffer.pending().len() * 2 / 3;
            assert!(buffer.pending()[..take].iter().all(|&byte| {
                got += 1;
                byte == ((got - 1) % 251) as u8
            }));
            buffer.consume(take);
        }
        assert_eq!(buffer.pending().len(), (sent - got) as usize);
    }

    #[test]
    fn a_large_buffer_is_kept_while_it_is_needed_and_freed_then() {
        let mut buffer = Buffer::default();
        for _ in 0..3 * UPDATES {
            buffer.extend(&vec![0; 6 << 20]);
            buffer.consume(6 << 20);
            assert!(buffer.data.len() >= 6 << 20);
        }
        for _ in 0..2 * UPDATES {
            buffer.extend(&[0; 100]);
            buffer.consume(100);
        }
        assert!(buffer.data.len() <= KEEP);
    }

    #[test]
    fn a_large_buffer_is_freed_when_nothing_arrives() {
        let mut buffer = Buffer::default();
        buffer.extend(&vec![0; 3 << 20]);
        for _ in 0..2 * TRIMS {
            buffer.trim();
        }
        assert_eq!(buffer.pending().len(), 3 << 20);
        buffer.consume(3 << 20);
        assert!(buffer.data.len() > KEEP);
        buffer.trim();
        assert!(buffer.data.is_empty());
        buffer.extend(&[0; 100]);
        buffer.trim();
        assert_eq!(buffer.pending().len(), 100);
    }

    #[test]
    fn the_size_of_a_read_is_bounded() {
        let mut buffer = Buffer::default();
        buffer.extend(&vec![0; 3 << 20]);
        buffer.consume(3 << 20);
        assert!((READ..=MOST).contains(&buffer.space().len()));
    }
}
