use std::collections::BTreeMap;

/// Returns the smallest number of threads, 1 to `most`, with a rate of at least 95 % of the best rate.
///
/// `measure(n)` runs the service with `n` threads for a while, and returns how many tasks the service has
/// done. Each call takes some time.
pub fn how_many_threads(most: usize, mut measure: impl FnMut(usize) -> u64) -> usize {
    let mut known = BTreeMap::new();
    let mut rate = |threads: usize| *known.entry(threads).or_insert_with(|| u128::from(measure(threads)));
    // Up to its peak the curve rises with each thread. So the rates of two consecutive numbers show on which
    // side the peak is.
    let (mut low, mut peak) = (1, most);
    while low < peak {
        let middle = low + (peak - low) / 2;
        if rate(middle) < rate(middle + 1) {
            low = middle + 1;
        } else {
            peak = middle;
        }
    }
    let best = rate(peak);
    // Up to the peak the curve only rises. So bisection finds the first number that is good enough.
    let (mut low, mut enough) = (1, peak);
    while low < enough {
        let middle = low + (enough - low) / 2;
        if rate(middle) * 100 >= best * 95 {
            enough = middle;
        } else {
            low = middle + 1;
        }
    }
    enough
}
