//! What the tests of the exercises have in common.
//!
//! Every exercise has a list of *properties* in its `exercise.toml`: a name, and what a right answer
//! promises. The function of that name in its `tests/suite` uses the learner's code and says what it saw if
//! the promise is not kept. Each property is checked twice:
//!
//! * [`model`] runs it on thousands of thread schedules that a seed decides. Only one thread runs at a time,
//!   and at every lock, wait and notification the scheduler picks who goes on. So an unlucky order of events
//!   is not a matter of luck, the same one is found every time, and threads that wait for each other are
//!   noticed at once.
//! * [`real`] runs it a few dozen times on real threads, with a deadline.
//!
//! An exercise about memory orderings has `memory` in place of [`model`] (feature `memory`, and `model =
//! "memory"` in its `exercise.toml`): every schedule, and at every load of an atomic each value that the
//! orderings allow.
//!
//! The learner's file is the same in both. It takes its locks and threads from `crate::sync`, and the test
//! decides what that is: [`model::sync`] or [`real::sync`]. Both are [thin wrappers](real::sync) that write
//! down who did what, and the same files as those that an exercise's library is compiled with
//! (`exercises-sync`).
//!
//! ```text
//!   cargo test ──#[test]──▶ check ──starts──▶ the same test in a child process ──▶ property()
//!                             ▲                                                        │
//!                             └──── one report: passed, or what was seen and why ──────┘
//! ```
//!
//! # Why a child process
//!
//! A property that fails leaves threads behind that wait for each other, a half-unwound stack, locks that no
//! thread will let go of. A destructor run in that state hangs or aborts, and the learner would see that
//! instead of the failure. So the child reports at the very moment of the failure and ends, without unwinding
//! anything; see [`isolate`]. A property that holds leaves nothing behind; so the proof, which runs tens of
//! thousands, has a [`Worker`] that goes on with the next.
//!
//! # Who writes what
//!
//! A property marks what it does with [`step`], wraps calls that could block for ever into [`expect`], calls
//! that must not wait at all into [`at_once`], and steps that it is not about into [`aside`], and ends in
//! [`fail`] or by returning. What it needs besides (a latch, "wait until all threads sleep") is in the module
//! `probe`, and the executors below an answer that needs one in `below`; both exist for the model and for
//! real threads. No property sleeps or looks at a clock. If the answer is itself a test, the property runs it
//! on programs that are right or wrong: `probe::Judged`.
#![allow(
    clippy::duplicate_mod,
    reason = "sync, probe.rs and below.rs are compiled for the model and for real threads"
)]

// The order is bottom-up: a module refers only to modules above it. `executor/tests/tidy.rs` checks it.
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

/// An answer and its exercise's suite, compiled together, as the proof has them.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The exercise's name.
    pub exercise: &'static str,
    /// The answer's name.
    pub name: &'static str,
    /// The answer's text.
    pub source: &'static str,
    /// What the suite checks of it: name, promise and function.
    pub properties: &'static [(&'static str, &'static str, fn())],
}

/// Whether the calling property has not run in this process yet. A mistake that depends on a number shows in
/// every schedule, so one schedule is enough.
#[macro_export]
macro_rules! first_run {
    () => {{
        use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
        static HAS_RUN: AtomicBool = AtomicBool::new(false); // one for each answer's copy of the suite
        !HAS_RUN.swap(true, Relaxed)
    }};
}

/// Panics on purpose, for a job whose panic a property needs.
///
/// The panic hook is not called. It treats every other panic as a failure of the property, since neither the
/// suite nor a right answer ever panics.
pub fn panic_on_purpose() -> ! {
    step(record::PANICS);
    std::panic::resume_unwind(Box::new("a panic on purpose"))
}
