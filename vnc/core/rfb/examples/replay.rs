//! Decode recorded streams and print the CPU time of each: `replay ROUNDS FILE...`.

use rfb::{Config, Connection, Event};

const PIECE: usize = 64 << 10;

/// Return the CPU time of this thread, which excludes other processes.
fn cpu_seconds() -> Result<f64, Box<dyn std::error::Error>> {
    let figures = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(figures.split_whitespace().next().unwrap_or("0").parse::<f64>()? / 1e9)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds: u32 = arguments.next().ok_or("usage: replay ROUNDS FILE...")?.parse()?;
    for file in arguments {
        let stream = std::fs::read(&file)?;
        let (mut best, mut frames, mut pixels, mut sum) = (f64::MAX, 0, 0, 0);
        for _ in 0..rounds {
            let begin = cpu_seconds()?;
            let mut connection = Connection::new(Config::default());
            pixels = 0;
            for mut piece in stream.chunks(PIECE) {
                while !piece.is_empty() {
                    let space = connection.space();
                    let count = piece.len().min(space.len());
                    space[..count].copy_from_slice(&piece[..count]);
                    connection.received(count);
                    piece = &piece[count..];
                }
                while let Some(event) = connection.next_event() {
                    if let Event::Frame(totals) = event {
                        pixels += totals.pixels;
                    }
                }
                connection.data_to_send();
            }
            best = best.min((cpu_seconds()? - begin) * 1e3);
            if let Some(error) = connection.error() {
                return Err(format!("{file}: {error}").into());
            }
            frames = connection.frames();
            sum = connection
                .screen()
                .pixels()
                .iter()
                .fold(0_u64, |sum, &byte| sum.wrapping_mul(31) + u64::from(byte));
        }
        let updates = frames.max(1) as f64;
        println!(
            "{file}: {:.3} ms/update, {frames} updates, {:.1} KiB and {:.0} kilopixels each, sum {sum:016x}",
            best / updates,
            stream.len() as f64 / 1024.0 / updates,
            pixels as f64 / 1e3 / updates,
        );
    }
    Ok(())
}
