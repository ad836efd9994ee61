//! Random numbers that depend only on the seed, on every machine: the `SplitMix64` of Steele, Lea and Flood
//! (2014).

/// A generator of random numbers.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`; all these numbers are about equally likely.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Returns a random number of milliseconds from 50 to 1500; most numbers are low, and a few are high.
    pub(super) fn latency(&mut self) -> u64 {
        let halvings = self.next().leading_zeros().min(4); // each value is half as likely as the one before
        (50 + self.below(300) + u64::from(halvings) * 300).min(1500)
    }
}
