//! How long each stage of a session may take.

use std::time::{Duration, Instant};

use crate::published::Failure;

/// Deadlines, each of a whole stage.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// ... until the handshake is over.
    pub handshake: Duration,
    /// From the first byte of a message to its last.
    pub message: Duration,
    /// Silence after which a sign of life is asked for.
    pub probe_interval: Duration,
    /// ... until that has to come.
    pub probe_deadline: Duration,
}

/// What a session was last seen to do.
pub(crate) struct Clock {
    pub connected: bool,
    since: Instant,
    received: Instant,
    probed: Option<Instant>,
    message: Option<Message>,
}

/// A message that is not whole, and when its first byte was seen.
struct Message {
    number: u64,
    kind: u8,
    since: Instant,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fine,
    /// Silent for so long that a sign of life is to be asked for.
    Probe,
    Late(Failure),
}

impl Clock {
    pub fn new(connected: bool, now: Instant) -> Self {
        Self { connected, since: now, received: now, probed: None, message: None }
    }

    /// The connection stands, from now on.
    pub fn connect(&mut self, now: Instant) {
        *self = Self::new(true, now);
    }

    /// Bytes came, and left this message unfinished: its number and its type.
    pub fn receive(&mut self, unfinished: Option<(u64, u8)>, now: Instant) {
        (self.received, self.probed) = (now, None);
        // A deadline is one message's: where every read ends inside another one, none is late.
        let last = self.message.take();
        self.message = unfinished.map(|(number, kind)| match last {
            Some(message) if message.number == number => message,
            _ => Message { number, kind, since: now },
        });
    }

    /// Hold the session against its deadlines; `ready` after its handshake.
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
    fn a_message_that_drips_is_late_whatever_it_is() {
        let mut now = Instant::now();
        let mut clock = Clock::new(true, now);
        for _ in 0..4 {
            clock.receive(Some((1, 3)), now);
            assert_eq!(clock.check(&LIMITS, true, now), Verdict::Fine);
            now += SECOND / 3;
        }
        let Verdict::Late((kind, words)) = clock.check(&LIMITS, true, now) else { panic!("not late") };
        assert_eq!((kind, words.as_str()), ("lost", "message 3 unfinished after 1 s"));
        clock.receive(None, now);
        assert_eq!(clock.check(&LIMITS, true, now + 10 * SECOND), Verdict::Fine);
    }
}
