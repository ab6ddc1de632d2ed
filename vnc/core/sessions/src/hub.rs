//! Wakes an event loop when sessions have changed: one file descriptor, and each session at most once per wake-up.

use std::sync::Arc;

use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, lock};
use crate::waker::Waker;

/// A session's place in the hub.
pub(crate) struct Entry {
    pub id: u64,
    listed: AtomicBool,
}

impl Entry {
    pub fn new(id: u64) -> Arc<Self> {
        Arc::new(Self { id, listed: AtomicBool::new(false) })
    }
}

/// The list of the sessions with news.
pub struct Hub {
    waker: Waker,
    changed: Mutex<Vec<Arc<Entry>>>,
}

impl Hub {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self { waker: Waker::new()?, changed: Mutex::new(Vec::new()) })
    }

    /// The descriptor for the event loop, readable while sessions are listed; on Windows the handle of a socket.
    #[must_use]
    pub fn descriptor(&self) -> i64 {
        self.waker.descriptor()
    }

    /// List a session whose news are published. A session that is listed already is not listed again.
    pub(crate) fn changed(&self, entry: &Arc<Entry>) {
        if entry.listed.swap(true, Ordering::AcqRel) {
            return;
        }
        let mut changed = lock(&self.changed);
        changed.push(Arc::clone(entry));
        if changed.len() == 1 {
            self.waker.wake();
        }
    }

    /// Return the ids of the sessions with news since the last call, and empty the list.
    pub fn drain(&self) -> Vec<u64> {
        let changed = {
            let mut changed = lock(&self.changed);
            // It need not have been readable: only the list matters, and it may be empty.
            self.waker.clear();
            std::mem::take(&mut *changed)
        };
        // A swap, not a store, because it synchronizes with the last `changed` that found the session listed. The caller
        // reads the session after this line, and so sees the news of that call.
        let read = |entry: &Arc<Entry>| entry.listed.swap(false, Ordering::AcqRel).then_some(entry.id);
        changed.iter().filter_map(read).collect()
    }
}

#[cfg(all(test, loom))]
mod tests {
    use super::*;
    use crate::sync::atomic::AtomicU64;

    #[test]
    fn news_are_seen_or_listed() {
        loom::model(|| {
            let hub = Arc::new(Hub::new().expect("a descriptor"));
            let (entry, news) = (Entry::new(7), Arc::new(AtomicU64::new(0)));
            hub.changed(&entry);
            let thread = {
                let (hub, entry, news) = (Arc::clone(&hub), Arc::clone(&entry), Arc::clone(&news));
                loom::thread::spawn(move || {
                    news.store(1, Ordering::Relaxed);
                    hub.changed(&entry);
                })
            };
            assert_eq!(hub.drain(), [7]);
            let seen = news.load(Ordering::Relaxed) == 1;
            thread.join().expect("a thread");
            assert!(seen || hub.drain() == [7], "a lost wake-up");
        });
    }

    #[test]
    fn the_descriptor_is_readable_while_sessions_are_listed() {
        loom::model(|| {
            let hub = Arc::new(Hub::new().expect("a descriptor"));
            let threads = [1, 2].map(|id| {
                let hub = Arc::clone(&hub);
                loom::thread::spawn(move || hub.changed(&Entry::new(id)))
            });
            let early = hub.drain().len();
            threads.into_iter().for_each(|thread| thread.join().expect("a thread"));
            let readable = hub.waker.clear();
            assert_eq!(readable, early < 2, "{early} of 2 sessions were listed before");
            assert_eq!(hub.drain().len(), 2 - early);
        });
    }
}
