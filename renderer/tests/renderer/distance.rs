//! Measures how different two pictures look.
//!
//! Both pictures are blurred first, so letters whose edges have moved slightly do not count. Then small
//! squares of the two pictures are compared; the result is the difference in the square that differs most.
//! A mean over the whole picture would hide a missing line of text.

use image::{Rgba, RgbaImage};

/// The side of a square, in pixels.
const SIDE: u32 = 16;

/// Returns the largest mean difference in any square, from 0 to 255. If the sizes of the pictures differ,
/// the difference is infinite.
pub(crate) fn distance(one: &RgbaImage, other: &RgbaImage) -> f64 {
    if one.dimensions() != other.dimensions() {
        return f64::INFINITY;
    }
    let (one, other) = (blurred(one), blurred(other));
    let (width, height) = one.dimensions();
    let mut worst = 0.0_f64;
    for top in (0..height).step_by(SIDE as usize) {
        for left in (0..width).step_by(SIDE as usize) {
            let (right, bottom) = ((left + SIDE).min(width), (top + SIDE).min(height));
            let mut sum = 0.0;
            for y in top..bottom {
                for x in left..right {
                    sum += difference(*one.get_pixel(x, y), *other.get_pixel(x, y));
                }
            }
            worst = worst.max(sum / f64::from((right - left) * (bottom - top)));
        }
    }
    worst
}

/// Returns a blurred picture: each pixel becomes the mean of nine pixels.
fn blurred(picture: &RgbaImage) -> RgbaImage {
    let (width, height) = picture.dimensions();
    RgbaImage::from_fn(width, height, |x, y| {
        let (mut sums, mut count) = ([0_u32; 3], 0);
        for near_y in y.saturating_sub(1)..(y + 2).min(height) {
            for near_x in x.saturating_sub(1)..(x + 2).min(width) {
                let Rgba(colour) = picture.get_pixel(near_x, near_y);
                for (sum, part) in sums.iter_mut().zip(colour) {
                    *sum += u32::from(*part);
                }
                count += 1;
            }
        }
        let [red, green, blue] = sums.map(|sum| u8::try_from(sum / count).expect("a mean of bytes"));
        Rgba([red, green, blue, 255])
    })
}

/// Returns the difference between two colours, in the channel in which they differ most.
fn difference(Rgba(one): Rgba<u8>, Rgba(other): Rgba<u8>) -> f64 {
    let most = one.iter().zip(other).map(|(one, other)| one.abs_diff(other)).max().unwrap_or(0);
    f64::from(most)
}
