//! Many threads call all methods of executors at the same time, and the example records what happens to each
//! task. When an executor has ended, each task must either have run once or have been dropped once, and all
//! counts must agree.
//!
//! The example tests single pools, with every setting. The example also tests all kinds of executors
//! together: their tasks fork, spawn, plan and wait for each other.
//!
//! ```sh
//! cargo run --release --example stress -- 60 # seconds
//! ```

mod books;
mod pools;
mod together;

use std::time::{Duration, Instant};

/// A generator of numbers that look random (xorshift): the same seed gives the same decisions.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    pub(crate) fn small(&mut self, bound: u32) -> usize {
        usize::try_from(self.below(bound.into())).expect("below a small bound")
    }
}

fn main() {
    let seconds = std::env::args().nth(1).map_or(10, |text| text.parse().expect("a number of seconds"));
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut lives, mut tasks) = (0, 0);
    while Instant::now() < end {
        lives += 1;
        tasks += pools::one_life(lives) + together::one_life(lives);
    }
    println!("{lives} lives, {tasks} tasks: each was run once or dropped once, and all counts agree");
}
