//! How long each stage of a session may take.

use std::time::{Duration, Instant};

use crate::session::Failure;

/// Deadlines, each of a whole stage.
#[derive(Clone, Copy)]
pub(crate) struct Timeouts {
    pub connect: Duration,
    pub handshake: Duration,
    pub update: Duration,
    pub probe_interval: Duration,
    pub probe_deadline: Duration,
}

/// What a session was last seen to do.
pub(crate) struct Clock {
    pub connected: bool,
    since: Instant,
    heard: Instant,
    probed: Option<Instant>,
    update: Option<Instant>,
}

pub(crate) enum Verdict {
    Fine,
    /// Silent for so long that a sign of life is to be asked for.
    Probe,
    Late(Failure),
}

impl Clock {
    pub fn new(connected: bool) -> Self {
        let now = Instant::now();
        Self { connected, since: now, heard: now, probed: None, update: None }
    }

    /// The connection stands, from now on.
    pub fn connect(&mut self) {
        *self = Self::new(true);
    }

    /// Something came; whether it left an update unfinished.
    pub fn hear(&mut self, in_update: bool) {
        let now = Instant::now();
        (self.heard, self.probed) = (now, None);
        self.update = if in_update { self.update.or(Some(now)) } else { None };
    }

    /// Hold the session against its deadlines; `ready` after its handshake.
    pub fn check(&mut self, limits: &Timeouts, ready: bool, now: Instant) -> Verdict {
        let over = |since: Option<Instant>, limit| {
            since.is_some_and(|since| now.saturating_duration_since(since) > limit)
        };
        let stages = [
            (!self.connected, Some(self.since), limits.connect, "connect", "no connection within"),
            (!ready, Some(self.since), limits.handshake, "connect", "no end of the handshake within"),
            (true, self.update, limits.update, "lost", "message 0 unfinished after"),
            (true, self.probed, limits.probe_deadline, "lost", "no answer to a probe within"),
        ];
        for (current, since, limit, kind, what) in stages {
            if current && over(since, limit) {
                let seconds = (limit.as_secs_f64() * 1000.0).round() / 1000.0;
                return Verdict::Late((kind, format!("{what} {seconds} s")));
            }
        }
        if ready && self.probed.is_none() && over(Some(self.heard), limits.probe_interval) {
            self.probed = Some(now);
            return Verdict::Probe;
        }
        Verdict::Fine
    }
}
