//! Things that this process handles with the library: tasks, keys, timers, waiting threads, and lines of a log.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use executor::{ScheduledThreadPoolExecutor, StripedExecutor, ThreadPoolExecutor, prelude::*};
use kit::figures::mix;
use logservice::sink::FileSink;
use logservice::{Level, LogService};

const WORKERS: usize = 2;

/// Counts the tasks that have run, so that a lost task is noticed.
type Ran = Arc<AtomicUsize>;

fn task(ran: &Ran) -> impl FnOnce() + Send + 'static {
    let ran = Arc::clone(ran);
    move || _ = ran.fetch_add(1, Ordering::Relaxed)
}

fn all_ran(ran: &Ran, expected: usize) -> anyhow::Result<()> {
    let ran = ran.load(Ordering::Relaxed);
    ensure!(ran == expected, "{ran} of {expected} tasks ran");
    Ok(())
}

/// Queues all tasks while the workers are held up, and then lets the workers run them.
pub(crate) fn tasks(count: usize) -> anyhow::Result<Duration> {
    let (pool, ran, gate) = (ThreadPoolExecutor::fixed(WORKERS), Ran::default(), gate());
    for _ in 0..WORKERS {
        let gate = Arc::clone(&gate);
        pool.execute(move || _ = gate.wait())?;
    }
    let begun = Instant::now();
    for _ in 0..count {
        pool.execute(task(&ran))?;
    }
    gate.wait();
    pool.close();
    let took = begun.elapsed();
    all_ran(&ran, count)?;
    Ok(took)
}

/// Submits a task for each key while the workers are held up, so that the executor has all keys at the same time.
pub(crate) fn keys(count: usize) -> anyhow::Result<Duration> {
    let striped = StripedExecutor::owning(ThreadPoolExecutor::fixed(WORKERS));
    let (ran, gate) = (Ran::default(), gate());
    for worker in 0..WORKERS {
        let gate = Arc::clone(&gate);
        striped.execute_in(usize::MAX - worker, move || _ = gate.wait())?;
    }
    let begun = Instant::now();
    for key in 0..count {
        striped.execute_in(key, task(&ran))?;
    }
    gate.wait();
    striped.close();
    let took = begun.elapsed();
    all_ran(&ran, count)?;
    Ok(took)
}

/// Returns a gate for the workers and for the thread that opens it.
fn gate() -> Arc<Barrier> {
    Arc::new(Barrier::new(WORKERS + 1))
}

/// Inserts timers that are due in 10 to 20 minutes, and cancels them in the order of their insertion, which is
/// unrelated to their times.
pub(crate) fn timers(count: usize) -> anyhow::Result<Duration> {
    let timers = ScheduledThreadPoolExecutor::new(WORKERS);
    let begun = Instant::now();
    let due = |timer| Duration::from_nanos(600_000_000_000 + mix(timer) % 600_000_000_000);
    let handles: Result<Vec<_>, _> =
        (0..count as u64).map(|timer| timers.schedule(due(timer), || ())).collect();
    let cancelled = handles?.iter().filter(|handle| handle.cancel()).count();
    let took = begun.elapsed();
    ensure!(cancelled == count, "{cancelled} of {count} timers were cancelled");
    Ok(took)
}

/// Lets threads wait for the same task. Measures the time from the end of the task until the last thread has
/// continued.
pub(crate) fn waiting_threads(count: usize) -> anyhow::Result<Duration> {
    const STACK: usize = 64 << 10;
    let pool = ThreadPoolExecutor::fixed(1);
    let (release, released) = mpsc::channel::<()>();
    let result = pool.submit(move || _ = released.recv())?.shared();
    let (arrived, (last, is_last)) = (Arc::new(AtomicUsize::new(0)), mpsc::channel());
    let back = Arc::new(AtomicUsize::new(0));
    let waiter = || {
        let (result, arrived, back, last) =
            (result.clone(), Arc::clone(&arrived), Arc::clone(&back), last.clone());
        thread::Builder::new().stack_size(STACK).spawn(move || {
            arrived.fetch_add(1, Ordering::Relaxed);
            result.join().expect("the task neither panics nor is cancelled");
            if back.fetch_add(1, Ordering::Relaxed) + 1 == count {
                let _ = last.send(Instant::now());
            }
        })
    };
    let threads = (0..count).map(|_| waiter()).collect::<Result<Vec<_>, _>>()?;
    while arrived.load(Ordering::Relaxed) < count {
        thread::sleep(Duration::from_millis(1));
    }
    thread::sleep(Duration::from_millis(20)); // from their arrival until they wait
    let begun = Instant::now();
    drop(release);
    let ended = is_last.recv().context("a thread still waits")?;
    for thread in threads {
        thread.join().expect("no thread panics");
    }
    Ok(ended - begun)
}

/// Logs lines to a file, and stops the service, which writes them.
pub(crate) fn log_lines(count: usize) -> anyhow::Result<Duration> {
    let folder = tempfile::tempdir()?;
    let service = LogService::builder().start(FileSink::builder(folder.path().join("log")).open()?)?;
    let log = service.handle();
    let begun = Instant::now();
    for line in 0..count {
        log.say(Level::Info, "growth", format_args!("line {line} of a log"))?;
    }
    let counts = service.stop(Duration::from_mins(1));
    let took = begun.elapsed();
    ensure!((counts.waiting(), counts.dropped, counts.refused) == (0, 0, 0), "{counts:?}");
    Ok(took)
}
