//! If workers claim tasks without a lock, the pool must still count, show and take back these tasks
//! correctly.

use std::sync::{Arc, Mutex};

use executor_model::{FifoQueue, Hooks, Latch, Task, TaskId, ThreadPoolExecutor, prelude::*};
use shuttle::sync::atomic::{AtomicU64, Ordering::SeqCst};

use crate::{check, thread};

/// Two threads submit tasks while a third thread asks for the counts. Each count includes every task that was
/// accepted before the count, and counts no task twice.
#[test]
fn the_numbers_are_those_of_one_moment() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let (begun, accepted) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let submitters = [(); 2].map(|()| {
            let (pool, begun, accepted) = (Arc::clone(&pool), Arc::clone(&begun), Arc::clone(&accepted));
            thread::spawn(move || {
                for _ in 0..3 {
                    begun.fetch_add(1, SeqCst);
                    pool.execute(|| ()).unwrap();
                    accepted.fetch_add(1, SeqCst);
                }
            })
        });
        let mut completed_before = 0;
        for _ in 0..3 {
            let at_least = accepted.load(SeqCst);
            let stats = pool.stats();
            let at_most = begun.load(SeqCst);
            let tasks = stats.task_count();
            assert!(at_least <= tasks && tasks <= at_most, "{at_least} to {at_most} tasks: {stats}");
            assert!(stats.active <= 2 && stats.completed >= completed_before, "{stats}");
            completed_before = stats.completed;
        }
        for submitter in submitters {
            submitter.join().unwrap();
        }
        pool.close();
        assert_eq!(pool.stats().completed, 6);
    });
}

/// A snapshot shows each accepted and unfinished task once, either as running or as waiting.
#[test]
fn a_snapshot_shows_each_task_once() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let gate = Arc::new(Latch::new(1));
        let submit = || {
            let gate = Arc::clone(&gate);
            let task = Task::new(move || gate.wait().unwrap());
            let id = task.id();
            pool.execute_task(task).unwrap();
            id
        };
        let mut expected: Vec<String> = (0..5).map(|_| submit().to_string()).collect();
        let snapshot = pool.snapshot();
        assert_eq!(
            (snapshot.running.len(), snapshot.queued.len()),
            (snapshot.stats.active, snapshot.stats.queued)
        );
        let mut shown = [snapshot.running, snapshot.queued].concat();
        shown.sort();
        expected.sort();
        assert_eq!(shown, expected);
        gate.count_down();
        pool.close();
    });
}

/// Two workers claim tasks while another thread takes tasks out of the pool. Each task either runs or comes
/// back to the thread that takes tasks out.
#[test]
fn a_task_is_run_or_taken_back() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let ran = Arc::new(AtomicU64::new(0));
        let submit = || {
            let ran = Arc::clone(&ran);
            let task = Task::new(move || {
                ran.fetch_add(1, SeqCst);
            });
            let id = task.id();
            pool.execute_task(task).unwrap();
            id
        };
        let ids: Vec<TaskId> = (0..5).map(|_| submit()).collect();
        let back = ids.iter().rev().filter_map(|&id| pool.remove(id)).count();
        pool.purge();
        pool.close();
        assert_eq!(ran.load(SeqCst) + back as u64, 5);
        assert_eq!(pool.stats().completed, ran.load(SeqCst));
    });
}

/// The claimed task may take a long time, so the submitter must get the place of that task before the next
/// claim.
#[test]
fn a_submitter_that_waits_for_room_hears_of_a_claim() {
    check(|| {
        let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(2));
        let pool = Arc::new(builder.rejection_handler(executor_model::Block::new()).build().unwrap());
        let gates = [(); 2].map(|()| Arc::new(Latch::new(1)));
        for gate in gates.clone() {
            pool.execute(move || gate.wait().unwrap()).unwrap();
        }
        pool.execute(|| ()).unwrap();
        let submitter = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.execute(|| ()).unwrap())
        };
        gates[0].count_down();
        submitter.join().unwrap(); // otherwise shuttle reports a deadlock
        gates[1].count_down();
        pool.close();
        assert_eq!(pool.stats().completed, 4);
    });
}

/// A thread takes the unclaimed rest of a batch back into the queue. In the queue, these tasks must still be
/// before later tasks.
#[test]
fn what_is_recalled_keeps_its_place() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let ran = Arc::new(Mutex::new(Vec::new()));
        for n in 0..6 {
            let ran = Arc::clone(&ran);
            pool.execute(move || ran.lock().unwrap().push(n)).unwrap();
            if n % 2 == 1 {
                pool.purge();
            }
        }
        pool.close();
        assert_eq!(*ran.lock().unwrap(), [0, 1, 2, 3, 4, 5]);
    });
}

/// Returns a pool with room for `room` tasks, whose worker is busy until the returned latch opens.
fn held(room: usize) -> (Arc<ThreadPoolExecutor>, Arc<Latch>) {
    let pool = ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(room)).build().unwrap();
    let (begun, go) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
    let (tell, wait) = (Arc::clone(&begun), Arc::clone(&go));
    pool.execute(move || {
        tell.count_down();
        wait.wait().unwrap();
    })
    .unwrap();
    begun.wait().unwrap();
    (Arc::new(pool), go)
}

/// Under the model, each piece of the inbox has room for two tasks.
#[test]
fn full_pieces_of_the_inbox_count_and_keep_their_order() {
    check(|| {
        let (pool, go) = held(5);
        let ran = Arc::new(Mutex::new(Vec::new()));
        for n in 0..5 {
            let ran = Arc::clone(&ran);
            pool.execute(move || ran.lock().unwrap().push(n)).unwrap();
        }
        assert_eq!(pool.queued(), 5);
        assert!(pool.execute(|| ()).is_err(), "there is room for five");
        go.count_down();
        pool.close();
        assert_eq!(*ran.lock().unwrap(), [0, 1, 2, 3, 4]);
    });
}

/// The worker removes the cancelled tasks while another thread asks the pool for the number of waiting tasks.
#[test]
fn a_cancelled_task_never_seems_to_wait() {
    check(|| {
        let (pool, go) = held(5);
        for _ in 0..4 {
            let cancelled = pool.submit(|| ()).unwrap();
            assert!(cancelled.cancel());
        }
        let releases = thread::spawn(move || go.count_down());
        for _ in 0..6 {
            assert_eq!(pool.queued(), 0);
        }
        releases.join().unwrap();
        pool.close();
    });
}

struct TellsOfAnEnd(Arc<Latch>);

impl Hooks for TellsOfAnEnd {
    fn worker_ended(&self) {
        self.0.count_down();
    }
}

/// A worker that claims one task after another looks at the pool's state only if the worker has a reason.
#[test]
fn a_worker_that_is_one_too_many_claims_no_more() {
    check(|| {
        let ended = Arc::new(Latch::new(1));
        let pool = ThreadPoolExecutor::builder().threads(2).hooks(TellsOfAnEnd(Arc::clone(&ended)));
        let pool = pool.build().unwrap();
        let tasks: Vec<_> = (0..5).map(|_| (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)))).collect();
        for (begun, gate) in tasks.clone() {
            let body = move || {
                begun.count_down();
                gate.wait().unwrap();
            };
            pool.execute(body).unwrap();
        }
        let (begun, gate): (Vec<_>, Vec<_>) = tasks.into_iter().unzip();
        gate[0].count_down();
        begun[2].wait().unwrap(); // it was claimed from a run that has the last two tasks
        pool.set_threads(1).unwrap();
        gate[2].count_down();
        ended.wait().unwrap(); // otherwise shuttle reports a deadlock: its worker has claimed the next task
        for gate in &gate {
            gate.count_down();
        }
        pool.close();
        assert_eq!(pool.stats().completed, 5);
    });
}
