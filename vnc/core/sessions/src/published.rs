//! What a session publishes to other threads, and in which order.
//!
//! Other threads read nothing else of a session without a lock. All writes are in this file. `publish` is called under
//! the lock of the decoder, so two publications never overlap. This is the order, with the guarantee for readers:
//!
//! 1. `size`, `frame_time`, `shares` and the totals;
//! 2. `name`: a reader that sees it sees the size of the screen;
//! 3. `frames`: a reader that sees a number sees the size, time and totals of that frame or of a later one;
//! 4. `generation`: a reader that sees a refresh complete sees the number of a frame that has its pixels;
//! 5. `failure`: a reader that sees it sees the last frame;
//! 6. the session is listed in its `Hub`: a reader that `Hub::drain` wakes sees all of the above.
//!
//! The pixels are behind the lock of the decoder. A thread that copies a frame waits for a publication in progress, and
//! gets the frame whose number was published, or a newer one.

use std::sync::OnceLock;

use rfb::{Error, Offer, Reason, Totals};

use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Why a session ended: a branch of the error tree in vnc/errors.py, and a text.
pub type Failure = (&'static str, String);

/// The part of a session that other threads read without a lock.
#[derive(Default)]
pub struct Published {
    /// The height in the upper half, the width in the lower.
    size: AtomicU32,
    /// The bits of an f64, in seconds on the monotonic clock.
    frame_time: AtomicU64,
    shares: AtomicBool,
    more_buttons: AtomicBool,
    rects: AtomicU64,
    pixels: AtomicU64,
    bytes: AtomicU64,
    long_cut_texts: AtomicU64,
    frames: AtomicU64,
    generation: AtomicU64,
    name: OnceLock<String>,
    certificate: OnceLock<bool>,
    offer: OnceLock<Offer>,
    failure: OnceLock<Failure>,
}

/// The changes since the last publication.
#[derive(Default)]
pub(crate) struct Changes {
    /// The new width and height.
    pub size: Option<(u16, u16)>,
    /// The desktop's name, once: the handshake is complete.
    pub name: Option<String>,
    /// TLS begins; whether the server presents a certificate. It is set once.
    pub certificate: Option<bool>,
    /// The offer of shared frames, once.
    pub offer: Option<Offer>,
    /// Whether the pixels of the newest update came through shared memory.
    pub shares: bool,
    /// Whether the server takes pointer events with more than eight buttons.
    pub more_buttons: bool,
    /// What was drawn, and when, in seconds on the monotonic clock.
    pub drawn: Option<(Totals, f64)>,
    /// The number of the newest frame.
    pub frames: u64,
    /// The number of the newest complete refresh.
    pub generation: u64,
    /// How many clipboard texts were longer than the limit.
    pub long_cut_texts: u64,
}

impl Published {
    /// Publish changes, and return whether a refresh became complete. The caller holds the lock of the decoder.
    pub(crate) fn publish(&self, changes: Changes) -> bool {
        if let Some((width, height)) = changes.size {
            self.size.store(u32::from(height) << 16 | u32::from(width), Ordering::Relaxed);
        }
        if let Some((totals, time)) = changes.drawn {
            self.rects.fetch_add(totals.rects, Ordering::Relaxed);
            self.pixels.fetch_add(totals.pixels, Ordering::Relaxed);
            self.bytes.fetch_add(totals.bytes, Ordering::Relaxed);
            self.frame_time.store(time.to_bits(), Ordering::Relaxed);
        }
        self.shares.store(changes.shares, Ordering::Relaxed);
        self.more_buttons.store(changes.more_buttons, Ordering::Relaxed);
        self.long_cut_texts.store(changes.long_cut_texts, Ordering::Relaxed);
        // A connection has one handshake and one offer, so a second `set` cannot happen.
        if let Some(offer) = changes.offer {
            let _ = self.offer.set(offer);
        }
        if let Some(certificate) = changes.certificate {
            let _ = self.certificate.set(certificate);
        }
        if let Some(name) = changes.name {
            let _ = self.name.set(name);
        }
        self.frames.store(changes.frames, Ordering::Release);
        self.generation.swap(changes.generation, Ordering::Release) != changes.generation
    }

    /// Publish the end of the session, and return whether it is the first: only the first reason is kept.
    pub(crate) fn end(&self, failure: Failure) -> bool {
        self.failure.set(failure).is_ok()
    }

    /// The width and height of the screen, in pixels.
    pub fn size(&self) -> (u32, u32) {
        let size = self.size.load(Ordering::Relaxed);
        (size & 0xffff, size >> 16)
    }

    /// The number of the newest whole frame, from 1; 0 before the first.
    pub fn frames(&self) -> u64 {
        self.frames.load(Ordering::Acquire)
    }

    /// When the newest frame was complete, in seconds on the monotonic clock.
    pub fn frame_time(&self) -> f64 {
        f64::from_bits(self.frame_time.load(Ordering::Relaxed))
    }

    /// The number of the newest refresh whose pixels are all in the frame that `frames` numbers.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The totals: frames, rects, pixels, bytes, clipboard texts longer than the limit.
    pub fn totals(&self) -> (u64, u64, u64, u64, u64) {
        let frames = self.frames();
        let [rects, pixels, bytes, long_cut_texts] =
            [&self.rects, &self.pixels, &self.bytes, &self.long_cut_texts]
                .map(|total| total.load(Ordering::Relaxed));
        (frames, rects, pixels, bytes, long_cut_texts)
    }

    /// The name of the desktop; None before the handshake is complete.
    pub fn name(&self) -> Option<&str> {
        self.name.get().map(String::as_str)
    }

    /// Whether the server presents a certificate in the TLS that begins; None before TLS begins.
    pub fn certificate(&self) -> Option<bool> {
        self.certificate.get().copied()
    }

    /// The offer of shared frames; None before it.
    pub fn offer(&self) -> Option<&Offer> {
        self.offer.get()
    }

    /// Whether the server takes pointer events with more than eight buttons.
    pub fn more_buttons(&self) -> bool {
        self.more_buttons.load(Ordering::Relaxed)
    }

    /// Whether the pixels of the newest update came through shared memory.
    pub fn shares(&self) -> bool {
        self.shares.load(Ordering::Relaxed)
    }

    /// Why the session ended; None before that.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.get()
    }
}

#[cfg(all(test, loom))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sync::{Mutex, lock};

    /// A session with a screen of one pixel, whose value is the number of its frame.
    #[derive(Default)]
    struct Model {
        published: Published,
        pixel: Mutex<u64>,
    }

    impl Model {
        fn draw(&self, frames: u64, generation: u64) {
            let mut pixel = lock(&self.pixel);
            *pixel = frames;
            let totals = Totals { rects: 1, pixels: 1, bytes: 16 };
            let size = Some((frames as u16, 1));
            let drawn = Some((totals, frames as f64));
            self.published.publish(Changes { size, drawn, frames, generation, ..Changes::default() });
        }

        /// Return the number that an array with frame `since` has after a `take`.
        fn take(&self, since: u64) -> u64 {
            if since == self.published.frames() { since } else { *lock(&self.pixel) }
        }
    }

    #[test]
    fn a_reader_that_sees_a_refresh_complete_gets_its_pixels() {
        loom::model(|| {
            let model = Arc::new(Model::default());
            let writer = Arc::clone(&model);
            let thread = loom::thread::spawn(move || {
                writer.draw(1, 0);
                writer.draw(2, 1);
            });
            let since = model.take(0);
            if model.published.generation() == 1 {
                assert_eq!(model.published.frames(), 2);
                assert_eq!(model.take(since), 2, "pixels from before the refresh");
            }
            thread.join().expect("a thread");
        });
    }

    #[test]
    fn a_reader_that_sees_a_frame_sees_its_size_time_and_totals() {
        loom::model(|| {
            let model = Arc::new(Model::default());
            let writer = Arc::clone(&model);
            let thread = loom::thread::spawn(move || {
                writer.draw(1, 0);
                writer.draw(2, 0);
            });
            let (frames, rects, ..) = model.published.totals();
            assert!(rects >= frames, "{rects} rects in {frames} frames");
            assert!(u64::from(model.published.size().0) >= frames, "the size of before");
            assert!(model.published.frame_time() >= frames as f64, "the time of before");
            thread.join().expect("a thread");
        });
    }
}

/// Return the branch of the error tree in vnc/errors.py for an error.
pub(crate) const fn kind(error: &Error) -> &'static str {
    match error {
        Error::Policy(_) | Error::AuthFailed(_) => "auth",
        Error::TooManyFailures(_) => "locked",
        Error::Refused(_) => "connect",
        Error::Limit { .. }
        | Error::Decode { reason: Reason::TooLong(..) | Reason::Limit(..) | Reason::Cursor(..), .. } => {
            "limit"
        }
        Error::NotRfb(_) | Error::Version(..) | Error::Protocol(_) | Error::Decode { .. } => "protocol",
    }
}
