//! The walk through the tree, by recursion and by tasks.

use executor::{Executor, Latch, prelude::*};
use std::sync::{Arc, mpsc};

// ANCHOR: tree
/// The folder `n` contains the folders `2n` and `2n + 1`, until there are seven folders.
fn folders_in(folder: u32) -> impl Iterator<Item = u32> {
    [2 * folder, 2 * folder + 1].into_iter().filter(|folder| *folder <= 7)
}

pub fn walk(folder: u32, results: &mut Vec<u32>) {
    results.push(folder);
    folders_in(folder).for_each(|folder| walk(folder, results));
}
// ANCHOR_END: tree

// ANCHOR: parallel
struct Walk {
    executor: Arc<dyn Executor>,
    results: mpsc::Sender<u32>,
    all_done: Arc<Latch>,
}

/// Each task of the walk owns a reference to the walk, so the walk is dropped when the last task is dropped.
impl Drop for Walk {
    fn drop(&mut self) {
        self.all_done.count_down();
    }
}

fn visit(walk: Arc<Walk>, folder: u32) {
    let executor = Arc::clone(&walk.executor);
    let task = move || {
        let _ = walk.results.send(folder); // fails if the caller has gone
        folders_in(folder).for_each(|folder| visit(Arc::clone(&walk), folder));
    };
    executor.execute(task).expect("the executor accepts tasks");
}
// ANCHOR_END: parallel

pub fn start(executor: Arc<dyn Executor>) -> (Arc<Latch>, mpsc::Receiver<u32>) {
    let (all_done, (results, come)) = (Arc::new(Latch::new(1)), mpsc::channel());
    visit(Arc::new(Walk { executor, results, all_done: Arc::clone(&all_done) }), 1);
    (all_done, come)
}
