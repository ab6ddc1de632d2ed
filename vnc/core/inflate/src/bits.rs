//! Compressed data as a stream of bits, least significant first (RFC 1951 3.1.1).

/// INVARIANT: the low `count` bits of `word` are the next ones; those above are right or zero.
#[derive(Clone)]
pub struct Bits<'a> {
    input: &'a [u8],
    /// What of the input is not in the word yet.
    unread: &'a [u8],
    word: u64,
    count: u8,
}

/// What two wide refills may look at.
const WIDE: usize = 16;

impl<'a> Bits<'a> {
    /// Bits of `input` without the first `skip`, which are fewer than eight.
    pub fn new(input: &'a [u8], skip: u32) -> Self {
        let mut bits = Self { input, unread: input, word: 0, count: 0 };
        bits.refill();
        bits.skip(skip.min(bits.count.into()));
        bits
    }

    /// Whether there is so much input left that two wide refills stay inside.
    #[inline(always)]
    pub const fn wide(&self) -> bool {
        self.unread.len() >= WIDE
    }

    /// At least 56 bits; one read, however many are missing.
    #[inline(always)]
    pub fn refill_wide(&mut self) {
        let Some(&eight) = self.unread.first_chunk() else { return };
        self.word |= u64::from_le_bytes(eight) << (self.count & 63);
        self.unread = &self.unread[usize::from((63 - self.count) >> 3 & 7)..];
        self.count |= 0b11_1000;
    }

    /// At least 56 bits, or all that there are.
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

    /// The next bits, the first of them lowest, and zeros behind the end.
    #[inline(always)]
    pub const fn word(&self) -> u64 {
        self.word
    }

    /// Go on by as many bits as the low byte of `count` says, at most 63.
    #[inline(always)]
    pub const fn skip(&mut self, count: u32) {
        // Shifts look at six bits and 8-bit subtraction at eight: neither needs a mask.
        self.word = self.word.wrapping_shr(count);
        self.count = self.count.wrapping_sub(count as u8);
    }

    /// The next `count` bits, at most 32; `None` when there are fewer.
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

    /// Leave out what is left of a byte that has begun.
    pub const fn align(&mut self) {
        self.skip(self.count as u32 & 7);
    }

    /// Up to `most` bytes; the bits must be aligned.
    pub fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (_, unused) = self.input.split_at(self.used() / 8);
        let (bytes, unread) = unused.split_at(most.min(unused.len()));
        *self = Self { unread, word: 0, count: 0, ..*self };
        bytes
    }

    /// The bytes of which not every bit was used, and how many bits of the first of them were.
    pub const fn rest(&self) -> (&'a [u8], u32) {
        (self.input.split_at(self.used() / 8).1, self.used() as u32 % 8)
    }

    const fn used(&self) -> usize {
        (self.input.len() - self.unread.len()) * 8 - self.count as usize
    }
}
