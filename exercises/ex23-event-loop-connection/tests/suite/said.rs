//! Checks of the value that a turn returns.

use std::io::ErrorKind;

use exercises_harness::fail;

use super::super::exercise::{End, Next, Ready};
use super::causes::{
    AFTER_END, BUDGET, CLOSES, EDGE, GOES_ON, INTEREST, INTERRUPTED, SPINS, TOO_LONG, WAITS_FOR_NOTHING,
    WOULD_BLOCK,
};
use super::wire::{Wire, text};

impl Wire {
    /// Checks the value that the turn has returned.
    pub fn end_turn(&self, next: Next) {
        if let Some(kind) = self.failed.filter(|kind| next != Next::Close(End::Failed(*kind))) {
            fail(&format!("the transport gave {kind:?}, and turn() returned {next:?}"), AFTER_END);
        }
        match next {
            Next::Again if self.news == 0 => {
                fail("turn() returned Again, and nothing was read, answered or written in this turn", SPINS);
            }
            Next::Again => {}
            Next::Wait(interest) => self.may_wait(interest),
            Next::Close(end) => self.may_close(end),
        }
    }

    fn may_wait(&self, interest: Ready) {
        if let Some(request) = self.requests.front().filter(|_| self.has_room()) {
            let seen = format!(
                "the request {} was read, and turn() returned Wait without having answered it",
                text(request)
            );
            fail(&seen, if self.is_at_its_limit() { BUDGET } else { GOES_ON });
        }
        let wants =
            Ready { readable: !self.nothing_more_is_read() && self.has_room(), writable: self.pending() > 0 };
        if wants == Ready::default() {
            let cause = if self.too_long { TOO_LONG } else { CLOSES };
            fail("there is nothing more to read or to write, and turn() returned Wait", cause);
        }
        if interest == Ready::default() {
            fail("turn() returned Wait, for neither direction", WAITS_FOR_NOTHING);
        }
        if interest != wants {
            let (pending, limit) = (self.pending(), self.limits.pending);
            let seen = format!(
                "turn() waits for {interest:?}; {pending} bytes wait to be written, of at most {limit}, and {}",
                if self.nothing_more_is_read() { "nothing more is read" } else { "the input has not ended" }
            );
            fail(&seen, INTEREST);
        }
        for (what, direction, waits) in
            [("read", &self.input, interest.readable), ("write", &self.output, interest.writable)]
        {
            if waits && !direction.blocked {
                let seen = format!(
                    "turn() waits until the poller reports that it can {what}, and {what}() has not returned WouldBlock since the last \
                     report"
                );
                fail(&seen, if self.is_at_its_limit() { BUDGET } else { EDGE });
            }
        }
    }

    fn may_close(&self, end: End) {
        let expected = match self.failed {
            Some(kind) => Some(End::Failed(kind)),
            None if self.too_long => Some(End::TooLong),
            None => self.input.over.then_some(End::Finished),
        };
        if expected != Some(end) {
            let is = expected.map_or("nothing has ended".into(), |expected| format!("it is {expected:?}"));
            let cause = match end {
                End::Failed(ErrorKind::WouldBlock) => WOULD_BLOCK,
                End::Failed(ErrorKind::Interrupted) => INTERRUPTED,
                _ if self.too_long || end == End::TooLong => TOO_LONG,
                _ => AFTER_END,
            };
            fail(&format!("turn() says Close({end:?}), and {is}"), cause);
        }
        if self.failed.is_none() && (self.pending() > 0 || !self.requests.is_empty()) {
            let seen = format!(
                "turn() returned Close({end:?}), {} bytes of answers are not written, and {} complete requests have no answer",
                self.pending(),
                self.requests.len()
            );
            fail(&seen, if self.too_long { TOO_LONG } else { CLOSES });
        }
    }
}
