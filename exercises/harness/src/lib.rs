//! Code that the tests of all exercises share.
//!
//! Every exercise has a list of *properties* in its `exercise.toml`. A property has a name, and a promise
//! that a correct answer keeps. In the exercise's `tests/suite`, a function with the property's name uses the
//! learner's code. If the promise is broken, this function says what it has observed. Each property is
//! checked twice:
//!
//! * [`model`] runs the property on thousands of thread schedules that a seed decides. Only one thread runs
//!   at a time, and at every lock, wait and notification the scheduler chooses the thread that goes on. So an
//!   unlucky order of events is found every time, and threads that wait for each other are noticed at once.
//! * [`real`] runs the property a few dozen times on real threads, with a deadline.
//!
//! An exercise about memory orderings uses `memory` in place of [`model`] (feature `memory`, and `model =
//! "memory"` in its `exercise.toml`). The model of memory tries every schedule; at every load of an atomic,
//! it also tries each value that the orderings allow.
//!
//! The learner's file is the same in all modes. The file takes its locks and threads from `crate::sync`; the
//! test decides whether this name means [`model::sync`] or [`real::sync`]. The modules `model::sync` and
//! `real::sync` are [thin wrappers](real::sync) that record what each thread does. The `crate::sync` of an
//! exercise's library (`exercises-sync`) is compiled from the same files.
//!
//! ```text
//!   cargo test ──#[test]──▶ check ──starts──▶ the same test in a child process ──▶ property()
//!                             ▲                                                        │
//!                             └──── one report: passed, or what was seen and why ──────┘
//! ```
//!
//! # Why a child process
//!
//! When a property fails, its threads may wait for each other, its stack is half-unwound, and its locks may
//! be held by threads that will never release them. A destructor that runs in this state hangs or aborts. The
//! learner would then see the hang or the abort, and not the failure. So the child reports at the moment of
//! the failure and ends, without unwinding anything; see [`isolate`]. A property that holds leaves nothing
//! behind. So the proof, which runs tens of thousands of properties, runs many properties one after another
//! in a [`Worker`] process.
//!
//! # Who writes what
//!
//! A property marks its actions with [`step`]; it wraps calls that could block for ever into [`expect`], and
//! calls that must not wait at all into [`at_once`]. Steps that the property does not test are wrapped into
//! [`aside`]. The property either calls [`fail`], or returns if its promise is kept. Other tools of a
//! property (a latch, "wait until all threads sleep") are in the module `probe`. The executors for an answer
//! that runs its jobs on another executor are in the module `below`. The modules `probe` and `below` exist
//! for the model and for real threads. No property sleeps or looks at a clock. If the answer is itself a
//! test, the property runs this test on correct programs and on wrong programs (`probe::Judged`).
#![allow(
    clippy::duplicate_mod,
    reason = "sync, probe.rs and below.rs are compiled for the model and for real threads"
)]

// The modules are listed in the order of their dependencies: a module refers only to modules above it in the
// list. `executor/tests/tidy.rs` checks this order.
mod watch;
mod report;
mod record;
mod diagnosis;
mod verdict;
mod recorder;
mod child;
mod last_words;
pub mod isolate;
mod worker;
pub mod real;
pub mod model;
#[cfg(feature = "memory")]
pub mod memory;

pub use exercises_protocol::counted;
pub use recorder::{
    accepts, aside, at_once, begin_trial, expect, live_threads, locks_found_taken, notifications, rejects,
    step, waits_so_far,
};
pub use report::report_and_exit;
pub use verdict::fail;
pub use worker::{Worker, next_job};

/// An answer and its exercise's suite, compiled together, for the proof.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The name of the exercise.
    pub exercise: &'static str,
    /// The name of the answer.
    pub name: &'static str,
    /// The text of the answer.
    pub source: &'static str,
    /// The properties that the suite checks; each has a name, a promise and a function.
    pub properties: &'static [(&'static str, &'static str, fn())],
}

/// True if the calling property has not run in this process yet. A mistake that depends on a number shows on
/// every schedule, so one schedule is enough.
#[macro_export]
macro_rules! first_run {
    () => {{
        use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        static HAS_RUN: AtomicBool = AtomicBool::new(false); // one for each answer's copy of the suite
        !HAS_RUN.swap(true, Relaxed)
    }};
}

/// Panics intentionally. A property calls this function in a job that must panic.
///
/// This panic does not call the panic hook. The panic hook treats every other panic as a failure of the
/// property, because neither the suite nor a right answer ever panics.
pub fn panic_on_purpose() -> ! {
    step(record::PANICS);
    std::panic::resume_unwind(Box::new("a panic on purpose"))
}
