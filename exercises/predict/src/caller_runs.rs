//! A full pool lets the submitter run a task. One task is submitted after the pool has ended.

use executor::{CallerRuns, FifoQueue, Latch, ThreadPoolExecutor, prelude::*};
use std::sync::{Arc, Mutex};

pub fn run() -> String {
    let pool = ThreadPoolExecutor::builder()
        .threads(1)
        .queue(FifoQueue::bounded(1))
        .rejection_handler(CallerRuns)
        .build()
        .unwrap();
    let (gate, lines) = (Arc::new(Latch::new(1)), Arc::new(Mutex::new(Vec::new())));
    let note = |line: &'static str| {
        let lines = Arc::clone(&lines);
        move || lines.lock().unwrap().push(line)
    };

    let (waits, first) = (Arc::clone(&gate), note("first"));
    pool.execute(move || {
        waits.wait().unwrap();
        first();
    })
    .unwrap();
    pool.execute(note("second")).unwrap();
    pool.execute(note("third")).unwrap();
    note("all are submitted")();
    gate.count_down();
    pool.close(); // waits for the worker
    pool.execute(note("fourth")).unwrap();

    lines.lock().unwrap().join(", ")
}
