//! Input of a session that is sent at given times.

use std::sync::Arc;

use super::Session;
use crate::monotonic::monotonic;
use crate::plan::Timed;
use crate::player::Work;
use crate::sync::lock;

impl Session {
    /// Drop the planned messages for `since` or later, and plan others; return how many were dropped. Their times do not
    /// decrease, and are not before `since`.
    pub fn plan(self: &Arc<Self>, since: f64, messages: Vec<Timed>) -> usize {
        let mut plan = lock(&self.plan);
        let dropped = plan.replace(since, messages);
        if let Some(time) = plan.earlier_turn()
            && let Some(player) = self.player.upgrade()
        {
            player.add(time, Arc::downgrade(self), Work::Play);
        }
        dropped
    }

    /// Return when planned messages were sent since the last call, in seconds of the monotonic clock.
    pub fn played(&self) -> Vec<f64> {
        lock(&self.plan).take_played()
    }

    /// Send the planned messages whose times have come; return when the next turn is. The turn for `time` may be obsolete.
    pub(crate) fn play(&self, time: f64) -> Option<f64> {
        let mut plan = lock(&self.plan);
        if !plan.is_turn(time) {
            return None;
        }
        while self.published.failure().is_none()
            && let Some(message) = plan.due(monotonic())
        {
            self.send(&message);
            plan.played(monotonic());
        }
        if self.published.failure().is_some() {
            return None;
        }
        plan.end_turn()
    }
}
