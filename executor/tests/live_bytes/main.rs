//! Checks that no memory is leaked: after each scenario the process has exactly as many allocated bytes and
//! as many threads as before.
//!
//! A scenario is a function that prepares some objects and returns the body of a round. The prepared objects
//! exist during all rounds. So the bytes show how much memory each round adds to a pool, token or latch that
//! exists during all rounds. After the rounds, the prepared objects are dropped; this shows whether the
//! objects leave memory behind. The first rounds only fill caches and buffers. Each round has its own thread,
//! which frees its thread-locals when it ends. A round ends when all threads that were started in the round
//! have ended, so the numbers are exact.
//!
//! These tests do not use the standard test harness, because the harness itself has threads and allocations.
//! Filters, `--exact` and `--list` work as usual.
#![allow(unsafe_code, reason = "an allocator that counts is an allocator")]

mod support;

mod tasks;

mod tokens;

mod handles;

mod batches;

mod pools;

mod waits;

mod stripes;

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use crate::support::{LONG, Signal, until};

const ROUNDS: usize = 10;

// ----- what is counted -----

struct Counting;

static LIVE_BYTES: AtomicIsize = AtomicIsize::new(0);

fn add(bytes: usize) {
    LIVE_BYTES.fetch_add(bytes.cast_signed(), Ordering::SeqCst);
}

fn subtract(bytes: usize) {
    LIVE_BYTES.fetch_sub(bytes.cast_signed(), Ordering::SeqCst);
}

// SAFETY: each method passes its arguments to `System` unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller keeps the contract of this method; `System` has the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        subtract(layout.size());
        // SAFETY: the caller keeps the contract of this method; `System` has the same contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        subtract(layout.size());
        add(new_size);
        // SAFETY: the caller keeps the contract of this method; `System` has the same contract.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The bytes and threads of the process at one moment.
#[derive(Clone, Copy, PartialEq)]
struct Holdings {
    threads: usize,
    bytes: isize,
}

impl Holdings {
    /// The function counts the threads before it reads the bytes. When the number of threads is the same as
    /// before, no other thread changes the bytes.
    fn now() -> Self {
        let threads = threads();
        Self { threads, bytes: LIVE_BYTES.load(Ordering::SeqCst) }
    }

    /// Waits until the process has as many bytes and threads as this value records.
    fn assert_again(self, when: impl std::fmt::Display) {
        let deadline = Instant::now() + LONG;
        while Self::now() != self {
            let now = Self::now();
            let (bytes, threads) =
                (now.bytes - self.bytes, now.threads.cast_signed() - self.threads.cast_signed());
            assert!(Instant::now() < deadline, "{when} there are {bytes:+} bytes and {threads:+} threads");
            thread::yield_now();
        }
    }
}

/// Returns the number of threads of the process. A thread counts as a thread of the process until it has
/// freed all memory that it frees at its end.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Returns 0. Other systems do not show the threads of a process, so on these systems no number is exact and
/// the tests measure nothing.
#[cfg(not(target_os = "linux"))]
fn threads() -> usize {
    0
}

// ----- how it is run -----

type Round = Box<dyn Fn() + Sync>;

macro_rules! scenarios {
    ($($module:ident::$name:ident),* $(,)?) => {
        const SCENARIOS: &[(&str, fn() -> Round)] =
            &[$((concat!(stringify!($module), "::", stringify!($name)), || Box::new($module::$name()))),*];
    };
}

scenarios! {
    tasks::submitted_and_joined,
    tasks::executed,
    tasks::handles_dropped,
    tasks::handles_that_outlive_the_pool,
    tasks::cancelled_in_the_queue,
    tasks::cancelled_before_they_came,
    tasks::cancelled_while_they_ran,
    tasks::panics_read_and_unread,
    tasks::panics_after_a_cancel,
    tasks::taken_out_and_purged,
    tasks::refused,
    tasks::without_a_pool,
    tasks::with_their_own_canceller,
    tokens::children_of_a_token_that_stays,
    tokens::chains_of_tokens,
    tokens::callbacks_taken_back,
    tokens::callbacks_called,
    tokens::callbacks_beside_a_wait,
    tokens::sleeps_on_a_token_that_stays,
    tokens::tokens_of_tasks,
    tokens::deadlines_taken_back,
    tokens::deadlines_that_come,
    tokens::links_to_tokens_that_stay,
    handles::shared,
    handles::shared_joins_that_give_up,
    handles::joins_that_give_up,
    handles::joins_that_are_interrupted,
    handles::done_callbacks,
    handles::awaited,
    handles::promises,
    batches::completion_service,
    batches::completion_service_dropped_early,
    batches::invoked_all,
    batches::invoked_all_with_a_deadline,
    batches::invoked_any,
    batches::invoked_any_with_a_deadline,
    pools::never_used,
    pools::every_queue,
    pools::dropped_on_its_own_thread,
    pools::handed_back,
    pools::bursts_in_a_pool_that_stays,
    pools::workers_that_time_out,
    pools::workers_in_surplus,
    pools::threads_that_do_not_come,
    pools::hung_on_a_token_that_stays,
    waits::latches_that_stay_closed,
    waits::permits_that_do_not_come,
    waits::submitters_that_give_up,
    stripes::many_at_once_and_many_in_turn,
    stripes::handed_back_and_dropped,
    stripes::cancelled_while_they_wait,
    stripes::reported_to_who_waits_for_any,
}

fn measure(scenario: fn() -> Round) {
    let play = |round: &Round, times| {
        for _ in 0..times {
            with_all_its_threads(|| {
                let result = thread::scope(|scope| scope.spawn(round).join());
                result.unwrap_or_else(|panic| resume_unwind(panic));
            });
        }
    };
    with_all_its_threads(|| play(&scenario(), 2)); // sets up what a process sets up once
    let at_first = Holdings::now();
    let round = scenario();
    play(&round, 3);
    let warm = Holdings::now();
    for rounds in [ROUNDS, 2 * ROUNDS] {
        play(&round, ROUNDS);
        warm.assert_again(format_args!("after {rounds} more rounds"));
    }
    drop(round);
    at_first.assert_again("when all is dropped");
}

/// Runs `f`, and waits until all threads that were started during this call have ended.
fn with_all_its_threads(f: impl FnOnce()) {
    let before = threads();
    f();
    until("the threads are gone", || threads() <= before);
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asked = |option: &str| arguments.iter().any(|argument| argument == option);
    let filters: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_meant = |name: &str| {
        let matches =
            |filter: &&String| if asked("--exact") { *filter == name } else { name.contains(*filter) };
        filters.is_empty() || filters.iter().any(matches)
    };
    let meant: Vec<_> =
        SCENARIOS.iter().filter(|(name, _)| cfg!(target_os = "linux") && is_meant(name)).collect();
    if asked("--list") {
        for (name, _) in meant {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }

    println!("\nrunning {} tests", meant.len());
    let watched = Signal::default();
    let there = watched.clone();
    thread::spawn(move || {
        there.set();
        end_what_hangs();
    });
    watched.wait(); // what a thread needs to begin is counted, too
    let mut failed = 0;
    for (name, scenario) in meant {
        let verdict = catch_unwind(AssertUnwindSafe(|| measure(*scenario)));
        println!("test {name} ... {}", if verdict.is_ok() { "ok" } else { "FAILED" });
        failed += usize::from(verdict.is_err());
        PLAYED.fetch_add(1, Ordering::SeqCst);
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {} passed; {failed} failed\n",
        PLAYED.load(Ordering::SeqCst) - failed
    );
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(101) }
}

static PLAYED: AtomicUsize = AtomicUsize::new(0);

fn end_what_hangs() {
    loop {
        let played = PLAYED.load(Ordering::SeqCst);
        thread::sleep(4 * LONG); // not a wait for an event: this is the time that a scenario has
        if PLAYED.load(Ordering::SeqCst) == played {
            drop(catch_unwind(|| panic!("the scenario hangs")));
            std::process::exit(101);
        }
    }
}
