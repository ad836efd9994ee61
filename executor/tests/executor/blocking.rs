//! Submissions with `Block`: the submitter waits for room. A time limit, a cancellation or a shutdown also
//! ends the submitter's wait. In each of these cases the task is not lost.
//!
//! The library promises no order in which waiting submitters get room, so these tests check no order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use executor::{
    Block, CancelToken, ExecutorService, FifoQueue, HandOffQueue, JoinError, Outcome, RejectReason,
    RejectedSubmission, TaskHandle, TaskState, ThreadFactory, ThreadPoolExecutor, Worker, masked, prelude::*,
};

use crate::support::{
    LONG, Occupied, SHORT, Signal, Spot, Waiter, assert_matches, blocked, eventually, occupy, occupy_all,
    rounds, within_deadline,
};

type Submitted = Result<TaskHandle<i32>, RejectedSubmission<i32>>;

/// A full pool, which has one busy thread, and one task in the queue. The test can remove both tasks.
struct Full {
    busy: Occupied, // first, because dropping the pool waits for it
    pool: Arc<ThreadPoolExecutor>,
    queued: TaskHandle<i32>,
}

impl Full {
    fn new(block: Block) -> Self {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(block);
        let pool = Arc::new(pool.build().unwrap());
        let busy = occupy(&pool);
        let queued = pool.submit(|| 1).unwrap();
        Self { busy, pool, queued }
    }

    /// A submitter that waits for room.
    fn submitter(&self) -> Waiter<Submitted> {
        self.submitter_with(&CancelToken::new())
    }

    fn submitter_with(&self, token: &CancelToken) -> Waiter<Submitted> {
        let (pool, token) = (Arc::clone(&self.pool), token.clone());
        let submitter = blocked(move || token.attach(|| pool.submit(|| 2)));
        assert!(submitter.still_waits());
        submitter
    }
}

#[test]
fn a_submitter_waits_until_a_task_is_done() {
    within_deadline(|| {
        let full = Full::new(Block::new());
        let submitter = full.submitter();
        drop(full.busy);
        assert_eq!(submitter.result().unwrap().join_timeout(LONG).unwrap(), 2);
        assert_eq!(full.queued.join_timeout(LONG).unwrap(), 1);
        full.pool.close();
        assert_eq!(full.pool.stats().completed, 3);
    });
}

/// There is room as soon as the waiting task begins, no matter how long the task takes.
#[test]
fn a_submitter_waits_until_a_waiting_task_is_begun() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Block::new());
        let pool = Arc::new(pool.build().unwrap());
        let busy = occupy(&*pool);
        let (begun, release) = (Signal::new(), Signal::new());
        let (there, held) = (begun.clone(), release.clone());
        pool.execute(move || {
            there.set();
            held.wait();
        })
        .unwrap();
        let submitter = blocked({
            let pool = Arc::clone(&pool);
            move || pool.submit(|| 2).unwrap()
        });
        assert!(submitter.still_waits());
        drop(busy);
        let accepted = submitter.result();
        begun.wait();
        assert_eq!(accepted.state(), TaskState::Pending);
        release.set();
        assert_eq!(accepted.join_timeout(LONG).unwrap(), 2);
    });
}

#[test]
fn a_submitter_waits_until_a_task_in_the_queue_is_cancelled() {
    within_deadline(|| {
        let full = Full::new(Block::new());
        let submitter = full.submitter();
        assert!(full.queued.cancel());
        let accepted = submitter.result().unwrap();
        assert_eq!((full.pool.queued(), accepted.state()), (1, TaskState::Pending));
    });
}

#[test]
fn a_submitter_waits_until_a_task_in_the_queue_is_taken_out() {
    within_deadline(|| {
        let full = Full::new(Block::new());
        let submitter = full.submitter();
        let removed = full.pool.remove(full.queued.id()).unwrap();
        assert_eq!(submitter.result().unwrap().state(), TaskState::Pending);
        assert_matches!(removed.run(), Outcome::Completed);
    });
}

#[test]
fn a_submitter_waits_until_the_maximum_is_raised() {
    within_deadline(|| {
        let full = Full::new(Block::new());
        let submitter = full.submitter();
        full.pool.set_maximum_threads(2).unwrap();
        assert_eq!(submitter.result().unwrap().join_timeout(LONG).unwrap(), 2, "by a thread of its own");
    });
}

#[test]
fn a_submitter_waits_until_a_thread_is_idle_that_its_task_can_be_handed_to() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().threads(2).queue(HandOffQueue::new());
        let pool = Arc::new(pool.rejection_handler(Block::new()).build().unwrap());
        let mut busy = occupy_all(&*pool, 2);
        let submitters = [(); 3].map(|()| {
            let pool = Arc::clone(&pool);
            blocked(move || pool.submit(|| ()).unwrap())
        });
        busy.pop();
        for submitter in submitters {
            submitter.result().join_timeout(LONG).unwrap();
        }
        assert_eq!(pool.stats().active, 1, "all by the same thread");
    });
}

/// The pool has requested a thread, and waits until this thread starts. The requested thread never starts, so
/// the pool may start another thread.
#[test]
fn a_submitter_waits_until_a_thread_that_was_to_come_does_not() {
    struct Keep(std::sync::Mutex<Option<Worker>>);
    impl ThreadFactory for Keep {
        fn start(&self, worker: Worker) -> std::io::Result<()> {
            match &mut *self.0.lock().unwrap() {
                empty @ None => *empty = Some(worker),
                Some(_) => drop(thread::spawn(|| worker.run())),
            }
            Ok(())
        }
    }
    within_deadline(|| {
        let pool =
            ThreadPoolExecutor::builder().core_threads(1).maximum_threads(2).queue(HandOffQueue::new());
        let pool = Arc::new(pool.rejection_handler(Block::new()).build().unwrap());
        let busy = occupy(&*pool);
        let keep = Arc::new(Keep(std::sync::Mutex::new(None)));
        pool.set_thread_factory(keep.clone());
        let waiting_for_its_thread = pool.submit(|| 1).unwrap();
        let submitter = blocked({
            let pool = Arc::clone(&pool);
            move || pool.submit(|| 2)
        });
        assert!(submitter.still_waits());
        let worker = keep.0.lock().unwrap().take();
        *keep.0.lock().unwrap() = None;
        let never_comes = worker.unwrap();
        pool.set_thread_factory(Arc::new(executor::NamedThreads::new("more")));
        drop(never_comes);
        assert_eq!(submitter.result().unwrap().join_timeout(LONG).unwrap(), 2);
        assert_eq!(waiting_for_its_thread.join_timeout(LONG).unwrap(), 1);
        drop(busy);
    });
}

#[test]
fn a_submitter_whose_time_is_up_gets_its_task_back_and_not_before() {
    within_deadline(|| {
        let full = Full::new(Block::for_at_most(SHORT));
        let begin = Instant::now();
        let refused = full.pool.submit(|| 2).unwrap_err();
        assert!(begin.elapsed() >= SHORT);
        assert_matches!(refused.reason, RejectReason::TimedOut);
        assert_eq!(refused.to_string(), "the task was rejected: there was no room in time");
        assert_matches!(refused.task.run(), Outcome::Completed);
        assert_eq!(refused.handle.join().unwrap(), 2);

        full.pool.set_rejection_handler(Arc::new(Block::for_at_most(Duration::ZERO)));
        assert_matches!(full.pool.execute(|| ()).unwrap_err().reason, RejectReason::TimedOut);
        assert_eq!(full.pool.stats().task_count(), 2);
    });
}

#[test]
fn a_time_that_is_long_enough_is_enough_and_the_longest_is_not_an_expired_one() {
    within_deadline(|| {
        for timeout in [LONG, Duration::MAX] {
            let full = Full::new(Block::for_at_most(timeout));
            let submitter = full.submitter();
            drop(full.busy);
            assert_eq!(submitter.result().unwrap().join_timeout(LONG).unwrap(), 2);
        }
    });
}

#[test]
fn a_cancelled_submitter_gets_its_task_back() {
    within_deadline(|| {
        let full = Full::new(Block::new());
        let token = CancelToken::new();
        let submitter = full.submitter_with(&token);
        token.cancel();
        let refused = submitter.result().unwrap_err();
        assert_matches!(refused.reason, RejectReason::Interrupted);
        assert_eq!(refused.handle.state(), TaskState::Pending);
        drop(refused.task);
        assert_matches!(refused.handle.join(), Err(JoinError::Cancelled(_)));

        let refused = token.attach(|| full.pool.submit(|| 3)).unwrap_err();
        // The submitter's token is already cancelled, so the submitter does not even begin to wait.
        assert_matches!(refused.reason, RejectReason::Interrupted);
        assert_eq!(full.pool.stats().task_count(), 2);
    });
}

/// A cancellation affects a submitter only while the submitter waits.
#[test]
fn a_cancelled_submitter_that_need_not_wait_is_let_in() {
    within_deadline(|| {
        let Full { pool, busy, queued } = Full::new(Block::new());
        drop(busy);
        queued.join_timeout(LONG).unwrap();
        let token = CancelToken::new();
        token.cancel();
        assert_eq!(token.attach(|| pool.submit(|| 2)).unwrap().join_timeout(LONG).unwrap(), 2);
    });
}

#[test]
fn a_submitter_in_a_masked_block_waits_although_it_is_cancelled() {
    within_deadline(|| {
        let full = Full::new(Block::new());
        let (pool, token) = (Arc::clone(&full.pool), CancelToken::new());
        token.cancel();
        let submitter = blocked(move || token.attach(|| masked(|| pool.submit(|| 2))));
        assert!(submitter.still_waits());
        drop(full.busy);
        assert_eq!(submitter.result().unwrap().join_timeout(LONG).unwrap(), 2);
    });
}

/// The submitter is itself a task, and the cancellation of this task ends the submitter's wait.
#[test]
fn a_task_of_another_pool_that_waits_for_room_can_be_cancelled() {
    within_deadline(|| {
        let full = Full::new(Block::new());
        let other = ThreadPoolExecutor::single();
        let spot = Spot::default();
        let submitting = other
            .submit_cancellable({
                let (pool, spot) = (Arc::clone(&full.pool), spot.clone());
                move |token| {
                    spot.arrive();
                    let refused = pool.execute(|| ()).unwrap_err();
                    assert_matches!(refused.reason, RejectReason::Interrupted);
                    token.check()
                }
            })
            .unwrap();
        spot.wait_until_blocked();
        assert!(submitting.cancel());
        other.close();
        assert_eq!((other.stats().completed, other.stats().panicked), (1, 0));
    });
}

#[test]
fn a_shutdown_gives_the_tasks_of_all_who_wait_back() {
    within_deadline(|| {
        for now in [false, true] {
            let full = Full::new(Block::new());
            let submitters = [(); 3].map(|()| full.submitter());
            if now {
                assert_eq!(full.pool.shutdown_now().len(), 1);
            } else {
                full.pool.shutdown();
            }
            for submitter in submitters {
                let refused = submitter.result().unwrap_err();
                assert_matches!(refused.reason, RejectReason::Shutdown);
                assert_matches!(refused.task.run(), Outcome::Completed);
                assert_eq!(refused.handle.join().unwrap(), 2);
            }
            drop(full.busy);
            assert!(full.pool.await_termination(LONG));
            assert_eq!(full.pool.stats().completed, if now { 1 } else { 2 });
        }
    });
}

#[test]
fn of_many_who_wait_each_is_let_in() {
    within_deadline(|| {
        const SUBMITTERS: usize = 8;
        let full = Full::new(Block::new());
        let submitters: Vec<_> = (0..SUBMITTERS).map(|_| full.submitter()).collect();
        drop(full.busy);
        for submitter in submitters {
            assert_eq!(submitter.result().unwrap().join_timeout(LONG).unwrap(), 2);
        }
        full.pool.close();
        assert_eq!(full.pool.stats().completed, SUBMITTERS as u64 + 2);
    });
}

/// A waiting submitter gives up at the moment when room becomes free. The next submitter must get the room
/// that became free.
#[test]
fn who_gives_up_waiting_does_not_keep_others_from_the_room() {
    within_deadline(|| {
        for _ in rounds(50) {
            let full = Full::new(Block::new());
            let token = CancelToken::new();
            let (fickle, patient) = (full.submitter_with(&token), full.submitter());
            thread::scope(|scope| {
                scope.spawn(|| token.cancel());
                full.queued.cancel();
            });
            match fickle.result() {
                Ok(first) => assert!(first.cancel()),
                Err(refused) => assert_matches!(refused.reason, RejectReason::Interrupted),
            }
            assert!(patient.result().is_ok());
        }
    });
}

#[test]
fn producers_much_faster_than_the_pool_never_make_its_queue_longer_than_its_bound() {
    within_deadline(|| {
        const BOUND: usize = 4;
        const TASKS: usize = 500;
        let pool = ThreadPoolExecutor::builder().threads(2).queue(FifoQueue::bounded(BOUND));
        let pool = pool.rejection_handler(Block::new()).build().unwrap();
        let (submitted, runs) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in rounds(TASKS) {
                        let runs = Arc::clone(&runs);
                        pool.execute(move || _ = runs.fetch_add(1, Ordering::Relaxed)).unwrap();
                        submitted.fetch_add(1, Ordering::Relaxed);
                        let queued = pool.queued();
                        assert!(queued <= BOUND, "{queued} in the queue");
                    }
                });
            }
        });
        pool.close();
        assert_eq!(runs.load(Ordering::Relaxed), submitted.load(Ordering::Relaxed));
    });
}

/// If other submitters take the room first, the waiting submitter continues to wait.
#[test]
fn who_is_overtaken_waits_on() {
    within_deadline(|| {
        let full = Full::new(Block::new());
        let waiting = full.submitter();
        for _ in 0..20 {
            // Either the submitter or the removed task gets the room. When the submitter has got the room,
            // the loop ends.
            let Some(removed) = full.pool.remove(full.queued.id()) else { break };
            full.pool.set_rejection_handler(Arc::new(executor::Abort));
            if let Err(refused) = full.pool.execute(removed) {
                drop(refused);
                break;
            }
        }
        drop(full.busy);
        assert_eq!(waiting.result().unwrap().join_timeout(LONG).unwrap(), 2);
        eventually("it is idle", || full.pool.stats().active == 0);
    });
}
