//! Measures the cost of an idle pool, and the allocations of a task. The command `pools I` starts
//! this program.
//!
//! This program is separate because its allocator counts all allocations, which would slow down the peers of
//! the other comparisons.

use std::alloc::System;
use std::fs;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use executor::{ThreadPoolExecutor, prelude::*};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// The cost of a thread is the difference between the costs of pools of these two sizes, divided by the
/// difference in the number of threads. So the fixed cost of a pool does not count as a cost of its threads.
const FEW: usize = 8;
const MANY: usize = 200;

/// The amount of heap that an idle worker may need in addition to the heap of a bare thread.
const GOAL: f64 = 4096.0;

fn main() {
    let bare = per_thread(bare_threads);
    let idle = per_thread(|threads| Box::new(started(threads)));
    let used = per_thread(|threads| Box::new(after_work(threads)));
    let on_top = idle.heap.max(used.heap) - bare.heap;
    println!("  heap for each bare thread: {:.0} bytes", bare.heap);
    println!("  heap for each idle worker: {:.0} bytes, {:.0} after work", idle.heap, used.heap);
    let verdict = if on_top <= GOAL { "met" } else { "missed" };
    println!("  that is {on_top:.0} bytes on top (goal: at most {GOAL:.0}; {verdict})");
    println!(
        "  resident for each: bare thread {:.1} KiB, idle worker {:.1} KiB, {:.1} KiB after work",
        bare.resident, idle.resident, used.resident
    );
    println!("  allocations for each task: execute {:.4}, submit and join {:.4}", executed(), submitted());
    idle_pool();
}

// ----- memory -----

struct Memory {
    heap: f64,
    /// The memory in KiB; NaN if the system does not report the memory.
    resident: f64,
}

/// Returns the cost of one more thread. `make` returns when its threads are asleep; the result of `make`
/// keeps these threads alive.
fn per_thread(make: impl Fn(usize) -> Box<dyn Send>) -> Memory {
    drop(make(FEW)); // allocations that a process makes once
    let [few, many] = [FEW, MANY].map(|threads| {
        let before = (live_bytes(), resident_kib());
        let kept = make(threads);
        let after = (live_bytes(), resident_kib());
        drop(kept);
        (after.0 - before.0, after.1 - before.1)
    });
    let threads = (MANY - FEW) as f64;
    Memory { heap: (many.0 - few.0) / threads, resident: (many.1 - few.1) / threads }
}

fn live_bytes() -> f64 {
    let now = ALLOCATOR.stats();
    now.bytes_allocated as f64 - now.bytes_deallocated as f64
}

fn resident_kib() -> f64 {
    status_number("/proc/self/status", "VmRSS:").unwrap_or(f64::NAN)
}

/// Returns the number in a line of a `status` file.
fn status_number(file: &str, name: &str) -> Option<f64> {
    let status = fs::read_to_string(file).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Threads that wait until this value is dropped.
struct Bare {
    gate: Arc<(Mutex<bool>, Condvar)>,
    threads: Vec<thread::JoinHandle<()>>,
}

fn bare_threads(threads: usize) -> Box<dyn Send> {
    let gate = Arc::new((Mutex::new(true), Condvar::new()));
    let wait = |_| {
        let gate = Arc::clone(&gate);
        thread::spawn(move || {
            let (closed, opened) = &*gate;
            drop(opened.wait_while(closed.lock().expect("no thread panics"), |closed| *closed));
        })
    };
    let threads = (0..threads).map(wait).collect();
    thread::sleep(ASLEEP);
    Box::new(Bare { gate, threads })
}

impl Drop for Bare {
    fn drop(&mut self) {
        *self.gate.0.lock().expect("no thread panics") = false;
        self.gate.1.notify_all();
        self.threads.drain(..).for_each(|thread| thread.join().expect("it waits and returns"));
    }
}

/// The time after which all started threads should be asleep.
const ASLEEP: Duration = Duration::from_millis(300);

fn started(threads: usize) -> ThreadPoolExecutor {
    let pool = ThreadPoolExecutor::fixed(threads);
    assert_eq!(pool.prestart_all_core_threads(), threads);
    thread::sleep(ASLEEP);
    pool
}

/// Makes an idle pool, in which each worker has run a task with a handle.
fn after_work(threads: usize) -> ThreadPoolExecutor {
    let pool = started(threads);
    let all_at_work = Arc::new(Barrier::new(threads));
    let work = |_| {
        let all_at_work = Arc::clone(&all_at_work);
        pool.submit(move || _ = all_at_work.wait()).expect("the pool accepts tasks")
    };
    let handles: Vec<_> = (0..threads).map(work).collect();
    for handle in handles {
        handle.join().expect("it waits for the others");
    }
    thread::sleep(ASLEEP);
    pool
}

// ----- allocations -----

/// Measures the allocations for each task in a warm pool. The program waits for each batch of tasks, so that
/// the queue does not grow without end.
fn allocations(batch: impl Fn(&ThreadPoolExecutor, u64)) -> f64 {
    const BATCH: u64 = 1000;
    const BATCHES: u64 = 100;
    let pool = ThreadPoolExecutor::fixed(2);
    (0..10).for_each(|_| batch(&pool, BATCH));
    let before = ALLOCATOR.stats().allocations;
    (0..BATCHES).for_each(|_| batch(&pool, BATCH));
    (ALLOCATOR.stats().allocations - before) as f64 / (BATCH * BATCHES) as f64
}

fn executed() -> f64 {
    allocations(|pool, tasks| {
        let before = pool.stats().completed;
        for n in 0..tasks {
            pool.execute(move || _ = std::hint::black_box(n)).expect("the pool accepts tasks");
        }
        while pool.stats().completed < before + tasks {
            thread::yield_now();
        }
    })
}

fn submitted() -> f64 {
    allocations(|pool, tasks| {
        for n in 0..tasks {
            let handle = pool.submit(move || n).expect("the pool accepts tasks");
            assert_eq!(handle.join().expect("it returns its number"), n);
        }
    })
}

// ----- idleness -----

/// Measures the processor time and the context switches of the workers, in a pool that has been idle for a
/// second.
fn idle_pool() {
    const SECONDS: u64 = 4;
    let pool = ThreadPoolExecutor::fixed(FEW);
    for n in 0..100_000_u64 {
        pool.execute(move || _ = std::hint::black_box(n)).expect("the pool accepts tasks");
    }
    thread::sleep(Duration::from_secs(1));
    assert_eq!(pool.stats().completed, 100_000);
    let Some(before) = other_threads() else {
        println!("  an idle pool: this system does not tell what its threads use");
        return;
    };
    thread::sleep(Duration::from_secs(SECONDS));
    let after = other_threads().expect("it was told before");
    let (nanoseconds, switches) = (after.0 - before.0, after.1 - before.1);
    let verdict = if nanoseconds == 0.0 && switches == 0.0 { "met" } else { "missed" };
    println!(
        "  {FEW} idle workers in {SECONDS} s: {nanoseconds:.0} ns of processor time, {switches:.0} switches (goal: none; {verdict})"
    );
}

/// Returns the processor time of all threads except the first, in nanoseconds, and how often these threads
/// fell asleep or were preempted.
fn other_threads() -> Option<(f64, f64)> {
    let own = std::process::id().to_string();
    let mut sum = (0.0, 0.0);
    for thread in fs::read_dir("/proc/self/task").ok()? {
        let folder = thread.ok()?.path();
        if folder.file_name().is_some_and(|name| *name == *own) {
            continue;
        }
        let times = fs::read_to_string(folder.join("schedstat")).ok()?;
        sum.0 += times.split_ascii_whitespace().next()?.parse::<f64>().ok()?;
        let status = folder.join("status");
        for kind in ["voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:"] {
            sum.1 += status_number(status.to_str()?, kind)?;
        }
    }
    Some(sum)
}
