//! zlib streams, compared with another inflater.
#![no_main]

#[path = "../../../vnc/core/inflate/tests/harness/mod.rs"]
mod harness;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let [cut, packed @ ..] = data {
        harness::agree(packed);
        harness::cut_anywhere(packed, usize::from(*cut));
    }
});
