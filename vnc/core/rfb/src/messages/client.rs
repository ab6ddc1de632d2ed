//! Messages from client to server (RFC 6143 7.5).

use crate::screen::geometry::Rect;

/// The pixel format of all our connections: 32 bits, little endian, bytes R G B X. CPIXEL and TPIXEL are then R G B.
const PIXEL_FORMAT: [u8; 16] = [
    32, 24, 0, 1, // bits-per-pixel, depth, big-endian-flag, true-colour-flag
    0, 255, 0, 255, 0, 255, // red-max, green-max, blue-max
    0, 8, 16, // red-shift, green-shift, blue-shift
    0, 0, 0, // padding
];

/// The flag of a fence that requests an answer (rfbproto 7.4.8).
pub(crate) const FENCE_REQUEST: u32 = 1 << 31;
/// The flag that all messages before the fence must be processed before the answer.
pub(crate) const FENCE_BLOCK_BEFORE: u32 = 1;
/// The flags that our answers support: block before, block after, sync next.
pub(crate) const FENCE_SUPPORTED: u32 = 7;

/// `SetPixelFormat`, with our format.
pub(crate) fn set_pixel_format(out: &mut Vec<u8>) {
    out.extend([0, 0, 0, 0]);
    out.extend(PIXEL_FORMAT);
}

/// `SetEncodings`, in order of preference.
pub(crate) fn set_encodings(out: &mut Vec<u8>, encodings: &[i32]) {
    out.extend([2, 0]);
    out.extend((encodings.len() as u16).to_be_bytes());
    out.extend(encodings.iter().flat_map(|encoding| encoding.to_be_bytes()));
}

/// `FramebufferUpdateRequest`.
pub(crate) fn request_update(out: &mut Vec<u8>, incremental: bool, rect: Rect) {
    out.extend([3, u8::from(incremental)]);
    place(out, rect);
}

/// `EnableContinuousUpdates` (rfbproto 7.4.7).
pub(crate) fn continuous_updates(out: &mut Vec<u8>, enable: bool, rect: Rect) {
    out.extend([150, u8::from(enable)]);
    place(out, rect);
}

/// `ClientFence` (rfbproto 7.4.8); the payload is at most 64 bytes.
pub(crate) fn fence(out: &mut Vec<u8>, flags: u32, payload: &[u8]) {
    out.extend([248, 0, 0, 0]);
    out.extend(flags.to_be_bytes());
    out.push(payload.len() as u8);
    out.extend(payload);
}

/// The client can read the shared frames, so the server may send rects of `SHARED_FRAMES`.
pub(crate) fn shared_ready(out: &mut Vec<u8>) {
    shared(out, 0, 0);
}

/// The server may write to a shared buffer again.
pub(crate) fn shared_release(out: &mut Vec<u8>, buffer: u32) {
    shared(out, 1, buffer);
}

// | 1 type 0xE7 | 1 verb | 2 padding | 4 number of the buffer |
fn shared(out: &mut Vec<u8>, verb: u8, buffer: u32) {
    out.extend([0xe7, verb, 0, 0]);
    out.extend(buffer.to_be_bytes());
}

fn place(out: &mut Vec<u8>, rect: Rect) {
    for number in [rect.x, rect.y, rect.width, rect.height] {
        out.extend(number.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    #[test]
    fn messages_have_their_wire_form() {
        assert_eq!(written(set_pixel_format).len(), 20);
        assert_eq!(
            written(|out| set_encodings(out, &[7, -224])),
            [2, 0, 0, 2, 0, 0, 0, 7, 255, 255, 255, 32]
        );
        let rect = Rect::new(1, 2, 300, 4);
        assert_eq!(written(|out| request_update(out, true, rect)), [3, 1, 0, 1, 0, 2, 1, 44, 0, 4]);
        assert_eq!(written(|out| continuous_updates(out, true, rect)), [150, 1, 0, 1, 0, 2, 1, 44, 0, 4]);
        assert_eq!(written(shared_ready), [0xe7, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(written(|out| shared_release(out, 0x0102)), [0xe7, 1, 0, 0, 0, 0, 1, 2]);
        assert_eq!(written(|out| fence(out, 3, b"ab")), [248, 0, 0, 0, 0, 0, 0, 3, 2, 97, 98]);
    }
}
