//! Input that is sent at given times.

use std::collections::VecDeque;

/// A message and its time, in seconds of `monotonic`.
pub type Timed = (f64, Vec<u8>);

/// The messages of one session that wait for their times.
pub(crate) struct Plan {
    /// INVARIANT: the times do not decrease.
    waiting: VecDeque<Timed>,
    /// When messages were sent; the caller has not taken these times yet.
    played: Vec<f64>,
    /// When the player looks at the plan next; infinity if never.
    turn: f64,
}

impl Default for Plan {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), played: Vec::new(), turn: f64::INFINITY }
    }
}

impl Plan {
    /// Drop the messages for `since` or later, and append others, in order and not earlier than those that remain. Return
    /// how many were dropped.
    pub fn replace(&mut self, since: f64, messages: Vec<Timed>) -> usize {
        let kept = self.waiting.partition_point(|(time, _)| *time < since);
        let dropped = self.waiting.len() - kept;
        self.waiting.truncate(kept);
        self.waiting.extend(messages);
        dropped
    }

    /// Return the time of a new turn, if the player must come earlier than it will.
    pub fn earlier_turn(&mut self) -> Option<f64> {
        let first = self.waiting.front()?.0;
        (first < self.turn).then(|| {
            self.turn = first;
            first
        })
    }

    /// Whether the turn for `time` is still the next one.
    pub fn is_turn(&self, time: f64) -> bool {
        self.turn.total_cmp(&time).is_eq()
    }

    /// End a turn, and return the time of the next.
    pub fn end_turn(&mut self) -> Option<f64> {
        self.turn = f64::INFINITY;
        self.earlier_turn()
    }

    /// Remove and return the first message, if its time has come.
    pub fn due(&mut self, now: f64) -> Option<Vec<u8>> {
        if self.waiting.front()?.0 > now {
            return None;
        }
        self.waiting.pop_front().map(|(_, message)| message)
    }

    /// Record when a message was sent.
    pub fn played(&mut self, time: f64) {
        self.played.push(time);
    }

    /// Return the times since the last call, in the order of the messages.
    pub fn take_played(&mut self) -> Vec<f64> {
        std::mem::take(&mut self.played)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn plan(times: &[f64]) -> Plan {
        let mut plan = Plan::default();
        plan.replace(0.0, times.iter().map(|time| (*time, vec![*time as u8])).collect());
        plan
    }

    #[test]
    fn messages_are_due_in_order_and_never_early() {
        let mut plan = plan(&[1.0, 2.0, 2.0]);
        assert_eq!(plan.due(0.9), None);
        assert_eq!(plan.due(2.0), Some(vec![1]));
        assert_eq!(plan.due(2.0), Some(vec![2]));
        assert_eq!(plan.due(2.0), Some(vec![2]));
        assert_eq!(plan.due(2.0), None);
    }

    #[test]
    fn a_replacement_drops_what_is_not_earlier_than_it() {
        let mut plan = plan(&[1.0, 2.0, 3.0]);
        assert_eq!(plan.replace(2.0, vec![(2.5, vec![25])]), 2);
        assert_eq!(plan.due(9.0), Some(vec![1]));
        assert_eq!(plan.due(9.0), Some(vec![25]));
        assert_eq!(plan.due(9.0), None);
    }

    #[test]
    fn the_player_has_one_turn_ahead_and_comes_for_the_first_message() {
        let mut plan = plan(&[2.0]);
        assert_eq!(plan.earlier_turn(), Some(2.0));
        assert_eq!(plan.earlier_turn(), None, "it will come already");
        plan.replace(0.0, vec![(1.0, vec![1]), (3.0, vec![3])]);
        assert_eq!(plan.earlier_turn(), Some(1.0));
        assert!(plan.is_turn(1.0) && !plan.is_turn(2.0));
        plan.due(1.0);
        assert_eq!(plan.end_turn(), Some(3.0));
        plan.replace(0.0, vec![]);
        assert_eq!(plan.end_turn(), None);
    }
}
