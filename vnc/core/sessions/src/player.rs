//! A thread that sends input of many sessions at the planned times, and requests. It never takes Python's GIL.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::{PoisonError, Weak};
use std::time::Duration;

use crate::monotonic::monotonic;
use crate::session::Session;
use crate::sync::{Condvar, Mutex, MutexGuard, lock};

/// The longest wait, after which the thread looks at the clock again.
const LONGEST: f64 = 3600.0;

/// The times at which sessions have something to send.
#[derive(Default)]
pub(crate) struct Player {
    turns: Mutex<Turns>,
    changed: Condvar,
}

#[derive(Default)]
struct Turns {
    /// The earliest turn is the greatest element.
    queue: BinaryHeap<Reverse<Turn>>,
    stop: bool,
}

/// Work for a session, at a time in seconds of `monotonic`.
struct Turn {
    time: f64,
    session: Weak<Session>,
    work: Work,
}

/// What a turn is for.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// `Session::play`.
    Play,
    /// `Session::request_in_time`.
    Request,
}

impl Turn {
    /// Do the work; return when the next turn for such work is.
    fn work(&self) -> Option<f64> {
        let session = self.session.upgrade()?;
        match self.work {
            Work::Play => session.play(self.time),
            Work::Request => session.request_in_time(),
        }
    }
}

impl Ord for Turn {
    fn cmp(&self, other: &Self) -> Ordering {
        self.time.total_cmp(&other.time)
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Turn {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Turn {}

impl Player {
    /// Have the thread work for a session at a time. The caller may hold the lock of the session's plan.
    pub fn add(&self, time: f64, session: Weak<Session>, work: Work) {
        let mut turns = lock(&self.turns);
        let is_first = turns.queue.peek().is_none_or(|Reverse(first)| time < first.time);
        turns.queue.push(Reverse(Turn { time, session, work }));
        drop(turns);
        if is_first {
            self.changed.notify_one();
        }
    }

    /// End the thread.
    pub fn stop(&self) {
        lock(&self.turns).stop = true;
        self.changed.notify_one();
    }

    /// Give the sessions their turns, until `stop`.
    pub fn run(&self) {
        let mut turns = lock(&self.turns);
        while !turns.stop {
            let left = turns.queue.peek().map_or(LONGEST, |Reverse(turn)| turn.time - monotonic());
            if left > 0.0 {
                turns = self.wait(turns, left);
                continue;
            }
            let turn = turns.queue.pop();
            drop(turns);
            if let Some(Reverse(turn)) = turn
                && let Some(next) = turn.work()
            {
                self.add(next, turn.session, turn.work);
            }
            turns = lock(&self.turns);
        }
    }

    fn wait<'a>(&'a self, turns: MutexGuard<'a, Turns>, seconds: f64) -> MutexGuard<'a, Turns> {
        let wait = Duration::from_secs_f64(seconds.min(LONGEST));
        self.changed.wait_timeout(turns, wait).unwrap_or_else(PoisonError::into_inner).0
    }
}
