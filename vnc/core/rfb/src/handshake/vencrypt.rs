//! `VeNCrypt` 0.2 (rfbproto, "VeNCrypt"): the negotiation of TLS and of the login inside it.
//!
//! ```text
//! Version → VersionAnswer → SubTypes → Answer ─→ TLS, established by the owner of the socket
//! ```

use crate::error::Error;
use crate::wire::Bytes;

/// The number of `VeNCrypt` among the security types.
pub(crate) const SECURITY_TYPE: u8 = 19;

/// The sub-types that the client supports. The others are 256, Plain without TLS, and from 263 on SASL.
const NAMES: [(u32, &str); 6] = [
    (257, "TLSNone"),
    (258, "TLSVnc"),
    (259, "TLSPlain"),
    (260, "X509None"),
    (261, "X509Vnc"),
    (262, "X509Plain"),
];

/// Whether TLS is required, and how the server is authenticated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// TLS is not used.
    #[default]
    Off,
    /// TLS is required, with a certificate of the server.
    Certificate,
    /// TLS is required. The server may have no certificate, and is then not authenticated.
    Anonymous,
}

/// The login inside TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Login {
    None,
    Vnc,
    Plain,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    Version,
    VersionAnswer,
    SubTypes,
    /// The answer to the chosen sub-type; whether the server presents a certificate in it.
    Answer {
        certificate: bool,
    },
}

pub(crate) enum Step {
    More,
    Next(State),
    Tls { certificate: bool },
}

impl State {
    pub fn step(
        self,
        bytes: &mut Bytes<'_>,
        out: &mut Vec<u8>,
        tls: Tls,
        login: Login,
    ) -> Result<Step, Error> {
        let next = match self {
            Self::Version => version(bytes, out)?,
            Self::VersionAnswer => version_answer(bytes)?,
            Self::SubTypes => sub_types(bytes, out, tls, login)?,
            Self::Answer { certificate } => {
                return Ok(match bytes.u8() {
                    None => Step::More,
                    Some(1) => Step::Tls { certificate },
                    Some(code) => return Err(refused(code)),
                });
            }
        };
        Ok(next.map_or(Step::More, Step::Next))
    }
}

// | 1 major | 1 minor |
fn version(bytes: &mut Bytes<'_>, out: &mut Vec<u8>) -> Result<Option<State>, Error> {
    let Some([major, minor]) = bytes.array() else { return Ok(None) };
    if (major, minor) < (0, 2) {
        return Err(Error::Policy(format!("VeNCrypt {major}.{minor} is older than 0.2")));
    }
    out.extend([0, 2]);
    Ok(Some(State::VersionAnswer))
}

fn version_answer(bytes: &mut Bytes<'_>) -> Result<Option<State>, Error> {
    match bytes.u8() {
        None => Ok(None),
        Some(0) => Ok(Some(State::SubTypes)),
        Some(code) => Err(refused(code)),
    }
}

// | 1 count | 4 sub-type | ...
fn sub_types(
    bytes: &mut Bytes<'_>,
    out: &mut Vec<u8>,
    tls: Tls,
    login: Login,
) -> Result<Option<State>, Error> {
    let Some(count) = bytes.u8() else { return Ok(None) };
    let Some(list) = bytes.take(4 * usize::from(count)) else { return Ok(None) };
    let offered: Vec<u32> =
        list.chunks_exact(4).map(|four| u32::from_be_bytes([four[0], four[1], four[2], four[3]])).collect();
    let wanted = wanted(tls, login);
    let Some(&(number, name)) = wanted.iter().find(|(number, _)| offered.contains(number)) else {
        return Err(Error::Policy(unfit(wanted, &offered)));
    };
    out.extend(number.to_be_bytes());
    Ok(Some(State::Answer { certificate: name.starts_with('X') }))
}

/// Return the acceptable sub-types, best first.
fn wanted(tls: Tls, login: Login) -> Vec<(u32, &'static str)> {
    let (anonymous, identified) = (NAMES[login as usize], NAMES[login as usize + 3]);
    if tls == Tls::Anonymous { vec![identified, anonymous] } else { vec![identified] }
}

fn unfit(wanted: Vec<(u32, &'static str)>, offered: &[u32]) -> String {
    let wanted: Vec<_> = wanted.into_iter().map(|(_, name)| name).collect();
    let offered: Vec<_> = offered.iter().map(|&number| name(number)).collect();
    let offered = if offered.is_empty() { "nothing".into() } else { offered.join(", ") };
    format!("{} is required, the server offers {offered}", wanted.join(" or "))
}

fn name(number: u32) -> String {
    let known = NAMES.iter().find(|(known, _)| *known == number);
    known.map_or_else(|| format!("VeNCrypt sub-type {number}"), |(_, name)| (*name).into())
}

fn refused(code: u8) -> Error {
    Error::Policy(format!("the server aborted VeNCrypt with code {code}"))
}

/// Append Plain's login: | 4 length | 4 length | user name | password |
pub(crate) fn plain(username: &[u8], password: &[u8], out: &mut Vec<u8>) {
    for text in [username, password] {
        out.extend((text.len() as u32).to_be_bytes());
    }
    out.extend(username);
    out.extend(password);
}
