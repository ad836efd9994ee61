//! Submitters that wait for room: each event that makes room lets one submitter continue. If a submitter
//! stops waiting although there is no room, it gets its task back.

use std::sync::Arc;
use std::time::Duration;

use executor_model::{
    Block, CancelToken, FifoQueue, HandOffQueue, Latch, RejectReason, RejectedSubmission, Task, TaskHandle,
    ThreadPoolExecutor, WorkQueue, prelude::*,
};
use shuttle::rand::{Rng, thread_rng};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

fn blocking(queue: impl WorkQueue + 'static, block: Block) -> Arc<ThreadPoolExecutor> {
    Arc::new(ThreadPoolExecutor::builder().queue(queue).rejection_handler(block).build().unwrap())
}

/// Lets the other threads run for a short or a long time, because a submitter tries a few times before it
/// waits for room.
fn some_time_passes() {
    for _ in 0..thread_rng().gen_range(0..40) {
        thread::yield_now();
    }
}

type Submitted = Vec<Result<TaskHandle<()>, RejectedSubmission<()>>>;

/// Starts a thread that submits `tasks` tasks. Each task counts its run.
fn submitter(
    pool: &Arc<ThreadPoolExecutor>,
    tasks: usize,
    runs: &Arc<AtomicUsize>,
) -> thread::JoinHandle<Submitted> {
    let (pool, runs) = (Arc::clone(pool), Arc::clone(runs));
    thread::spawn(move || {
        (0..tasks)
            .map(|_| {
                let runs = Arc::clone(&runs);
                pool.submit(move || _ = runs.fetch_add(1, SeqCst))
            })
            .collect()
    })
}

fn accepted(submitters: [thread::JoinHandle<Submitted>; 2]) -> usize {
    let submitted = submitters.map(|submitter| submitter.join().unwrap()).into_iter().flatten();
    submitted
        .filter(|submitted| match submitted {
            Ok(_) => true,
            Err(refused) => {
                assert!(matches!(refused.reason, RejectReason::Shutdown), "{refused}");
                false
            }
        })
        .count()
}

#[test]
fn all_who_wait_are_let_in_one_after_the_other() {
    check(|| {
        let (pool, runs) = (blocking(FifoQueue::bounded(1), Block::new()), Arc::default());
        let submitters = [(); 2].map(|()| submitter(&pool, 3, &runs));
        assert_eq!(accepted(submitters), 6);
        pool.close();
        assert_eq!((runs.load(SeqCst), pool.stats().completed), (6, 6));
    });
}

#[test]
fn a_shutdown_gives_those_who_wait_their_tasks_back_and_runs_the_others() {
    check(|| {
        let (pool, runs) = (blocking(FifoQueue::bounded(1), Block::new()), Arc::default());
        let submitters = [(); 2].map(|()| submitter(&pool, 2, &runs));
        pool.shutdown();
        assert!(pool.await_termination(Duration::MAX));
        let accepted = accepted(submitters);
        assert_eq!((runs.load(SeqCst), pool.stats().completed), (accepted, accepted as u64));
    });
}

#[test]
fn a_shutdown_now_gives_those_who_wait_their_tasks_back_and_runs_no_other() {
    check(|| {
        let (pool, runs) = (blocking(FifoQueue::bounded(1), Block::new()), Arc::default());
        let submitters = [(); 2].map(|()| submitter(&pool, 2, &runs));
        let handed_back = pool.shutdown_now();
        assert!(pool.await_termination(Duration::MAX));
        let accepted = accepted(submitters);
        assert_eq!(runs.load(SeqCst) + handed_back.len(), accepted);
        assert_eq!(pool.stats().completed, runs.load(SeqCst) as u64);
    });
}

#[test]
fn who_is_cancelled_while_waiting_does_not_keep_the_room_from_the_next() {
    check(|| {
        let (pool, gate, token) =
            (blocking(FifoQueue::bounded(1), Block::new()), Arc::new(Latch::new(1)), CancelToken::new());
        let stuck = Arc::clone(&gate);
        pool.execute(move || stuck.wait().unwrap()).unwrap();
        let queued = pool.submit(|| ()).unwrap();
        let fickle = thread::spawn({
            let (pool, token) = (Arc::clone(&pool), token.clone());
            move || token.attach(|| pool.submit(|| ()))
        });
        let patient = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.submit(|| ()).is_ok()
        });
        some_time_passes();
        token.cancel();
        queued.cancel();
        match fickle.join().unwrap() {
            Ok(first) => drop(first.cancel()),
            Err(refused) => assert!(matches!(refused.reason, RejectReason::Interrupted), "{refused}"),
        }
        assert!(patient.join().unwrap()); // otherwise shuttle reports a deadlock: the gate is still shut
        gate.count_down();
        pool.close();
    });
}

/// The submitters that wait for room return although no task ends.
#[test]
fn a_shutdown_lets_those_who_wait_go_while_all_threads_are_busy() {
    check(|| {
        let (pool, gate) = (blocking(FifoQueue::bounded(1), Block::new()), Arc::new(Latch::new(1)));
        let stuck = Arc::clone(&gate);
        pool.execute(move || stuck.wait().unwrap()).unwrap();
        let queued = pool.submit(|| ()).unwrap();
        let runs = Arc::default();
        let submitters = [(); 2].map(|()| submitter(&pool, 1, &runs));
        some_time_passes();
        pool.shutdown();
        assert_eq!(accepted(submitters), 0); // otherwise shuttle reports a deadlock
        gate.count_down();
        queued.join().unwrap();
        pool.close();
    });
}

/// Asserts that `make_room` gives room to a waiting submitter, although the only thread stays busy.
fn gets_in_when(make_room: fn(&ThreadPoolExecutor, &TaskHandle<()>)) {
    check(move || {
        let (pool, gate) = (blocking(FifoQueue::bounded(1), Block::new()), Arc::new(Latch::new(1)));
        let stuck = Arc::clone(&gate);
        pool.execute(move || stuck.wait().unwrap()).unwrap();
        let queued = pool.submit(|| ()).unwrap();
        let submitter = thread::spawn({
            let pool = Arc::clone(&pool);
            move || pool.submit(|| ()).is_ok()
        });
        some_time_passes();
        make_room(&pool, &queued);
        assert!(submitter.join().unwrap()); // otherwise shuttle reports a deadlock
        gate.count_down();
        pool.close();
        let stats = pool.stats();
        assert_eq!((stats.queued, stats.active, stats.task_count()), (0, 0, stats.completed));
    });
}

#[test]
fn cancelling_a_task_in_the_queue_makes_room() {
    gets_in_when(|_, queued| assert!(queued.cancel()));
}

#[test]
fn taking_a_task_out_of_the_queue_makes_room() {
    gets_in_when(|pool, queued| drop(pool.remove(queued.id())));
}

#[test]
fn a_higher_maximum_makes_room() {
    gets_in_when(|pool, _| pool.set_maximum_threads(2).unwrap());
}

#[test]
fn a_thread_that_becomes_idle_takes_what_is_to_be_handed_over() {
    check(|| {
        let (pool, runs) = (blocking(HandOffQueue::new(), Block::new()), Arc::default());
        let submitters = [(); 2].map(|()| submitter(&pool, 2, &runs));
        assert_eq!(accepted(submitters), 4);
        pool.close();
        let stats = pool.stats();
        assert_eq!((runs.load(SeqCst), stats.completed, stats.peak_threads), (4, 4, 1));
    });
}

/// A user's queue that can hold no task: for each task, the pool must start a thread that begins with this
/// task.
struct NoPlace;

impl WorkQueue for NoPlace {
    fn push(&mut self, task: Task, _waiting: usize) -> Result<(), Task> {
        Err(task)
    }
    fn pop(&mut self) -> Option<Task> {
        None
    }
    fn len(&self) -> usize {
        0
    }
    fn capacity(&self) -> Option<usize> {
        Some(0)
    }
    fn for_each(&self, _look: &mut dyn FnMut(&Task)) {}
    fn remove_if(&mut self, _unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        Vec::new()
    }
}

/// If the queue refuses a task although a thread is idle, a new thread can start only after the idle thread
/// has ended.
#[test]
fn a_thread_that_ends_makes_room_for_another() {
    check(|| {
        let pool = ThreadPoolExecutor::builder()
            .core_threads(0)
            .maximum_threads(1)
            .keep_alive(Duration::from_secs(1));
        let pool = pool.queue(NoPlace).rejection_handler(Block::new()).build().unwrap();
        for n in 0..3 {
            // If a submitter waits forever, shuttle reports a deadlock.
            assert_eq!(pool.submit(move || n).unwrap().join().unwrap(), n);
        }
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().peak_threads), (3, 1));
    });
}

#[test]
fn a_wait_for_room_that_times_out_gives_the_task_back() {
    check(|| {
        let pool = blocking(FifoQueue::bounded(1), Block::for_at_most(Duration::from_secs(1)));
        let runs = Arc::new(AtomicUsize::new(0));
        let other = submitter(&pool, 2, &runs);
        let mut refused = 0;
        for _ in 0..2 {
            if let Err(back) = pool.submit(|| ()) {
                assert!(matches!(back.reason, RejectReason::TimedOut), "{back}");
                back.task.run();
                back.handle.join().unwrap();
                refused += 1;
            }
        }
        let others = other.join().unwrap().iter().filter(|submitted| submitted.is_ok()).count();
        pool.close();
        assert_eq!(runs.load(SeqCst), others);
        assert_eq!(pool.stats().completed, (others + 2 - refused) as u64);
    });
}
