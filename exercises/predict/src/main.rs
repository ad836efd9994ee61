//! Runs the program that the first argument names. Without an argument, prints the names of all programs.

use exercises_predict::PROGRAMS;

fn main() {
    let wanted = std::env::args().nth(1);
    match PROGRAMS.iter().find(|(name, _)| wanted.as_deref() == Some(name)) {
        Some((_, run)) => println!("{}", run()),
        None => PROGRAMS.iter().for_each(|(name, _)| println!("{name}")),
    }
}
