//! When the caller looks: notice of frames, and requests of updates shortly before.

use std::sync::{Arc, TryLockError};

use super::Session;
use crate::decoder::Decoder;
use crate::looks::Act;
use crate::monotonic::monotonic;
use crate::player::Work;
use crate::sync::lock;

/// Seconds after which the player comes again if the decoder is at work.
const BUSY: f64 = 0.0005;

impl Session {
    /// Choose whether frames list the session in the hub, as they do at first: one frame until `copy`. Return whether there
    /// is a frame that was neither copied nor listed; it is not listed.
    pub fn listen(&self, listens: bool) -> bool {
        let is_news = self.notice.listen(listens);
        if listens {
            self.end_looks();
        }
        is_news
    }

    /// Announce when the caller copies a frame next, in seconds of the monotonic clock. Until then one frame is enough,
    /// complete shortly before. This ends if the look is late, and by `listen` and `add_tap`, during which it has no effect.
    pub fn next_look(self: &Arc<Self>, look: f64) {
        let mut decoder = lock(&self.decoder);
        // Under the lock, because `listen` and `add_tap` end the looks after they have changed what is read here.
        let wants_all = self.notice.is_listening() || self.is_tapped();
        let act = if wants_all { decoder.looks.end() } else { decoder.looks.announce(look, monotonic()) };
        self.act(&mut decoder, act);
        let turn = decoder.looks.next_turn();
        drop(decoder);
        if let Some(time) = turn
            && let Some(player) = self.player.upgrade()
        {
            player.add(time, Arc::downgrade(self), Work::Request);
        }
    }

    /// Take note that the caller may copy a frame at any time.
    pub(super) fn end_looks(&self) {
        let mut decoder = lock(&self.decoder);
        let act = decoder.looks.end();
        self.act(&mut decoder, act);
    }

    /// Do what is due; return when to come again.
    pub(crate) fn request_in_time(&self) -> Option<f64> {
        let mut decoder = match self.decoder.try_lock() {
            Ok(decoder) => decoder,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Some(monotonic() + BUSY),
        };
        let act = decoder.looks.turn(monotonic())?;
        self.act(&mut decoder, Some(act));
        decoder.looks.next_turn()
    }

    fn act(&self, decoder: &mut Decoder, act: Option<Act>) {
        let connection = &mut decoder.connection;
        match act {
            None => return,
            Some(Act::Hold) => connection.hold(),
            Some(Act::Ask) => {
                if connection.ask() {
                    decoder.looks.asked(monotonic());
                }
            }
            Some(Act::Follow) => connection.follow(),
            Some(Act::Release) => connection.unhold(),
        }
        self.send(&connection.data_to_send());
    }
}
