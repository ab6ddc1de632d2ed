//! zlib streams that go on from payload to payload.

use flate2::Decompress;
use floor::Outcome;
use inflate::{Inflater, PIECE};
use libdeflater::{Crc, Decompressor};
use miniz_oxide::inflate::stream::{InflateState, inflate as miniz_inflate};
use miniz_oxide::{DataFormat, MZFlush};
use zlib_rs::{Inflate, InflateFlush};

use crate::{Contender, Payload, race};

const STREAMS: usize = 6;

/// A stream, with or without header and checksum.
trait Stream {
    fn new(zlib: bool) -> Self;
    fn reset(&mut self, zlib: bool);
    /// Inflate all of `input`, and pass the output to `seen`; `out` is room for it.
    fn inflate(&mut self, input: &[u8], out: &mut [u8], seen: impl FnMut(&[u8])) -> Outcome<()>;
}

impl Stream for Inflater {
    fn new(_: bool) -> Self {
        Self::default()
    }

    fn reset(&mut self, _: bool) {
        self.reset();
    }

    fn inflate(&mut self, input: &[u8], _: &mut [u8], mut seen: impl FnMut(&[u8])) -> Outcome<()> {
        let broken = |error| format!("ours: {error:?}");
        let mut part = self.part(input);
        loop {
            let bytes = part.fill(PIECE).map_err(broken)?;
            if bytes.is_empty() {
                return part.finish().map(|_| ()).map_err(|error| broken(error).into());
            }
            seen(bytes);
            let count = bytes.len();
            part.consume(count);
        }
    }
}

impl Stream for Decompress {
    fn new(zlib: bool) -> Self {
        Self::new(zlib)
    }

    fn reset(&mut self, zlib: bool) {
        self.reset(zlib);
    }

    fn inflate(&mut self, input: &[u8], out: &mut [u8], mut seen: impl FnMut(&[u8])) -> Outcome<()> {
        let count = floor::inflate(self, input, out)?;
        seen(&out[..count]);
        Ok(())
    }
}

impl Stream for Inflate {
    fn new(zlib: bool) -> Self {
        Self::new(zlib, 15)
    }

    fn reset(&mut self, zlib: bool) {
        self.reset(zlib);
    }

    fn inflate(&mut self, input: &[u8], out: &mut [u8], mut seen: impl FnMut(&[u8])) -> Outcome<()> {
        let before = self.total_out();
        self.decompress(input, out, InflateFlush::SyncFlush).map_err(|error| error.as_str())?;
        seen(&out[..(self.total_out() - before) as usize]);
        Ok(())
    }
}

impl Stream for Box<InflateState> {
    fn new(zlib: bool) -> Self {
        InflateState::new_boxed(format(zlib))
    }

    fn reset(&mut self, zlib: bool) {
        InflateState::reset(self, format(zlib));
    }

    fn inflate(&mut self, input: &[u8], out: &mut [u8], mut seen: impl FnMut(&[u8])) -> Outcome<()> {
        let done = miniz_inflate(self, input, out, MZFlush::Sync);
        done.status.map_err(|error| format!("miniz_oxide: {error:?}"))?;
        seen(&out[..done.bytes_written]);
        Ok(())
    }
}

fn format(zlib: bool) -> DataFormat {
    if zlib { DataFormat::Zlib } else { DataFormat::Raw }
}

/// What a codec is given.
struct Input<'a> {
    payloads: &'a [Payload],
    zlib: bool,
    /// More than the largest payload has of output.
    room: usize,
}

/// All streams of a connection.
struct Connection<'a, S> {
    streams: Vec<S>,
    payloads: &'a [Payload],
    zlib: bool,
    out: Vec<u8>,
}

impl<'a, S: Stream + 'a> Connection<'a, S> {
    fn new(&Input { payloads, zlib, room }: &Input<'a>) -> Self {
        Self { streams: (0..STREAMS).map(|_| S::new(zlib)).collect(), payloads, zlib, out: vec![1; room] }
    }

    /// Inflate one payload, and pass its output to `seen`.
    fn inflate(&mut self, payload: &Payload, seen: impl FnMut(&[u8])) -> Outcome<()> {
        let stream = &mut self.streams[payload.stream];
        if payload.fresh {
            stream.reset(self.zlib);
        }
        stream.inflate(&payload.data, &mut self.out, seen)
    }

    fn contender(mut self, name: &'static str) -> Contender<'a> {
        let payloads = self.payloads;
        let pass = move || {
            payloads.iter().try_for_each(|payload| self.inflate(payload, |bytes| _ = std::hint::black_box(bytes)))
        };
        (name, Box::new(pass))
    }
}

/// What all streams hold, from their beginning to where they start anew.
#[derive(Default)]
struct Output {
    /// Bytes of the largest payload.
    largest: usize,
    /// Bytes and checksum of each stream.
    streams: Vec<(usize, Crc)>,
}

impl Output {
    fn of<S: Stream>(input: &Input) -> Outcome<Self> {
        let (mut output, mut present) = (Self::default(), [0; STREAMS]);
        let mut connection = Connection::<S>::new(input);
        for payload in input.payloads {
            if payload.fresh {
                present[payload.stream] = output.streams.len();
                output.streams.push((0, Crc::new()));
            }
            let (size, crc) = &mut output.streams[present[payload.stream]];
            let before = *size;
            connection.inflate(payload, |bytes| {
                *size += bytes.len();
                crc.update(bytes);
            })?;
            output.largest = output.largest.max(*size - before);
        }
        Ok(output)
    }

    fn sums(&self) -> Vec<(usize, u32)> {
        self.streams.iter().map(|(size, crc)| (*size, crc.sum())).collect()
    }
}

/// The payloads without the headers of zlib.
fn bare(payloads: &[Payload]) -> Vec<Payload> {
    let cut = |payload: &Payload| Payload {
        data: payload.data[if payload.fresh { 2 } else { 0 }..].to_vec(),
        ..*payload
    };
    payloads.iter().map(cut).collect()
}

/// What libdeflate can do: each stream at once, with an end.
fn whole_streams(bare: &[Payload]) -> Vec<Vec<u8>> {
    let (mut wholes, mut present) = (Vec::<Vec<u8>>::new(), [0; STREAMS]);
    for payload in bare {
        if payload.fresh {
            present[payload.stream] = wholes.len();
            wholes.push(Vec::new());
        }
        wholes[present[payload.stream]].extend(&payload.data);
    }
    for whole in &mut wholes {
        whole.extend([1, 0, 0, 0xff, 0xff]);
    }
    wholes
}

/// Ours, which knows nothing but zlib and ignores its checksum, and the others, on zlib or on bare deflate.
pub fn run(payloads: &[Payload], zlib: bool, rounds: usize) -> Outcome<()> {
    let bare = bare(payloads);
    let for_ours = Input { payloads, zlib: true, room: 0 };
    let output = Output::of::<Inflater>(&for_ours)?;
    let room = output.largest + 1;
    let input = Input { payloads: if zlib { payloads } else { &bare }, zlib, room };
    let sizes = output.streams.iter().map(|&(size, _)| size);
    let (wholes, mut out) = (whole_streams(&bare), vec![1; sizes.clone().max().unwrap_or(0) + 1]);
    compare(&output, &input, &wholes, &mut out)?;
    let mut libdeflate = Decompressor::new();
    let mut at_once = |whole: &Vec<u8>| libdeflate.deflate_decompress(whole, &mut out).map(|_| ());
    let mut contenders = [
        Connection::<Inflater>::new(&for_ours).contender("ours"),
        Connection::<Decompress>::new(&input).contender("zlib-ng"),
        Connection::<Inflate>::new(&input).contender("zlib-rs"),
        Connection::<Box<InflateState>>::new(&input).contender("miniz_oxide"),
        ("libdeflate", Box::new(|| Ok(wholes.iter().try_for_each(&mut at_once)?))),
    ];
    race(&mut contenders, rounds, sizes.sum())
}

fn compare(ours: &Output, input: &Input, wholes: &[Vec<u8>], out: &mut [u8]) -> Outcome<()> {
    let mut libdeflate = Decompressor::new();
    let at_once = |whole: &Vec<u8>| -> Outcome<(usize, u32)> {
        let size = libdeflate.deflate_decompress(whole, out)?;
        Ok((size, libdeflater::crc32(&out[..size])))
    };
    for (name, sums) in [
        ("zlib-ng", Output::of::<Decompress>(input)?.sums()),
        ("zlib-rs", Output::of::<Inflate>(input)?.sums()),
        ("miniz_oxide", Output::of::<Box<InflateState>>(input)?.sums()),
        ("libdeflate", wholes.iter().map(at_once).collect::<Outcome<_>>()?),
    ] {
        if sums != ours.sums() {
            return Err(format!("what {name} makes of it is not what ours does").into());
        }
    }
    Ok(())
}
