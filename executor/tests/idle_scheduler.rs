//! An idle scheduled pool uses no processor time, and a scheduled pool with few tasks uses little processor
//! time. This test runs in a separate process, so that no other thread is busy.
#![cfg(target_os = "linux")]

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use executor::ScheduledThreadPoolExecutor;

const WINDOW: Duration = Duration::from_millis(300);
const AN_HOUR: Duration = Duration::from_secs(3600);

/// SCHED-15
#[test]
fn a_scheduler_wakes_up_for_what_is_due_and_for_nothing_else() {
    let pool = ScheduledThreadPoolExecutor::builder().threads(100).name("idle").build().unwrap();
    let far = pool.schedule(AN_HOUR, || ()).unwrap();
    let called_off: Vec<_> = (0..200).map(|_| pool.schedule(WINDOW / 3, || ()).unwrap()).collect();
    for handle in called_off {
        handle.cancel(); // on a busy machine the first task has perhaps run already, which does no harm
    }
    thread::sleep(WINDOW / 2); // by then all are due; perhaps the sleeper looks once for the cancelled tasks
    eventually_all_sleep();
    let (before, ticks) = (threads(), processor_ticks());
    thread::sleep(WINDOW); // waits for nothing: this is the time in which nothing must happen
    assert_eq!(threads(), before, "no thread has left its sleep, not even for a short look");
    assert!(processor_ticks() - ticks <= 3);
    assert!(far.cancel());

    let ticks = processor_ticks();
    let start = Instant::now();
    let period = Duration::from_millis(10);
    let series = pool.schedule_at_fixed_rate(Duration::ZERO, period, |series| {
        if series.runs() == 99 {
            series.cancel();
        }
    });
    series.unwrap().join().unwrap();
    assert!(start.elapsed() >= 99 * period);
    // A tick is a hundredth of a second. A thread that wakes up needlessly for each run would use more ticks.
    let used = processor_ticks() - ticks;
    assert!(used <= 20, "{used} ticks for a hundred runs in a second");
}

/// Returns for each thread of the pool its name, whether the thread sleeps, and how many times the thread has
/// fallen asleep.
fn threads() -> Vec<(String, bool, u64)> {
    let mut threads = Vec::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let status = fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
        if field("Name:").starts_with("idle-") {
            let switches = field("voluntary_ctxt_switches:").parse().unwrap();
            threads.push((field("Name:").to_owned(), field("State:").starts_with('S'), switches));
        }
    }
    threads.sort_unstable();
    threads
}

fn eventually_all_sleep() {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let before = threads();
        thread::yield_now();
        if before.len() == 101 && before == threads() && before.iter().all(|&(_, sleeps, _)| sleeps) {
            return;
        }
        assert!(Instant::now() < deadline, "the threads never go to sleep: {before:?}");
    }
}

/// Returns the user and system time of this process, in clock ticks.
fn processor_ticks() -> u64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}
