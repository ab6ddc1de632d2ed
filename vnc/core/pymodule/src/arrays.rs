//! The arrays that frames of a session were taken into.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::PyArray3;
use pyo3::prelude::*;
use pyo3::types::PyWeakrefReference;

/// Arrays a session remembers.
const MOST: usize = 4;

/// Which frame each array holds.
///
/// INVARIANT: nothing of Python is called while the lock is held. An allocation or a dropped reference may run any
/// Python code, which may take a frame of the same session, or wait for a thread that does.
#[derive(Default)]
pub(crate) struct Arrays(Mutex<Vec<Taken>>);

struct Taken {
    /// Whoever owns the memory; while it lives, the address means this array.
    owner: Py<PyWeakrefReference>,
    data: usize,
    frames: u64,
}

impl Arrays {
    fn lock(&self) -> MutexGuard<'_, Vec<Taken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The frame that the array at `data` holds, if it was taken into and still is the same array.
    pub fn frame_in(&self, py: Python<'_>, data: usize) -> Option<u64> {
        let (owner, frames) = {
            let arrays = self.lock();
            let taken = arrays.iter().find(|taken| taken.data == data)?;
            (taken.owner.clone_ref(py), taken.frames)
        };
        owner.bind(py).upgrade().map(|_| frames)
    }

    /// The array at `data`, which is known if it `was_known` and no other was taken into since, holds this frame now.
    pub fn note(&self, out: &Bound<'_, PyArray3<u8>>, data: usize, frames: u64, was_known: bool) {
        let known = was_known && self.lock().iter_mut().any(|taken| taken.hold(data, frames));
        if !known {
            self.remember(out, data, frames);
        }
    }

    fn remember(&self, out: &Bound<'_, PyArray3<u8>>, data: usize, frames: u64) {
        // Memory whose owner cannot be watched is copied whole every time.
        let owner = PyWeakrefReference::new(&owner(out)).ok().map(Bound::unbind);
        let mut arrays = self.lock();
        let (mut kept, mut dropped): (Vec<_>, Vec<_>) =
            arrays.drain(..).partition(|taken| taken.data != data);
        dropped.extend(kept.drain(kept.len().min(MOST - 1)..));
        kept.splice(..0, owner.map(|owner| Taken { owner, data, frames }));
        *arrays = kept;
        drop(arrays);
        drop(dropped);
    }
}

impl Taken {
    /// Note the frame if this is the array at `data`; returns whether it is.
    fn hold(&mut self, data: usize, frames: u64) -> bool {
        let here = self.data == data;
        if here {
            self.frames = frames;
        }
        here
    }
}

/// The object whose life is the life of the array's memory.
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
