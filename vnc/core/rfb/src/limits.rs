//! The limits on what a server may make the client store, each with its reason.

/// The largest sizes that a server may announce. They are checked before anything is allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pixels. Agents do not use screens wider than 4096, and RGB at 4096x4096 takes 48 MiB.
    pub framebuffer_width: u16,
    /// Pixels; the same reason.
    pub framebuffer_height: u16,
    /// Bytes of a desktop name or a failure reason. Both are written to logs.
    pub text: usize,
    /// Bytes of clipboard text. No text is stored; a longer one is counted, and the connection continues.
    pub cut_text: usize,
    /// Pixels along each side of a cursor. X servers limit it to 256 themselves.
    pub cursor: u16,
    /// Rects in one update: the largest 16-bit count, also if `LastRect` ends the list.
    pub rects: u32,
    /// Bytes of an incomplete update that are stored before it is decoded. A larger update is decoded as it arrives,
    /// and the frame before it is kept until its end, at three bytes a pixel. A raw 1920x1080 screen is 8 MiB.
    pub whole_update: usize,
    /// Bytes that wait for a server that does not read.
    pub outgoing: usize,
}

/// The largest width or height, whatever the caller allows.
pub const HARD_SIDE: u16 = 16_384;

impl Default for Limits {
    fn default() -> Self {
        Self {
            framebuffer_width: 4096,
            framebuffer_height: 4096,
            text: 64 << 10,
            cut_text: 256 << 10,
            cursor: 256,
            rects: 65_535,
            whole_update: 9 << 20,
            outgoing: 256 << 10,
        }
    }
}

impl Limits {
    /// The limit for one rect of `pixels` pixels, in bytes: twice its size in Raw, and 64 KiB for headers.
    #[must_use]
    pub const fn rect_bytes(pixels: usize) -> usize {
        2 * 4 * pixels + (64 << 10)
    }

    /// The limit for one update of a framebuffer of `pixels` pixels, in bytes: four times its size in Raw, and 1 MiB.
    #[must_use]
    pub const fn update_bytes(pixels: usize) -> usize {
        4 * 4 * pixels + (1 << 20)
    }
}
