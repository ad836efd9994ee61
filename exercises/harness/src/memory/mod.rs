//! Properties under a model of memory: what one thread sees of what another has written.
//!
//! [`model`](crate::model) runs one thread at a time, and every thread sees what the last one did. A
//! processor does not promise that, and an answer whose only mistake is a memory ordering passes there. An
//! exercise about orderings has [loom](https://docs.rs/loom) instead: it tries *every* schedule of a few
//! steps, and at every load of an atomic each value that the orderings allow the thread to see. And it
//! watches over [`Plain`](sync::Plain) memory: if two threads touch it and nothing makes the first happen
//! before the second, that is a failure, whatever they saw.
//!
//! All schedules are tried in the same order, so there is no seed. A property has to be small: two or three
//! threads, each with a call or two.

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

/// The deadline for an answer that computes without end and without touching `crate::sync`.
const DEADLINE: Duration = Duration::from_secs(12);

// All threads of the model are coroutines on one thread of the system, so these serve all of them.
thread_local! {
    static THREADS: RefCell<HashMap<ThreadId, ThreadKey>> = RefCell::default();
    /// The thread that did the last recorded thing.
    static LAST: Cell<Option<ThreadKey>> = const { Cell::new(None) };
    /// Whether loom can be asked which thread runs: not outside a schedule, and not while loom itself panics.
    static CAN_BE_ASKED: Cell<bool> = const { Cell::new(false) };
}

/// Checks a property of the learner's file, whose text is `source`, in a process of its own; panics if it
/// fails.
pub fn check(source: &str, name: &str, promise: &str, property: fn()) {
    isolate::check(name, promise, Mode::Model, DEADLINE, || {
        run_here(source, promise, usize::MAX, property);
        report_and_exit(&Ok(TRIED.load(Relaxed)))
    });
}

/// How many schedules this process has tried.
static TRIED: AtomicUsize = AtomicUsize::new(0);

/// Checks a property in this process, on so many schedules at most, which ends with a report if it fails.
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

/// Ends the property if this is what loom says of a run.
fn recognises(panic: &str) {
    if panic.starts_with("deadlock; threads = ") {
        verdict::fail_deadlocked();
    }
    if panic.starts_with("Model exceeded maximum number of branches") {
        verdict::fail_endless();
    }
    if panic.starts_with("Causality violation") {
        // The thread that was recorded last must not go into plain memory.
        CAN_BE_ASKED.set(false);
        let (seen, cause) = race::told();
        verdict::fail(&seen, &cause)
    }
}
