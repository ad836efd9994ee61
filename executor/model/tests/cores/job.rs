//! One thread lends work from its stack to another thread. Each closure is run once or dropped once, and
//! until then the stack frame of the lender stays valid.
//!
//! This program compiles the library's file itself, because the public interface can be used only with a
//! whole pool.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::{Wake, Waker};

use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread::{self, JoinHandle};

use crate::sync::Mutex;
use crate::{model, model_bounded};

#[allow(dead_code, reason = "a pool uses all of it")]
#[path = "../../../src/task/borrowed.rs"]
mod library;
use library::{JobRef, ScopedJobs, lend};

/// The queue in which a half of a join waits for a thief.
#[derive(Clone)]
struct Queue(loom::sync::Arc<Mutex<Option<JobRef>>>);

impl Queue {
    fn new() -> Self {
        Self(loom::sync::Arc::new(Mutex::default()))
    }

    fn push(&self, half: JobRef) {
        *self.0.lock() = Some(half);
    }

    fn take(&self) -> Option<JobRef> {
        self.0.lock().take()
    }

    /// Starts a thread that tries once to take a half; if the thread gets a half, the thread calls `with`.
    fn thief(&self, with: impl Fn(JobRef) + 'static) -> JoinHandle<()> {
        let queue = self.clone();
        thread::spawn(move || {
            if let Some(half) = queue.take() {
                with(half);
            }
        })
    }

    /// Waits like a lender that cannot sleep: the lender takes its half back, or checks again whether the
    /// half is done.
    fn settle(&self, unwinding: bool) {
        match self.take() {
            Some(half) if unwinding => drop(half),
            Some(half) => half.run(),
            None => thread::yield_now(),
        }
    }
}

#[test]
fn a_half_is_run_once_by_its_thief_or_its_lender_who_sees_its_result_and_all_that_it_did() {
    model(|| {
        let queue = Queue::new();
        let thief = queue.thief(JobRef::run);
        let runs = AtomicUsize::new(0);
        let half = || {
            runs.store(runs.load(Relaxed) + 1, Relaxed);
            42
        };
        let ((), result) =
            lend(half, |half| queue.push(half), || (), |(), unwinding| queue.settle(unwinding));
        assert!(matches!(result, Some(Ok(42))));
        assert_eq!(runs.load(Relaxed), 1);
        thief.join().unwrap();
    });
}

#[test]
fn a_frame_that_unwinds_stays_until_a_stolen_half_has_ended() {
    model(|| {
        let queue = Queue::new();
        let thief = queue.thief(JobRef::run);
        let step = AtomicUsize::new(0);
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            let half = || [1, 2].into_iter().for_each(|n| step.store(n, Relaxed));
            let first = || resume_unwind(Box::new("the first half"));
            let ((), _) = lend(half, |half| queue.push(half), first, |(), unwinding| queue.settle(unwinding));
        }));
        assert_ne!(step.load(Relaxed), 1, "the half is in the middle");
        assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"the first half"));
        thief.join().unwrap();
    });
}

#[test]
fn a_half_that_its_thief_drops_has_no_result_and_its_closure_is_gone() {
    model(|| {
        let queue = Queue::new();
        let thief = queue.thief(drop);
        let owned = loom::sync::Arc::new(());
        let part = loom::sync::Arc::clone(&owned);
        let half = move || drop(part);
        let ((), result) =
            lend(half, |half| queue.push(half), || (), |(), unwinding| queue.settle(unwinding));
        assert!(matches!(result, None | Some(Ok(()))));
        assert_eq!(loom::sync::Arc::strong_count(&owned), 1);
        thief.join().unwrap();
    });
}

/// A waker whose operations loom sees.
struct Notifier(loom::sync::Notify);

impl Wake for Notifier {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}

/// Sleeps until the lent closures are settled.
fn sleep_until_settled(jobs: &ScopedJobs<'_>) {
    let notifier = Arc::new(Notifier(loom::sync::Notify::new()));
    let waker = Waker::from(Arc::clone(&notifier));
    while !jobs.are_settled(&waker) {
        notifier.0.wait();
    }
}

#[test]
fn a_scope_sleeps_until_its_last_closure_has_ended_and_sees_what_all_did() {
    model_bounded(3, || {
        let runs = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let jobs = ScopedJobs::new();
        let lend_both = || {
            [&runs[0], &runs[1]].map(|runs| {
                let (ticket, _claim) = jobs.lend(|| runs.store(1, Relaxed));
                thread::spawn(move || assert!(ticket.run()))
            })
        };
        let threads = jobs.keep(lend_both, |_| sleep_until_settled(&jobs));
        assert!(runs.iter().all(|runs| runs.load(Relaxed) == 1));
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_closure_that_is_taken_back_while_its_ticket_is_run_is_run_once() {
    model_bounded(3, || {
        let runs = AtomicUsize::new(0);
        let jobs = ScopedJobs::new();
        let lend_one = || {
            let (ticket, _claim) = jobs.lend(|| runs.store(runs.load(Relaxed) + 1, Relaxed));
            thread::spawn(move || ticket.run())
        };
        let taken_back = std::cell::Cell::new(false);
        let thread = jobs.keep(lend_one, |_| {
            while let Some(closure) = jobs.take_back() {
                taken_back.set(closure.run() || taken_back.get());
            }
            sleep_until_settled(&jobs);
        });
        let by_ticket = thread.join().unwrap();
        assert_eq!(runs.load(Relaxed), 1);
        assert!(by_ticket != taken_back.get(), "by its ticket or by its scope, and once");
    });
}
