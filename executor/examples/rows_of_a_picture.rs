//! Draws a picture in a parallel loop over the picture's rows. Then the example adds a frame, pixel by pixel.
//!
//! ```sh
//! cargo run --example rows_of_a_picture
//! ```
//!
//! `bench` compares this program with a version that uses rayon.

use executor::fork_join::{Pieces, par_for_each};

fn main() {
    let mut picture = drawn(64, 32);
    framed(&mut picture, 64);
    for row in picture.chunks(64) {
        let line: String = row.iter().map(|&pixel| char::from(b" .:-=+*%#@"[usize::from(pixel)])).collect();
        println!("{}", line.trim_end());
    }
}

// ----- compared in `bench` -----
/// The middle rows take longest. A thread that has no more rows takes rows from another thread.
pub fn drawn(width: usize, height: usize) -> Vec<u8> {
    let mut picture = vec![0; width * height];
    par_for_each(picture.as_mut_slice().chunks_of(width).enumerated(), |(y, row)| {
        for (x, pixel) in row.iter_mut().enumerate() {
            *pixel = steps(3.0 * place(x, width) - 2.2, 2.4 * (place(y, height) - 0.5));
        }
    });
    picture
}

pub fn framed(picture: &mut [u8], width: usize) {
    let frame = frame(width, picture.len() / width);
    par_for_each((picture, &frame[..]), |(pixel, frame)| *pixel = (*pixel).max(*frame));
}
// ----- shared by all sides -----

pub fn frame(width: usize, height: usize) -> Vec<u8> {
    let is_border =
        |at: usize| (at % width).is_multiple_of(width - 1) || (at / width).is_multiple_of(height - 1);
    (0..width * height).map(|at| u8::from(is_border(at))).collect()
}

/// Squares the number of a point of the plane again and again, and returns how fast the point moves away,
/// from 0 (fast) to 9 (never).
pub fn steps(x: f64, y: f64) -> u8 {
    let (mut re, mut im) = (0.0, 0.0);
    for step in 0..90_u8 {
        (re, im) = (re * re - im * im + x, 2.0 * re * im + y);
        if re * re + im * im > 4.0 {
            return step / 10;
        }
    }
    9
}

pub fn place(column: usize, of: usize) -> f64 {
    f64::from(u32::try_from(column).unwrap()) / f64::from(u32::try_from(of).unwrap())
}
