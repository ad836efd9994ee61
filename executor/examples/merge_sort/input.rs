//! The numbers to sort, which are the same in each run, and a function that checks the sorted numbers.

/// Returns `count` numbers below `most` that look like random numbers. The same seed gives the same numbers.
pub fn numbers(seed: u64, count: usize, most: u32) -> Vec<u32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15); // SplitMix64
        let mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    };
    let below = |number: u64| u32::try_from(number % u64::from(most)).expect("`most` is one");
    (0..count).map(|_| below(next())).collect()
}

pub fn input() -> Vec<u32> {
    numbers(7, 10_000, 1_000_000)
}

/// Checks a result: sorts the same numbers with the standard library, and compares both results.
pub fn verdict(result: &[u32]) -> String {
    let mut sorted = input();
    sorted.sort_unstable();
    if *result == sorted {
        return format!("{} numbers, sorted", result.len());
    }
    let descents = result.windows(2).filter(|pair| pair[0] > pair[1]).count();
    let of_all = result.len().saturating_sub(1);
    format!("{} numbers, not sorted: {descents} of {of_all} are larger than the next", result.len())
}
