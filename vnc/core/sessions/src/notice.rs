//! Whether a new frame wakes Python: only while Python waits for frames, and once until it copies one.

use crate::sync::atomic::{AtomicU8, Ordering};

/// Python does not want to be told of frames.
const DEAF: u8 = 1;
/// A frame was published, and none was copied since.
const FRESH: u8 = 2;
/// Python was told of a frame, and none was copied since.
const TOLD: u8 = 4;

/// What Python knows of the frames of a session; at first it listens.
///
/// All transitions are in one atomic, so that a thread that begins to listen while a frame is published is told of the
/// frame by exactly one of the two.
#[derive(Default)]
pub(crate) struct Notice(AtomicU8);

impl Notice {
    /// Record that a frame was published; return whether to tell Python.
    pub fn frame(&self) -> bool {
        let before = self.change(|state| FRESH | if state & DEAF == 0 { state | TOLD } else { state });
        before & (DEAF | TOLD) == 0
    }

    /// Record that a frame is copied: Python is to be told of the next one.
    pub fn copied(&self) {
        self.change(|state| state & DEAF);
    }

    /// Begin or cease to listen; return whether there is a frame that was neither copied nor told of.
    pub fn listen(&self, listens: bool) -> bool {
        let before = self.change(|state| match (listens, state & FRESH) {
            (false, _) => state | DEAF,
            (true, 0) => state & !DEAF,
            (true, _) => state & !DEAF | TOLD,
        });
        listens && before & (FRESH | TOLD) == FRESH
    }

    /// Whether Python listens.
    pub fn is_listening(&self) -> bool {
        self.0.load(Ordering::Acquire) & DEAF == 0
    }

    /// Change the state, and return the one before.
    fn change(&self, next: impl Fn(u8) -> u8) -> u8 {
        let changed = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| Some(next(state)));
        changed.unwrap_or_else(|state| state)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn python_is_told_once_until_it_copies() {
        let notice = Notice::default();
        assert!(notice.frame());
        assert!(!notice.frame() && !notice.listen(true), "told already");
        notice.copied();
        assert!(notice.frame());
    }

    #[test]
    fn who_does_not_listen_is_told_at_the_return() {
        let notice = Notice::default();
        assert!(!notice.listen(false));
        assert!(!notice.frame() && !notice.frame());
        assert!(notice.listen(true));
        assert!(!notice.listen(false) && !notice.listen(true), "told already");
        notice.copied();
        assert!(!notice.listen(true), "nothing new");
        assert!(notice.frame());
    }

    #[test]
    fn a_frame_that_was_copied_meanwhile_is_not_told_of() {
        let notice = Notice::default();
        notice.listen(false);
        notice.frame();
        notice.copied();
        assert!(!notice.listen(true));
    }
}

#[cfg(all(test, loom))]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::sync::atomic::AtomicU64;

    #[test]
    fn a_frame_while_python_begins_to_listen_is_told_of_once() {
        loom::model(|| {
            let (notice, frames) = (Arc::new(Notice::default()), Arc::new(AtomicU64::new(0)));
            notice.listen(false);
            let thread = {
                let (notice, frames) = (Arc::clone(&notice), Arc::clone(&frames));
                loom::thread::spawn(move || {
                    frames.store(1, Ordering::Relaxed);
                    notice.frame()
                })
            };
            let told = notice.listen(true);
            assert!(!told || frames.load(Ordering::Relaxed) == 1, "told of a frame that is not there");
            assert!(told != thread.join().expect("a thread"), "told never, or twice");
        });
    }

    #[test]
    fn a_copy_by_another_thread_loses_no_later_frame() {
        loom::model(|| {
            let notice = Arc::new(Notice::default());
            notice.listen(false);
            notice.frame();
            let thread = {
                let notice = Arc::clone(&notice);
                loom::thread::spawn(move || notice.copied())
            };
            notice.listen(true);
            thread.join().expect("a thread");
            assert!(notice.frame(), "the next frame is not told of");
        });
    }
}
