//! Requests, refreshes and continuous updates.

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
        let mut rig = Self { flow: Flow::default(), screen: Framebuffer::new(100, 50, 0), out: Vec::new() };
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
fn held_requests_are_sent_when_asked_for_and_once() {
    let mut rig = Rig::new();
    rig.flow.hold(SCREEN, &mut rig.out);
    assert!(!rig.flow.ask(SCREEN, &mut rig.out), "the first request is open");
    rig.update(SCREEN);
    assert_eq!(rig.sent(), [] as [u8; 0]);
    rig.flow.probe(&mut rig.out);
    rig.sent();
    assert!(rig.flow.ask(SCREEN, &mut rig.out), "a probe requests one pixel only");
    assert!(!rig.flow.ask(SCREEN, &mut rig.out));
    assert_eq!(rig.sent(), INCREMENTAL);
    rig.update(SCREEN);
    assert_eq!(rig.sent(), [] as [u8; 0]);
    rig.flow.follow(SCREEN, &mut rig.out);
    assert_eq!(rig.sent(), INCREMENTAL);
    rig.update(SCREEN);
    assert_eq!(rig.sent(), INCREMENTAL);
}

#[test]
fn a_refresh_is_completed_although_requests_are_held() {
    let mut rig = Rig::new();
    rig.update(SCREEN);
    rig.flow.hold(SCREEN, &mut rig.out);
    rig.refresh();
    rig.update(SCREEN);
    rig.sent();
    assert_eq!(rig.update(Rect::new(0, 0, 10, 10)), 0);
    assert_eq!(rig.sent(), INCREMENTAL, "the rest of the screen is needed");
    assert_eq!(rig.update(SCREEN), 1);
    assert_eq!(rig.sent(), [] as [u8; 0]);
}

#[test]
fn continuous_updates_are_disabled_while_requests_are_held() {
    let mut rig = Rig::new();
    rig.flow.server_fence(SCREEN, &mut rig.out);
    rig.flow.end_of_continuous_updates(SCREEN, &mut rig.out);
    rig.update(SCREEN);
    rig.sent();
    for _ in 0..2 {
        rig.flow.hold(SCREEN, &mut rig.out);
    }
    assert_eq!(rig.sent()[..], [150, 0, 0, 0, 0, 0, 0, 100, 0, 50]);
    assert!(rig.flow.ask(SCREEN, &mut rig.out), "the server may have stopped already");
    rig.sent();
    rig.flow.end_of_continuous_updates(SCREEN, &mut rig.out);
    rig.flow.server_fence(SCREEN, &mut rig.out);
    rig.update(SCREEN);
    assert_eq!(rig.sent(), [] as [u8; 0], "neither enabled nor requested");
    rig.flow.unhold(SCREEN, &mut rig.out);
    assert_eq!(rig.sent()[10..12], [150, 1]);
}

#[test]
fn continuous_updates_that_are_wanted_again_at_once_are_enabled_after_the_confirmation() {
    let mut rig = Rig::new();
    rig.flow.server_fence(SCREEN, &mut rig.out);
    rig.flow.end_of_continuous_updates(SCREEN, &mut rig.out);
    rig.flow.hold(SCREEN, &mut rig.out);
    rig.flow.unhold(SCREEN, &mut rig.out);
    rig.sent();
    rig.flow.end_of_continuous_updates(SCREEN, &mut rig.out);
    assert_eq!(rig.sent()[..2], [150, 1]);
    rig.update(SCREEN);
    assert_eq!(rig.sent(), [] as [u8; 0]);
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
