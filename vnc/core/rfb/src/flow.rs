//! When to request updates, and when a refresh is complete.
//!
//! Without continuous updates, one incremental request is always open: the client answers each update with the next
//! request. With continuous updates the server sends updates without requests, and its fences control the rate.
//! A caller that looks at the screen at known times may `hold` the requests and `ask` for an update before each look;
//! continuous updates are disabled meanwhile.
//!
//! A refresh is complete when every pixel was drawn by updates that the server made after the call of `refresh`. Which
//! updates these are depends on the server:
//! - with fences, they are the updates after the answer to a fence that was sent at the call;
//! - without fences, they are the updates after the answers to all requests that were open at the call. One update
//!   answers one request or several, so as many updates are distrusted as requests were open, but at most `MOST_OPEN`,
//!   because servers merge waiting requests. If a server does not merge them, one more request stays open after each
//!   refresh, and from the third refresh on an update from before the call may complete it.

use crate::messages::client;
use crate::screen::framebuffer::Framebuffer;
use crate::screen::geometry::Rect;

/// The largest number of requests that are assumed to be open: the incremental one, and a probe or a full one.
const MOST_OPEN: u8 = 2;

/// What a refresh waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Barrier {
    /// The answer to our fence.
    Fence,
    /// The end of this many updates, which may be older than the call.
    Distrust(u8),
    /// The last pixel: every pixel that is drawn now is new, and `Framebuffer` records which ones were drawn.
    Cover,
}

/// Whether the server sends updates without requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Continuous {
    /// No, and it has not announced that it can.
    #[default]
    Unsupported,
    /// No.
    Off,
    /// Yes.
    On,
    /// The client has disabled it, and the server has not confirmed that.
    Stopping,
}

/// The state of requests, fences and refreshes of one connection.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// The server supports fences.
    fences: bool,
    continuous: Continuous,
    /// Updates are not followed by requests, except during a refresh.
    held: bool,
    /// The whole screen was requested after the last update: the request is unanswered for certain.
    asked: bool,
    /// Requests that may still be unanswered.
    open: u8,
    /// The number of the newest refresh that was requested.
    wanted: u64,
    /// The refresh in progress: its number, and what it waits for.
    active: Option<(u64, Barrier)>,
    /// The number of the newest refresh that is complete.
    generation: u64,
}

impl Flow {
    /// The number of the newest refresh that is complete.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// Send the first request of a connection.
    pub fn start(&mut self, screen: Rect, out: &mut Vec<u8>) {
        self.request(false, screen, out);
    }

    /// Request the whole screen, and return the number of the refresh. An update that was received in part (`in_update`)
    /// is older than the call.
    pub fn refresh(&mut self, screen: &mut Framebuffer, in_update: bool, out: &mut Vec<u8>) -> u64 {
        self.wanted += 1;
        self.open = self.open.max(u8::from(in_update));
        if self.active.is_none() {
            self.begin(screen, out);
        }
        self.wanted
    }

    /// Request one pixel from a silent server, and a fence if it supports fences. After a long clipboard text Xvnc treats
    /// the connection as congested and sends no updates for up to minutes, but it answers fences.
    pub fn probe(&mut self, out: &mut Vec<u8>) {
        if self.fences {
            client::fence(out, client::FENCE_REQUEST, &[]);
        }
        let asked = self.asked;
        self.request(false, Rect::new(0, 0, 1, 1), out);
        self.asked = asked;
    }

    /// Request all pixels, changed or not.
    pub fn again(&mut self, screen: Rect, out: &mut Vec<u8>) {
        self.request(false, screen, out);
    }

    fn begin(&mut self, screen: &mut Framebuffer, out: &mut Vec<u8>) {
        let barrier = if self.fences {
            let flags = client::FENCE_REQUEST | client::FENCE_BLOCK_BEFORE;
            client::fence(out, flags, &self.wanted.to_be_bytes());
            Barrier::Fence
        } else {
            let open = self.open;
            self.request(false, screen.whole(), out);
            if open == 0 { cover(screen) } else { Barrier::Distrust(open) }
        };
        self.active = Some((self.wanted, barrier));
    }

    fn request(&mut self, incremental: bool, rect: Rect, out: &mut Vec<u8>) {
        client::request_update(out, incremental, rect);
        self.open = (self.open + 1).min(MOST_OPEN);
        self.asked = true;
    }

    /// Request updates only by `ask` from now on, and for refreshes.
    pub fn hold(&mut self, screen: Rect, out: &mut Vec<u8>) {
        self.held = true;
        if self.continuous == Continuous::On {
            self.continuous = Continuous::Stopping;
            client::continuous_updates(out, false, screen);
        }
    }

    /// Request the next change, and return true; return false if that is not necessary.
    pub fn ask(&mut self, screen: Rect, out: &mut Vec<u8>) -> bool {
        let is_needed = !self.asked && self.continuous != Continuous::On;
        if is_needed {
            self.request(true, screen, out);
        }
        is_needed
    }

    /// End `hold`, without continuous updates: another `hold` is expected soon.
    pub fn follow(&mut self, screen: Rect, out: &mut Vec<u8>) {
        self.held = false;
        self.ask(screen, out);
    }

    /// End `hold`.
    pub fn unhold(&mut self, screen: Rect, out: &mut Vec<u8>) {
        self.follow(screen, out);
        self.enable(screen, out);
    }

    /// Record that the server supports fences. The client must not send one before: x11vnc then closes the connection.
    pub fn server_fence(&mut self, screen: Rect, out: &mut Vec<u8>) {
        self.fences = true;
        self.enable(screen, out);
    }

    /// Handle `EndOfContinuousUpdates`. The first one announces support; one while they are enabled ends them.
    pub fn end_of_continuous_updates(&mut self, screen: Rect, out: &mut Vec<u8>) {
        let before = std::mem::replace(&mut self.continuous, Continuous::Off);
        match before {
            Continuous::Unsupported | Continuous::Stopping => self.enable(screen, out),
            Continuous::On => self.request(true, screen, out),
            Continuous::Off => {}
        }
    }

    fn enable(&mut self, screen: Rect, out: &mut Vec<u8>) {
        if self.fences && self.continuous == Continuous::Off && !self.held {
            self.continuous = Continuous::On;
            client::continuous_updates(out, true, screen);
        }
    }

    /// Handle the answer to a fence: the server made all later updates after the fence was sent.
    pub fn fence_reply(&mut self, payload: &[u8], screen: &mut Framebuffer, out: &mut Vec<u8>) {
        if let Some((wanted, Barrier::Fence)) = self.active
            && payload == wanted.to_be_bytes()
        {
            self.active = Some((wanted, cover(screen)));
            self.request(false, screen.whole(), out);
        }
    }

    /// Request all pixels of a screen that has a new size.
    pub fn resized(&mut self, screen: Rect, out: &mut Vec<u8>) {
        if self.continuous == Continuous::On {
            client::continuous_updates(out, true, screen);
        }
        self.request(false, screen, out);
    }

    /// Handle the end of an update: request the next one, and advance the refresh.
    pub fn updated(&mut self, screen: &mut Framebuffer, out: &mut Vec<u8>) {
        self.open = self.open.saturating_sub(1);
        self.asked = false;
        let whole = screen.whole();
        let mut again = false;
        match self.active {
            Some((wanted, Barrier::Distrust(n))) => {
                let left = n - 1;
                let next = if left > 0 { Barrier::Distrust(left) } else { cover(screen) };
                self.active = Some((wanted, next));
                again = true;
            }
            Some((wanted, Barrier::Cover)) if screen.all_drawn() => {
                self.generation = wanted;
                self.active = None;
            }
            _ => {}
        }
        if again {
            self.request(false, whole, out);
        } else if self.continuous != Continuous::On && (!self.held || self.active.is_some()) {
            self.request(true, whole, out);
        }
        if self.active.is_none() && self.wanted > self.generation {
            self.begin(screen, out);
        }
    }
}

fn cover(screen: &mut Framebuffer) -> Barrier {
    screen.expect_all();
    Barrier::Cover
}

#[cfg(test)]
mod tests;
