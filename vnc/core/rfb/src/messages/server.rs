//! Server messages after their type byte (RFC 6143 7.6). `None` means that more bytes are needed.

use crate::error::Error;
use crate::wire::Bytes;

// RFC 6143 7.6.1: | 1 padding | 2 number of rects |
pub(crate) fn begin_update(bytes: &mut Bytes<'_>) -> Option<u16> {
    bytes.take(1)?;
    bytes.u16()
}

// RFC 6143 7.6.2: | 1 padding | 2 first | 2 count | count x 6 |. Our pixel format has no colour map, so it is skipped.
pub(crate) fn colour_map(bytes: &mut Bytes<'_>) -> Option<usize> {
    bytes.take(3)?;
    bytes.u16().map(|count| usize::from(count) * 6)
}

// RFC 6143 7.6.4: | 3 padding | 4 length | text |
pub(crate) fn cut_text(bytes: &mut Bytes<'_>) -> Result<Option<usize>, Error> {
    let Some(length) = bytes.take(3).and_then(|_| bytes.i32()) else { return Ok(None) };
    // A negative length means the extended clipboard (rfbproto 7.7.27).
    let negative =
        |_| Error::Protocol(format!("cut text of length {length}: the extended clipboard was not requested"));
    usize::try_from(length).map(Some).map_err(negative)
}

// rfbproto 7.5.8: | 3 padding | 4 flags | 1 length | payload |
pub(crate) fn fence<'a>(bytes: &mut Bytes<'a>) -> Result<Option<(u32, &'a [u8])>, Error> {
    let (Some(_), Some(flags), Some(length)) = (bytes.take(3), bytes.u32(), bytes.u8()) else {
        return Ok(None);
    };
    if length > 64 {
        return Err(Error::Limit { what: "fence payload", size: length.into(), limit: 64 });
    }
    Ok(bytes.take(length.into()).map(|payload| (flags, payload)))
}
