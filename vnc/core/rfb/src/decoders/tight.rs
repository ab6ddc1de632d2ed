//! Tight (rfbproto 7.7.8): rects of one colour, JPEG images, or filtered pixels compressed with zlib.
//!
//! ```text
//! | 1    | control: bits 0-3 reset streams 0-3, bits 4-7 the kind               |
//! |      |   8 fill:  3 colour                                                  |
//! |      |   9 jpeg:  1-3 length, JPEG data                                     |
//! |      |   0-7 basic: bits 4-5 the stream, bit 6 a filter byte follows        |
//! | 1    | filter, if bit 6: 0 copy, 1 palette, 2 gradient                      |
//! | 1+3n | palette: n-1, n colours (n <= 2: one bit a pixel, rows padded)       |
//! | 1-3  | length of the deflated data, absent if the pixels are under 12 bytes |
//! ```

use pixels::{Depth, Palette};

use super::inflate::Inflater;
use super::{Decoder, Progress, Scan, jpeg, sized};
use crate::error::{Fault, Reason};
use crate::limits::Limits;
use crate::screen::framebuffer::{Framebuffer, Window};
use crate::screen::geometry::Rect;
use crate::wire::Bytes;

#[derive(Default)]
pub(super) struct Tight {
    streams: [Inflater; 4],
    jpeg: jpeg::Jpeg,
}

/// Data shorter than this is not compressed.
const MIN_TO_COMPRESS: usize = 12;
const FILL: u8 = 8;
const JPEG: u8 = 9;
const EXPLICIT_FILTER: u8 = 4;

/// The part of a payload before its pixel data.
#[derive(Debug)]
struct Header<'a> {
    control: u8,
    kind: Kind<'a>,
    /// The offset of the data, and its length.
    start: usize,
    length: usize,
}

#[derive(Debug)]
enum Kind<'a> {
    Fill,
    Jpeg,
    Basic { stream: usize, filter: Filter<'a>, size: usize },
}

#[derive(Debug)]
enum Filter<'a> {
    Copy,
    Palette(&'a [u8]),
    Gradient,
}

impl Decoder for Tight {
    fn scan(&self, bytes: &[u8], rect: Rect, _: &mut Progress) -> Result<Scan, Fault> {
        let mut input = Bytes::new(bytes);
        match header(&mut input, rect) {
            Some(Ok(header)) => Ok(sized(bytes, header.start + header.length)),
            Some(Err(fault)) => Err(fault),
            None => Ok(Scan::More(bytes.len() + 1)),
        }
    }

    fn decode(&mut self, payload: &[u8], rect: Rect, screen: &mut Framebuffer) -> Result<(), Fault> {
        let missing = Reason::Short(payload.len() + 1, payload.len()).at(payload.len());
        let header = header(&mut Bytes::new(payload), rect).ok_or(missing)??;
        for (bit, stream) in self.streams.iter_mut().enumerate() {
            if header.control >> bit & 1 != 0 {
                stream.reset();
            }
        }
        let data = &payload[header.start..];
        let result = match header.kind {
            Kind::Jpeg => self.jpeg.draw(data, rect, screen),
            Kind::Fill => screen.window(rect).map(|mut window| {
                window.fill(window.tile(), [data[0], data[1], data[2]]);
            }),
            Kind::Basic { filter, size, .. } if size < MIN_TO_COMPRESS => {
                screen.window(rect).and_then(|mut window| filter.draw(data, &mut window, &mut Vec::new()))
            }
            Kind::Basic { stream, filter, .. } => self.basic(data, stream, &filter, rect, screen),
        };
        result.map_err(|reason| reason.at(header.start))
    }
}

impl Tight {
    fn basic(
        &mut self,
        data: &[u8],
        stream: usize,
        filter: &Filter<'_>,
        rect: Rect,
        screen: &mut Framebuffer,
    ) -> Result<(), Reason> {
        let row = filter.row_bytes(rect);
        let mut part = self.streams[stream].part(data);
        let mut above = Vec::new();
        for band in rect.bands(row) {
            let pixels = part.take(row * usize::from(band.height), row * usize::from(rect.height))?;
            filter.draw(pixels, &mut screen.window(band)?, &mut above)?;
        }
        part.finish()
    }
}

/// Read the header; `None` if more bytes are needed.
fn header<'a>(input: &mut Bytes<'a>, rect: Rect) -> Option<Result<Header<'a>, Fault>> {
    let control = input.u8()?;
    let (kind, length) = match control >> 4 {
        FILL => (Kind::Fill, 3),
        JPEG => (Kind::Jpeg, compact_length(input)?),
        basic @ 0..=7 => {
            let filter = match filter(input, basic & EXPLICIT_FILTER != 0)? {
                Ok(filter) => filter,
                Err(fault) => return Some(Err(fault)),
            };
            let size = filter.row_bytes(rect) * usize::from(rect.height);
            let length = if size < MIN_TO_COMPRESS { size } else { compact_length(input)? };
            (Kind::Basic { stream: usize::from(basic & 3), filter, size }, length)
        }
        other => return Some(Err(Reason::Reserved("compression type", other.into()).at(0))),
    };
    let most = Limits::rect_bytes(rect.area());
    if length > most {
        return Some(Err(Reason::TooLong(length as u64, most as u64).at(input.offset())));
    }
    Some(Ok(Header { control, kind, start: input.offset(), length }))
}

fn filter<'a>(input: &mut Bytes<'a>, explicit: bool) -> Option<Result<Filter<'a>, Fault>> {
    if !explicit {
        return Some(Ok(Filter::Copy));
    }
    Some(match input.u8()? {
        0 => Ok(Filter::Copy),
        1 => {
            let count = usize::from(input.u8()?) + 1;
            Ok(Filter::Palette(input.take(count * 3)?))
        }
        2 => Ok(Filter::Gradient),
        other => Err(Reason::Reserved("filter", other.into()).at(1)),
    })
}

/// Read a length of seven, fourteen or 22 bits, lowest first. A set high bit means that another byte follows.
fn compact_length(input: &mut Bytes<'_>) -> Option<usize> {
    let first = usize::from(input.u8()?);
    if first & 0x80 == 0 {
        return Some(first);
    }
    let second = usize::from(input.u8()?);
    let low = first & 0x7f | (second & 0x7f) << 7;
    if second & 0x80 == 0 {
        return Some(low);
    }
    Some(low | usize::from(input.u8()?) << 14)
}

impl Filter<'_> {
    fn row_bytes(&self, rect: Rect) -> usize {
        let width = usize::from(rect.width);
        match self {
            Self::Copy | Self::Gradient => width * 3,
            Self::Palette(colours) if colours.len() <= 2 * 3 => width.div_ceil(8),
            Self::Palette(_) => width,
        }
    }

    /// Draw a band; `above` is the row above it, for `gradient`.
    fn draw(&self, data: &[u8], window: &mut Window<'_>, above: &mut Vec<u8>) -> Result<(), Reason> {
        match self {
            Self::Copy => copy(data, window),
            Self::Gradient => gradient(data, window, above),
            Self::Palette(colours) if colours.len() <= 2 * 3 => bitmap(colours, data, window),
            Self::Palette(colours) => return indexed(&Palette::new(colours), data, window),
        }
        Ok(())
    }
}

fn copy(data: &[u8], window: &mut Window<'_>) {
    let row_bytes = window.width.max(1) * 3;
    for (source, row) in data.chunks_exact(row_bytes).zip(window.all_rows()) {
        row.copy_from_slice(source);
    }
}

fn bitmap(colours: &[u8], data: &[u8], window: &mut Window<'_>) {
    // A palette may have one colour; then both values of a bit mean it.
    let last = &colours[colours.len() - 3..];
    let palette = Palette::new(&[&colours[..3], last].concat());
    expand(&palette, Depth::One, data, window);
}

fn indexed(palette: &Palette, data: &[u8], window: &mut Window<'_>) -> Result<(), Reason> {
    if let Some(index) = palette.stray(data) {
        return Err(Reason::PaletteIndex(index.into(), palette.size() as u32));
    }
    expand(palette, Depth::Eight, data, window);
    Ok(())
}

fn expand(palette: &Palette, depth: Depth, data: &[u8], window: &mut Window<'_>) {
    let row_bytes = depth.row_bytes(window.width).max(1);
    palette.expand(depth, data.chunks_exact(row_bytes).zip(window.all_rows()));
}

/// Add to each sample its prediction: left + up - upper left, clamped to 0..=255.
fn gradient(data: &[u8], window: &mut Window<'_>, above: &mut Vec<u8>) {
    let row_bytes = window.width.max(1) * 3;
    // Three zero bytes are to the left of each row, and a row of zeros is above the first.
    above.resize(row_bytes + 3, 0);
    for (source, row) in data.chunks_exact(row_bytes).zip(window.all_rows()) {
        let mut corner = [0_u8; 3];
        let mut left = [0_u8; 3];
        for i in 0..row_bytes {
            let channel = i % 3;
            let up = above[i + 3];
            let guess = i16::from(left[channel]) + i16::from(up) - i16::from(corner[channel]);
            let sample = source[i].wrapping_add(guess.clamp(0, 255) as u8);
            (corner[channel], left[channel], above[i + 3], row[i]) = (up, sample, sample, sample);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoders::testing::{draw, fault, pixel};
    use flate2::{Compress, Compression, FlushCompress};

    fn deflate(stream: &mut Compress, data: &[u8]) -> Vec<u8> {
        let mut packed = Vec::with_capacity(data.len() + 1000);
        stream.compress_vec(data, &mut packed, FlushCompress::Sync).unwrap();
        let n = packed.len();
        let mut out = vec![(n & 0x7f | 0x80) as u8, (n >> 7 & 0x7f | 0x80) as u8, (n >> 14) as u8];
        out.extend(packed);
        out
    }

    fn new_stream() -> Compress {
        Compress::new(Compression::fast(), true)
    }

    const RECT: Rect = Rect::new(2, 3, 9, 5);

    #[test]
    fn fill_paints_the_rect_and_nothing_else() {
        let screen = draw(&mut Tight::default(), RECT, &[0x80, 1, 2, 3]).unwrap();
        assert_eq!(pixel(&screen, 2, 3), [1, 2, 3]);
        assert_eq!(pixel(&screen, 10, 7), [1, 2, 3]);
        assert_eq!(pixel(&screen, 11, 7), [0; 3]);
        assert_eq!(pixel(&screen, 10, 8), [0; 3]);
    }

    #[test]
    fn tiny_rects_are_not_deflated() {
        let screen = draw(&mut Tight::default(), Rect::new(0, 0, 2, 1), &[0, 1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(pixel(&screen, 1, 0), [4, 5, 6]);
    }

    #[test]
    fn streams_are_four_and_reset_by_their_bits() {
        let mut tight = Tight::default();
        let mut streams = [new_stream(), new_stream(), new_stream(), new_stream()];
        for round in 0..12_u8 {
            let data: Vec<u8> = (0..135).map(|i: u8| i ^ round).collect();
            let number = round % 4;
            let mut control = number << 4;
            if round == 6 {
                streams[2] = new_stream();
                control |= 1 << 2;
            }
            let payload = [&[control][..], &deflate(&mut streams[usize::from(number)], &data)].concat();
            let screen = draw(&mut tight, RECT, &payload).unwrap();
            assert_eq!(pixel(&screen, 3, 3), [3 ^ round, 4 ^ round, 5 ^ round]);
        }
    }

    #[test]
    fn palettes_of_two_and_of_more() {
        let bits = [0x80, 0x80].repeat(5);
        let payload = [&[0x40, 1, 1, 1, 1, 1, 2, 2, 2][..], &bits].concat();
        let screen = draw(&mut Tight::default(), RECT, &payload).unwrap();
        assert_eq!([2, 3, 10].map(|x| pixel(&screen, x, 4)), [[2; 3], [1; 3], [2; 3]]);

        let indices: Vec<u8> = (0..45).map(|i| i % 3).collect();
        let payload =
            [&[0x50, 1, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3][..], &deflate(&mut new_stream(), &indices)].concat();
        let screen = draw(&mut Tight::default(), RECT, &payload).unwrap();
        assert_eq!([2, 3, 4].map(|x| pixel(&screen, x, 7)), [[1; 3], [2; 3], [3; 3]]);

        let strays = [indices, vec![3]].concat()[1..].to_vec();
        let payload =
            [&[0x50, 1, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3][..], &deflate(&mut new_stream(), &strays)].concat();
        assert_eq!(fault(&mut Tight::default(), RECT, &payload), "palette index 3, palette has 3 at 15");
    }

    #[test]
    fn the_gradient_is_undone() {
        let pixels: Vec<u8> = (0..135_u32).map(|i| (i * i * 7 % 256) as u8).collect();
        let mut sent = Vec::new();
        for (i, &sample) in pixels.iter().enumerate() {
            let (x, y) = (i % 27, i / 27);
            let at = |dx: usize, dy: usize| {
                if x < 3 * dx || y < dy { 0 } else { i16::from(pixels[i - 3 * dx - 27 * dy]) }
            };
            sent.push(sample.wrapping_sub((at(1, 0) + at(0, 1) - at(1, 1)).clamp(0, 255) as u8));
        }
        let payload = [&[0x40, 2][..], &deflate(&mut new_stream(), &sent)].concat();
        let screen = draw(&mut Tight::default(), RECT, &payload).unwrap();
        for (y, row) in pixels.chunks(27).enumerate() {
            for (x, expected) in row.chunks(3).enumerate() {
                assert_eq!(pixel(&screen, 2 + x, 3 + y), expected);
            }
        }
    }

    #[test]
    fn unknown_types_and_wrong_lengths_are_refused() {
        let mut tight = Tight::default();
        assert_eq!(fault(&mut tight, RECT, &[0xa0]), "compression type 10 does not exist at 0");
        assert_eq!(fault(&mut tight, RECT, &[0x40, 3]), "filter 3 does not exist at 1");
        assert!(fault(&mut tight, RECT, &[0x90, 255, 255, 255]).contains("4194303 bytes announced"));
        let long = [&[0][..], &deflate(&mut new_stream(), &[0; 136])].concat();
        assert_eq!(fault(&mut tight, RECT, &long), "data after the last pixel at 4");
    }
}
