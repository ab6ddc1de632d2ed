//! When to request an update for a caller that takes frames at known times.
//!
//! ```text
//! request                    answer                 look                 follow, if no other look was announced
//!    │←──── worst latency ─────→│←───── MARGIN ─────→│←───── LATE ─────→│
//! ```
//! The estimates of the latency follow the times from requests to their frames. Such a time also contains the wait for a
//! change, if nothing had changed at the request. Therefore one sample enlarges the estimates by little. A screen that
//! changes seldom makes them too large, and requests too early; this costs little, because few changes are sent.
//!
//! If the worst latency is much longer than the usual one, there is a second request, so long before the look as the usual
//! one needs. It is sent only if the first was answered by then.

/// Seconds by which a frame is to arrive before the look.
const MARGIN: f64 = 0.002;
/// Seconds after which a look is late.
const LATE: f64 = 0.006;
/// Seconds between two requests that are worth the second.
const APART: f64 = 0.005;
/// The first estimate of the latency, in seconds.
const FIRST_LATENCY: f64 = 0.004;
/// A sample counts as at most this many times the usual latency, plus `MARGIN`.
const GROWTH: f64 = 3.0;
/// The factor of the usual latency at each look that was too near for it, so that one of the later looks tries again.
const FADE: f64 = 0.98;

/// What to do with the requests of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Send none until `Ask`.
    Hold,
    /// Send one.
    Ask,
    /// Follow each update by one, until the next `Hold`.
    Follow,
    /// Have all updates sent, in the way that is best for a slow network.
    Release,
}

/// The next look at one session, and how long its requests take. All times are in seconds of `monotonic`.
pub(crate) struct Looks {
    /// None if the caller may look at any time.
    next: Option<f64>,
    /// `Hold` was returned, and `Release` was not.
    engaged: bool,
    /// When an update was requested whose frame has not arrived.
    asked: Option<f64>,
    /// The longest latency of late.
    worst: f64,
    /// The usual latency.
    usual: f64,
    /// When `turn` has something to do; infinity if never.
    turn: f64,
}

impl Default for Looks {
    fn default() -> Self {
        Self {
            next: None,
            engaged: false,
            asked: None,
            worst: FIRST_LATENCY,
            usual: FIRST_LATENCY,
            turn: f64::INFINITY,
        }
    }
}

impl Looks {
    /// Announce the next look. If the usual latency is more than half of the time until then, do not wait.
    pub fn announce(&mut self, look: f64, now: f64) -> Option<Act> {
        let half = (look - now) / 2.0;
        if self.usual + MARGIN > half {
            self.usual *= FADE;
            return self.end();
        }
        let first = look - half.min(self.worst + MARGIN);
        (self.next, self.engaged, self.turn) = (Some(look), true, first);
        Some(Act::Hold)
    }

    /// Take note that the caller may look at any time.
    pub fn end(&mut self) -> Option<Act> {
        (self.next, self.asked, self.turn) = (None, None, f64::INFINITY);
        std::mem::take(&mut self.engaged).then_some(Act::Release)
    }

    /// Return what is due; None if nothing is.
    pub fn turn(&mut self, now: f64) -> Option<Act> {
        let look = self.next.filter(|_| self.turn <= now)?;
        if self.turn < look {
            let second = look - self.usual - MARGIN;
            self.turn = if second - self.turn > APART { second } else { look + LATE };
            return Some(Act::Ask);
        }
        (self.next, self.turn) = (None, f64::INFINITY);
        Some(Act::Follow)
    }

    /// Take note that an update was requested.
    pub fn asked(&mut self, now: f64) {
        self.asked = Some(now);
    }

    /// Take note of a frame.
    pub fn frame(&mut self, now: f64) {
        let Some(asked) = self.asked.take() else { return };
        let sample = (now - asked).min(GROWTH * self.usual + MARGIN);
        self.worst = sample.max(self.worst + (sample - self.worst) / 8.0);
        self.usual += (sample - self.usual) / 4.0;
    }

    /// When `turn` is to be called; None if never.
    pub fn next_turn(&self) -> Option<f64> {
        self.turn.is_finite().then_some(self.turn)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Look every 0.1 s at a screen whose requests take `latency`; return the age of the request at the last look.
    fn play(looks: &mut Looks, count: usize, latency: f64) -> f64 {
        let mut age = f64::INFINITY;
        for number in 1..=count {
            let (now, look) = (number as f64 * 0.1, (number + 1) as f64 * 0.1);
            age = f64::INFINITY;
            if looks.announce(look, now) == Some(Act::Hold) {
                let time = looks.next_turn().unwrap();
                assert_eq!(looks.turn(time), Some(Act::Ask));
                looks.asked(time);
                looks.frame(time + latency);
                age = look - time;
            }
        }
        age
    }

    #[test]
    fn a_request_precedes_the_look_by_its_latency_and_a_margin() {
        for latency in [0.0005, 0.003, 0.01, 0.03] {
            let age = play(&mut Looks::default(), 40, latency);
            assert!((latency..latency + 2.0 * MARGIN).contains(&age), "{age} for {latency}");
        }
    }

    #[test]
    fn a_network_that_is_too_slow_is_never_waited_for_but_sometimes_tried() {
        let mut looks = Looks::default();
        play(&mut looks, 20, 0.2);
        let tries = (0..100)
            .filter(|number| looks.announce(f64::from(*number) + 0.1, f64::from(*number)) == Some(Act::Hold));
        assert!((1..100).contains(&tries.count()));
    }

    #[test]
    fn one_long_wait_for_a_change_is_forgotten_soon() {
        let mut looks = Looks::default();
        play(&mut looks, 20, 0.001);
        looks.asked(10.0);
        looks.frame(60.0);
        assert!(play(&mut looks, 6, 0.001) < 0.006);
    }

    #[test]
    fn a_late_look_lets_updates_follow_each_other_again() {
        let mut looks = Looks::default();
        looks.announce(1.0, 0.9);
        let first = looks.next_turn().unwrap();
        assert_eq!(looks.turn(first), Some(Act::Ask));
        assert_eq!(looks.turn(first), None, "done");
        let second = looks.next_turn().unwrap();
        assert!(second > 1.0 && second < 1.0 + 2.0 * LATE);
        assert_eq!(looks.turn(second), Some(Act::Follow));
        assert_eq!(looks.next_turn(), None);
    }

    #[test]
    fn after_long_latencies_there_is_a_second_request_for_the_usual_one() {
        let mut looks = Looks::default();
        for latency in [0.03, 0.03, 0.03, 0.002, 0.002, 0.002] {
            play(&mut looks, 3, latency);
        }
        looks.announce(5.0, 4.8);
        let turns: Vec<_> = std::iter::from_fn(|| {
            let turn = looks.next_turn()?;
            looks.turn(turn).map(|act| (turn, act))
        })
        .collect();
        let [(first, Act::Ask), (second, Act::Ask), (_, Act::Follow)] = turns[..] else {
            panic!("{turns:?}")
        };
        assert!(first + APART < second && second < 5.0 - MARGIN);
    }

    #[test]
    fn looks_at_any_time_end_the_wait() {
        let mut looks = Looks::default();
        looks.announce(1.0, 0.9);
        assert_eq!(looks.end(), Some(Act::Release));
        assert_eq!(looks.end(), None);
        assert_eq!(looks.next_turn(), None);
    }
}
