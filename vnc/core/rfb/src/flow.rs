//! When to ask for updates, and from when on the screen can be trusted.
//!
//! Without continuous updates one incremental request is always with the server; each update is answered
//! by the next request. With them the server sends when it likes, paced by its fences.
//!
//! A refresh is a barrier: it is reached when every part of the screen was drawn by updates which the server
//! made after the call. Which updates those are is known
//! - with fences: those behind the answer to a fence sent at the call;
//! - without: as soon as every request that was with the server at the call has surely been answered. An
//!   update answers one request or several, so as many updates are distrusted as requests were open. No more than
//!   `MOST_OPEN` are: servers merge those that wait. One that does not has one more after each refresh, and from the
//!   third on a refresh may be content with an update that was under way.

use crate::client;
use crate::framebuffer::Framebuffer;
use crate::geometry::Rect;

/// At most this many requests are taken to be open: the running one, and a probe or full one beside it.
const MOST_OPEN: u8 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Barrier {
    /// Waiting for our fence to come back.
    Fence,
    /// So many updates may still be older than the call.
    Distrust(u8),
    /// Every pixel drawn from now on is new; `Framebuffer` watches for the last one.
    Cover,
}

#[derive(Debug, Default)]
pub(crate) struct Flow {
    fences: bool,
    offered: bool,
    continuous: bool,
    /// Requests that may not have been answered yet.
    open: u8,
    wanted: u64,
    active: Option<(u64, Barrier)>,
    generation: u64,
}

impl Flow {
    /// The newest refresh that is complete.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// The first request of a connection.
    pub fn start(&mut self, screen: Rect, out: &mut Vec<u8>) {
        self.request(false, screen, out);
    }

    /// Ask for the whole screen; an update that is half received (`in_update`) is not new.
    pub fn refresh(&mut self, screen: &mut Framebuffer, in_update: bool, out: &mut Vec<u8>) -> u64 {
        self.wanted += 1;
        self.open = self.open.max(u8::from(in_update));
        if self.active.is_none() {
            self.begin(screen, out);
        }
        self.wanted
    }

    /// Ask a silent server for one pixel, and for a fence where it knows them: after a long clipboard text, Xvnc takes
    /// the connection for congested and sends no updates for up to minutes, but it answers fences.
    pub fn probe(&mut self, out: &mut Vec<u8>) {
        if self.fences {
            client::fence(out, client::FENCE_REQUEST, &[]);
        }
        self.request(false, Rect::new(0, 0, 1, 1), out);
    }

    /// All pixels, whether they have changed or not.
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

    /// The server speaks fences: only now may we (x11vnc hangs up on a fence).
    pub fn server_fence(&mut self, screen: Rect, out: &mut Vec<u8>) {
        self.fences = true;
        self.enable(screen, out);
    }

    /// `EndOfContinuousUpdates`: the first one is an offer, one while they run ends them.
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

    /// A fence of ours came back; updates from now on were made after it was sent.
    pub fn fence_reply(&mut self, payload: &[u8], screen: &mut Framebuffer, out: &mut Vec<u8>) {
        if let Some((wanted, Barrier::Fence)) = self.active
            && payload == wanted.to_be_bytes()
        {
            self.active = Some((wanted, cover(screen)));
            self.request(false, screen.whole(), out);
        }
    }

    /// The screen has another size: its pixels are to be asked for anew.
    pub fn resized(&mut self, screen: Rect, out: &mut Vec<u8>) {
        if self.continuous {
            client::continuous_updates(out, true, screen);
        }
        self.request(false, screen, out);
    }

    /// An update is finished.
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

    /// A flow, its screen and what it has sent; `update` plays the server.
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
    fn an_update_under_way_does_not_complete_a_refresh() {
        let mut rig = Rig::new();
        rig.update(SCREEN);
        rig.sent();
        assert_eq!(rig.refresh(), 1);
        assert_eq!(rig.sent(), FULL);
        assert_eq!(rig.update(SCREEN), 0, "it may have been under way");
        assert_eq!(rig.sent(), FULL, "so the screen is asked for again");
        assert_eq!(rig.update(Rect::new(0, 0, 10, 10)), 0, "not the whole screen");
        assert_eq!(rig.update(SCREEN), 1);
    }

    #[test]
    fn a_fence_parts_old_updates_from_new() {
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
    fn a_probe_asks_for_a_fence_where_fences_are_known() {
        let mut rig = Rig::new();
        rig.flow.probe(&mut rig.out);
        assert_eq!(rig.sent(), [3, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
        rig.flow.server_fence(SCREEN, &mut rig.out);
        rig.flow.probe(&mut rig.out);
        assert_eq!(rig.sent()[..9], [248, 0, 0, 0, 128, 0, 0, 0, 0]);
    }

    #[test]
    fn refreshes_do_not_starve_each_other() {
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
