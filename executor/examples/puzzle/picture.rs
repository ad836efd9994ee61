//! Draws boards as a picture in SVG. If the picture is shown in a page of the book, it has the colours of the
//! book's figures.

use super::blocks::Blocks;
use super::way::{Shown, Way};
use std::fmt::Write;

const IN_A_ROW: usize = 13;
const CELL: usize = 9;

pub fn of(Way { blocks, boards }: &Way) -> String {
    let (width, height) = ((blocks.width + 1) * CELL, (blocks.height + 1) * CELL + 4);
    let rows = boards.len().div_ceil(IN_A_ROW);
    let what = format!("{} moves of a sliding-block puzzle, a board for each", boards.len() - 1);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{0}\" role=\"img\" aria-label=\"{what}\">\n",
        IN_A_ROW * width + CELL,
        rows * height + CELL,
    );
    for (number, shown) in boards.iter().enumerate() {
        let (x, y) = (number % IN_A_ROW * width + CELL / 2, number / IN_A_ROW * height + CELL / 2);
        writeln!(svg, "<g transform=\"translate({x} {y})\">{}</g>", board(blocks, shown))
            .expect("a string has room");
    }
    svg + "</svg>\n"
}

/// Draws the border of a board, and the blocks inside the border. If the file is shown outside the book, it
/// uses the colours of this style.
fn board(blocks: &Blocks, shown: &Shown) -> String {
    let (width, height) = (blocks.width * CELL, blocks.height * CELL);
    let border =
        format!("<rect width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"currentColor\"/>");
    let rects = blocks.blocks(shown.position).map(|(corner, number)| {
        let (x, y) = (corner % blocks.width * CELL + 1, corner / blocks.width * CELL + 1);
        let (class, fill) = match number {
            _ if shown.moved == Some(corner) => ("busy", "#2f6fb3"),
            1 => ("wait", "#b35c00"),
            _ => ("box", "#ddd"),
        };
        let kind = blocks.kind(number);
        let (width, height) = (kind.width * CELL - 2, kind.height * CELL - 2);
        format!("<rect class=\"{class}\" fill=\"{fill}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>")
    });
    border + &rects.collect::<String>()
}
