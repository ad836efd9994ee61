//! The puzzles. A letter is a block, and a dot is an empty cell; block `A` must be moved to the given place.

use super::blocks::{Blocks, CELLS, COVERED, EMPTY, Kind};
use super::puzzle::Position;

// ANCHOR: klotski
/// The large block must be moved to the exit, in the middle of the lower border.
pub fn klotski() -> Blocks {
    draw("BAAC BAAC DEEF DGHF I..J", 13)
}
// ANCHOR_END: klotski

/// Two of the standing blocks have been laid down, so `A` cannot get out.
pub fn without_solution() -> Blocks {
    draw("BAAC BAAC DDEE FFGG H..I", 13)
}

/// Klotski with an additional row. The target of `A` is outside the board, so there is no solution, and
/// the search sees all positions.
pub fn large() -> Blocks {
    draw("BAAC BAAC DEEF DGGH IJ.. K..L", CELLS - 1)
}

/// Makes a puzzle from its drawing.
pub fn draw(drawing: &str, target: usize) -> Blocks {
    let rows: Vec<_> = drawing.split(' ').map(str::as_bytes).collect();
    let (width, height) = (rows[0].len(), rows.len());
    let letters: Vec<_> = rows.concat();
    let extent = |letter| {
        let corner = letters.iter().position(|other| *other == letter).expect("it is drawn");
        let last = letters.iter().rposition(|other| *other == letter).expect("it is drawn");
        (corner, Kind { width: last % width - corner % width + 1, height: last / width - corner / width + 1 })
    };
    let mut kinds = vec![extent(b'A').1];
    let mut board = [EMPTY; CELLS];
    for (cell, letter) in letters.iter().copied().enumerate().filter(|(_, letter)| *letter != b'.') {
        let (corner, kind) = extent(letter);
        let known = kinds.iter().position(|known| *known == kind);
        let number = known.unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        let begins = u8::try_from(number + 1).expect("there are few kinds");
        board[cell] = if cell == corner { begins } else { COVERED };
    }
    let mut blocks = Blocks { width, height, kinds, start: Position(0), target, letters };
    blocks.start = blocks.pack(&board);
    assert!(blocks.start.0 < 1 << 56, "it fits beside a move");
    blocks
}
