//! A task leaves the queue in exactly one way, and the counts record that way.

use std::sync::Arc;

use executor_model::{
    FifoQueue, JoinError, Latch, Task, TaskHandle, TaskState, ThreadPoolExecutor, prelude::*,
};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

/// Asserts that the counts of a pool of one thread are exact, whatever the earlier operations on the pool
/// were. The pool must neither forget a tombstone nor count it twice.
fn counts_are_exact(pool: &ThreadPoolExecutor, completed: u64) {
    let gate = Arc::new(Latch::new(1));
    let here = Arc::new(Latch::new(1));
    let stuck = (Arc::clone(&gate), Arc::clone(&here));
    pool.execute(move || {
        stuck.1.count_down();
        stuck.0.wait().unwrap();
    })
    .unwrap();
    here.wait().unwrap();
    let stats = pool.stats();
    assert_eq!((stats.active, stats.queued, stats.completed), (1, 0, completed), "{stats}");
    let waiting = [(); 3].map(|()| pool.submit(|| ()).unwrap());
    assert_eq!(pool.queued(), 3);
    waiting[1].cancel();
    assert_eq!(pool.queued(), 2);
    pool.purge();
    assert_eq!(pool.queued(), 2);
    gate.count_down();
    pool.close();
    let stats = pool.stats();
    assert_eq!(
        (stats.queued, stats.completed, stats.task_count()),
        (0, completed + 3, completed + 3),
        "{stats}"
    );
}

#[test]
fn a_task_is_either_taken_out_or_run() {
    taken_out_or_run(|pool, handle| pool.remove(handle.id()));
}

#[test]
fn a_task_is_either_taken_out_by_its_handle_or_run() {
    taken_out_or_run(|_, handle| handle.remove());
}

/// One thread has a task and searches for the queue that contains the task. The other thread has the queue
/// and searches the tasks in it.
#[test]
fn a_task_is_taken_out_by_its_handle_while_its_queue_is_looked_through() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let handles = [(); 3].map(|()| pool.submit(|| ()).unwrap());
        let looks = {
            let pool = Arc::clone(&pool);
            thread::spawn(move || pool.snapshot())
        };
        for task in handles.iter().filter_map(TaskHandle::remove) {
            task.run();
        }
        looks.join().unwrap();
        pool.close();
    });
}

fn taken_out_or_run(take_out: fn(&ThreadPoolExecutor, &TaskHandle<()>) -> Option<Task>) {
    check(move || {
        let pool = ThreadPoolExecutor::fixed(1);
        let runs = Arc::new(AtomicUsize::new(0));
        let handles = [(); 3].map(|()| {
            let runs = Arc::clone(&runs);
            pool.submit(move || _ = runs.fetch_add(1, SeqCst)).unwrap()
        });
        let removed: Vec<_> = handles.iter().filter_map(|handle| take_out(&pool, handle)).collect();
        let count = removed.len();
        for task in removed {
            task.run();
        }
        for handle in handles {
            handle.join().unwrap();
        }
        assert_eq!(runs.load(SeqCst), 3);
        counts_are_exact(&pool, 3 - count as u64);
    });
}

/// Three threads act at once: one thread cancels tasks, the worker takes tasks, and a third thread purges the
/// queue and removes one task.
#[test]
fn cancelling_taking_and_purging_at_once_leave_exact_counts() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let handles: Vec<_> = (0..4).map(|n| pool.submit(move || n).unwrap()).collect();
        let cancellers: Vec<_> = handles.iter().skip(1).map(TaskHandle::canceller).collect();
        let canceller =
            thread::spawn(move || cancellers.iter().filter(|canceller| canceller.cancel()).count());
        pool.purge();
        let removed = pool.remove(handles[3].id());
        let was_removed = removed.is_some();
        drop(removed);
        canceller.join().unwrap();
        let mut gone = 0_u64;
        for (n, handle) in handles.into_iter().enumerate() {
            match handle.join() {
                Ok(result) => assert_eq!(result, n),
                Err(JoinError::Cancelled(_)) => gone += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert!(gone <= 3 && (gone > 0 || !was_removed));
        // A task that was cancelled after its removal from the queue and before its start counts as
        // completed. So the test takes the number of completed tasks from the pool.
        let idle = Arc::new(Latch::new(1));
        let there = Arc::clone(&idle);
        pool.execute(move || there.count_down()).unwrap();
        idle.wait().unwrap();
        let completed = loop {
            let stats = pool.stats();
            assert!(stats.completed <= 5 && stats.queued == 0, "{stats}");
            if stats.active == 0 {
                break stats.completed;
            }
            thread::yield_now();
        };
        assert!(completed >= 5 - gone);
        counts_are_exact(&pool, completed);
    });
}

/// In a bounded queue, a submitter can use the place of a cancelled task, even if the canceller has not yet
/// told the pool.
#[test]
fn a_cancelled_task_takes_no_room() {
    check(|| {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).build().unwrap();
        let pool = Arc::new(pool);
        let gate = Arc::new(Latch::new(1));
        let stuck = Arc::clone(&gate);
        pool.execute(move || stuck.wait().unwrap()).unwrap();
        let queued = pool.submit(|| ()).unwrap();
        let other = thread::spawn({
            let pool = Arc::clone(&pool);
            move || {
                if pool.execute(|| ()).is_ok() {
                    // There is room only because the cancelled task has given up its place.
                    assert_eq!(pool.queued(), 1);
                    true
                } else {
                    false
                }
            }
        });
        assert!(queued.cancel());
        let came_in = other.join().unwrap();
        assert_eq!(pool.execute(|| ()).is_ok(), !came_in);
        assert_eq!((pool.queued(), queued.state()), (1, TaskState::Cancelled));
        gate.count_down();
        pool.close();
        assert_eq!(pool.stats().completed, 2);
    });
}
