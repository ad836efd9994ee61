//! Runs properties under a model of memory, which decides what one thread sees of the writes of another
//! thread.
//!
//! Under [`model`](crate::model) only one thread runs at a time, and every thread sees all writes of the
//! threads that ran before. A processor does not promise this. So an answer passes under that model if its
//! only mistake is a memory ordering. For an exercise about orderings, [loom](https://docs.rs/loom) is used
//! instead. Loom tries *every* schedule of a few steps; at every load of an atomic, it also tries each value
//! that the orderings allow the thread to see. The model of memory also watches [`Plain`](sync::Plain)
//! memory: if two threads use this memory, something must make the first use happen before the second use, or
//! the property fails.
//!
//! All schedules are tried in the same order, so there is no seed. A property must be small: two or three
//! threads, each with one or two calls.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use exercises_protocol::Mode;
use loom::model::Builder;
use loom::thread::{ThreadId, current};

use crate::recorder::{self, ThreadKey};
use crate::report::report_and_exit;
use crate::{child, isolate, verdict};

mod race;
pub mod sync;

/// The deadline for an answer that computes for ever without using `crate::sync`.
const DEADLINE: Duration = Duration::from_secs(12);

// All threads of the model are coroutines on one operating-system thread, so this thread-local serves all of
// them.
thread_local! {
    static THREADS: RefCell<HashMap<ThreadId, ThreadKey>> = RefCell::default();
    /// The thread that made the last recorded step.
    static LAST: Cell<Option<ThreadKey>> = const { Cell::new(None) };
    /// True if loom can be asked which thread runs. Outside of a schedule, or while loom itself panics, loom
    /// cannot be asked.
    static CAN_BE_ASKED: Cell<bool> = const { Cell::new(false) };
}

/// Checks a property of the learner's file, and panics if the property fails. The property runs in its own
/// process, and `source` is the text of the file.
pub fn check(source: &str, name: &str, promise: &str, property: fn()) {
    isolate::check(name, promise, Mode::Model, DEADLINE, || {
        run_here(source, promise, usize::MAX, property);
        report_and_exit(&Ok(TRIED.load(Relaxed)))
    });
}

/// The number of schedules that this process has tried.
static TRIED: AtomicUsize = AtomicUsize::new(0);

/// Runs a property in this process on at most the given number of schedules. If the property fails, the
/// process ends with a report.
pub fn run_here(source: &str, promise: &str, times: usize, property: fn()) {
    recorder::begin(source, promise, me);
    child::begin(source, DEADLINE, recognises);
    let mut builder = Builder::new();
    builder.checkpoint_interval = 1; // how often loom looks at the limit
    builder.max_permutations = Some(times.saturating_add(1));
    builder.check(move || {
        THREADS.with_borrow_mut(HashMap::clear);
        race::begin_run();
        recorder::begin_run();
        TRIED.fetch_add(1, Relaxed);
        set_me(recorder::register(None, false));
        CAN_BE_ASKED.set(true);
        property();
        crate::step("is done");
        CAN_BE_ASKED.set(false);
    });
}

fn set_me(key: ThreadKey) {
    THREADS.with_borrow_mut(|threads| threads.insert(current().id(), key));
}

fn me() -> ThreadKey {
    if CAN_BE_ASKED.get() {
        LAST.set(THREADS.with_borrow(|threads| threads.get(&current().id()).copied()));
    }
    LAST.get().expect("threads come from crate::sync")
}

/// Ends the property if loom uses this text to report a failed run.
fn recognises(panic: &str) {
    if panic.starts_with("deadlock; threads = ") {
        verdict::fail_deadlocked();
    }
    if panic.starts_with("Model exceeded maximum number of branches") {
        verdict::fail_endless();
    }
    if panic.starts_with("Causality violation") {
        // The last recorded event is a use of the plain memory by a thread that must not use this memory now.
        CAN_BE_ASKED.set(false);
        let (seen, cause) = race::told();
        verdict::fail(&seen, &cause)
    }
}
