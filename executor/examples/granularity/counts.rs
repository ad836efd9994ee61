//! Shows into how many pieces a slice is cut when it is halved again and again.

// ANCHOR: counts
/// Returns the lengths of the pieces, in order.
pub fn pieces(length: usize, threshold: usize) -> Vec<usize> {
    if length <= threshold {
        return vec![length];
    }
    [pieces(length / 2, threshold), pieces(length - length / 2, threshold)].concat()
}
// ANCHOR_END: counts

pub fn print() {
    println!("1000 elements\nthreshold   pieces   joins   shortest   longest");
    for threshold in [1, 2, 10, 62, 63, 100, 124, 125, 250, 500, 999, 1000] {
        let pieces = pieces(1_000, threshold);
        let (shortest, longest) = (pieces.iter().min().unwrap_or(&0), pieces.iter().max().unwrap_or(&0));
        println!("{threshold:9}{:9}{:8}{shortest:11}{longest:10}", pieces.len(), pieces.len() - 1);
    }
}
