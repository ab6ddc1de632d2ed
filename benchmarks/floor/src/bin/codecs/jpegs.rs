//! JPEG images, decoded to packed RGB.

use floor::Outcome;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

use crate::{Contender, Payload, race};

/// The largest difference per channel that rounding explains.
const MOST_DIFFERENCE: u8 = 4;

struct Image<'a> {
    data: &'a [u8],
    width: usize,
    height: usize,
}

impl<'a> Image<'a> {
    fn new(data: &'a [u8]) -> Outcome<Self> {
        let mut decoder = JpegDecoder::new(ZCursor::new(data));
        decoder.decode_headers()?;
        let (width, height) = decoder.dimensions().ok_or("an image without a size")?;
        Ok(Self { data, width, height })
    }

    fn size(&self) -> usize {
        3 * self.width * self.height
    }
}

fn turbo(image: &Image, pixels: &mut [u8]) -> Outcome<()> {
    floor::decode(image.data, pixels)
}

fn zune(image: &Image, pixels: &mut [u8]) -> Outcome<()> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    Ok(JpegDecoder::new_with_options(ZCursor::new(image.data), options).decode_into(pixels)?)
}

fn compare(images: &[Image], room: usize) -> Outcome<()> {
    let (mut pixels, mut other) = (vec![0; room], vec![0; room]);
    for (number, image) in images.iter().enumerate() {
        zune(image, &mut pixels[..image.size()])?;
        turbo(image, &mut other[..image.size()])?;
        let pairs = pixels[..image.size()].iter().zip(&other);
        let difference = pairs.map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
        if difference > MOST_DIFFERENCE {
            return Err(format!("image {number}: zune-jpeg and libjpeg-turbo differ by {difference}").into());
        }
    }
    Ok(())
}

pub fn run(payloads: &[Payload], rounds: usize) -> Outcome<()> {
    let images = payloads.iter().map(|payload| Image::new(&payload.data)).collect::<Outcome<Vec<_>>>()?;
    let room = images.iter().map(Image::size).max().unwrap_or(0);
    compare(&images, room)?;
    let mut contenders = [
        contender("zune-jpeg", &images, room, zune),
        contender("libjpeg-turbo", &images, room, turbo),
    ];
    race(&mut contenders, rounds, images.iter().map(Image::size).sum())
}

fn contender<'a>(
    name: &'static str,
    images: &'a [Image],
    room: usize,
    mut decode: impl FnMut(&Image, &mut [u8]) -> Outcome<()> + 'a,
) -> Contender<'a> {
    let mut pixels = vec![1; room];
    let pass = move || images.iter().try_for_each(|image| decode(image, &mut pixels[..image.size()]));
    (name, Box::new(pass))
}
