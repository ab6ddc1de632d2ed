//! The time of Python's `time.monotonic()`, in seconds.

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::monotonic;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::set_monotonic;

/// Return the time. Python reads the same clock of the system.
#[cfg(target_os = "linux")]
pub(crate) fn monotonic() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Python's clock, and Rust's with it, depends on the system and on Python's version, and has its own zero.
#[cfg(any(all(test, not(loom)), not(target_os = "linux")))]
mod elsewhere {
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    /// The same moment on both clocks.
    static BOTH: OnceLock<(Instant, f64)> = OnceLock::new();
    /// Readings of Python's clock. The quickest is used, because the thread may be interrupted during the others.
    const READINGS: usize = 10;

    /// Learn Python's clock, once.
    pub fn set_monotonic(python: impl Fn() -> f64) {
        BOTH.get_or_init(|| {
            let readings = (0..READINGS).map(|_| reading(&python));
            let quickest = readings.min_by_key(|(duration, ..)| *duration);
            quickest.map_or_else(|| (Instant::now(), 0.0), |(_, here, there)| (here, there))
        });
    }

    /// Return how long a reading took, the time before it, and what it read.
    fn reading(python: impl Fn() -> f64) -> (Duration, Instant, f64) {
        let before = Instant::now();
        let seconds = python();
        (before.elapsed(), before, seconds)
    }

    /// Return the time.
    pub(crate) fn monotonic() -> f64 {
        let (here, there) = BOTH.get_or_init(|| (Instant::now(), 0.0));
        there + here.elapsed().as_secs_f64()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::elsewhere;
    use std::time::Instant;

    #[test]
    fn the_other_clock_is_followed() {
        let begin = Instant::now();
        let python = || 1000.0 + begin.elapsed().as_secs_f64();
        elsewhere::set_monotonic(python);
        elsewhere::set_monotonic(|| panic!("learnt twice"));
        let (before, now, after) = (python(), elsewhere::monotonic(), python());
        // The quickest of ten readings takes microseconds, unless each of them is interrupted.
        assert!(before - 0.1 < now && now < after + 0.1, "{before} {now} {after}");
    }
}
