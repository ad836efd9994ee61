//! Each lane has a thread, and the number of a stripe determines its lane. The example counts time in turns.
//! In one turn, each of the two threads runs one task.

use executor::{ManualExecutor, StripedExecutor, prelude::*};
use std::error::Error;
use std::mem::take;
use std::sync::{Arc, Mutex};

// ANCHOR: lanes
/// The stripe of each task. Stripe 0 has many tasks, and stripes 0 and 2 are in one lane.
const TASKS: [usize; 7] = [0, 0, 0, 0, 2, 1, 1];

pub fn show() -> Result<(), Box<dyn Error>> {
    let ran = Ran::default();
    let lanes = [ManualExecutor::new(), ManualExecutor::new()];
    for stripe in TASKS {
        lanes[stripe % 2].execute(ran.task(stripe))?;
    }
    ran.print("lanes", || lanes.iter().filter_map(ManualExecutor::run_next).count());

    let pool = Arc::new(ManualExecutor::new());
    let striped = StripedExecutor::over(Arc::clone(&pool)).turns_of(1);
    for stripe in TASKS {
        striped.execute_in(stripe, ran.task(stripe))?;
    }
    ran.print("striped", || {
        let two = pool.pending().into_iter().take(2); // tasks of two stripes
        two.filter_map(|task| pool.run(task.id)).count()
    });
    Ok(())
}
// ANCHOR_END: lanes

/// The stripes of the tasks that ran in this turn.
#[derive(Default)]
struct Ran(Arc<Mutex<Vec<usize>>>);

impl Ran {
    fn task(&self, stripe: usize) -> impl FnOnce() + Send + use<> {
        let ran = Arc::clone(&self.0);
        move || ran.lock().unwrap().push(stripe)
    }

    /// Plays one turn after the other until no task runs.
    fn print(&self, who: &str, turn: impl Fn() -> usize) {
        let ran = || (turn() > 0).then(|| format!("{:?}", take(&mut *self.0.lock().unwrap())));
        let turns: Vec<_> = std::iter::from_fn(ran).collect();
        println!("{who}: {} turns: {}", turns.len(), turns.join(" "));
    }
}
