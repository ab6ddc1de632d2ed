//! The way of bytes from the socket to frames.

use std::io::{ErrorKind, Read as _};
use std::time::Instant;

use rfb::{Connection, Event};

use super::Session;
use crate::decoder::Decoder;
use crate::monotonic::monotonic;
use crate::published::{Changes, Failure, kind};
use crate::socket::{CLOSED, error_text};
use crate::sync::{Mutex, lock};
use crate::tls::{BROKEN, Received, Tls, Trust, UNSUPPORTED};

/// Bytes that one session may read before the other sessions of its thread get their turn.
const TURN: usize = 4 << 20;
/// Whether a socket announces bytes that arrive after a read that has not filled the buffer.
const SHORT_IS_EMPTY: bool = cfg!(target_os = "linux");
/// The room for encrypted bytes that a reader thread needs.
pub(crate) const SEALED: usize = 48 << 10;

/// The result of a turn of reading.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The socket has no more bytes now.
    Done,
    /// The socket has more bytes.
    Again,
}

/// The result of one read of the socket.
enum Read {
    Nothing,
    Bytes {
        count: usize,
        /// Whether they have filled the room for them.
        full: bool,
        /// Whether the connection has something new.
        news: bool,
        /// Whether the server has ended TLS after them.
        last: bool,
    },
    Ended(String),
    Refused(Failure),
}

impl Session {
    /// Handle a readiness event of the socket: finish connecting, write waiting bytes, read and decode.
    ///
    /// On Linux, a read that does not fill the buffer has emptied the socket, so it is the last one of the turn; elsewhere
    /// only a refused read announces further bytes. If the peer is `closing`, reading continues to the end of the stream.
    /// `sealed` is room for encrypted bytes.
    pub(crate) fn ready(&self, closing: bool, sealed: &mut [u8]) -> Turn {
        if !self.establish() {
            return Turn::Done;
        }
        self.send(&[]);
        let mut left = TURN;
        loop {
            let mut decoder = lock(&self.decoder);
            let read = match self.tls.get() {
                None => self.read(&mut decoder.connection),
                Some(tls) => self.read_tls(tls, &mut decoder.connection, sealed),
            };
            match read {
                Read::Nothing => return Turn::Done,
                Read::Bytes { count, full, news, last } => {
                    if news {
                        self.react_to_all(&mut decoder);
                    }
                    if last {
                        drop(decoder);
                        self.end(CLOSED.into());
                        return Turn::Done;
                    }
                    left = left.saturating_sub(count);
                    if decoder.connection.error().is_some() || SHORT_IS_EMPTY && !full && !closing {
                        return Turn::Done;
                    }
                    if left == 0 {
                        return Turn::Again;
                    }
                }
                Read::Ended(text) => {
                    drop(decoder);
                    self.end(text);
                    return Turn::Done;
                }
                Read::Refused((kind, text)) => {
                    drop(decoder);
                    self.finish(kind, text);
                    return Turn::Done;
                }
            }
        }
    }

    /// Read plain bytes into the connection.
    fn read(&self, connection: &mut Connection) -> Read {
        let read = self.read_into(connection.space());
        if let Read::Bytes { count, .. } = read {
            connection.received(count);
        }
        read
    }

    /// Read encrypted bytes, and give their content to the connection.
    fn read_tls(&self, tls: &Mutex<Tls>, connection: &mut Connection, sealed: &mut [u8]) -> Read {
        let read = self.read_into(sealed);
        let Read::Bytes { count, full, .. } = read else { return read };
        let mut tls = lock(tls);
        let received = tls.decrypt(&sealed[..count], connection).map_err(|error| tls.failure(&error));
        drop(tls);
        // The next message of the handshake, or the alert that tells the server what was wrong.
        self.send(&[]);
        match received {
            Ok(Received { news, end: last }) => Read::Bytes { count, full, news, last },
            Err(None) => Read::Ended(BROKEN.into()),
            Err(Some(failure)) => Read::Refused(failure),
        }
    }

    fn read_into(&self, room: &mut [u8]) -> Read {
        loop {
            return match self.with_stream(|mut stream| stream.read(room)) {
                None => Read::Nothing,
                Some(Ok(0)) => Read::Ended(CLOSED.into()),
                Some(Ok(count)) => Read::Bytes { count, full: count == room.len(), news: true, last: false },
                Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => Read::Nothing,
                Some(Err(error)) if error.kind() == ErrorKind::Interrupted => continue,
                Some(Err(error)) => Read::Ended(error_text(&error)),
            };
        }
    }

    /// Return whether the connection is established; end the session if it failed.
    fn establish(&self) -> bool {
        let mut clock = lock(&self.clock);
        if clock.connected {
            return true;
        }
        let state = self.with_stream(|stream| match stream.take_error() {
            Ok(Some(error)) | Err(error) => Err(error),
            Ok(None) if stream.peer_addr().is_err() => Ok(false),
            Ok(None) => stream.set_nodelay(true).map(|()| true),
        });
        match state {
            Some(Ok(true)) => {
                clock.connect(Instant::now());
                true
            }
            Some(Err(error)) => {
                drop(clock);
                self.finish("connect", error_text(&error));
                false
            }
            Some(Ok(false)) | None => false,
        }
    }

    /// Process bytes that the caller has read. Then send what `data_to_send` returns.
    pub fn receive(&self, bytes: &[u8]) {
        let mut decoder = lock(&self.decoder);
        decoder.connection.receive(bytes);
        self.react_to_all(&mut decoder);
    }

    /// Continue the handshake after the caller has established TLS.
    pub fn secured(&self) {
        let mut decoder = lock(&self.decoder);
        decoder.connection.secured();
        self.react(&mut decoder);
    }

    /// React to received bytes, after each frame if every frame is wanted.
    fn react_to_all(&self, decoder: &mut Decoder) {
        self.react(decoder);
        while decoder.connection.resume() {
            self.react(decoder);
        }
    }

    /// React to received bytes: send the answers, publish the changes, list the session if there is news.
    fn react(&self, decoder: &mut Decoder) {
        let connection = &mut decoder.connection;
        let answer = connection.data_to_send();
        if !answer.is_empty() {
            self.send(&answer);
        }
        let mut changes = Changes {
            frames: connection.frames(),
            generation: connection.generation(),
            long_cut_texts: connection.long_cut_texts(),
            shares: connection.shares(),
            more_buttons: connection.more_buttons(),
            ..Changes::default()
        };
        let (mut news, mut drawn) = (false, rfb::Totals::default());
        while let Some(event) = connection.next_event() {
            match event {
                Event::Ready(init) => {
                    changes.size = Some((init.width, init.height));
                    (changes.name, news) = (Some(init.name), true);
                }
                Event::Resized(width, height) => (changes.size, news) = (Some((width, height)), true),
                Event::Frame(totals) => drawn += totals,
                Event::StartTls { certificate } => (changes.certificate, news) = (Some(certificate), true),
                Event::Offer(offer) => (changes.offer, news) = (Some(offer), true),
                Event::Cursor(_) | Event::Bell => {}
            }
        }
        let is_frame = changes.frames > self.published.frames();
        if is_frame {
            let time = monotonic();
            changes.drawn = Some((drawn, time));
            self.copy_to_taps(connection, time);
            decoder.looks.frame(time);
        }
        lock(&self.clock).receive(connection.unfinished(), Instant::now());
        let certificate = changes.certificate;
        news |= self.published.publish(changes);
        news |= is_frame && self.notice.frame();
        if let Some(error) = connection.error() {
            self.finish(kind(error), error.to_string());
        } else if let (Some(certificate), Some(trust)) = (certificate, &self.trust) {
            self.start_tls(certificate, trust);
        } else if news {
            self.changed();
        }
        if self.published.failure().is_some() {
            connection.close();
        }
    }

    /// Send the first message of TLS. The rest of the handshake is read like everything after it.
    fn start_tls(&self, certificate: bool, trust: &Trust) {
        if !certificate {
            return self.finish(UNSUPPORTED, "TLS without a certificate".into());
        }
        match Tls::new(trust) {
            Ok(tls) => {
                let _ = self.tls.set(Mutex::new(tls));
                self.send(&[]);
            }
            Err(error) => self.finish(UNSUPPORTED, error.to_string()),
        }
    }
}
