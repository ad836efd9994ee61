//! An idle pool uses no processor time. This test runs in a separate process, so that no other thread is
//! busy.
#![cfg(target_os = "linux")]

use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use executor::{ThreadPoolExecutor, prelude::*};

const THREADS: usize = 4;

#[test]
fn an_idle_pool_uses_no_processor_and_does_not_wake_up() {
    const WINDOW: Duration = Duration::from_millis(300);
    let pool = ThreadPoolExecutor::fixed(THREADS);
    for _ in 0..1_000 {
        pool.submit(|| ()).unwrap().join().unwrap();
    }
    come_upon_cancelled_tasks(&pool);
    wait_until_the_workers_sleep();

    let (wake_ups, ticks) = (workers(), processor_ticks());
    thread::sleep(WINDOW); // waits for nothing: this is the time in which nothing must happen
    assert_eq!(workers(), wake_ups, "no worker has left its sleep, not even for a short look");
    // A tick is a hundredth of a second. A single spinning worker would use thirty ticks.
    let used = processor_ticks() - ticks;
    assert!(used <= 3, "{used} ticks in {WINDOW:?}");
    drop(pool);
}

/// Makes the workers find only tasks that were cancelled in the queue.
fn come_upon_cancelled_tasks(pool: &ThreadPoolExecutor) {
    let gate = Arc::new(Barrier::new(THREADS + 1));
    for _ in 0..THREADS {
        let gate = Arc::clone(&gate);
        pool.execute(move || _ = gate.wait()).unwrap();
    }
    for _ in 0..2 * THREADS {
        assert!(pool.submit(|| ()).unwrap().cancel());
    }
    gate.wait();
}

/// Returns for each worker whether it sleeps, and how many times it has fallen asleep.
fn workers() -> Vec<(bool, u64)> {
    let mut workers = Vec::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
        if field("Name:").starts_with("pool-") {
            workers
                .push((field("State:").starts_with('S'), field("voluntary_ctxt_switches:").parse().unwrap()));
        }
    }
    workers.sort_unstable();
    workers
}

fn wait_until_the_workers_sleep() {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let before = workers();
        thread::yield_now();
        if before.len() == THREADS && before == workers() && before.iter().all(|&(sleeps, _)| sleeps) {
            return;
        }
        assert!(Instant::now() < deadline, "the workers never go to sleep: {before:?}");
    }
}

/// Returns the user and system time of this process, in clock ticks.
fn processor_ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
