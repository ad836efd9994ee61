//! The random choices of a run.

use exercises_protocol::SOON;

use super::SCHEDULES;

/// A question that a random number answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    what: What,
    /// The number of threads among which the answer chooses; 0 if the question is not about threads.
    threads: u16,
    /// The position of the running thread among these threads, if the running thread can go on.
    current: Option<u16>,
    /// Identifies the threads. The only requirement is that the same threads always result in the same
    /// number.
    who: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    GoesOn,
    GoesOnAfterYield,
    IsWoken,
    WakesUp,
    Number,
}

/// The number of possible answers. The number is divisible by 1 to 6, so that each remainder is equally
/// likely.
const NUMBERS: usize = 60;

impl Question {
    /// Asks whether a wait ends without a notification; the answer is 0 or 1.
    pub(super) const WAKES_UP: Self = Self { what: What::WakesUp, threads: 0, current: None, who: 0 };

    /// Asks for a number from which only a remainder is computed.
    pub(super) const NUMBER: Self = Self { what: What::Number, threads: 0, current: None, who: 0 };

    /// Asks which of the given threads goes on. `yields` says whether the thread `current` has asked the
    /// scheduler to run other threads first.
    pub(super) fn goes_on(threads: usize, current: Option<usize>, yields: bool, who: u64) -> Self {
        let what = if yields { What::GoesOnAfterYield } else { What::GoesOn };
        Self { what, threads: small(threads), current: current.map(small), who }
    }

    /// Asks which waiting thread is woken; `threads` is the number of waiting threads.
    pub(super) fn is_woken(threads: usize) -> Self {
        Self { what: What::IsWoken, threads: small(threads), current: None, who: 0 }
    }

    /// If the question is which thread is woken, returns the number of threads that could be woken.
    pub(super) fn sleepers(self) -> Option<usize> {
        (self.what == What::IsWoken).then_some(self.threads.into())
    }
}

fn small(threads: usize) -> u16 {
    u16::try_from(threads).expect("a run is over before it has so many threads")
}

/// The random choices of one run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chance {
    state: u64,
    /// The percentage of the steps at which the running thread goes on.
    stay: u64,
    wake_ups_left: u32,
}

impl Chance {
    /// Makes the random choices of a schedule. The first schedule has the number 1.
    pub(super) fn of(round: u64, schedule: u64) -> Self {
        // The probability that the running thread goes on falls from 97 % to 0.
        let stay = 97 - schedule * 97 / SCHEDULES as u64;
        let mut chance = Self { state: round << 32 | schedule, stay, wake_ups_left: 0 };
        // No wait ends without a notification on the first schedules: see `SOON`.
        let may = chance.random().is_multiple_of(2) && schedule > SOON as u64;
        chance.wake_ups_left = u32::from(may);
        chance
    }

    /// Answers a question.
    pub(super) fn answer(&mut self, question: Question) -> usize {
        let (threads, current) = (question.threads.into(), question.current.map(usize::from));
        match (question.what, current) {
            (What::WakesUp, _) => usize::from(self.wakes_up()),
            (What::Number, _) => self.below(NUMBERS),
            (What::GoesOn, Some(current)) if self.random() % 100 < self.stay => current,
            (What::GoesOnAfterYield, Some(current)) if threads == 1 => current,
            (What::GoesOnAfterYield, Some(current)) => {
                let other = self.below(threads - 1);
                other + usize::from(other >= current)
            }
            _ => self.below(threads),
        }
    }

    /// In every second run after the first schedules, one wait may end without a notification. More waits of
    /// this kind would hide missing notifications.
    fn wakes_up(&mut self) -> bool {
        let wakes = self.wake_ups_left > 0 && self.random().is_multiple_of(4);
        self.wake_ups_left -= u32::from(wakes);
        wakes
    }

    /// Returns a number below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.random() % n as u64).expect("less than a usize")
    }

    /// Returns a random number from Splitmix64, which is small and gives the same numbers on every machine.
    fn random(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
