//! Draws a picture, each row as an element of a parallel loop. Then adds it to another picture, pixel by pixel.
//!
//! ```sh
//! cargo run --example rows_of_a_picture
//! ```

use executor::fork_join::{Pieces, par_for_each};

const WIDTH: usize = 64;
const HEIGHT: usize = 32;

/// Returns how fast a point of the plane flees when its number is squared again and again: 0 is fast, and 9
/// is never.
fn steps(x: f64, y: f64) -> u8 {
    let (mut re, mut im) = (0.0, 0.0);
    for step in 0..90_u8 {
        (re, im) = (re * re - im * im + x, 2.0 * re * im + y);
        if re * re + im * im > 4.0 {
            return step / 10;
        }
    }
    9
}

fn place(column: usize, of: usize) -> f64 {
    f64::from(u32::try_from(column).unwrap()) / f64::from(u32::try_from(of).unwrap())
}

fn main() {
    let mut picture = vec![0_u8; WIDTH * HEIGHT];
    // The rows in the middle take longest. A thread that has no row any more takes rows from another one.
    par_for_each(picture.as_mut_slice().chunks_of(WIDTH).enumerated(), |(y, row)| {
        for (x, pixel) in row.iter_mut().enumerate() {
            *pixel = steps(3.0 * place(x, WIDTH) - 2.2, 2.4 * (place(y, HEIGHT) - 0.5));
        }
    });

    let mut frame = vec![0_u8; WIDTH * HEIGHT];
    par_for_each(frame.as_mut_slice().chunks_of(WIDTH).enumerated(), |(y, row)| {
        row[0] = 1;
        row[WIDTH - 1] = 1;
        if y == 0 || y == HEIGHT - 1 {
            row.fill(1);
        }
    });
    par_for_each((&mut picture[..], &frame[..]), |(pixel, frame)| *pixel = (*pixel).max(*frame));

    for row in picture.chunks(WIDTH) {
        let line: String = row.iter().map(|&pixel| char::from(b" .:-=+*%#@"[usize::from(pixel)])).collect();
        println!("{}", line.trim_end());
    }
}
