//! Shared frames: the offer, frames in memory, and what a hostile server makes of them.

mod common;

use common::{at, counted, grey, hello, rect, update};
use rfb::encodings::{SHARED_FRAMES, SHARED_OFFER};
use rfb::{Config, Connection, Event, Offer, SharedFrames, default_encodings};

const RELEASE: [u8; 5] = [0xe7, 1, 0, 0, 0];
const INCREMENTAL: [u8; 10] = [3, 1, 0, 0, 0, 0, 0, 8, 0, 6];

/// Two buffers whose pixels are the number of the buffer times 100, plus the row times 10, plus the column.
struct Numbered(u16, u16);

impl SharedFrames for Numbered {
    fn buffers(&self) -> u32 {
        2
    }

    fn size(&self) -> (u16, u16) {
        (self.0, self.1)
    }

    fn copy_row(&self, buffer: u32, x: u16, y: u16, out: &mut [u8]) {
        for (column, pixel) in (x..).zip(out.chunks_exact_mut(3)) {
            pixel.fill((buffer as u16 * 100 + y * 10 + column) as u8);
        }
    }
}

fn asking() -> Connection {
    let encodings = [&[SHARED_FRAMES][..], &default_encodings()].concat();
    let mut connection = Connection::new(Config { encodings, ..Config::default() });
    connection.receive(&hello(8, 6));
    connection.next_event();
    connection.data_to_send();
    connection
}

fn mapped() -> Connection {
    let mut connection = asking();
    connection.receive(&update(&[offer(b"/run/x")]));
    connection.next_event();
    connection.map(Box::new(Numbered(8, 6)));
    assert_eq!(connection.data_to_send(), [0xe7, 0, 0, 0, 0, 0, 0, 0]);
    connection
}

fn offer(path: &[u8]) -> Vec<u8> {
    let length = (path.len() as u16).to_be_bytes();
    rect([0; 4], SHARED_OFFER, &[&[1][..], &[7; 16], &length, path].concat())
}

fn shared(place: [u16; 4], buffer: u32) -> Vec<u8> {
    rect(place, SHARED_FRAMES, &buffer.to_be_bytes())
}

fn error_of(mut connection: Connection, rects: &[Vec<u8>]) -> String {
    connection.receive(&update(rects));
    let error = connection.error().expect("the update was accepted").to_string();
    assert_eq!(connection.data_to_send(), [0_u8; 0], "nothing is sent to a broken server");
    error
}

#[test]
fn an_offer_is_reported_and_answers_no_request() {
    let mut connection = asking();
    for byte in update(&[offer(b"/run/x")]) {
        assert_eq!(connection.next_event(), None);
        connection.receive(&[byte]);
    }
    let expected = Offer { token: [7; 16], path: "/run/x".into() };
    assert_eq!(connection.next_event(), Some(Event::Offer(expected)));
    assert_eq!(connection.data_to_send(), [0_u8; 0]);
    assert_eq!(connection.frames(), 0);
}

#[test]
fn the_named_parts_are_copied_and_the_buffer_is_released_with_the_next_request() {
    let mut connection = mapped();
    connection.receive(&update(&[shared([1, 2, 3, 2], 1), grey([7, 5, 1, 1], 9), shared([0, 5, 2, 1], 1)]));
    assert_eq!(connection.error(), None);
    assert_eq!([at(&connection, 1, 2), at(&connection, 3, 3), at(&connection, 1, 5)], [121, 133, 151]);
    assert_eq!([at(&connection, 0, 2), at(&connection, 4, 2), at(&connection, 7, 5)], [0, 0, 9]);
    let Some(Event::Frame(totals)) = connection.next_event() else { panic!("no frame") };
    assert_eq!((totals.rects, totals.pixels, totals.bytes), (3, 9, 2 * 16 + 16));
    assert!(connection.shares());
    assert_eq!(connection.data_to_send(), [&RELEASE[..], &[0, 0, 1], &INCREMENTAL].concat());
    connection.receive(&update(&[grey([0, 0, 1, 1], 3)]));
    assert!(!connection.shares());
    assert_eq!(connection.data_to_send(), INCREMENTAL);
}

#[test]
fn a_refresh_is_complete_with_shared_pixels() {
    let mut connection = mapped();
    connection.receive(&update(&[shared([0, 0, 8, 6], 0)]));
    assert_eq!(connection.refresh(), 1);
    connection.receive(&update(&[shared([0, 0, 8, 6], 1)]));
    assert_eq!(connection.generation(), 0, "it may be older than the call");
    connection.receive(&update(&[shared([0, 0, 8, 6], 0)]));
    assert_eq!(connection.generation(), 1);
}

#[test]
fn frames_before_they_are_agreed_on_are_unknown() {
    let text = "rect 0 (0, 0, 1x1, encoding 1430454273), offset 0: encoding was not requested";
    assert_eq!(error_of(common::ready(), &[shared([0, 0, 1, 1], 0)]), text);
    assert_eq!(error_of(asking(), &[shared([0, 0, 1, 1], 0)]), text);
    let mut offered = asking();
    offered.receive(&update(&[offer(b"/run/x")]));
    assert_eq!(error_of(offered, &[shared([0, 0, 1, 1], 0)]), text);
}

#[test]
fn frames_are_mapped_once_and_only_after_an_offer() {
    let mut connection = asking();
    connection.map(Box::new(Numbered(8, 6)));
    assert_eq!(connection.data_to_send(), [0_u8; 0]);
    let mut connection = mapped();
    connection.map(Box::new(Numbered(8, 6)));
    assert_eq!(connection.data_to_send(), [0_u8; 0]);
}

#[test]
fn wrong_offers_are_refused() {
    let unknown = "encoding -1430454274), offset 0: encoding was not requested";
    assert!(error_of(common::ready(), &[offer(b"/run/x")]).ends_with(unknown), "not asked for");
    assert!(error_of(mapped(), &[offer(b"/run/x")]).ends_with(unknown), "the second");
    assert!(error_of(asking(), &[offer(b"/a"), offer(b"/b")]).ends_with(unknown), "two at once");
    let changed = |at: usize, value: u8| {
        let mut offer = offer(b"/run/x");
        offer[at] = value;
        error_of(asking(), &[offer])
    };
    let name = "broken offer of shared frames";
    assert!(changed(12, 2).ends_with(&format!("offset 0: {name}: version 2, known is 1")));
    assert!(changed(7, 1).ends_with(&format!("offset 0: {name}: rect 0x1+0+0, it has none")));
    assert!(changed(30, 0).ends_with(&format!("offset 19: {name}: path of 0 bytes, allowed are 1 to 107")));
    for path in [&[b'/'; 108][..], b"x", b"@x", b"\0x", b"/a\0b", b"/\xff", b"/\x1b[2J"] {
        let error = error_of(asking(), &[offer(path)]);
        assert!(error.contains("path") && !error.contains('\x1b'), "{error}");
    }
    let mut longest = asking();
    longest.receive(&update(&[offer(&[b'/'; 107])]));
    assert!(longest.next_event().is_some());
}

#[test]
fn wrong_buffers_are_refused() {
    let whole = [0, 0, 8, 6];
    let start = "rect 0 (0, 0, 8x6, encoding 1430454273), offset 0: ";
    assert_eq!(error_of(mapped(), &[shared(whole, 2)]), format!("{start}shared buffer 2, there are 2"));
    assert!(error_of(mapped(), &[shared(whole, u32::MAX)]).contains("4294967295"));
    let error = error_of(mapped(), &[shared(whole, 0), shared(whole, 1)]);
    assert!(error.ends_with("shared buffer 1 in an update of buffer 0"), "{error}");
    assert!(error_of(mapped(), &[shared([7, 0, 2, 1], 0)]).ends_with("rect outside the 8x6 framebuffer"));
}

#[test]
fn frames_of_the_size_before_a_resize_are_refused() {
    let resize = rect([0, 0, 4, 6], -223, &[]);
    for rects in [vec![resize.clone(), shared([0, 0, 4, 6], 0)], vec![shared([0, 0, 8, 6], 0), resize]] {
        let mut connection = mapped();
        connection.receive(&update(&rects));
        if connection.error().is_none() {
            connection.receive(&update(&[shared([0, 0, 1, 1], 0)]));
        }
        let error = connection.error().expect("no error").to_string();
        assert!(error.ends_with("shared frames of 8x6 pixels on a screen of 4x6"), "{error}");
    }
}

#[test]
fn an_offer_may_share_an_update() {
    let mut connection = asking();
    connection.receive(&counted(0xffff, &[offer(b"/run/x"), grey([0, 0, 8, 6], 3), rect([0; 4], -224, &[])]));
    assert_eq!((connection.error(), connection.frames()), (None, 1));
    assert_eq!(connection.data_to_send(), INCREMENTAL);
}
