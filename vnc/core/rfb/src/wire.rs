//! Big-endian numbers from a slice. `None` means that the slice is too short.

/// A slice and a position in it.
pub(crate) struct Bytes<'a> {
    data: &'a [u8],
    offset: usize,
}

impl<'a> Bytes<'a> {
    pub const fn new(data: &'a [u8]) -> Self {
        Self { data, offset: 0 }
    }

    /// Start at an offset.
    pub const fn starting_at(data: &'a [u8], offset: usize) -> Self {
        Self { data, offset }
    }

    pub const fn offset(&self) -> usize {
        self.offset
    }

    #[inline]
    pub fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let bytes = self.data.get(self.offset..self.offset.checked_add(count)?)?;
        self.offset += count;
        Some(bytes)
    }

    #[inline]
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    #[inline]
    pub fn u8(&mut self) -> Option<u8> {
        let byte = *self.data.get(self.offset)?;
        self.offset += 1;
        Some(byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn i32(&mut self) -> Option<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// Read a pixel in our format: R, G, B and a byte of padding.
    #[inline]
    pub fn pixel(&mut self) -> Option<[u8; 3]> {
        self.array::<4>().map(|[r, g, b, _]| [r, g, b])
    }

    /// Read a CPIXEL or TPIXEL in our format: R, G, B.
    #[inline]
    pub fn short_pixel(&mut self) -> Option<[u8; 3]> {
        self.array()
    }
}
