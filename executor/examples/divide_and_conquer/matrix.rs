//! Computes the product of two matrices; a slice contains the rows of each matrix, one after the other. One
//! task computes the first half of the product's rows while another task computes the second half.

use executor::fork_join::join;

/// The largest number of rows that one thread computes by itself.
const ROWS: usize = 16;

// ANCHOR: multiply
/// Returns the product of two matrices: `a` has rows of length `inner`, and `b` has `inner` rows of length
/// `width`.
pub fn multiply(a: &[u32], b: &[u32], inner: usize, width: usize) -> Vec<u64> {
    let mut product = vec![0; a.len() / inner * width];
    multiply_into(&mut product, a, b, inner, width);
    product
}

fn multiply_into(product: &mut [u64], a: &[u32], b: &[u32], inner: usize, width: usize) {
    let rows = a.len() / inner;
    if rows > ROWS {
        let (top, bottom) = a.split_at(rows / 2 * inner);
        let (into_top, into_bottom) = product.split_at_mut(rows / 2 * width);
        join(
            || multiply_into(into_top, top, b, inner, width),
            || multiply_into(into_bottom, bottom, b, inner, width),
        );
        return;
    }
    for (row, of_a) in product.chunks_mut(width).zip(a.chunks(inner)) {
        for (&factor, of_b) in of_a.iter().zip(b.chunks(width)) {
            for (sum, &other) in row.iter_mut().zip(of_b) {
                *sum += u64::from(factor) * u64::from(other);
            }
        }
    }
}
// ANCHOR_END: multiply
