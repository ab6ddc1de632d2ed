//! Frames in memory that a server shares: a sealed memfd, mapped to be read.
#![allow(unsafe_code, reason = "a mapping, and copies of memory that another process may write to")]

use std::ffi::c_void;
use std::fmt;
use std::os::fd::{BorrowedFd, RawFd};
use std::ptr::NonNull;

use rfb::SharedFrames;
use rustix::fs::{SealFlags, fcntl_get_seals, fstat, fstatfs};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::socket::error_text;

/// The most buffers in one memory.
const MOST: u16 = 16;
/// Seals with which nobody can make the memory smaller than it is now: a read beyond its end would be fatal.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
/// The type of the file systems of memfds of ordinary pages. Pages of other sizes may run out, which is fatal to readers.
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// Where the frames are in the memory, as the server describes it. A frame is `height` rows of `stride` bytes, R G B.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// The number of buffers.
    pub buffers: u16,
    /// The width of a frame, in pixels.
    pub width: u32,
    /// The height of a frame, in pixels.
    pub height: u32,
    /// Bytes from a row to the next.
    pub stride: u32,
    /// The first byte of the first buffer.
    pub offset: u32,
    /// Bytes from a buffer to the next.
    pub distance: u64,
}

/// Why frames are not read from shared memory.
#[derive(Debug, PartialEq, Eq)]
pub struct Unusable(String);

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<rustix::io::Errno> for Unusable {
    fn from(error: rustix::io::Errno) -> Self {
        Self(error_text(&error.into()))
    }
}

impl Layout {
    /// Return the byte behind the last buffer, if the layout is possible.
    fn end(&self) -> Result<u64, Unusable> {
        let Self { buffers, width, height, stride, offset, distance } = *self;
        if !(1..=MOST).contains(&buffers) {
            return Err(Unusable(format!("{buffers} buffers, allowed are 1 to {MOST}")));
        }
        if u64::from(stride) < 3 * u64::from(width) {
            return Err(Unusable(format!("rows of {stride} bytes for {width} pixels")));
        }
        let last = distance.checked_mul(u64::from(buffers) - 1);
        let end = last.and_then(|last| {
            last.checked_add(u64::from(offset))?.checked_add(u64::from(stride) * u64::from(height))
        });
        end.ok_or_else(|| Unusable(format!("{buffers} buffers {distance} bytes apart")))
    }

    /// The first byte of a pixel. It is inside the memory if the buffer and the pixel exist.
    fn start(&self, buffer: u32, x: u16, y: u16) -> usize {
        let frame = u64::from(self.offset) + u64::from(buffer) * self.distance;
        (frame + u64::from(y) * u64::from(self.stride) + u64::from(x) * 3) as usize
    }
}

/// The mapped memory of a server.
#[derive(Debug)]
pub(crate) struct Mapping {
    layout: Layout,
    size: (u16, u16),
    start: NonNull<c_void>,
    /// INVARIANT: the memory has these bytes, and its seals keep it at least as large.
    length: usize,
}

// SAFETY: the mapping belongs to this value alone, and reading it needs no particular thread.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Map a memory whose frames must have this width and height. The descriptor is not needed afterwards.
    pub fn new(descriptor: RawFd, layout: Layout, (width, height): (u16, u16)) -> Result<Self, Unusable> {
        if (layout.width, layout.height) != (width.into(), height.into()) {
            let Layout { width: w, height: h, .. } = layout;
            return Err(Unusable(format!("frames of {w}x{h} pixels for a screen of {width}x{height}")));
        }
        if descriptor < 0 {
            return Err(Unusable(format!("descriptor {descriptor}")));
        }
        // SAFETY: the caller keeps the descriptor open during this call.
        let memory = unsafe { BorrowedFd::borrow_raw(descriptor) };
        let length = check(memory, &layout)?;
        // SAFETY: the address is the kernel's choice, so no other memory is replaced.
        let start =
            unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, memory, 0)? };
        let start = NonNull::new(start).ok_or_else(|| Unusable("mapped at address 0".into()))?;
        Ok(Self { layout, size: (width, height), start, length })
    }
}

/// Return how many bytes to map, if the memory has them and always will.
fn check(memory: BorrowedFd<'_>, layout: &Layout) -> Result<usize, Unusable> {
    let end = layout.end()?;
    let seals = fcntl_get_seals(memory).map_err(|_| Unusable("not a memfd".into()))?;
    if !seals.contains(SEALS) {
        return Err(Unusable(format!("seals {:#x}, needed are {:#x}", seals.bits(), SEALS.bits())));
    }
    #[allow(clippy::unnecessary_cast, reason = "the field's type is not the same on all systems")]
    let kind = fstatfs(memory)?.f_type as i64;
    if kind != TMPFS_MAGIC {
        return Err(Unusable(format!("a memfd of file system {kind:#x}, needed is {TMPFS_MAGIC:#x}")));
    }
    // After the seals were checked, the size can no longer change.
    let size = u64::try_from(fstat(memory)?.st_size).unwrap_or_default();
    if end > size {
        return Err(Unusable(format!("buffers end at byte {end} of {size}")));
    }
    usize::try_from(end.max(1)).map_err(|_| Unusable(format!("{end} bytes")))
}

impl SharedFrames for Mapping {
    fn buffers(&self) -> u32 {
        self.layout.buffers.into()
    }

    fn size(&self) -> (u16, u16) {
        self.size
    }

    fn copy_row(&self, buffer: u32, x: u16, y: u16, out: &mut [u8]) {
        let (width, height) = self.size;
        assert!(buffer < self.buffers() && y < height, "no such row");
        assert!(usize::from(x) * 3 + out.len() <= usize::from(width) * 3, "beyond the row");
        let start = self.layout.start(buffer, x, y);
        assert!(start + out.len() <= self.length, "beyond the memory");
        // SAFETY: the source is inside the mapping by the last assertion, and its pages exist, because its seals keep the
        // memory from shrinking. `out` is memory of this process, so the two do not overlap. The server may write to the
        // source meanwhile: no reference to it is made, and any bytes are valid pixels.
        unsafe {
            let source = self.start.as_ptr().cast::<u8>().cast_const().add(start);
            std::ptr::copy_nonoverlapping(source, out.as_mut_ptr(), out.len());
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping, and nothing refers to it any more.
        // It cannot fail for a mapping of this process.
        let _ = unsafe { munmap(self.start.as_ptr(), self.length) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::os::fd::{AsFd, AsRawFd, OwnedFd};

    use rustix::fs::{MemfdFlags, fcntl_add_seals, ftruncate, memfd_create};

    use super::*;

    const LAYOUT: Layout = Layout { buffers: 2, width: 4, height: 3, stride: 16, offset: 64, distance: 4096 };
    const END: u64 = 64 + 4096 + 3 * 16;

    fn memory(size: u64, seals: SealFlags) -> OwnedFd {
        let memory = memfd_create("test", MemfdFlags::ALLOW_SEALING | MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&memory, size).unwrap();
        fcntl_add_seals(&memory, seals).unwrap();
        memory
    }

    fn map(memory: impl AsFd, layout: Layout) -> Result<Mapping, String> {
        Mapping::new(memory.as_fd().as_raw_fd(), layout, (4, 3)).map_err(|unusable| unusable.to_string())
    }

    #[test]
    fn rows_are_read_where_the_layout_says() {
        let memory = memory(END, SEALS);
        let mapping = map(&memory, LAYOUT).unwrap();
        // Written afterwards: the mapping is not a copy.
        rustix::io::pwrite(&memory, b"abcdef", 64 + 4096 + 2 * 16 + 2 * 3).unwrap();
        let mut row = [0; 6];
        mapping.copy_row(1, 2, 2, &mut row);
        assert_eq!(&row, b"abcdef");
        mapping.copy_row(0, 2, 2, &mut row);
        assert_eq!(row, [0; 6]);
    }

    #[test]
    fn memory_that_could_shrink_is_refused() {
        for seals in [SealFlags::empty(), SealFlags::SHRINK, SealFlags::SHRINK | SealFlags::GROW] {
            let error = map(memory(END, seals), LAYOUT).unwrap_err();
            assert!(error.starts_with("seals 0x"), "{error}");
        }
        assert_eq!(map(std::fs::File::open("/proc/self/exe").unwrap(), LAYOUT).unwrap_err(), "not a memfd");
    }

    #[test]
    fn buffers_outside_the_memory_are_refused() {
        let error = map(memory(END - 1, SEALS), LAYOUT).unwrap_err();
        assert_eq!(error, format!("buffers end at byte {END} of {}", END - 1));
        for layout in [
            Layout { offset: u32::MAX, ..LAYOUT },
            Layout { distance: u64::MAX, ..LAYOUT },
            Layout { distance: u64::MAX / 2, buffers: 3, ..LAYOUT },
            Layout { distance: u64::MAX - 100, ..LAYOUT },
            Layout { stride: u32::MAX, ..LAYOUT },
            Layout { stride: 11, ..LAYOUT },
            Layout { buffers: 0, ..LAYOUT },
            Layout { buffers: 17, ..LAYOUT },
            Layout { width: 5, ..LAYOUT },
            Layout { height: 1 << 16 | 3, ..LAYOUT },
        ] {
            assert!(map(memory(END, SEALS), layout).is_err(), "{layout:?}");
        }
        assert!(Mapping::new(-1, LAYOUT, (4, 3)).is_err());
    }

    #[test]
    #[should_panic(expected = "beyond the row")]
    fn a_copy_beyond_the_row_panics() {
        map(memory(END, SEALS), LAYOUT).unwrap().copy_row(0, 3, 0, &mut [0; 6]);
    }
}
