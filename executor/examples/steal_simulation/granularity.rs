//! Decides whether the recent pieces were fine (small), as `executor/src/fork_join/worker_queue.rs` does.

use super::costs::Offers;

const ENOUGH: usize = 3;
const ROUND: u32 = 64;
const FINE: u64 = 400;
const COARSE: u64 = 50_000;

#[derive(Clone, Copy, Default)]
pub struct Granularity {
    /// If this many pieces are queued, a join offers no further piece; `None` while pieces are coarse.
    pub enough: Option<usize>,
    pieces: u32,
    since: Option<u64>,
}

impl Granularity {
    /// Records another piece.
    pub fn count(&mut self, now: u64, offers: Offers) {
        self.pieces += 1;
        if offers == Offers::All || self.pieces < ROUND {
            return;
        }
        self.pieces = 0;
        let Some(since) = self.since.replace(now) else { return };
        match (now - since) / u64::from(ROUND) {
            piece if piece < FINE => self.enough = Some(ENOUGH),
            piece if piece > COARSE => self.enough = None,
            _ => {}
        }
    }
}
