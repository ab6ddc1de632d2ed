//! `VeNCrypt` (rfbproto): the negotiation of TLS and of the login, with valid and hostile servers.

mod common;

use common::server_init;
use rfb::{Config, Connection, Credentials, Error, Event, Tls};

const HELLO: &[u8] = b"RFB 003.008\n\x02\x02\x13\0\x02\0";

fn connection(tls: Tls, username: Option<&str>, password: Option<&str>) -> Connection {
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
    let credentials = Credentials { username: bytes(username), password: bytes(password), tls };
    let mut connection = Connection::new(Config { credentials, ..Config::default() });
    for byte in HELLO {
        connection.receive(&[*byte]);
    }
    assert_eq!(connection.data_to_send(), b"RFB 003.008\n\x13\0\x02");
    connection
}

fn offer(sub_types: &[u32]) -> Vec<u8> {
    let mut bytes = vec![sub_types.len() as u8];
    bytes.extend(sub_types.iter().flat_map(|number| number.to_be_bytes()));
    bytes
}

/// Return the sub-type that the client chooses; 0 for none.
fn chosen(tls: Tls, username: Option<&str>, password: Option<&str>, sub_types: &[u32]) -> u32 {
    let mut connection = connection(tls, username, password);
    for byte in offer(sub_types) {
        connection.receive(&[byte]);
    }
    let answer = connection.data_to_send();
    assert_eq!(matches!(connection.error(), Some(Error::Policy(_))), answer.is_empty());
    answer.try_into().map_or(0, u32::from_be_bytes)
}

#[test]
fn the_sub_type_is_the_best_of_those_that_are_allowed() {
    let all: Vec<u32> = (256..=264).collect();
    for (username, password, x509) in
        [(None, None, 260), (None, Some("secret"), 261), (Some("me"), Some("secret"), 262)]
    {
        for tls in [Tls::Certificate, Tls::Anonymous] {
            assert_eq!(chosen(tls, username, password, &all), x509, "{tls:?}");
        }
        let others: Vec<u32> = all.iter().copied().filter(|number| *number != x509).collect();
        assert_eq!(chosen(Tls::Certificate, username, password, &others), 0);
        assert_eq!(chosen(Tls::Anonymous, username, password, &others), x509 - 3);
        assert_eq!(chosen(Tls::Anonymous, username, password, &[]), 0);
    }
}

/// Return a connection that has negotiated this sub-type and established TLS.
fn secured(sub_type: u32, username: Option<&str>, password: Option<&str>) -> Connection {
    let mut connection = connection(Tls::Certificate, username, password);
    connection.receive(&offer(&[sub_type]));
    connection.receive(&[1]);
    assert_eq!(connection.next_event(), Some(Event::StartTls { certificate: true }));
    assert_eq!(connection.data_to_send(), sub_type.to_be_bytes());
    connection.receive(&[]);
    assert_eq!(connection.error(), None);
    connection.secured();
    connection
}

#[test]
fn a_login_is_sent_in_tls_and_not_before() {
    let mut plain = secured(262, Some("me"), Some("secret"));
    assert_eq!(plain.data_to_send(), b"\0\0\0\x02\0\0\0\x06mesecret");
    let mut vnc = secured(261, None, Some("secret"));
    assert_eq!(vnc.data_to_send(), b"");
    vnc.receive(&[7; 16]);
    assert_eq!(vnc.data_to_send().len(), 16);
    let none = secured(260, None, None);
    for mut connection in [plain, vnc, none] {
        connection.receive(&[0; 4]);
        assert_eq!(connection.data_to_send(), [1], "ClientInit");
        connection.receive(&server_init(40, 30, b"test"));
        assert!(matches!(connection.next_event(), Some(Event::Ready(_))));
        connection.data_to_send();
        connection.secured();
        assert_eq!(connection.data_to_send(), b"", "a second call sends nothing");
    }
}

#[test]
fn unencrypted_bytes_after_the_negotiation_are_refused() {
    for together in [true, false] {
        let mut connection = connection(Tls::Certificate, None, None);
        connection.receive(&offer(&[260]));
        if together {
            connection.receive(&[1, 0]);
        } else {
            connection.receive(&[1]);
            connection.receive(&[0]);
        }
        assert!(matches!(connection.error(), Some(Error::Protocol(_))));
        connection.secured();
        assert_eq!(connection.data_to_send(), b"");
    }
}

#[test]
fn older_versions_and_refusals_are_reported() {
    for (bytes, words) in [
        (&b"\x13\0\x01"[..], "VeNCrypt 0.1 is older than 0.2"),
        (b"\x13\0\x02\x07", "aborted VeNCrypt with code 7"),
        (b"\x13\0\x02\0\x01\0\0\x01\x04\0", "aborted VeNCrypt with code 0"),
        (
            b"\x02",
            "TLS is configured, but the server does not offer it; it offers security type 2 (VNC authentication)",
        ),
        (
            b"\x13\0\x02\0\x02\0\0\x01\x01\0\0\x01\x07",
            "X509None is required, the server offers TLSNone, VeNCrypt sub-type 263",
        ),
    ] {
        let credentials = Credentials { tls: Tls::Certificate, ..Credentials::default() };
        let mut connection = Connection::new(Config { credentials, ..Config::default() });
        connection.receive(b"RFB 003.008\n\x01");
        connection.receive(bytes);
        let error = connection.error().expect("accepted").to_string();
        assert!(error.contains(words), "{error}");
    }
}
