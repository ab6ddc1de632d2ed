//! What a connection requests of the server.

use super::Connection;

impl Connection {
    /// The number of the newest refresh whose pixels are all on the screen.
    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.flow.generation()
    }

    /// Request the whole screen, and return the number of this refresh; see `generation`.
    pub fn refresh(&mut self) -> u64 {
        let in_update = self.in_update();
        self.flow.refresh(&mut self.screen, in_update, &mut self.out)
    }

    /// Request one pixel, to test whether the server still answers.
    pub fn probe(&mut self) {
        self.shown.probe();
        self.flow.probe(&mut self.out);
    }

    /// Do not follow updates by requests: from now on `ask` requests them. Refreshes are not affected.
    pub fn hold(&mut self) {
        self.flow.hold(self.screen.whole(), &mut self.out);
    }

    /// Request the next change, and return true; return false if a request is open already.
    pub fn ask(&mut self) -> bool {
        self.flow.ask(self.screen.whole(), &mut self.out)
    }

    /// End `hold` for a moment: continuous updates stay disabled.
    pub fn follow(&mut self) {
        self.flow.follow(self.screen.whole(), &mut self.out);
    }

    /// End `hold`.
    pub fn unhold(&mut self) {
        self.flow.unhold(self.screen.whole(), &mut self.out);
    }
}
