//! Right: where the curve is flat, the search goes to larger numbers, and so finds the largest number with
//! the best rate.

pub fn how_many_threads(most: usize, mut measure: impl FnMut(usize) -> u64) -> usize {
    let (mut low, mut high) = (1, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if measure(middle) <= measure(middle + 1) { low = middle + 1 } else { high = middle }
    }
    let least = measure(high) as u128 * 95;
    let (mut low, mut high) = (1, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if measure(middle) as u128 * 100 < least { low = middle + 1 } else { high = middle }
    }
    low
}
