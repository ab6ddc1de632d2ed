//! Encoding numbers (RFC 6143 7.7, 7.8 and the rfbproto registry).

/// Pixels as they are.
pub const RAW: i32 = 0;
/// Pixels from elsewhere on the screen.
pub const COPY_RECT: i32 = 1;
/// A background and rectangles.
pub const RRE: i32 = 2;
/// 16x16 tiles of rectangles.
pub const HEXTILE: i32 = 5;
/// Raw, deflated.
pub const ZLIB: i32 = 6;
/// Palettes, gradients, JPEG, deflated.
pub const TIGHT: i32 = 7;
/// 64x64 tiles of runs and palettes, deflated.
pub const ZRLE: i32 = 16;

/// The cursor's shape, drawn by us or not at all.
pub const CURSOR: i32 = -239;
/// The screen has a new size.
pub const DESKTOP_SIZE: i32 = -223;
/// An update may end before its count.
pub const LAST_RECT: i32 = -224;
/// The screen has a new size and layout.
pub const EXTENDED_DESKTOP_SIZE: i32 = -308;
/// Synchronisation marks in the stream.
pub const FENCE: i32 = -312;
/// Updates without requests.
pub const CONTINUOUS_UPDATES: i32 = -313;
/// Hardware scan codes beside keysyms.
pub const QEMU_EXTENDED_KEY: i32 = -258;

/// JPEG at quality `level` (0 worst, 9 best).
#[must_use]
pub const fn quality(level: u8) -> i32 {
    -32 + if level > 9 { 9 } else { level as i32 }
}

/// Deflate at `level` (0 none, 9 hardest).
#[must_use]
pub const fn compression(level: u8) -> i32 {
    -256 + if level > 9 { 9 } else { level as i32 }
}

/// Lossless, with all that saves round trips.
#[must_use]
pub fn default_encodings() -> Vec<i32> {
    vec![
        TIGHT,
        ZRLE,
        HEXTILE,
        ZLIB,
        RRE,
        COPY_RECT,
        RAW,
        LAST_RECT,
        DESKTOP_SIZE,
        EXTENDED_DESKTOP_SIZE,
        FENCE,
        CONTINUOUS_UPDATES,
    ]
}
