//! The functions of the fuzz targets and the smoke test, and an allocator that counts their memory.
#![allow(dead_code, reason = "each user needs only some of it")]
#![allow(unsafe_code, reason = "an allocator; it only counts and calls the system's")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rfb::{Config, Connection, Credentials, Event, Limits, SharedFrames, Tls, encodings};

/// The largest number of bytes that a connection with `limits()` may hold, whatever the server sends.
///
/// It has room for two screens of 256x256 (192 KiB each) and their coverage, one update (at most 5 MiB, in a buffer that
/// doubles), a cursor, and six zlib streams of half a megabyte each.
pub const MOST_HELD: usize = 16 << 20;

/// An allocator that counts the bytes that each thread holds.
pub struct Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

fn count(gained: usize, lost: usize) {
    HELD.set(HELD.get().wrapping_add(gained).saturating_sub(lost));
    PEAK.set(PEAK.get().max(HELD.get()));
}

// SAFETY: System does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's guarantees are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's guarantees are the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller's guarantees are the same.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's guarantees are the same.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The bytes that this thread holds now.
pub fn held() -> usize {
    HELD.get()
}

/// Return the peak of the bytes held during `run`, minus those held before.
pub fn peak(run: impl FnOnce()) -> usize {
    let before = HELD.get();
    PEAK.set(before);
    run();
    PEAK.get() - before
}

pub fn limits() -> Limits {
    Limits {
        framebuffer_width: 256,
        framebuffer_height: 256,
        cursor: 64,
        text: 1 << 10,
        cut_text: 1 << 12,
        whole_update: 64 << 10,
        ..Limits::default()
    }
}

fn held_to_limits(run: impl FnOnce()) {
    let held = peak(run);
    assert!(held <= MOST_HELD, "{held} bytes held");
}

/// Frames of 64x48 pixels in shared memory, which the harness has as soon as they are offered.
struct Shared;

impl SharedFrames for Shared {
    fn buffers(&self) -> u32 {
        3
    }

    fn size(&self) -> (u16, u16) {
        (64, 48)
    }

    fn copy_row(&self, buffer: u32, x: u16, y: u16, out: &mut [u8]) {
        assert!(buffer < 3 && y < 48 && usize::from(x) * 3 + out.len() <= 64 * 3);
        out.fill(buffer as u8);
    }
}

/// Do what a caller does after each piece of input.
fn serve(connection: &mut Connection) {
    while let Some(event) = connection.next_event() {
        if matches!(event, Event::Offer(_)) {
            connection.map(Box::new(Shared));
        }
    }
    connection.data_to_send();
    let screen = connection.screen();
    let area = usize::from(screen.width()) * usize::from(screen.height());
    assert_eq!(screen.pixels().len(), area * 3);
    assert!(area <= 256 * 256);
}

fn feed(connection: &mut Connection, data: &[u8], piece: usize) {
    for part in data.chunks(piece) {
        connection.receive(part);
        serve(connection);
    }
}

fn established() -> Connection {
    let encodings = [&[encodings::SHARED_FRAMES][..], &rfb::default_encodings()].concat();
    let config = Config { limits: limits(), encodings, ..Config::default() };
    let mut connection = Connection::new(config);
    connection.receive(b"RFB 003.008\n\x01\x01\0\0\0\0");
    connection.receive(&[0, 64, 0, 48]);
    connection.receive(&[0; 20]);
    serve(&mut connection);
    assert_eq!((connection.screen().width(), connection.screen().height()), (64, 48));
    connection
}

/// Feed a server's bytes from the greeting on. The first byte of `data` selects password, TLS, user name and the size of
/// the pieces.
pub fn handshake(data: &[u8]) {
    let Some((&head, rest)) = data.split_first() else { return };
    held_to_limits(|| {
        let text = |bit: u8| (head & bit != 0).then(|| b"secret".to_vec());
        let tls = if head & 2 == 0 { Tls::Off } else { Tls::Anonymous };
        let credentials = Credentials { username: text(4), password: text(1), tls };
        let mut connection = Connection::new(Config { credentials, limits: limits(), ..Config::default() });
        for part in rest.chunks(1 + usize::from(head >> 3)) {
            connection.receive(part);
            while let Some(event) = connection.next_event() {
                if matches!(event, Event::StartTls { .. }) {
                    connection.secured();
                }
            }
            serve(&mut connection);
        }
    });
}

/// Feed messages after the handshake. The first byte of `data` determines the size of the pieces.
pub fn connection(data: &[u8]) {
    let Some((&head, rest)) = data.split_first() else { return };
    held_to_limits(|| {
        let mut connection = established();
        if head & 1 != 0 {
            connection.refresh();
        }
        feed(&mut connection, rest, 1 + usize::from(head) * usize::from(head));
        connection.probe();
        serve(&mut connection);
    });
}

/// Feed rects of one encoding. The first byte of `data` selects the encoding, the next four the position and size.
pub fn decoder(data: &[u8]) {
    const ENCODINGS: [i32; 9] = [
        encodings::TIGHT,
        encodings::ZRLE,
        encodings::HEXTILE,
        encodings::ZLIB,
        encodings::RRE,
        encodings::RAW,
        encodings::COPY_RECT,
        encodings::CURSOR,
        encodings::EXTENDED_DESKTOP_SIZE,
    ];
    let [kind, x, y, width, height, payload @ ..] = data else { return };
    let encoding = ENCODINGS[usize::from(*kind) % ENCODINGS.len()];
    held_to_limits(|| {
        let mut connection = established();
        connection.receive(&[0, 0, 0xff, 0xff]);
        let mut header: Vec<u8> =
            [x % 64, y % 48, width % 80, height % 64].iter().flat_map(|&n| [0, n]).collect();
        header.extend(encoding.to_be_bytes());
        connection.receive(&header);
        feed(&mut connection, payload, 4096);
        // Once more, because the zlib streams continue.
        connection.receive(&header);
        feed(&mut connection, payload, 1448);
    });
}

/// Feed an image in a JPEG rect of Tight, and assert that nothing is drawn outside the rect. The first two bytes of `data`
/// are the rect's width and height.
pub fn image(data: &[u8]) {
    let [width, height, image @ ..] = data else { return };
    let (width, height, length) = (width % 65, height % 49, image.len());
    if length >= 1 << 22 {
        return;
    }
    held_to_limits(|| {
        let mut connection = established();
        connection.receive(&[0, 0, 0, 1, 0, 0, 0, 0, 0, width, 0, height]);
        connection.receive(&encodings::TIGHT.to_be_bytes());
        connection.receive(&[0x90, length as u8 | 0x80, (length >> 7) as u8 | 0x80, (length >> 14) as u8]);
        feed(&mut connection, image, 4096);
        for (y, row) in connection.screen().pixels().chunks(64 * 3).enumerate() {
            let drawn = if y < usize::from(height) { usize::from(width) * 3 } else { 0 };
            assert!(row[drawn..].iter().all(|&byte| byte == 0), "drawn beside the rect in row {y}");
        }
    });
}

/// Hold a number of bytes, to test that the allocator counts them.
pub fn holding(bytes: usize) {
    held_to_limits(|| drop(std::hint::black_box(vec![1_u8; bytes])));
}
