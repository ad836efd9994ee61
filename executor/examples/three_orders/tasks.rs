//! Six tasks, of which two are slow.

use executor::{Latch, RejectedExecution, Task};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
struct Board {
    now: usize,
    at_once: usize,
    ended: Vec<(&'static str, u32)>,
}

type Accepted = Result<(), RejectedExecution>;

// ANCHOR: show
pub fn show(executor: &str, execute: impl Fn(&'static str, Task) -> Accepted) -> Accepted {
    let (board, all) = (Arc::new(Mutex::new(Board::default())), Arc::new(Latch::new(6)));
    let others = ["Ada", "Grace"].map(|name| (name, Arc::new(Latch::new(2))));
    for n in 1..=3 {
        for (name, others) in &others {
            execute(name, task((name, n), others, &board, &all))?;
        }
    }
    // ANCHOR_END: show
    all.wait().expect("main is not cancelled");
    let board = board.lock().unwrap();
    println!("{executor}: {} at once at most", board.at_once);
    for (name, _) in others {
        let own = board.ended.iter().filter(|task| task.0 == name);
        println!("  {name}: {}", own.map(|task| task.1.to_string()).collect::<Vec<_>>().join(", "));
    }
    Ok(())
}

// ANCHOR: task
/// The first task of each name is slow: it ends after a second, or as soon as the other two tasks with the
/// same name have ended.
fn task(me: (&'static str, u32), others: &Arc<Latch>, board: &Arc<Mutex<Board>>, all: &Arc<Latch>) -> Task {
    let (others, board, all) = (Arc::clone(others), Arc::clone(board), Arc::clone(all));
    Task::new(move || {
        let begin = |board: &mut Board| {
            board.now += 1;
            board.at_once = board.at_once.max(board.now);
        };
        begin(&mut board.lock().unwrap());
        if me.1 == 1 {
            let _overtaken = others.wait_timeout(Duration::from_secs(1));
        }
        let mut board = board.lock().unwrap();
        board.ended.push(me);
        board.now -= 1;
        others.count_down();
        all.count_down();
    })
}
// ANCHOR_END: task
