//! Compressed data as a stream of bits, the least significant first (RFC 1951 3.1.1).

/// A stream of bits. INVARIANT: the low `count` bits of `word` are the next ones; those above are correct or zero.
#[derive(Clone)]
pub struct Bits<'a> {
    input: &'a [u8],
    /// The input that is not in the word.
    unread: &'a [u8],
    word: u64,
    count: u8,
}

/// The bytes that two wide refills may read.
const WIDE: usize = 16;

impl<'a> Bits<'a> {
    /// Return the bits of `input` without the first `skip`, which are fewer than eight.
    pub fn new(input: &'a [u8], skip: u32) -> Self {
        let mut bits = Self { input, unread: input, word: 0, count: 0 };
        bits.refill();
        bits.skip(skip.min(bits.count.into()));
        bits
    }

    /// Whether the remaining input is long enough for two wide refills.
    #[inline(always)]
    pub const fn wide(&self) -> bool {
        self.unread.len() >= WIDE
    }

    /// Refill the word to at least 56 bits with one read. Call `wide` first.
    #[inline(always)]
    pub fn refill_wide(&mut self) {
        let Some(&eight) = self.unread.first_chunk() else { return };
        self.word |= u64::from_le_bytes(eight) << (self.count & 63);
        self.unread = &self.unread[usize::from((63 - self.count) >> 3 & 7)..];
        self.count |= 0b11_1000;
    }

    /// Refill the word to at least 56 bits, or to all that remain.
    #[inline]
    pub fn refill(&mut self) {
        if self.wide() {
            return self.refill_wide();
        }
        while self.count < 56
            && let Some((&byte, unread)) = self.unread.split_first()
        {
            self.word |= u64::from(byte) << self.count;
            self.unread = unread;
            self.count += 8;
        }
    }

    /// The next bits, the first of them lowest, and zeros after the end.
    #[inline(always)]
    pub const fn word(&self) -> u64 {
        self.word
    }

    /// Skip as many bits as the low byte of `count` contains, at most 63.
    #[inline(always)]
    pub const fn skip(&mut self, count: u32) {
        // A shift uses six bits of `count`, and an 8-bit subtraction eight, so neither needs a mask.
        self.word = self.word.wrapping_shr(count);
        self.count = self.count.wrapping_sub(count as u8);
    }

    /// Read the next `count` bits, at most 32; `None` if there are fewer.
    #[inline]
    pub fn take(&mut self, count: u32) -> Option<usize> {
        if u32::from(self.count) < count {
            self.refill();
            if u32::from(self.count) < count {
                return None;
            }
        }
        let value = self.word & ((1 << count) - 1);
        self.skip(count);
        Some(value as usize)
    }

    /// Skip the remaining bits of a byte of which some are used.
    pub const fn align(&mut self) {
        self.skip(self.count as u32 & 7);
    }

    /// Read up to `most` bytes; the bits must be aligned.
    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (_, unused) = self.input.split_at(self.used() / 8);
        let (bytes, unread) = unused.split_at(most.min(unused.len()));
        *self = Self { unread, word: 0, count: 0, ..*self };
        bytes
    }

    /// Return the bytes that are not completely used, and how many bits of the first of them are used.
    pub const fn rest(&self) -> (&'a [u8], u32) {
        (self.input.split_at(self.used() / 8).1, self.used() as u32 % 8)
    }

    /// The number of used bits.
    const fn used(&self) -> usize {
        (self.input.len() - self.unread.len()) * 8 - self.count as usize
    }
}
