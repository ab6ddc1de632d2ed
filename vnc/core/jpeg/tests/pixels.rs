//! Images written by libjpeg-turbo give the pixels that it reads back, but for rounding.

use jpeg::{Decoder, Error, Target};

const WIDTH: usize = 27;
const HEIGHT: usize = 21;
const COLOUR: &[u8] = include_bytes!("vectors/colour.jpg");

fn decode(decoder: &mut Decoder, data: &[u8], width: usize, height: usize) -> Result<Vec<u8>, Error> {
    let mut pixels = vec![0; width * height * 3];
    decoder.decode(data, &mut Target { pixels: &mut pixels, stride: width * 3, width, height })?;
    Ok(pixels)
}

/// A sample of luma and one of chroma, each off by one, are three of blue at most.
fn near(drawn: &[u8], expected: &[u8]) -> bool {
    drawn.len() == expected.len() && drawn.iter().zip(expected).all(|(&a, &b)| a.abs_diff(b) <= 3)
}

#[test]
fn pixels_are_libjpegs() {
    let mut decoder = Decoder::default();
    let vectors: [(&[u8], &[u8]); 3] = [
        (COLOUR, include_bytes!("vectors/colour.rgb")),
        (include_bytes!("vectors/optimized.jpg"), include_bytes!("vectors/optimized.rgb")),
        (include_bytes!("vectors/grey.jpg"), include_bytes!("vectors/grey.rgb")),
    ];
    // Twice, so that each meets the tables of the others.
    for (image, pixels) in vectors.iter().chain(&vectors) {
        assert!(near(&decode(&mut decoder, image, WIDTH, HEIGHT).unwrap(), pixels));
    }
}

#[test]
fn it_draws_into_a_part_of_a_screen() {
    let (stride, mut screen) = (40 * 3, vec![9; 40 * 30 * 3]);
    let target = &mut Target { pixels: &mut screen[2 * 120 + 15..], stride, width: WIDTH, height: HEIGHT };
    Decoder::default().decode(COLOUR, target).unwrap();
    let expected = include_bytes!("vectors/colour.rgb");
    for (y, row) in screen.chunks(stride).enumerate() {
        for (x, pixel) in row.chunks(3).enumerate() {
            if (2..2 + HEIGHT).contains(&y) && (5..5 + WIDTH).contains(&x) {
                let start = ((y - 2) * WIDTH + x - 5) * 3;
                assert!(near(pixel, &expected[start..start + 3]), "at {x},{y}");
            } else {
                assert_eq!(pixel, [9; 3], "drawn outside at {x},{y}");
            }
        }
    }
}

#[test]
fn other_kinds_are_left_to_others() {
    let mut decoder = Decoder::default();
    for image in [&include_bytes!("vectors/halved.jpg")[..], include_bytes!("vectors/progressive.jpg")] {
        assert_eq!(decode(&mut decoder, image, WIDTH, HEIGHT), Err(Error::Unsupported));
    }
}

#[test]
fn another_size_is_refused() {
    for (width, height) in [(WIDTH, HEIGHT - 1), (WIDTH + 1, HEIGHT), (0, 0)] {
        let result = decode(&mut Decoder::default(), COLOUR, width, height);
        assert_eq!(result, Err(Error::Size(WIDTH, HEIGHT)));
    }
}

#[test]
fn broken_images_are_errors_and_nothing_worse() {
    let mut decoder = Decoder::default();
    for length in 0..COLOUR.len() - 2 {
        let result = decode(&mut decoder, &COLOUR[..length], WIDTH, HEIGHT);
        assert!(matches!(result, Err(Error::Broken(_))), "{length} bytes: {result:?}");
    }
    for place in 0..COLOUR.len() {
        for value in [0, 1, 0x7f, 0xff, COLOUR[place] ^ 0x10] {
            let mut image = COLOUR.to_vec();
            image[place] = value;
            // Whatever comes of it: no panic, and the next image is right again.
            let _ = decode(&mut decoder, &image, WIDTH, HEIGHT);
        }
    }
    let pixels = decode(&mut decoder, COLOUR, WIDTH, HEIGHT).unwrap();
    assert!(near(&pixels, include_bytes!("vectors/colour.rgb")));
}
