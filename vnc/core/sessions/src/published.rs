//! What a session publishes to other threads, and in which order.
//!
//! Nothing else of a session is read without a lock. Whoever publishes holds the lock of the connection, so there is
//! one at a time. The order, and what a reader can rely on:
//!
//! 1. `size`, `frame_time` and the totals, then
//! 2. `frames`: who sees a number sees the size, time and totals of that frame or of a later one, then
//! 3. `generation`: who sees a refresh complete sees the number of a frame that has its pixels, then
//! 4. `failure`: who sees the end sees the last frame, and then
//! 5. the session is listed in its `Hub`: who is told of news sees them.
//!
//! The pixels themselves are behind the lock of the connection: whoever takes a frame waits for a publication under
//! way, and gets the frame of the number that was published, or a newer one.

use std::sync::OnceLock;

use rfb::Totals;

use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Which branch of the error tree in vnc/errors.py ended a session, and why.
pub type Failure = (&'static str, String);

/// The published part of a session.
#[derive(Default)]
pub struct Published {
    /// Height in the upper half, width in the lower.
    size: AtomicU32,
    /// The bits of an f64: seconds on the monotonic clock.
    frame_time: AtomicU64,
    rects: AtomicU64,
    pixels: AtomicU64,
    bytes: AtomicU64,
    long_cut_texts: AtomicU64,
    frames: AtomicU64,
    generation: AtomicU64,
    /// Set when the handshake is over.
    pub(crate) name: OnceLock<String>,
    /// Set when TLS is to begin: whether the server shows a certificate in it.
    pub(crate) certificate: OnceLock<bool>,
    /// Set when the session is over.
    pub(crate) failure: OnceLock<Failure>,
}

/// What has changed since the last publication.
#[derive(Default)]
pub(crate) struct Changes {
    pub size: Option<(u16, u16)>,
    /// What was drawn, and when, in seconds on the monotonic clock.
    pub drawn: Option<(Totals, f64)>,
    /// The newest frame.
    pub frames: u64,
    /// The newest complete refresh.
    pub generation: u64,
    /// Clipboard texts beyond the limit.
    pub long_cut_texts: u64,
}

impl Published {
    /// Publish; returns whether a refresh has become complete. The caller holds the lock of the connection.
    pub(crate) fn publish(&self, changes: &Changes) -> bool {
        if let Some((width, height)) = changes.size {
            self.size.store(u32::from(height) << 16 | u32::from(width), Ordering::Relaxed);
        }
        if let Some((totals, time)) = changes.drawn {
            self.rects.fetch_add(totals.rects, Ordering::Relaxed);
            self.pixels.fetch_add(totals.pixels, Ordering::Relaxed);
            self.bytes.fetch_add(totals.bytes, Ordering::Relaxed);
            self.frame_time.store(time.to_bits(), Ordering::Relaxed);
        }
        self.long_cut_texts.store(changes.long_cut_texts, Ordering::Relaxed);
        self.frames.store(changes.frames, Ordering::Release);
        self.generation.swap(changes.generation, Ordering::Release) != changes.generation
    }

    /// Width and height.
    pub fn size(&self) -> (u32, u32) {
        let size = self.size.load(Ordering::Relaxed);
        (size & 0xffff, size >> 16)
    }

    /// How many whole frames there have been.
    pub fn frames(&self) -> u64 {
        self.frames.load(Ordering::Acquire)
    }

    /// When the newest frame was finished: seconds on the monotonic clock.
    pub fn frame_time(&self) -> f64 {
        f64::from_bits(self.frame_time.load(Ordering::Relaxed))
    }

    /// The newest refresh whose pixels are all in the frame that `frames` counts.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Frames, rects, pixels, bytes, clipboard texts beyond the limit.
    pub fn totals(&self) -> (u64, u64, u64, u64, u64) {
        let frames = self.frames();
        let [rects, pixels, bytes, long_cut_texts] =
            [&self.rects, &self.pixels, &self.bytes, &self.long_cut_texts]
                .map(|total| total.load(Ordering::Relaxed));
        (frames, rects, pixels, bytes, long_cut_texts)
    }

    /// The name of the desktop, once the handshake is over.
    pub fn name(&self) -> Option<&str> {
        self.name.get().map(String::as_str)
    }

    /// Whether the server shows a certificate in the TLS that is to begin; None before that.
    pub fn certificate(&self) -> Option<bool> {
        self.certificate.get().copied()
    }

    /// Why the session is over.
    pub fn failure(&self) -> Option<&Failure> {
        self.failure.get()
    }
}

#[cfg(all(test, loom))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sync::{Mutex, lock};

    /// A session of one pixel, which holds the number of its frame.
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
            self.published.publish(&Changes { size, drawn, frames, generation, long_cut_texts: 0 });
        }

        /// As an array is taken into that holds frame `since`.
        fn take(&self, since: u64) -> u64 {
            if since == self.published.frames() { since } else { *lock(&self.pixel) }
        }
    }

    #[test]
    fn whoever_sees_a_refresh_complete_takes_its_pixels() {
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
    fn whoever_sees_a_frame_sees_its_size_time_and_totals() {
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
