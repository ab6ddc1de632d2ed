//! The handshake, from the greeting to `ServerInit` (RFC 6143 7.1 to 7.3).
//!
//! ```text
//! Greeting ─ 3.3 ──→ Type ─────────────┐
//!    └────── 3.7+ ─→ Types ┬ None ─────┤ (3.8: SecurityResult)
//!                          ├ VncAuth → Challenge → SecurityResult → Init → done
//!                          └ VeNCrypt → Tls ┬ None, Plain ─┘
//!                                           └ Vnc → Challenge
//! every refusal → Reason → error
//! ```

use crate::error::{Error, clean_text};
use crate::limits::{HARD_SIDE, Limits};
use crate::wire::Bytes;

mod auth;
mod security_types;
mod vencrypt;

use vencrypt::Login;
pub use vencrypt::Tls;

const NONE: u8 = 1;
const VNC_AUTH: u8 = 2;

/// The client's login, and the security that it requires of the server.
#[derive(Clone, Default)]
pub struct Credentials {
    /// The user name for `VeNCrypt`'s Plain login, which is used only over TLS; None for the other logins.
    pub username: Option<Vec<u8>>,
    /// The password. If it is set, a server that requires none is refused.
    pub password: Option<Vec<u8>>,
    /// Whether TLS is required. If it is, a server that does not offer it is refused.
    pub tls: Tls,
}

/// The server's screen (RFC 6143 7.3.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInit {
    /// The width, in pixels.
    pub width: u16,
    /// The height, in pixels.
    pub height: u16,
    /// The name of the desktop, with unsafe characters replaced.
    pub name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Version {
    V33,
    V37,
    V38,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Greeting,
    Type,
    Types,
    VeNCrypt(vencrypt::State),
    /// The caller is establishing TLS.
    Tls,
    Challenge,
    SecurityResult,
    Reason(Refusal),
    Init,
}

/// What the server has refused.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    Connection,
    Authentication,
}

impl Refusal {
    fn error(self, reason: &[u8]) -> Error {
        let reason = clean_text(reason);
        // A lock-out, as by TigerVNC's blacklist, has no number of its own in RFB, so its text is matched.
        if reason.to_ascii_lowercase().contains("too many") {
            return Error::TooManyFailures(reason);
        }
        let reason = if reason.is_empty() { "no reason given".into() } else { reason };
        match self {
            Self::Connection => Error::Refused(reason),
            Self::Authentication => Error::AuthFailed(reason),
        }
    }
}

/// The result of one step of the handshake; the first number is how many bytes it consumed.
pub(crate) enum Step {
    /// More bytes are needed.
    More,
    /// The handshake continues.
    Used(usize),
    /// TLS begins; whether the server presents a certificate.
    Tls(usize, bool),
    /// The handshake is complete.
    Done(usize, ServerInit),
}

/// The state of a handshake.
pub(crate) struct Handshake {
    state: State,
    version: Version,
    credentials: Credentials,
}

impl Handshake {
    pub const fn new(credentials: Credentials) -> Self {
        Self { state: State::Greeting, version: Version::V38, credentials }
    }

    /// Process the message at the start of `input`, and append the answer to `out`.
    pub fn step(&mut self, input: &[u8], out: &mut Vec<u8>, limits: &Limits) -> Result<Step, Error> {
        let mut bytes = Bytes::new(input);
        let next = match self.state {
            State::Greeting => self.greeting(input, &mut bytes, out)?,
            State::Type => self.security_type(&mut bytes, out)?,
            State::Types => self.security_types(&mut bytes, out)?,
            State::VeNCrypt(state) => {
                match state.step(&mut bytes, out, self.credentials.tls, self.login())? {
                    vencrypt::Step::More => None,
                    vencrypt::Step::Next(state) => Some(State::VeNCrypt(state)),
                    vencrypt::Step::Tls { certificate } => {
                        self.state = State::Tls;
                        return Ok(Step::Tls(bytes.offset(), certificate));
                    }
                }
            }
            // In TLS the client sends first. Bytes before that are an injection into the encrypted stream.
            State::Tls if !input.is_empty() => {
                return Err(Error::Protocol("bytes of plain text where TLS begins".into()));
            }
            State::Tls => None,
            State::Challenge => self.challenge(&mut bytes, out),
            State::SecurityResult => self.security_result(&mut bytes, out)?,
            State::Reason(refusal) => refused(refusal, &mut bytes, limits)?,
            State::Init => {
                return Ok(server_init(&mut bytes, limits)?
                    .map_or(Step::More, |init| Step::Done(bytes.offset(), init)));
            }
        };
        Ok(match next {
            None => Step::More,
            Some(state) => {
                self.state = state;
                Step::Used(bytes.offset())
            }
        })
    }

    // RFC 6143 7.1.1: "RFB xxx.yyy\n"
    fn greeting(
        &mut self,
        input: &[u8],
        bytes: &mut Bytes<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Option<State>, Error> {
        let start = &input[..input.len().min(4)];
        if !b"RFB ".starts_with(start) {
            return Err(Error::NotRfb(clean_text(&input[..input.len().min(40)])));
        }
        let Some(greeting) = bytes.array::<12>() else { return Ok(None) };
        let (major, minor) =
            version_numbers(&greeting).ok_or_else(|| Error::NotRfb(clean_text(&greeting)))?;
        self.version = match (major, minor) {
            (0..=2, _) | (3, 0..=2) => return Err(Error::Version(major, minor)),
            (3, 7) => Version::V37,
            // Apple's 3.889 and RealVNC's 4.x and 5.x are compatible with 3.8.
            (3, 8..) | (4.., _) => Version::V38,
            // RFC 6143 7.1.1 treats all other versions as 3.3.
            (3, _) => Version::V33,
        };
        let (answer, next) = match self.version {
            Version::V33 => (b"RFB 003.003\n", State::Type),
            Version::V37 => (b"RFB 003.007\n", State::Types),
            Version::V38 => (b"RFB 003.008\n", State::Types),
        };
        out.extend(answer);
        Ok(Some(next))
    }

    /// Return the server's refusal if its reason has not arrived.
    pub fn unexplained_refusal(&self) -> Option<Error> {
        let State::Reason(refusal) = self.state else { return None };
        Some(refusal.error(b""))
    }

    // RFC 6143 7.1.2, version 3.3: the server chooses the security type.
    fn security_type(&self, bytes: &mut Bytes<'_>, out: &mut Vec<u8>) -> Result<Option<State>, Error> {
        let Some(number) = bytes.u32() else { return Ok(None) };
        if number == 0 {
            return Ok(Some(State::Reason(Refusal::Connection)));
        }
        Ok(Some(self.begin(self.choose(&[number])?, out)))
    }

    // RFC 6143 7.1.2
    fn security_types(&self, bytes: &mut Bytes<'_>, out: &mut Vec<u8>) -> Result<Option<State>, Error> {
        let Some(count) = bytes.u8() else { return Ok(None) };
        if count == 0 {
            return Ok(Some(State::Reason(Refusal::Connection)));
        }
        let Some(offered) = bytes.take(count.into()) else { return Ok(None) };
        let offered: Vec<u32> = offered.iter().map(|&number| number.into()).collect();
        let chosen = self.choose(&offered)?;
        out.push(chosen);
        Ok(Some(self.begin(chosen, out)))
    }

    /// Choose a security type: `VeNCrypt` if TLS is required, else `VncAuth` if there is a password, else None.
    fn choose(&self, offered: &[u32]) -> Result<u8, Error> {
        let wanted = match (self.credentials.tls, &self.credentials.password) {
            (Tls::Certificate | Tls::Anonymous, _) => vencrypt::SECURITY_TYPE,
            (Tls::Off, Some(_)) => VNC_AUTH,
            (Tls::Off, None) => NONE,
        };
        let offers = |number: u8| offered.contains(&number.into());
        if offers(wanted) {
            return Ok(wanted);
        }
        let what = if wanted == vencrypt::SECURITY_TYPE {
            "TLS is configured, but the server does not offer it"
        } else if wanted == VNC_AUTH && offers(NONE) {
            "a password is configured, but the server asks for none"
        } else if offers(VNC_AUTH) {
            "the server asks for a password, and none is configured"
        } else if offers(vencrypt::SECURITY_TYPE) {
            "the server asks for TLS, and none is configured"
        } else {
            "the server asks for a security type that is not supported"
        };
        Err(Error::Policy(format!("{what}; it offers {}", security_types::described(offered))))
    }

    const fn login(&self) -> Login {
        match (&self.credentials.username, &self.credentials.password) {
            (Some(_), _) => Login::Plain,
            (None, Some(_)) => Login::Vnc,
            (None, None) => Login::None,
        }
    }

    /// Continue after the caller has established TLS. In any other state this has no effect.
    pub fn secured(&mut self, out: &mut Vec<u8>) {
        if !matches!(self.state, State::Tls) {
            return;
        }
        let password = self.credentials.password.as_deref().unwrap_or_default();
        self.state = match self.login() {
            Login::Vnc => State::Challenge,
            Login::None => State::SecurityResult,
            Login::Plain => {
                vencrypt::plain(self.credentials.username.as_deref().unwrap_or_default(), password, out);
                State::SecurityResult
            }
        };
    }

    fn begin(&self, security_type: u8, out: &mut Vec<u8>) -> State {
        match (security_type, self.version) {
            (VNC_AUTH, _) => State::Challenge,
            (vencrypt::SECURITY_TYPE, _) => State::VeNCrypt(vencrypt::State::Version),
            (_, Version::V38) => State::SecurityResult,
            _ => client_init(out),
        }
    }

    // RFC 6143 7.2.2
    fn challenge(&self, bytes: &mut Bytes<'_>, out: &mut Vec<u8>) -> Option<State> {
        let challenge = bytes.array::<16>()?;
        out.extend(auth::response(self.credentials.password.as_deref().unwrap_or_default(), challenge));
        Some(State::SecurityResult)
    }

    // RFC 6143 7.1.3
    fn security_result(&self, bytes: &mut Bytes<'_>, out: &mut Vec<u8>) -> Result<Option<State>, Error> {
        let Some(result) = bytes.u32() else { return Ok(None) };
        match result {
            0 => Ok(Some(client_init(out))),
            1.. if self.version == Version::V38 => Ok(Some(State::Reason(Refusal::Authentication))),
            2 => Err(Error::TooManyFailures("too many attempts".into())),
            _ => Err(Refusal::Authentication.error(b"")),
        }
    }
}

fn version_numbers(greeting: &[u8; 12]) -> Option<(u16, u16)> {
    let text = std::str::from_utf8(greeting).ok()?.strip_prefix("RFB ")?.strip_suffix('\n')?;
    let (major, minor) = text.split_once('.')?;
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok())?;
    Some((digits(major)?, digits(minor)?))
}

// RFC 6143 7.3.1: always shared, because otherwise the server disconnects all other clients.
fn client_init(out: &mut Vec<u8>) -> State {
    out.push(1);
    State::Init
}

fn text<'a>(bytes: &mut Bytes<'a>, what: &'static str, limits: &Limits) -> Result<Option<&'a [u8]>, Error> {
    let Some(length) = bytes.u32() else { return Ok(None) };
    if length as usize > limits.text {
        return Err(Error::Limit { what, size: length.into(), limit: limits.text as u64 });
    }
    Ok(bytes.take(length as usize))
}

fn refused(refusal: Refusal, bytes: &mut Bytes<'_>, limits: &Limits) -> Result<Option<State>, Error> {
    let reason = text(bytes, "reason text", limits)?;
    reason.map_or(Ok(None), |reason| Err(refusal.error(reason)))
}

/// Return an error if a screen is empty or larger than the limits.
pub(crate) fn check_size(width: u16, height: u16, limits: &Limits) -> Result<(), Error> {
    for (what, size, limit) in [
        ("framebuffer width", width, limits.framebuffer_width.min(HARD_SIDE)),
        ("framebuffer height", height, limits.framebuffer_height.min(HARD_SIDE)),
    ] {
        if size > limit {
            return Err(Error::Limit { what, size: size.into(), limit: limit.into() });
        }
    }
    if width == 0 || height == 0 {
        return Err(Error::Protocol(format!("framebuffer of {width}x{height} pixels")));
    }
    Ok(())
}

// RFC 6143 7.3.2
//
// | 2 width | 2 height | 16 pixel format, ignored: the client sets its own | 4 length | name |
fn server_init(bytes: &mut Bytes<'_>, limits: &Limits) -> Result<Option<ServerInit>, Error> {
    let (Some(width), Some(height)) = (bytes.u16(), bytes.u16()) else { return Ok(None) };
    check_size(width, height, limits)?;
    if bytes.take(16).is_none() {
        return Ok(None);
    }
    let name = text(bytes, "desktop name", limits)?;
    Ok(name.map(|name| ServerInit { width, height, name: clean_text(name) }))
}
