//! Encoding numbers (RFC 6143 7.7, 7.8 and the rfbproto registry). A test compares them with vnc/encodings.py.

/// Uncompressed pixels.
pub const RAW: i32 = 0;
/// A copy of another part of the screen.
pub const COPY_RECT: i32 = 1;
/// A background and subrects on it.
pub const RRE: i32 = 2;
/// 16x16 tiles, each a background and subrects.
pub const HEXTILE: i32 = 5;
/// Raw, compressed with zlib.
pub const ZLIB: i32 = 6;
/// Solid colours, palettes, gradients and JPEG, compressed with zlib.
pub const TIGHT: i32 = 7;
/// 64x64 tiles of runs and palettes, compressed with zlib.
pub const ZRLE: i32 = 16;

/// The shape of the cursor, which the server then does not draw.
pub const CURSOR: i32 = -239;
/// The screen has a new size.
pub const DESKTOP_SIZE: i32 = -223;
/// The end of an update whose number of rects was not announced.
pub const LAST_RECT: i32 = -224;
/// The screen has a new size and layout.
pub const EXTENDED_DESKTOP_SIZE: i32 = -308;
/// Synchronization marks in the stream.
pub const FENCE: i32 = -312;
/// Updates without requests.
pub const CONTINUOUS_UPDATES: i32 = -313;
/// More than eight buttons of the pointer.
pub const EXTENDED_MOUSE_BUTTONS: i32 = -316;

// Numbers of this project: "UC" and a counter.
/// Pixels in memory that the server shares.
pub const SHARED_FRAMES: i32 = 0x5543_0001;
/// Where the client gets that memory.
pub const SHARED_OFFER: i32 = -0x5543_0002;

/// Return the lossless encodings, best first, and the pseudo-encodings that save round trips.
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
        EXTENDED_MOUSE_BUTTONS,
    ]
}
