//! Random numbers for random scenarios.

/// A small generator of random numbers (`SplitMix64`). The only requirement is that the same seed gives the
/// same numbers.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn up_to(&mut self, most: usize) -> usize {
        usize::try_from(self.throw() % (most as u64 + 1)).expect("no more than `most`")
    }

    pub(crate) fn in_one_of(&mut self, cases: usize) -> bool {
        self.up_to(cases - 1) == 0
    }

    pub(crate) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.up_to(choices.len() - 1)]
    }
}
