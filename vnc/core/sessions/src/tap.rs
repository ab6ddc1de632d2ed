//! Every frame of a session, copied for a recorder: a queue with a bound, which counts what it refused.

use std::collections::VecDeque;
use std::sync::PoisonError;

use rfb::Framebuffer;

use crate::sync::{Condvar, Mutex, lock};

/// Frames that a queue always has room for, however large they are.
const LEAST: usize = 8;

/// A copy of a frame.
#[derive(Debug, PartialEq)]
pub struct Copied {
    /// The number of the frame, as `Published::frames` counts them.
    pub number: u64,
    /// When it was complete, in seconds on the monotonic clock.
    pub time: f64,
    /// The number of the newest refresh whose pixels are all in the frame.
    pub generation: u64,
    /// The height and width, in pixels.
    pub size: [usize; 2],
    /// The pixels, row by row, R G B.
    pub pixels: Vec<u8>,
    /// How many frames before this one were refused since the last that was not.
    pub refused: u64,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Copied>,
    bytes: usize,
    refused: u64,
    ended: bool,
}

/// The frames that wait for a recorder. A session's thread adds them, a thread of the recorder takes them.
pub struct Tap {
    limit: usize,
    queue: Mutex<Queue>,
    news: Condvar,
}

impl Tap {
    /// Return an empty queue for `limit` bytes of pixels.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, queue: Mutex::new(Queue::default()), news: Condvar::new() }
    }

    /// Add a copy of a frame, or count it if the queue is full.
    pub(crate) fn add(&self, frame: &Framebuffer, number: u64, time: f64, generation: u64) {
        let length = frame.pixels().len();
        let mut queue = lock(&self.queue);
        if queue.ended {
            return;
        }
        if queue.bytes + length > self.limit && queue.waiting.len() >= LEAST {
            queue.refused += 1;
            return;
        }
        let size = [frame.height().into(), frame.width().into()];
        let refused = std::mem::take(&mut queue.refused);
        let pixels = frame.pixels().to_vec();
        queue.bytes += length;
        queue.waiting.push_back(Copied { number, time, generation, size, pixels, refused });
        self.news.notify_one();
    }

    /// End the queue: nothing is added from now on. What waits can still be taken.
    pub fn end(&self) {
        lock(&self.queue).ended = true;
        self.news.notify_all();
    }

    /// Whether the queue has ended.
    pub(crate) fn has_ended(&self) -> bool {
        lock(&self.queue).ended
    }

    /// How many frames were refused after the newest that was not.
    pub fn refused(&self) -> u64 {
        lock(&self.queue).refused
    }

    /// Return the oldest frame, or wait for one. None: the queue has ended and is empty.
    pub fn take(&self) -> Option<Copied> {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(copied) = queue.waiting.pop_front() {
                queue.bytes -= copied.pixels.len();
                return Some(copied);
            }
            if queue.ended {
                return None;
            }
            queue = self.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_full_queue_counts_what_it_refuses() {
        let (tap, frame) = (Tap::new(100), Framebuffer::new(4, 3, 1));
        (1..=10).for_each(|number| tap.add(&frame, number, number as f64, 0));
        assert_eq!(tap.refused(), 2);
        let first = tap.take().unwrap();
        assert_eq!((first.number, first.time, first.size, first.refused), (1, 1.0, [3, 4], 0));
        assert_eq!(first.pixels, frame.pixels());
        tap.add(&frame, 11, 11.0, 5);
        tap.end();
        let rest: Vec<_> = std::iter::from_fn(|| tap.take()).collect();
        assert_eq!(rest.iter().map(|copied| copied.number).collect::<Vec<_>>(), [2, 3, 4, 5, 6, 7, 8, 11]);
        assert_eq!(rest.last().map(|copied| (copied.refused, copied.generation)), Some((2, 5)));
        assert_eq!(tap.refused(), 0);
    }

    #[test]
    fn what_waits_can_be_taken_after_the_end() {
        let (tap, frame) = (Tap::new(100), Framebuffer::new(1, 1, 1));
        tap.add(&frame, 1, 0.0, 0);
        tap.end();
        tap.add(&frame, 2, 0.0, 0);
        assert_eq!(tap.take().map(|copied| copied.number), Some(1));
        assert_eq!(tap.take(), None);
    }

    #[test]
    fn who_waits_gets_the_frame_and_the_end() {
        let tap = Arc::new(Tap::new(100));
        let taker = Arc::clone(&tap);
        let thread = std::thread::spawn(move || (taker.take().map(|copied| copied.number), taker.take()));
        tap.add(&Framebuffer::new(1, 1, 1), 7, 0.0, 0);
        tap.end();
        assert_eq!(thread.join().unwrap(), (Some(7), None));
    }
}
