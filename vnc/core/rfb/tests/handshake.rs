//! The handshake (RFC 6143 7.1 to 7.3), with valid and hostile servers.

mod common;

use common::server_init;
use rfb::{Config, Connection, Credentials, Error, Event};

fn connection(password: Option<&str>) -> Connection {
    let credentials =
        Credentials { password: password.map(|text| text.as_bytes().to_vec()), ..Credentials::default() };
    Connection::new(Config { credentials, ..Config::default() })
}

/// Feed `bytes` one by one, and return the answer.
fn answer(connection: &mut Connection, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in bytes {
        connection.receive(&[*byte]);
        out.extend(connection.data_to_send());
    }
    out
}

fn failure(password: Option<&str>, bytes: &[u8]) -> Error {
    let mut connection = connection(password);
    answer(&mut connection, bytes);
    connection.error().expect("accepted").clone()
}

#[test]
fn versions_are_mapped() {
    for (greeting, expected) in [
        ("003.003", "003.003"),
        ("003.005", "003.003"),
        ("003.007", "003.007"),
        ("003.008", "003.008"),
        ("003.889", "003.008"),
        ("004.001", "003.008"),
        ("005.000", "003.008"),
    ] {
        let sent = answer(&mut connection(None), format!("RFB {greeting}\n").as_bytes());
        assert_eq!(sent, format!("RFB {expected}\n").as_bytes(), "to {greeting}");
    }
    assert_eq!(failure(None, b"RFB 002.000\n"), Error::Version(2, 0));
    assert_eq!(failure(None, b"RFB 003.002\n"), Error::Version(3, 2));
}

#[test]
fn other_protocols_are_detected_at_once() {
    for banner in
        [&b"HTTP/1.1 400"[..], b"\x16\x03\x01\x02", b"SSH-2.0-Open", b"RFB 3.8\nxxxx", b"RFB +03.008\n"]
    {
        assert!(matches!(failure(None, banner), Error::NotRfb(_)), "{banner:?}");
    }
}

#[test]
fn all_three_versions_reach_the_screen() {
    let none: [(&[u8], &[u8], &[u8]); 3] = [
        (b"RFB 003.003\n", &[0, 0, 0, 1], &[1]),
        (b"RFB 003.007\n", &[2, 2, 1], &[1, 1]),
        (b"RFB 003.008\n", &[2, 2, 1, 0, 0, 0, 0], &[1, 1]),
    ];
    for (greeting, security, expected) in none {
        let mut connection = connection(None);
        answer(&mut connection, greeting);
        assert_eq!(answer(&mut connection, security), expected);
        let sent = answer(&mut connection, &server_init(40, 30, b"a\x1b[31mb"));
        assert_eq!(sent[..1], [0], "SetPixelFormat comes first");
        assert_eq!(sent[20..22], [2, 0], "then SetEncodings");
        assert_eq!(sent[sent.len() - 10..], [3, 0, 0, 0, 0, 0, 0, 40, 0, 30]);
        let Some(Event::Ready(init)) = connection.next_event() else { panic!("not ready") };
        assert_eq!((init.width, init.height, init.name.as_str()), (40, 30, "a\u{fffd}[31mb"));
    }
}

#[test]
fn vnc_auth_answers_the_challenge_as_other_clients_do() {
    let challenge: Vec<u8> = (0..16).collect();
    for (greeting, security, chosen) in [
        (&b"RFB 003.003\n"[..], &[0, 0, 0, 2][..], &[][..]),
        (b"RFB 003.007\n", &[2, 1, 2], &[2]),
        (b"RFB 003.008\n", &[2, 1, 2], &[2]),
    ] {
        let mut connection = connection(Some("pass wor"));
        answer(&mut connection, greeting);
        assert_eq!(answer(&mut connection, security), chosen);
        // OpenSSL: des-ecb under the bit-reversed bytes of "pass wor".
        let expected: Vec<u8> = include_str!("vectors/vncauth.hex")
            .split_whitespace()
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect();
        assert_eq!(answer(&mut connection, &challenge), expected);
        assert_eq!(answer(&mut connection, &[0; 4]), [1]);
        assert_eq!(connection.error(), None);
    }
}

#[test]
fn a_security_downgrade_is_refused() {
    assert!(matches!(failure(Some("secret"), b"RFB 003.008\n\x01\x01"), Error::Policy(_)));
    assert!(matches!(failure(Some("secret"), b"RFB 003.003\n\0\0\0\x01"), Error::Policy(_)));
    assert!(matches!(failure(None, b"RFB 003.008\n\x01\x02"), Error::Policy(_)));
    assert!(matches!(failure(None, b"RFB 003.003\n\0\x01\0\x01"), Error::Policy(_)));
}

#[test]
fn refusals_carry_the_servers_reason() {
    let reason = |text: &str| [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
    let refused = [&b"RFB 003.008\n\0"[..], &reason("go\x1b away")].concat();
    assert_eq!(failure(None, &refused), Error::Refused("go\u{fffd} away".into()));
    let locked = [&b"RFB 003.003\n\0\0\0\0"[..], &reason("Too many security failures")].concat();
    assert_eq!(failure(None, &locked), Error::TooManyFailures("Too many security failures".into()));
    let wrong = [&b"RFB 003.008\n\x01\x02"[..], &[7; 16], &[0, 0, 0, 1], &reason("wrong")].concat();
    assert_eq!(failure(Some("x"), &wrong), Error::AuthFailed("wrong".into()));
    let wrong = [&b"RFB 003.003\n\0\0\0\x02"[..], &[7; 16], &[0, 0, 0, 1]].concat();
    assert!(matches!(failure(Some("x"), &wrong), Error::AuthFailed(_)));
}

#[test]
fn a_refusal_without_a_reason_is_a_refusal() {
    let auth = [&b"RFB 003.008\n\x01\x02"[..], &[7; 16], &[0, 0, 0, 1]].concat();
    assert_eq!(
        failure(Some("x"), &[&auth[..], &[0; 4]].concat()),
        Error::AuthFailed("no reason given".into())
    );
    for (password, bytes, expected) in [
        (Some("x"), &auth[..], Some(Error::AuthFailed("no reason given".into()))),
        (
            Some("x"),
            &[&auth[..], &[0, 0, 0, 9, 1]].concat(),
            Some(Error::AuthFailed("no reason given".into())),
        ),
        (None, b"RFB 003.008\n\0", Some(Error::Refused("no reason given".into()))),
        (None, b"RFB 003.008\n", None),
    ] {
        let mut connection = connection(password);
        answer(&mut connection, bytes);
        assert_eq!(connection.error(), None);
        connection.close();
        assert_eq!(connection.error(), expected.as_ref());
        connection.receive(b"\x01\x01");
        assert_eq!(connection.data_to_send(), b"", "it is closed");
    }
}

#[test]
fn offered_security_types_have_names() {
    let words = failure(None, b"RFB 003.008\n\x02\x1e\x05").to_string();
    assert_eq!(
        words,
        "the server asks for a security type that is not supported; it offers security types 30 (Apple), 5 (RealVNC, encrypted)"
    );
    let words = failure(None, b"RFB 003.003\n\0\x01\0\x01").to_string();
    assert!(words.ends_with("security type 65537 (unknown)"), "{words}");
}

#[test]
fn lengths_are_checked_before_anything_is_stored() {
    let huge = u32::MAX.to_be_bytes();
    let reason = [&b"RFB 003.008\n\0"[..], &huge].concat();
    assert!(matches!(failure(None, &reason), Error::Limit { what: "reason text", size: 0xffff_ffff, .. }));
    let mut name = server_init(40, 30, b"");
    name.truncate(20);
    let name = [&b"RFB 003.008\n\x01\x01\0\0\0\0"[..], &name, &huge].concat();
    assert!(matches!(failure(None, &name), Error::Limit { what: "desktop name", size: 0xffff_ffff, .. }));
    for (width, height) in [(4097, 1), (1, 65_535), (65_535, 65_535)] {
        let size = [&b"RFB 003.008\n\x01\x01\0\0\0\0"[..], &server_init(width, height, b"")].concat();
        assert!(matches!(failure(None, &size), Error::Limit { .. }), "{width}x{height}");
    }
    let empty = [&b"RFB 003.008\n\x01\x01\0\0\0\0"[..], &server_init(0, 5, b"")].concat();
    assert!(matches!(failure(None, &empty), Error::Protocol(_)));
}
