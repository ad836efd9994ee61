//! Other solutions of the same problems, without tasks.

use super::hull::{Point, left_of};

/// Computes each element of the product separately.
pub fn multiply(a: &[u32], b: &[u32], inner: usize, width: usize) -> Vec<u64> {
    let element = |row: &[u32], column: usize| {
        let of_b = b.iter().skip(column).step_by(width);
        row.iter().zip(of_b).map(|(&x, &y)| u64::from(x) * u64::from(y)).sum()
    };
    a.chunks(inner).flat_map(|row| (0..width).map(move |column| element(row, column))).collect()
}

/// Andrew's scan visits the points from left to right, and removes each corner at which the path of corners
/// turns left. Then the scan visits the points from right to left in the same way.
pub fn hull(points: &[Point]) -> Vec<Point> {
    let mut sorted = points.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() < 2 {
        return sorted;
    }
    let mut there = turns_right(sorted.iter().copied());
    let mut back = turns_right(sorted.iter().rev().copied());
    there.pop(); // each path begins where the other ends
    back.pop();
    there.append(&mut back);
    there
}

fn turns_right(points: impl Iterator<Item = Point>) -> Vec<Point> {
    let mut way: Vec<Point> = Vec::new();
    for point in points {
        while let [.., before, last] = way[..] {
            if left_of(before, last, point) < 0 {
                break;
            }
            way.pop();
        }
        way.push(point);
    }
    way
}
