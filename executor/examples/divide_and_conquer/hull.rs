//! Quickhull: computes the convex hull of points.

use executor::fork_join::join;

pub type Point = (i64, i64);

/// Turns each pair of numbers into a point.
pub fn points(numbers: &[u32]) -> Vec<Point> {
    numbers.chunks_exact(2).map(|pair| (pair[0].into(), pair[1].into())).collect()
}

/// Returns a positive value if `point` lies to the left of the line from `from` to `to`. The value grows
/// with the distance of the point from the line.
pub fn left_of(from: Point, to: Point, point: Point) -> i64 {
    (to.0 - from.0) * (point.1 - from.1) - (to.1 - from.1) * (point.0 - from.0)
}

// ANCHOR: hull
/// Returns the corners in clockwise order, beginning with the leftmost corner. No corner lies on the line
/// between two other corners.
pub fn hull(points: &[Point]) -> Vec<Point> {
    let (Some(&first), Some(&last)) = (points.iter().min(), points.iter().max()) else { return Vec::new() };
    if first == last {
        return vec![first];
    }
    let (above, below) = join(|| side(points, first, last), || side(points, last, first));
    [vec![first], above, vec![last], below].concat()
}

/// Returns the corners to the left of the line from one corner to another.
fn side(points: &[Point], from: Point, to: Point) -> Vec<Point> {
    let outside: Vec<_> = points.iter().copied().filter(|&point| left_of(from, to, point) > 0).collect();
    let Some(&farthest) = outside.iter().max_by_key(|&&point| (left_of(from, to, point), point)) else {
        return Vec::new();
    };
    let (before, after) = join(|| side(&outside, from, farthest), || side(&outside, farthest, to));
    [before, vec![farthest], after].concat()
}
// ANCHOR_END: hull
