//! Right: the search doubles the size until the size is worth a task, and then searches between the last two
//! sizes.

pub fn size_of_a_piece(items: usize, workers: usize, mut measure: impl FnMut(usize) -> u64) -> usize {
    let least = 20 * measure(0) as u128;
    let mut high = 1;
    while (measure(high) as u128) < least {
        if high == items {
            return items;
        }
        high = high.saturating_mul(2).min(items);
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if (measure(middle) as u128) < least { low = middle } else { high = middle }
    }
    high.max(items / 4 / workers)
}
