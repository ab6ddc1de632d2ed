//! What both programs need: zlib-ng, libjpeg-turbo, and the time they take.

use flate2::{Decompress, FlushDecompress, Status};

pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Inflate with zlib-ng; returns how many bytes. Those that there is no room for are written over the first ones.
pub fn inflate(stream: &mut Decompress, mut input: &[u8], out: &mut [u8]) -> Outcome<usize> {
    let began = stream.total_out();
    loop {
        let (before, after) = (stream.total_in(), stream.total_out());
        let status = stream.decompress(input, out, FlushDecompress::Sync)?;
        input = &input[(stream.total_in() - before) as usize..];
        let full = (stream.total_out() - after) as usize == out.len();
        if status == Status::StreamEnd || (input.is_empty() && !full) {
            return Ok((stream.total_out() - began) as usize);
        }
    }
}

unsafe extern "C" {
    fn decode_jpeg(data: *const u8, size: usize, out: *mut u8, room: usize) -> i32;
}

/// Decode a JPEG image to packed RGB with libjpeg-turbo.
pub fn decode(data: &[u8], out: &mut [u8]) -> Outcome<()> {
    // SAFETY: the shim reads `size` bytes and writes at most `room`.
    let failed = unsafe { decode_jpeg(data.as_ptr(), data.len(), out.as_mut_ptr(), out.len()) };
    if failed == 0 { Ok(()) } else { Err("an image larger than its screen".into()) }
}

/// User and system time of this process, in seconds.
pub fn cpu() -> f64 {
    // SAFETY: getrusage fills in the whole structure.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
