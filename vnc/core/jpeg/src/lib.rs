//! The JPEG that VNC servers send, decoded straight into a framebuffer.
//!
//! Tight's images are baseline, without restarts and, from quality 8 up, without subsampling; nothing else is
//! done here, and whoever calls has another decoder for the rest. Tables are kept from image to image.
#![allow(clippy::inline_always, reason = "what is not inlined is not compiled for the wider processor")]

#[cfg(target_arch = "x86_64")]
mod avx2;
mod bits;
mod colour;
mod header;
mod huffman;
mod idct;
mod lanes;

use bits::Bits;
use header::{Component, Frame, PLACES, Tables};
use lanes::{Lanes, Plain};

/// Why there are no pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// JPEG, but not of the kind that is done here.
    Unsupported,
    /// Not JPEG.
    Broken(&'static str),
    /// Another width and height than expected.
    Size(usize, usize),
}

/// A decoder with its tables and buffers.
#[derive(Default)]
pub struct Decoder {
    tables: Tables,
    scan: Vec<u8>,
    /// Eight rows of each component.
    planes: [Vec<u8>; 3],
}

/// The pixels an image is to be written to.
pub struct Target<'a> {
    /// From the image's first pixel on, R G B.
    pub pixels: &'a mut [u8],
    /// Bytes from one row to the next.
    pub stride: usize,
    /// Pixels.
    pub width: usize,
    /// Pixels.
    pub height: usize,
}

impl Decoder {
    /// Draw an image that must have the target's size.
    pub fn decode(&mut self, data: &[u8], target: &mut Target<'_>) -> Result<(), Error> {
        let (frame, rest) = header::read(data, (target.width, target.height), &mut self.tables)?;
        if target.width == 0 || target.height == 0 {
            return Ok(());
        }
        let length = bits::unstuff(rest, &mut self.scan);
        let padded = target.width.next_multiple_of(8);
        for plane in &mut self.planes[..frame.count] {
            plane.resize(8 * padded, 0);
        }
        let image = Image { frame, tables: &self.tables, data: &self.scan, length, padded };
        widest(&image, &mut self.planes, target)
    }
}

/// What is known before the first block.
struct Image<'a> {
    frame: Frame,
    tables: &'a Tables,
    data: &'a [u8],
    /// Bytes of `data` without the padding.
    length: usize,
    /// Samples in a row of a plane: the width in whole blocks.
    padded: usize,
}

/// `bands` with the widest instructions this processor has.
fn widest(image: &Image<'_>, planes: &mut [Vec<u8>; 3], target: &mut Target<'_>) -> Result<(), Error> {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,bmi1,bmi2")]
        fn with_avx2(
            image: &Image<'_>,
            planes: &mut [Vec<u8>; 3],
            target: &mut Target<'_>,
        ) -> Result<(), Error> {
            bands::<avx2::Wide>(image, planes, target)
        }
        if is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
        {
            // SAFETY: the processor has all that the function was compiled for.
            #[allow(unsafe_code, reason = "the compiler cannot know the processor")]
            return unsafe { with_avx2(image, planes, target) };
        }
    }
    bands::<Plain>(image, planes, target)
}

#[inline(always)]
fn bands<L: Lanes>(
    image: &Image<'_>,
    planes: &mut [Vec<u8>; 3],
    target: &mut Target<'_>,
) -> Result<(), Error> {
    let (width, height, stride) = (target.width, target.height, target.stride);
    let mut bits = Bits::new(image.data);
    let mut predictions = [0; 3];
    for top in (0..height).step_by(8) {
        band::<L>(image, &mut bits, &mut predictions, planes)?;
        if bits.used() > image.length * 8 {
            return Err(Error::Broken("data cut short"));
        }
        let rows = target.pixels[top * stride..].chunks_mut(stride).take(height - top);
        show(planes, image, rows.map(|row| &mut row[..width * 3]));
    }
    Ok(())
}

/// Decode eight rows of samples.
#[inline(always)]
fn band<L: Lanes>(
    image: &Image<'_>,
    bits: &mut Bits<'_>,
    predictions: &mut [i32; 3],
    planes: &mut [Vec<u8>; 3],
) -> Result<(), Error> {
    let (frame, padded) = (&image.frame, image.padded);
    for x in (0..padded).step_by(8) {
        let parts = frame.components[..frame.count].iter().zip(&mut *predictions).zip(&mut *planes);
        for ((component, prediction), plane) in parts {
            let mut block = [0; 64];
            let last = coefficients(component, image.tables, bits, prediction, &mut block)?;
            let rows = plane.chunks_exact_mut(padded);
            let cells = rows.filter_map(|row| row[x..].first_chunk_mut::<8>());
            if last == 0 {
                let sample = [idct::flat(block[0]); 8];
                cells.for_each(|cell| *cell = sample);
            } else {
                cells.zip(idct::samples::<L>(&block)).for_each(|(cell, samples)| *cell = samples);
            }
        }
    }
    Ok(())
}

/// Decode one block; returns the number of its last coefficient that is not zero.
#[inline(always)]
fn coefficients(
    component: &Component,
    tables: &Tables,
    bits: &mut Bits<'_>,
    prediction: &mut i32,
    block: &mut idct::Block,
) -> Result<usize, Error> {
    const BAD: Error = Error::Broken("no such huffman code");
    let quantizers = &tables.quantizers[component.quantizers].0;
    bits.refill();
    let difference = tables.dc[component.dc].decode(bits).ok_or(BAD)?.value;
    *prediction = prediction.wrapping_add(difference);
    block[0] = prediction.wrapping_mul(quantizers[0]);
    let table = &tables.ac[component.ac];
    let (mut next, mut last) = (1, 0);
    while next < 64 {
        bits.refill();
        let symbol = table.decode(bits).ok_or(BAD)?;
        let at = next + symbol.run;
        if at > 63 {
            break;
        }
        block[usize::from(PLACES[at] & 63)] = symbol.value * quantizers[at];
        last = at;
        next = at + 1;
    }
    Ok(last)
}

#[inline(always)]
fn show<'a>(planes: &[Vec<u8>; 3], image: &Image<'_>, rows: impl Iterator<Item = &'a mut [u8]>) {
    let ([luma, blue, red], padded) = (planes, image.padded);
    for (y, row) in rows.take(8).enumerate() {
        let part = y * padded..(y + 1) * padded;
        if image.frame.count == 1 {
            colour::grey(&luma[part], row);
        } else {
            colour::convert(&luma[part.clone()], &blue[part.clone()], &red[part], row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_draws_the_same() {
        let data = include_bytes!("../tests/vectors/colour.jpg");
        let mut tables = Tables::default();
        let (frame, rest) = header::read(data, (27, 21), &mut tables).unwrap();
        let mut scan = Vec::new();
        let length = bits::unstuff(rest, &mut scan);
        let image = Image { frame, tables: &tables, data: &scan, length, padded: 32 };
        let mut planes = std::array::from_fn(|_| vec![0; 8 * 32]);
        let mut drawn = vec![0; 27 * 21 * 3];
        let target = &mut Target { pixels: &mut drawn, stride: 27 * 3, width: 27, height: 21 };
        bands::<Plain>(&image, &mut planes, target).unwrap();
        let mut widest = vec![0; 27 * 21 * 3];
        let target = &mut Target { pixels: &mut widest, stride: 27 * 3, width: 27, height: 21 };
        Decoder::default().decode(data, target).unwrap();
        assert!(drawn == widest);
    }
}
