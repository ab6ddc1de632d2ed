//! The deadlines of a session.

use std::time::{Duration, Instant};

use crate::published::Failure;

/// The longest duration of each stage of a session.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// From `connect` to an established TCP connection.
    pub connect: Duration,
    /// From an established connection to the end of the RFB handshake.
    pub handshake: Duration,
    /// From the first byte of a message to its last.
    pub message: Duration,
    /// Silence of the server after which it is probed.
    pub probe_interval: Duration,
    /// From the probe to the first byte of an answer.
    pub probe_deadline: Duration,
}

/// The times from which the deadlines of a session run.
pub(crate) struct Clock {
    pub connected: bool,
    since: Instant,
    received: Instant,
    probed: Option<Instant>,
    message: Option<Message>,
}

/// An incomplete message, and when its first byte arrived.
struct Message {
    number: u64,
    kind: u8,
    since: Instant,
}

/// The result of `Clock::check`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No deadline has passed.
    Fine,
    /// The server was silent for the probe interval: send a probe.
    Probe,
    /// A deadline has passed.
    Late(Failure),
}

impl Clock {
    /// Start the clock of a session, whose connection may be established already.
    pub fn new(connected: bool, now: Instant) -> Self {
        Self { connected, since: now, received: now, probed: None, message: None }
    }

    /// Record that the connection was established.
    pub fn connect(&mut self, now: Instant) {
        *self = Self::new(true, now);
    }

    /// Record that bytes arrived, and the number and type of the message that is incomplete after them.
    pub fn receive(&mut self, unfinished: Option<(u64, u8)>, now: Instant) {
        (self.received, self.probed) = (now, None);
        // The deadline is that of one message. Reads that each end inside another message exceed no deadline.
        let last = self.message.take();
        self.message = unfinished.map(|(number, kind)| match last {
            Some(message) if message.number == number => message,
            _ => Message { number, kind, since: now },
        });
    }

    /// Compare the session with its deadlines; `ready` means that its handshake is complete.
    pub fn check(&mut self, limits: &Timeouts, ready: bool, now: Instant) -> Verdict {
        let over = |since: Instant, limit| now.saturating_duration_since(since) > limit;
        let late = |kind, what: String, limit: Duration| {
            let seconds = (limit.as_secs_f64() * 1000.0).round() / 1000.0;
            Verdict::Late((kind, format!("{what} {seconds} s")))
        };
        if !self.connected && over(self.since, limits.connect) {
            return late("connect", "no connection within".into(), limits.connect);
        }
        if !ready && over(self.since, limits.handshake) {
            return late("connect", "no end of the handshake within".into(), limits.handshake);
        }
        if let Some(Message { kind, since, .. }) = self.message
            && over(since, limits.message)
        {
            return late("lost", format!("message {kind} unfinished after"), limits.message);
        }
        if self.probed.is_some_and(|since| over(since, limits.probe_deadline)) {
            return late("lost", "no answer to a probe within".into(), limits.probe_deadline);
        }
        if ready && self.probed.is_none() && over(self.received, limits.probe_interval) {
            self.probed = Some(now);
            return Verdict::Probe;
        }
        Verdict::Fine
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LIMITS: Timeouts = Timeouts {
        connect: SECOND,
        handshake: SECOND,
        message: SECOND,
        probe_interval: Duration::from_secs(1000),
        probe_deadline: SECOND,
    };

    #[test]
    fn updates_back_to_back_are_not_one_late_update() {
        let mut now = Instant::now();
        let mut clock = Clock::new(true, now);
        for number in 1..100 {
            now += SECOND / 3;
            clock.receive(Some((number, 0)), now);
            assert_eq!(clock.check(&LIMITS, true, now + SECOND / 3), Verdict::Fine);
        }
    }

    #[test]
    fn a_message_of_any_type_that_arrives_too_slowly_is_late() {
        let mut now = Instant::now();
        let mut clock = Clock::new(true, now);
        for _ in 0..4 {
            clock.receive(Some((1, 3)), now);
            assert_eq!(clock.check(&LIMITS, true, now), Verdict::Fine);
            now += SECOND / 3;
        }
        let Verdict::Late((kind, text)) = clock.check(&LIMITS, true, now) else { panic!("not late") };
        assert_eq!((kind, text.as_str()), ("lost", "message 3 unfinished after 1 s"));
        clock.receive(None, now);
        assert_eq!(clock.check(&LIMITS, true, now + 10 * SECOND), Verdict::Fine);
    }
}
