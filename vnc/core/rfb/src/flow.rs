//! When to request updates, and when a refresh is complete.
//!
//! Without continuous updates, one incremental request is always open: the client answers each update with the next
//! request. With continuous updates the server sends updates without requests, and its fences control the rate.
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

/// The state of requests, fences and refreshes of one connection.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    /// The server supports fences.
    fences: bool,
    /// The server supports continuous updates.
    offered: bool,
    /// Continuous updates are enabled.
    continuous: bool,
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
        self.request(false, Rect::new(0, 0, 1, 1), out);
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
    }

    /// Record that the server supports fences. The client must not send one before: x11vnc then closes the connection.
    pub fn server_fence(&mut self, screen: Rect, out: &mut Vec<u8>) {
        self.fences = true;
        self.enable(screen, out);
    }

    /// Handle `EndOfContinuousUpdates`. The first one announces support; one while they are enabled ends them.
    pub fn end_of_continuous_updates(&mut self, screen: Rect, out: &mut Vec<u8>) {
        if self.continuous {
            self.continuous = false;
            self.request(true, screen, out);
        } else if !self.offered {
            self.offered = true;
            self.enable(screen, out);
        }
    }

    fn enable(&mut self, screen: Rect, out: &mut Vec<u8>) {
        if self.fences && self.offered && !self.continuous {
            self.continuous = true;
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
        if self.continuous {
            client::continuous_updates(out, true, screen);
        }
        self.request(false, screen, out);
    }

    /// Handle the end of an update: request the next one, and advance the refresh.
    pub fn updated(&mut self, screen: &mut Framebuffer, out: &mut Vec<u8>) {
        self.open = self.open.saturating_sub(1);
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
        } else if !self.continuous {
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
mod tests {
    use super::*;

    const SCREEN: Rect = Rect::new(0, 0, 100, 50);
    const FULL: [u8; 10] = [3, 0, 0, 0, 0, 0, 0, 100, 0, 50];
    const INCREMENTAL: [u8; 10] = [3, 1, 0, 0, 0, 0, 0, 100, 0, 50];

    /// A flow, its screen and the bytes it has sent. `update` acts as the server.
    struct Rig {
        flow: Flow,
        screen: Framebuffer,
        out: Vec<u8>,
    }

    impl Rig {
        fn new() -> Self {
            let mut rig =
                Self { flow: Flow::default(), screen: Framebuffer::new(100, 50, 0), out: Vec::new() };
            rig.flow.start(SCREEN, &mut rig.out);
            assert_eq!(rig.sent(), FULL);
            rig
        }

        fn sent(&mut self) -> Vec<u8> {
            std::mem::take(&mut self.out)
        }

        fn refresh(&mut self) -> u64 {
            self.flow.refresh(&mut self.screen, false, &mut self.out)
        }

        fn update(&mut self, rect: Rect) -> u64 {
            self.screen.window(rect).unwrap();
            self.flow.updated(&mut self.screen, &mut self.out);
            self.flow.generation()
        }
    }

    #[test]
    fn each_update_is_followed_by_a_request() {
        let mut rig = Rig::new();
        for _ in 0..3 {
            assert_eq!(rig.update(SCREEN), 0);
            assert_eq!(rig.sent(), INCREMENTAL);
        }
    }

    #[test]
    fn an_update_from_before_the_call_does_not_complete_a_refresh() {
        let mut rig = Rig::new();
        rig.update(SCREEN);
        rig.sent();
        assert_eq!(rig.refresh(), 1);
        assert_eq!(rig.sent(), FULL);
        assert_eq!(rig.update(SCREEN), 0, "it may be older than the call");
        assert_eq!(rig.sent(), FULL, "so the screen is requested again");
        assert_eq!(rig.update(Rect::new(0, 0, 10, 10)), 0, "not the whole screen");
        assert_eq!(rig.update(SCREEN), 1);
    }

    #[test]
    fn a_fence_separates_old_updates_from_new_ones() {
        let mut rig = Rig::new();
        rig.flow.server_fence(SCREEN, &mut rig.out);
        assert_eq!(rig.sent(), [] as [u8; 0]);
        rig.flow.end_of_continuous_updates(SCREEN, &mut rig.out);
        assert_eq!(rig.sent()[..2], [150, 1]);
        assert_eq!(rig.update(SCREEN), 0);
        assert_eq!(rig.sent(), [] as [u8; 0], "continuous updates need no requests");
        rig.refresh();
        assert_eq!(rig.sent(), [&[248, 0, 0, 0, 128, 0, 0, 1, 8][..], &1_u64.to_be_bytes()].concat());
        assert_eq!(rig.update(SCREEN), 0);
        rig.flow.fence_reply(&[9; 8], &mut rig.screen, &mut rig.out);
        assert_eq!(rig.sent(), [] as [u8; 0], "not our fence");
        rig.flow.fence_reply(&1_u64.to_be_bytes(), &mut rig.screen, &mut rig.out);
        assert_eq!(rig.sent(), FULL);
        assert_eq!(rig.update(SCREEN), 1);
    }

    #[test]
    fn a_probe_includes_a_fence_if_the_server_supports_fences() {
        let mut rig = Rig::new();
        rig.flow.probe(&mut rig.out);
        assert_eq!(rig.sent(), [3, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
        rig.flow.server_fence(SCREEN, &mut rig.out);
        rig.flow.probe(&mut rig.out);
        assert_eq!(rig.sent()[..9], [248, 0, 0, 0, 128, 0, 0, 0, 0]);
    }

    #[test]
    fn refreshes_do_not_delay_each_other_for_ever() {
        let mut rig = Rig::new();
        rig.update(SCREEN);
        rig.sent();
        rig.refresh();
        rig.update(SCREEN);
        assert_eq!((rig.refresh(), rig.refresh()), (2, 3));
        assert_eq!(rig.update(SCREEN), 1);
        let mut updates = 0;
        while rig.flow.generation() < 3 {
            rig.update(SCREEN);
            updates += 1;
        }
        assert!(updates <= 3, "{updates} updates");
    }

    #[test]
    fn continuous_updates_can_end() {
        let mut rig = Rig::new();
        rig.flow.end_of_continuous_updates(SCREEN, &mut rig.out);
        assert_eq!(rig.sent(), [] as [u8; 0], "no fence seen yet");
        rig.flow.server_fence(SCREEN, &mut rig.out);
        assert_eq!(rig.sent()[..2], [150, 1]);
        rig.flow.end_of_continuous_updates(SCREEN, &mut rig.out);
        assert_eq!(rig.sent(), INCREMENTAL);
    }
}
