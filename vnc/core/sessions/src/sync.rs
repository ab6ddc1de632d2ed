//! Atomics and locks: the standard library's, or loom's, which tries every order that the memory model allows.

use std::sync::PoisonError;

#[cfg(loom)]
pub(crate) use loom::sync::{Mutex, MutexGuard, atomic};
#[cfg(not(loom))]
pub(crate) use std::sync::{Mutex, MutexGuard, atomic};

/// Lock, whoever panicked before: the session of a panic is finished, its data are only read after that.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
