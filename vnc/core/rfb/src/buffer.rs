//! Received bytes in one piece, so that decoders work on them in place.

/// A socket read is offered at least this much room.
const READ: usize = 64 << 10;
/// ... and at most this much, so that updates are not gathered while there is one to be decoded.
const MOST: usize = 256 << 10;
/// A larger buffer is given back when it has not been needed for some updates: one exceptional update must not cost
/// memory for ever, and a stream of large ones not an allocation each.
const KEEP: usize = 512 << 10;
const UPDATES: u32 = 64;
/// ... or when nothing has come at all between so many calls of `rest`.
const RESTS: u32 = 3;

/// INVARIANT: `start <= end <= data.len()`; the bytes between them are received and not consumed.
#[derive(Default)]
pub(crate) struct Buffer {
    data: Vec<u8>,
    start: usize,
    end: usize,
    /// The most bytes held since the size was last thought over, and how often it has been empty since.
    most: usize,
    emptied: u32,
    rests: u32,
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

    /// To be called now and then.
    pub fn rest(&mut self) {
        self.rests += 1;
        if self.rests >= RESTS && self.start == self.end && self.data.len() > KEEP {
            self.data = Vec::new();
        }
    }

    /// Room for the next read.
    pub fn space(&mut self) -> &mut [u8] {
        if self.data.len() - self.end < READ {
            self.data.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.data.len() - self.end < READ {
                let size = (2 * self.data.len()).max(self.end + READ);
                // Not resized: what is new and zero takes no memory before it is written to.
                let old = std::mem::replace(&mut self.data, vec![0; size]);
                self.data[..self.end].copy_from_slice(&old[..self.end]);
            }
        }
        let most = self.data.len().min(self.end + MOST);
        &mut self.data[self.end..most]
    }

    /// `count` bytes of `space` now hold data.
    pub fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.data.len());
        self.most = self.most.max(self.end);
        self.rests = 0;
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
    fn a_large_buffer_is_kept_while_it_is_needed_and_given_back_then() {
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
    fn a_large_buffer_is_given_back_when_nothing_comes() {
        let mut buffer = Buffer::default();
        buffer.extend(&vec![0; 3 << 20]);
        for _ in 0..2 * RESTS {
            buffer.rest();
        }
        assert_eq!(buffer.pending().len(), 3 << 20);
        buffer.consume(3 << 20);
        assert!(buffer.data.len() > KEEP);
        buffer.rest();
        assert!(buffer.data.is_empty());
        buffer.extend(&[0; 100]);
        buffer.rest();
        assert_eq!(buffer.pending().len(), 100);
    }

    #[test]
    fn reads_are_of_a_bounded_size() {
        let mut buffer = Buffer::default();
        buffer.extend(&vec![0; 3 << 20]);
        buffer.consume(3 << 20);
        assert!((READ..=MOST).contains(&buffer.space().len()));
    }
}
