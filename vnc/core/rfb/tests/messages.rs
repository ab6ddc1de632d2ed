//! Messages after the handshake: valid ones, and the faults that have broken RFB clients.

mod common;

use common::{at, counted, error_after, grey, ready, ready_with, rect, shown, update};
use rfb::{Error, Event, Limits, Reason};

const INCREMENTAL: [u8; 10] = [3, 1, 0, 0, 0, 0, 0, 8, 0, 6];

fn reason(error: Error) -> (u32, i32, Reason) {
    match error {
        Error::Decode { number, encoding, reason, .. } => (number, encoding, reason),
        other => panic!("{other}"),
    }
}

#[test]
fn an_update_is_shown_whole_or_not_at_all() {
    let mut connection = ready();
    let bytes = update(&[grey([0, 0, 8, 3], 1), grey([0, 3, 8, 3], 2)]);
    for byte in &bytes[..bytes.len() - 1] {
        connection.receive(&[*byte]);
        assert!(connection.screen().pixels().iter().all(|&value| value == 0));
    }
    assert!(connection.in_update());
    connection.receive(&bytes[bytes.len() - 1..]);
    assert_eq!((at(&connection, 0, 0), at(&connection, 7, 5)), (1, 2));
    let Some(Event::Frame(totals)) = connection.next_event() else { panic!("no frame") };
    assert_eq!((totals.rects, totals.pixels, totals.bytes), (2, 48, 2 * 12 + 48 * 4));
    assert_eq!(connection.data_to_send(), INCREMENTAL);
}

#[test]
fn frames_that_come_together_can_be_looked_at_one_by_one() {
    let mut connection = ready();
    connection.pause_at_frames();
    let frame = |value| update(&[grey([0, 0, 8, 6], value)]);
    connection.receive(&[1, 2].map(frame).concat());
    // Input that arrives during a pause waits, too.
    connection.receive(&frame(3));
    for value in 1..=3 {
        assert_eq!((connection.frames(), at(&connection, 0, 0)), (value.into(), value));
        assert!(connection.resume());
    }
    assert!(!connection.resume());
    connection.receive(&frame(4));
    assert_eq!((connection.frames(), at(&connection, 0, 0)), (4, 4));
}

#[test]
fn a_huge_update_is_drawn_as_it_comes() {
    let limits = Limits { whole_update: 1000, ..Limits::default() };
    let bytes = update(&[grey([0, 0, 80, 60], 1), grey([0, 60, 80, 20], 2)]);
    for piece in [1, 7, 1448, 65_536] {
        let mut connection = ready_with(limits.clone(), 80, 80);
        let (mut early, mut torn) = (false, false);
        for part in bytes.chunks(piece) {
            connection.receive(part);
            early |= connection.frames() == 0 && at(&connection, 0, 0) == 1;
            torn |= connection.frames() == 0 && shown(&connection, 0, 0) != 0;
        }
        assert_eq!(connection.error(), None);
        assert!(early || piece == 65_536, "pieces of {piece}");
        assert!(!torn, "a part of the update is shown");
        assert_eq!((shown(&connection, 79, 59), shown(&connection, 0, 60)), (1, 2));
        let Some(Event::Frame(totals)) = connection.next_event() else { panic!("no frame") };
        assert_eq!((totals.rects, totals.pixels, totals.bytes), (2, 6400, 2 * 12 + 6400 * 4));
    }
}

#[test]
fn rects_outside_the_framebuffer() {
    for place in [[7, 0, 2, 1], [0, 6, 1, 1], [0, 0, 65_535, 65_535], [65_535; 4], [65_535, 0, 1, 1]] {
        for encoding in [0, 1, 2, 5, 6, 7, 16] {
            let error = error_after(&update(&[rect(place, encoding, &[])]));
            assert_eq!(reason(error), (0, encoding, Reason::OutsideFramebuffer(8, 6)));
        }
    }
}

#[test]
fn errors_name_the_rect() {
    let error = error_after(&update(&[grey([0, 0, 8, 6], 1), rect([1, 2, 3, 4], 1, &[0, 7, 0, 0])]));
    assert_eq!(
        error.to_string(),
        "rect 1 (1, 2, 3x4, encoding 1), offset 0: copy source 7,0 outside the framebuffer"
    );
}

#[test]
fn unknown_discriminants_are_fatal() {
    assert_eq!(reason(error_after(&update(&[rect([0, 0, 8, 6], 99, &[])]))).2, Reason::Unknown);
    assert_eq!(reason(error_after(&update(&[rect([0, 0, 8, 6], -1, &[])]))).2, Reason::Unknown);
    assert_eq!(error_after(&[99]).to_string(), "message type 99 does not exist");
}

#[test]
fn lengths_of_four_gigabytes() {
    for encoding in [2, 6, 16] {
        let error = error_after(&update(&[rect([0, 0, 8, 6], encoding, &[255; 4])]));
        assert!(matches!(reason(error).2, Reason::TooLong(..)), "encoding {encoding}");
    }
    let words = error_after(&[3, 0, 0, 0, 255, 255, 255, 255]).to_string();
    assert_eq!(words, "cut text of length -1: the extended clipboard was not requested");
    assert!(matches!(
        error_after(&[248, 0, 0, 0, 0, 0, 0, 0, 65]),
        Error::Limit { what: "fence payload", .. }
    ));
}

#[test]
fn empty_rects_end() {
    let empty = |count: usize| counted(0xffff, &vec![rect([0, 0, 8, 0], 0, &[]); count]);
    let mut connection = ready();
    connection.receive(&empty(65_535));
    assert_eq!(connection.error(), None);
    let most = Reason::Limit("rects in one update", 65_536, 65_535);
    assert_eq!(reason(error_after(&empty(65_536))), (65_535, 0, most));
}

#[test]
fn the_bytes_of_an_update_are_bounded() {
    let full = grey([0, 0, 8, 6], 1);
    let count = Limits::update_bytes(48) / full.len() + 2;
    let error = error_after(&counted(0xffff, &vec![full; count]));
    assert!(matches!(error, Error::Limit { what: "bytes of one update", .. }), "{error}");
}

#[test]
fn last_rect_ends_both_forms() {
    for count in [5, 0xffff] {
        let mut connection = ready();
        connection.receive(&counted(count, &[grey([0, 0, 8, 6], 3), rect([0; 4], -224, &[])]));
        assert_eq!((connection.frames(), at(&connection, 4, 4)), (1, 3));
        assert!(!connection.in_update());
    }
}

#[test]
fn a_server_that_knows_more_buttons_says_so_in_an_update() {
    let mut connection = ready();
    assert!(!connection.more_buttons());
    connection.receive(&update(&[rect([0; 4], -316, &[]), grey([0, 0, 8, 6], 3)]));
    assert_eq!(connection.error(), None);
    assert!(connection.more_buttons());
    assert_eq!((connection.frames(), at(&connection, 4, 4)), (1, 3));
}

#[test]
fn a_resize_in_an_update_is_one_frame() {
    for (encoding, payload) in [(-223, vec![]), (-308, [&[1, 0, 0, 0][..], &[0; 16]].concat())] {
        let mut connection = ready();
        let resize = rect([0, 0, 20, 10], encoding, &payload);
        connection.receive(&update(&[grey([0, 0, 8, 6], 1), resize, grey([0, 0, 20, 10], 2)]));
        assert_eq!(connection.error(), None);
        assert_eq!((connection.screen().width(), connection.screen().height()), (20, 10));
        assert_eq!((shown(&connection, 0, 0), shown(&connection, 19, 9)), (2, 2));
        assert_eq!(connection.next_event(), Some(Event::Resized(20, 10)));
        assert!(matches!(connection.next_event(), Some(Event::Frame(_))));
        assert_eq!(connection.data_to_send()[..10], [3, 0, 0, 0, 0, 0, 0, 20, 0, 10]);
    }
    let shrink = update(&[rect([0, 0, 4, 4], -223, &[]), grey([0, 0, 8, 6], 1)]);
    assert_eq!(reason(error_after(&shrink)).2, Reason::OutsideFramebuffer(4, 4));
}

#[test]
fn a_screen_of_another_size_is_shown_when_every_pixel_was_drawn() {
    let mut connection = ready();
    connection.receive(&update(&[grey([0, 0, 8, 6], 1)]));
    assert!(matches!(connection.next_event(), Some(Event::Frame(_))));
    let resize = rect([0, 0, 20, 10], -223, &[]);
    let parts = [
        update(&[grey([0, 0, 8, 6], 9), resize, grey([0, 0, 20, 4], 2)]),
        update(&[]),
        update(&[grey([0, 4, 20, 5], 3)]),
    ];
    for part in parts {
        connection.receive(&part);
        assert_eq!((connection.next_event(), connection.frames()), (None, 1));
        let frame = connection.frame().expect("a frame");
        assert_eq!((frame.width(), frame.height()), (8, 6));
        assert!(frame.pixels().iter().all(|&value| value == 1), "not the previous frame");
    }
    connection.receive(&update(&[grey([0, 9, 20, 1], 4)]));
    assert_eq!(connection.next_event(), Some(Event::Resized(20, 10)));
    let Some(Event::Frame(totals)) = connection.next_event() else { panic!("no frame") };
    assert_eq!((totals.rects, totals.pixels), (4, 48 + 200));
    assert_eq!((shown(&connection, 0, 3), shown(&connection, 0, 8), shown(&connection, 19, 9)), (2, 3, 4));
    assert_eq!(connection.frames(), 2);
}

#[test]
fn resizes_are_bounded_and_refusals_are_none() {
    let huge = rect([0, 0, 65_535, 10], -223, &[]);
    let most = Reason::Limit("framebuffer width", 65_535, 4096);
    assert_eq!(reason(error_after(&update(&[huge]))), (0, -223, most));
    let empty = error_after(&update(&[rect([0, 0, 0, 10], -223, &[])]));
    assert_eq!(reason(empty), (0, -223, Reason::Screen("framebuffer of 0x10 pixels".into())));
    let mut connection = ready();
    connection.receive(&update(&[rect([1, 3, 20, 10], -308, &[0; 4])]));
    assert_eq!((connection.screen().width(), connection.error()), (8, None));
}

#[test]
fn cursors_are_reported_and_bounded() {
    let mut connection = ready();
    let pixels = [[1, 2, 3, 0], [4, 5, 6, 0]].concat();
    connection.receive(&update(&[rect([1, 0, 2, 1], -239, &[&pixels[..], &[0b0100_0000]].concat())]));
    let Some(Event::Cursor(cursor)) = connection.next_event() else { panic!("no cursor") };
    assert_eq!((cursor.x, cursor.rgba), (1, vec![1, 2, 3, 0, 4, 5, 6, 255]));
    let error = error_after(&update(&[rect([0, 0, 257, 1], -239, &[])]));
    assert_eq!(reason(error).2, Reason::Cursor(257, 1));
    let error = error_after(&update(&[rect([2, 0, 2, 1], -239, &[])]));
    assert_eq!(reason(error).2, Reason::Hotspot(2, 0));
}

#[test]
fn colour_maps_bells_and_cut_text_are_skipped() {
    let mut connection = ready();
    let map = [&[1, 0, 255, 255, 255, 255][..], &vec![7; 6 * 65_535]].concat();
    let text = [&[3, 0, 0, 0, 0, 0, 0, 5][..], b"hello"].concat();
    for part in [map, text, vec![2], vec![2], update(&[grey([0, 0, 8, 6], 4)])].concat().chunks(1000) {
        connection.receive(part);
    }
    assert_eq!(connection.error(), None);
    assert_eq!(at(&connection, 0, 0), 4);
    assert_eq!(connection.next_event(), Some(Event::Bell));
    assert!(matches!(connection.next_event(), Some(Event::Frame(_))));
}

#[test]
fn a_cut_text_of_any_length_is_skipped_and_counted_beyond_the_limit() {
    let mut connection = ready();
    for length in [256 << 10, (256 << 10) + 1, 50_000_000_u32] {
        connection.receive(&[&[3, 0, 0, 0][..], &length.to_be_bytes()].concat());
        let piece = vec![b'x'; 1 << 20];
        for start in (0..length as usize).step_by(piece.len()) {
            connection.receive(&piece[..piece.len().min(length as usize - start)]);
        }
    }
    connection.receive(&update(&[grey([0, 0, 8, 6], 4)]));
    assert_eq!((connection.error(), at(&connection, 0, 0)), (None, 4));
    assert_eq!(connection.long_cut_texts(), 2);
}

#[test]
fn fences_are_answered_and_unknown_flags_are_not_repeated() {
    let mut connection = ready();
    connection.receive(&[248, 0, 0, 0, 0xff, 0, 0, 0x0f, 2, 8, 9]);
    assert_eq!(connection.data_to_send(), [248, 0, 0, 0, 0, 0, 0, 7, 2, 8, 9]);
    connection.receive(&[150]);
    assert_eq!(connection.data_to_send(), [150, 1, 0, 0, 0, 0, 0, 8, 0, 6]);
}

#[test]
fn the_pixels_of_a_failed_decoder_are_not_shown() {
    let mut connection = ready();
    connection.receive(&update(&[grey([0, 0, 8, 3], 1), rect([0, 0, 8, 6], 6, &[0, 0, 0, 3, 1, 2, 3])]));
    assert_eq!(connection.frames(), 0);
    assert!(connection.frame().is_none() && connection.error().is_some());
}

#[test]
fn an_incomplete_message_is_reported() {
    let mut connection = ready();
    assert_eq!(connection.unfinished(), None);
    let messages =
        [update(&[grey([0, 0, 8, 6], 1)]), vec![2], [&[3, 0, 0, 0, 0, 0, 0, 5][..], b"hello"].concat()];
    let fence = vec![248, 0, 0, 0, 0, 0, 0, 1, 1, 9];
    for (number, message) in messages.iter().chain([&fence, &update(&[])]).enumerate() {
        let (last, most) = message.split_last().expect("bytes");
        for byte in most {
            connection.receive(&[*byte]);
            assert_eq!(connection.unfinished(), Some((number as u64 + 1, message[0])));
        }
        connection.receive(&[*last]);
        assert_eq!((connection.unfinished(), connection.error()), (None, None));
    }
}
