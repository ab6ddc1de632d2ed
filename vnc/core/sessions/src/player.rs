//! A thread that sends the input of many sessions at the planned times. It never takes Python's GIL.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::{PoisonError, Weak};
use std::time::Duration;

use crate::monotonic::monotonic;
use crate::session::Session;
use crate::sync::{Condvar, Mutex, MutexGuard, lock};

/// The longest wait, after which the thread looks at the clock again.
const LONGEST: f64 = 3600.0;

/// The times at which sessions have input to send.
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

/// A look at the plan of a session, at a time in seconds of `monotonic`.
struct Turn {
    time: f64,
    session: Weak<Session>,
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
    /// Have the thread call `Session::play` at a time. The caller may hold the lock of the session's plan.
    pub fn add(&self, time: f64, session: Weak<Session>) {
        lock(&self.turns).queue.push(Reverse(Turn { time, session }));
        self.changed.notify_one();
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
            if let Some(Reverse(Turn { time, session })) = turn
                && let Some(next) = session.upgrade().and_then(|session| session.play(time))
            {
                self.add(next, session);
            }
            turns = lock(&self.turns);
        }
    }

    fn wait<'a>(&'a self, turns: MutexGuard<'a, Turns>, seconds: f64) -> MutexGuard<'a, Turns> {
        let wait = Duration::from_secs_f64(seconds.min(LONGEST));
        self.changed.wait_timeout(turns, wait).unwrap_or_else(PoisonError::into_inner).0
    }
}
