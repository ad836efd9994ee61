//! Random numbers that are the same for the same seed, on every machine: the `SplitMix64` of Steele, Lea and
//! Flood (2014).

/// A source of numbers.
pub(super) struct Chance(u64);

impl Chance {
    /// The numbers of one page of one site.
    pub(super) fn of(seed: u64, page: usize) -> Chance {
        let mut chance = Chance(seed ^ (page as u64).wrapping_mul(0x2545_f491_4f6c_dd1d));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, all of them about as likely.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound.max(1) as u64).expect("it is below a usize")
    }
}
