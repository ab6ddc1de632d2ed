//! Atomics and locks: the standard library's, or those of loom, which tests every order that the memory model allows.

use std::sync::PoisonError;

#[cfg(loom)]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic};

/// Lock, even after a panic under the lock: that panic ended the session, and its data are only read afterwards.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
