//! A descriptor that other threads make readable, for an event loop: an eventfd on Linux, one of a pair of sockets elsewhere.

#[cfg(target_os = "linux")]
mod eventfd;
#[cfg(any(all(test, not(loom)), not(target_os = "linux")))]
mod pair;
#[cfg(any(all(test, not(loom)), windows))]
mod tcp;

#[cfg(target_os = "linux")]
pub(crate) use eventfd::Waker;
#[cfg(not(target_os = "linux"))]
pub(crate) use pair::Waker;
