//! Right: the search begins with a quarter of a worker's share, and looks only at larger sizes.

pub fn size_of_a_piece(items: usize, workers: usize, mut measure: impl FnMut(usize) -> u64) -> usize {
    let overhead = measure(0);
    let mut lost = |size| overhead > measure(size) / 20;
    let (mut low, mut high) = ((items / workers / 4).max(1), items);
    while low < high {
        let middle = low + (high - low) / 2;
        if lost(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
