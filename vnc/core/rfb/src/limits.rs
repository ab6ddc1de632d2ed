//! Every bound on what a server may make us hold, each with its reason.

/// The most a server may announce. Nothing is allocated before its check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pixels; wider screens than 4096 are not used by agents, and RGB at 4096x4096 is 48 MiB.
    pub framebuffer_width: u16,
    /// Pixels, as for the width.
    pub framebuffer_height: u16,
    /// Bytes of a desktop name or a failure reason; both end up in logs.
    pub text: usize,
    /// Bytes of clipboard text. No text is kept; one that is longer is counted, and the connection goes on.
    pub cut_text: usize,
    /// Pixels along each side of a cursor; X servers stop at 256 themselves.
    pub cursor: u16,
    /// Rects in one update: what the 16-bit count can say, also where `LastRect` ends the list.
    pub rects: u32,
    /// Bytes of one update that are held back until all of it is there, so that nobody sees half an
    /// update. A larger one is decoded as it arrives, and the frame before it is kept until its end: three bytes a
    /// pixel more meanwhile. A raw 1920x1080 screen is 8 MiB.
    pub whole_update: usize,
    /// Bytes waiting to be sent to a peer that does not read.
    pub outgoing: usize,
}

/// No server is followed beyond this, whatever the caller allows.
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
    /// The largest honest encoding of `pixels` pixels: twice raw, and room for headers.
    #[must_use]
    pub const fn rect_bytes(pixels: usize) -> usize {
        2 * 4 * pixels + (64 << 10)
    }

    /// The largest honest update of a framebuffer of `pixels` pixels.
    #[must_use]
    pub const fn update_bytes(pixels: usize) -> usize {
        4 * 4 * pixels + (1 << 20)
    }
}
