//! Boards in a terminal.

use super::way::{Shown, Way};

/// The number of boards in one row.
const IN_A_ROW: usize = 12;

pub fn print(Way { blocks, boards }: &Way) {
    println!("{} moves", boards.len() - 1);
    for row in boards.chunks(IN_A_ROW) {
        println!();
        for y in 0..blocks.height {
            let line = |shown: &Shown| shown.letters[y * blocks.width..][..blocks.width].to_vec();
            let lines: Vec<_> = row.iter().map(line).collect();
            println!("{}", String::from_utf8_lossy(&lines.join(&b"  "[..])));
        }
    }
}

/// Prints the possible values of the first argument, and ends the process.
pub(crate) fn say_which() -> ! {
    eprintln!("say which: moves, picture FILE, ways, none, stop, measure");
    std::process::exit(2);
}
