//! Draws the picture of `executor/examples/rows_of_a_picture.rs` with rayon.

use super::picture_ours::{frame, place, steps};
use rayon::prelude::*;

// ----- compared in `bench` -----
pub fn drawn(width: usize, height: usize) -> Vec<u8> {
    let mut picture = vec![0; width * height];
    picture.par_chunks_mut(width).enumerate().for_each(|(y, row)| {
        for (x, pixel) in row.iter_mut().enumerate() {
            *pixel = steps(3.0 * place(x, width) - 2.2, 2.4 * (place(y, height) - 0.5));
        }
    });
    picture
}

pub fn framed(picture: &mut [u8], width: usize) {
    let frame = frame(width, picture.len() / width);
    picture.par_iter_mut().zip(&frame).for_each(|(pixel, frame)| *pixel = (*pixel).max(*frame));
}
