//! Everything in front of the entropy-coded data (ITU T.81 B.2).
//!
//! ```text
//! | ff d8                                                                  |
//! | ff db, 2 length, each table: 1 id, 64 quantizers                       |
//! | ff c4, 2 length, each table: 1 class<<4|id, 16 counts, their values    |
//! | ff c0, 2 length, 1 bits, 2 height, 2 width, 1 components, each: 3      |
//! | ff da, 2 length, 1 components, each: 1 id, 1 dc<<4|ac, then 3          |
//! ```

use crate::Error;
use crate::huffman::Table;

const ZIGZAG: [u8; 64] = [
    0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7,
    14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39,
    46, 53, 60, 61, 54, 47, 55, 62, 63,
];

/// Where the n-th coefficient of the zigzag lies in a block that holds columns.
pub const PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut i = 0;
    while i < 64 {
        places[i] = ZIGZAG[i] % 8 * 8 + ZIGZAG[i] / 8;
        i += 1;
    }
    places
};

/// What outlives an image: servers send the same tables again and again.
#[derive(Default)]
pub struct Tables {
    /// In zigzag order.
    pub quantizers: [Quantizers; 4],
    pub dc: [Table; 2],
    pub ac: [Table; 2],
}

pub struct Quantizers(pub [i32; 64]);

impl Default for Quantizers {
    fn default() -> Self {
        Self([1; 64])
    }
}

#[derive(Clone, Copy, Default)]
pub struct Component {
    id: u8,
    pub quantizers: usize,
    pub dc: usize,
    pub ac: usize,
}

/// One or three components, all of the image's size.
pub struct Frame {
    pub components: [Component; 3],
    pub count: usize,
}

/// Read up to the entropy-coded data; returns what remains.
pub fn read<'a>(
    data: &'a [u8],
    size: (usize, usize),
    tables: &mut Tables,
) -> Result<(Frame, &'a [u8]), Error> {
    let mut rest = data.strip_prefix(&[0xff, 0xd8]).ok_or(Error::Broken("no start of image"))?;
    let (mut frame, mut jfif) = (None, false);
    loop {
        let (marker, segment, after) = segment(rest)?;
        rest = after;
        match marker {
            0xdb => quantizers(segment, tables)?,
            0xc4 => huffman(segment, tables)?,
            0xc0 => frame = Some(start_of_frame(segment, size)?),
            0xda => {
                let mut frame = frame.ok_or(Error::Broken("a scan without a frame"))?;
                scan(segment, &mut frame, jfif)?;
                return Ok((frame, rest));
            }
            0xe0 => jfif |= segment.starts_with(b"JFIF\0"),
            0xe1..=0xed | 0xef | 0xfe => {}
            // Progressive and its kin, restarts, Adobe's colours.
            _ => return Err(Error::Unsupported),
        }
    }
}

fn segment(data: &[u8]) -> Result<(u8, &[u8], &[u8]), Error> {
    let short = Error::Broken("header cut short");
    let [0xff, marker, high, low, rest @ ..] = data else { return Err(short) };
    let length = usize::from(u16::from_be_bytes([*high, *low])).checked_sub(2).ok_or(short.clone())?;
    let (segment, rest) = rest.split_at_checked(length).ok_or(short)?;
    Ok((*marker, segment, rest))
}

fn quantizers(mut segment: &[u8], tables: &mut Tables) -> Result<(), Error> {
    while let [head, rest @ ..] = segment {
        if head >> 4 != 0 {
            return Err(Error::Unsupported);
        }
        let table = tables.quantizers.get_mut(usize::from(*head)).ok_or(Error::Broken("quantizer number"))?;
        let (values, rest) = rest.split_at_checked(64).ok_or(Error::Broken("quantizers cut short"))?;
        for (entry, &value) in table.0.iter_mut().zip(values) {
            *entry = value.into();
        }
        segment = rest;
    }
    Ok(())
}

fn huffman(mut segment: &[u8], tables: &mut Tables) -> Result<(), Error> {
    while let [head, rest @ ..] = segment {
        let group = match head >> 4 {
            0 => &mut tables.dc,
            1 => &mut tables.ac,
            _ => return Err(Error::Broken("huffman table class")),
        };
        let table = group.get_mut(usize::from(head & 15)).ok_or(Error::Unsupported)?;
        let (counts, rest) = rest.split_first_chunk::<16>().ok_or(Error::Broken("huffman counts missing"))?;
        let total = counts.iter().map(|&count| usize::from(count)).sum::<usize>();
        let (values, rest) = rest.split_at_checked(total).ok_or(Error::Broken("huffman values missing"))?;
        if total > 256 {
            return Err(Error::Broken("huffman codes overflow"));
        }
        table.define(*counts, values)?;
        segment = rest;
    }
    Ok(())
}

fn start_of_frame(segment: &[u8], size: (usize, usize)) -> Result<Frame, Error> {
    let [bits, h1, h0, w1, w0, count, rest @ ..] = segment else {
        return Err(Error::Broken("frame header cut short"));
    };
    let height = usize::from(u16::from_be_bytes([*h1, *h0]));
    let width = usize::from(u16::from_be_bytes([*w1, *w0]));
    if (width, height) != size {
        return Err(Error::Size(width, height));
    }
    let count = usize::from(*count);
    let (parts, _) = rest.as_chunks::<3>();
    if *bits != 8 || !matches!(count, 1 | 3) {
        return Err(Error::Unsupported);
    }
    let mut frame = Frame { components: [Component::default(); 3], count };
    let parts = parts.get(..count).ok_or(Error::Broken("frame header cut short"))?;
    for (component, &[id, sampling, quantizers]) in frame.components.iter_mut().zip(parts) {
        if sampling != 0x11 {
            return Err(Error::Unsupported);
        }
        if quantizers > 3 {
            return Err(Error::Broken("quantizer number"));
        }
        (component.id, component.quantizers) = (id, quantizers.into());
    }
    Ok(frame)
}

fn scan(segment: &[u8], frame: &mut Frame, jfif: bool) -> Result<(), Error> {
    let [count, rest @ ..] = segment else { return Err(Error::Broken("scan header cut short")) };
    let components = &mut frame.components[..frame.count];
    let ids_mean_ycc = components.iter().map(|component| component.id).eq(1..=components.len() as u8);
    if usize::from(*count) != components.len() || !(jfif || ids_mean_ycc) {
        return Err(Error::Unsupported);
    }
    let (parts, _) = rest.as_chunks::<2>();
    let parts = parts.get(..components.len()).ok_or(Error::Broken("scan header cut short"))?;
    for (component, &[id, tables]) in components.iter_mut().zip(parts) {
        (component.dc, component.ac) = ((tables >> 4).into(), (tables & 15).into());
        if component.id != id || component.dc > 1 || component.ac > 1 {
            return Err(Error::Unsupported);
        }
    }
    Ok(())
}
