//! Images in JPEG rects of Tight.
#![no_main]

#[path = "../../../vnc/core/rfb/tests/harness/mod.rs"]
mod harness;

use libfuzzer_sys::fuzz_target;

#[global_allocator]
static ALLOCATOR: harness::Counting = harness::Counting;

fuzz_target!(|data: &[u8]| harness::image(data));
