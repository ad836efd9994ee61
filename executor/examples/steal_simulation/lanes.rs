//! Shows a small run, event by event, with the queues after each event.

use super::costs::{Costs, Offers};
use super::log::{Run, What};
use super::pool::simulate;
use super::tree::Tree;
use super::trees;
use std::fmt::Write;

/// These costs are larger in proportion to the pieces than real costs are, so that the picture can show them.
const LARGE: Costs = Costs {
    call: 0,
    offer: 1_000,
    steal: 1_000,
    look: 1_000,
    patience: 2_000,
    wake: 1_000,
    wake_up: 6_000,
    offers: Offers::All,
};

pub fn small_run(workers: usize) -> (Tree, Run) {
    let tree = trees::uneven();
    let run = simulate(&tree, workers, LARGE, 3, true);
    (tree, run)
}

/// Returns the name of a node: the halves of the whole are A and B, the halves of A are A1 and A2, and so on.
pub fn name(tree: &Tree, wanted: usize) -> String {
    let (mut name, mut node) = (String::new(), 0);
    while node != wanted {
        let second = tree.0[node].second.expect("it has the piece that is wanted");
        let is_second = wanted >= second;
        let digits = if node == 0 { ['A', 'B'] } else { ['1', '2'] };
        name.push(digits[usize::from(is_second)]);
        node = if is_second { second } else { node + 1 };
    }
    if name.is_empty() { "all".into() } else { name }
}

pub fn print(workers: usize) {
    let (tree, run) = small_run(workers);
    let mut queues = vec![Vec::new(); workers];
    let titles: Vec<_> = (1..=workers).map(|number| format!("queue {number}")).collect();
    println!("  µs  worker does                           {}", titles.join("    "));
    for event in run.log {
        let half = |node: usize| name(&tree, node);
        let does = match event.what {
            What::Works(_, 0) => continue,
            What::Works(node, _) if tree.0[node].second.is_some() => format!("puts {} together", half(node)),
            What::Works(node, time) => format!("runs {}, {} µs", half(node), time / 1_000),
            What::Offers(node) => {
                queues[event.worker].push(node);
                format!("offers {}", half(node))
            }
            What::TakesBack(node) => format!("takes {} back", half(node)),
            What::Steals(node, from) => format!("steals {} from {}", half(node), from + 1),
            What::Helps(node, from, awaited) => {
                format!("takes {} from {}, a piece of {}", half(node), from + 1, half(awaited))
            }
            What::Waits(node) => format!("waits for {}", half(node)),
            What::GoesOn(node) => format!("goes on: {} has ended", half(node)),
            What::Ends(node) => format!("has ended {}", half(node)),
            What::Sleeps => "finds nothing, sleeps".into(),
            What::IsWoken => "is woken".into(),
        };
        if let What::TakesBack(node) | What::Steals(node, _) | What::Helps(node, ..) = event.what {
            for queue in &mut queues {
                queue.retain(|&other| other != node);
            }
        }
        let mut line = format!("{:4}  {:<6} {does:<30}", event.at / 1_000, event.worker + 1);
        for queue in &queues {
            let pieces: Vec<_> = queue.iter().map(|&node| half(node)).collect();
            write!(line, " {:<10}", pieces.join(" ")).expect("a string has room");
        }
        println!("{}", line.trim_end());
    }
}
