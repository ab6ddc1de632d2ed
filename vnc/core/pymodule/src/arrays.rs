//! The arrays that a session's frames were copied into.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::PyArray3;
use pyo3::prelude::*;
use pyo3::types::PyWeakrefReference;

/// The number of arrays that a session remembers.
const MOST: usize = 4;

/// Which frame each array contains.
///
/// INVARIANT: no Python is called under the lock. An allocation or a dropped reference may run any Python code, which may
/// take a frame of the same session, or wait for a thread that does.
#[derive(Default)]
pub(crate) struct Arrays(Mutex<Vec<Taken>>);

struct Taken {
    /// The object that owns the memory. While it exists, the address in `key` identifies this array.
    owner: Py<PyWeakrefReference>,
    key: Key,
    frames: u64,
}

/// What identifies a target: the address of the array, and the reduction whose pictures it contains; 0 for whole frames.
pub(crate) type Key = (usize, u64);

impl Arrays {
    fn lock(&self) -> MutexGuard<'_, Vec<Taken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Return the number of the frame in the array of `key`, if it is known.
    pub fn frame_in(&self, py: Python<'_>, key: Key) -> Option<u64> {
        let (owner, frames) = {
            let arrays = self.lock();
            let taken = arrays.iter().find(|taken| taken.key == key)?;
            (taken.owner.clone_ref(py), taken.frames)
        };
        owner.bind(py).upgrade().map(|_| frames)
    }

    /// Record that the array of `key` contains this frame. `was_known`: `frame_in` has found the array before.
    pub fn record(&self, out: &Bound<'_, PyArray3<u8>>, key: Key, frames: u64, was_known: bool) {
        let known = was_known && self.lock().iter_mut().any(|taken| taken.hold(key, frames));
        if !known {
            self.remember(out, key, frames);
        }
    }

    fn remember(&self, out: &Bound<'_, PyArray3<u8>>, key: Key, frames: u64) {
        // An array whose owner has no weak references is not remembered, so its frames are copied whole.
        let owner = PyWeakrefReference::new(&owner(out)).ok().map(Bound::unbind);
        let mut arrays = self.lock();
        let (mut kept, mut dropped): (Vec<_>, Vec<_>) =
            arrays.drain(..).partition(|taken| taken.key.0 != key.0);
        dropped.extend(kept.drain(kept.len().min(MOST - 1)..));
        kept.splice(..0, owner.map(|owner| Taken { owner, key, frames }));
        *arrays = kept;
        drop(arrays);
        drop(dropped);
    }
}

impl Taken {
    /// Set the frame if this is the array of `key`; return whether it is.
    fn hold(&mut self, key: Key, frames: u64) -> bool {
        let here = self.key == key;
        if here {
            self.frames = frames;
        }
        here
    }
}

/// Return the object that owns the array's memory: the last `base`.
fn owner<'py>(out: &Bound<'py, PyArray3<u8>>) -> Bound<'py, PyAny> {
    let mut owner = out.clone().into_any();
    while let Ok(base) = owner.getattr("base") {
        if base.is_none() {
            break;
        }
        owner = base;
    }
    owner
}
