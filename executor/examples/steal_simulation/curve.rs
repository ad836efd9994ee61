//! Shows the time for each size of the pieces, on more workers than a desktop computer has cores.

use super::costs::{Costs, Offers, ROUND};
use super::plot;
use super::pool::simulate;
use super::tree::{Piece, Tree};

const ELEMENTS: u64 = 1 << 18;
const ELEMENT: u64 = 20;

/// Returns the time for each threshold, relative to the sequential time: as a table, and as curves in SVG.
pub fn curve() -> String {
    let ways = [Offers::All, Offers::Adaptive].map(|offers| [2, 8, 64].map(|workers| (offers, workers)));
    println!("{ELEMENTS} elements of {ELEMENT} ns; {ROUND}");
    println!("threshold   pieces   every join offers:               adaptive offers:");
    println!("                     2 workers       8      64     2 workers       8      64");
    let thresholds: Vec<_> = (0..=18).map(|power| 1 << power).collect();
    let mut curves = vec![Vec::new(); 6];
    for &threshold in &thresholds {
        let tree = sum(threshold);
        let times: Vec<_> = ways.concat().into_iter().map(|way| relative(&tree, way)).collect();
        curves.iter_mut().zip(&times).for_each(|(curve, &time)| curve.push(time));
        let [one, two] = [&times[..3], &times[3..]].map(|t| format!("{:9.3}{:8.3}{:8.3}", t[0], t[1], t[2]));
        println!("{threshold:9}{:9}     {one}     {two}", ELEMENTS / threshold);
    }
    let names =
        ["2, every join offers", "8", "64, every join offers", "2 workers", "8 workers", "64 workers"];
    let lines: Vec<_> = [2, 3, 4, 5].iter().map(|&line| (names[line], curves[line].clone())).collect();
    plot::of("simulated: the time by threshold, as a part of the sequential time", &thresholds, &lines)
}

fn relative(tree: &Tree, (offers, workers): (Offers, usize)) -> f64 {
    let run = simulate(tree, workers, Costs { offers, ..ROUND }, 1, false);
    run.time as f64 / tree.work() as f64
}

fn sum(threshold: u64) -> Tree {
    Tree::grow(ELEMENTS, &|elements| {
        if elements <= threshold {
            return Piece::Leaf(ELEMENT * elements);
        }
        Piece::Join { before: 0, halves: [elements / 2; 2], after: 0 }
    })
}
