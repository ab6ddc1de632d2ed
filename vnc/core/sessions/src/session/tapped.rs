//! Every frame of a session, for recorders.

use std::sync::Arc;

use rfb::Connection;

use super::Session;
use crate::sync::lock;
use crate::tap::Tap;

impl Session {
    /// Copy the newest frame to the taps that have not ended.
    pub(super) fn copy_to_taps(&self, connection: &Connection, time: f64) {
        let mut taps = lock(&self.taps);
        taps.retain(|tap| !tap.has_ended());
        if let Some(frame) = connection.frame() {
            let (number, generation) = (connection.frames(), connection.generation());
            taps.iter().for_each(|tap| tap.add(frame, number, time, generation));
        }
    }

    /// Whether there is a tap that has not ended.
    pub(super) fn is_tapped(&self) -> bool {
        lock(&self.taps).iter().any(|tap| !tap.has_ended())
    }

    /// Copy every frame to `tap` from now on, the newest one first. The tap ends with the session.
    pub fn add_tap(&self, tap: &Arc<Tap>) {
        self.copy_all_to(tap);
        self.end_looks();
    }

    fn copy_all_to(&self, tap: &Arc<Tap>) {
        let connection = &mut lock(&self.decoder).connection;
        connection.pause_at_frames();
        let (number, generation) = (connection.frames(), connection.generation());
        if let Some(frame) = connection.frame().filter(|_| number > 0) {
            tap.add(frame, number, self.published.frame_time(), generation);
        }
        lock(&self.taps).push(Arc::clone(tap));
        // `finish` has ended the taps that it saw.
        if self.published.failure().is_some() {
            tap.end();
        }
    }
}
