//! Shows the states of four tasks on one thread, with one line of output for each event.
//!
//! ```sh
//! cargo run --example life_of_a_task
//! ```
//!
//! The book explains this example in the chapter "The life of a task".

use executor::{Canceller, FutureTask, Outcome, ThreadPoolExecutor, prelude::*};
use std::sync::mpsc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: submit
    let pool = ThreadPoolExecutor::single();
    let (started, has_started) = mpsc::channel();
    let (release, held) = mpsc::channel::<()>();
    let first = pool.submit(FutureTask::new(move || {
        started.send(()).unwrap();
        held.recv() // this body never looks at its token
    }))?;
    let second = pool.submit(FutureTask::new(|| 2).named("second"))?;
    let third = pool.submit(|| 3)?;
    let fourth = pool.submit(|| -> i32 { panic!("no such file") })?;
    // ANCHOR_END: submit
    let tasks = [first.canceller(), second.canceller(), third.canceller(), fourth.canceller()];
    let show = |event: &str| println!("{event:<26}{}", states(&tasks));
    println!("{:<26}{:<11}{:<11}{:<11}fourth", "", "first", "second", "third");
    has_started.recv()?;
    show("all four submitted");

    // ANCHOR: events
    let task = second.remove().expect("it waits in the queue");
    show("second taken out");
    assert!(matches!(task.run(), Outcome::Completed));
    show("second run by main");
    third.cancel();
    show("third cancelled");
    first.cancel();
    show("first cancelled");
    drop(release); // now the first body returns
    pool.close();
    show("pool closed");
    // ANCHOR_END: events

    // ANCHOR: printed
    println!();
    println!("{second:?}\n{fourth:?}");
    println!("second: {:?}, fourth: {:?}", second.join(), fourth.join());
    // ANCHOR_END: printed
    Ok(())
}

fn states(tasks: &[Canceller]) -> String {
    let states: Vec<_> = tasks.iter().map(|task| format!("{:<11}", task.state())).collect();
    states.concat().trim_end().to_owned()
}
