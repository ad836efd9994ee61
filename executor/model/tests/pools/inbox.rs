//! A pool finds all tasks in its inbox, runs each task once, keeps the order of the tasks and respects the
//! bound of the queue.

use std::sync::Arc;

use executor_model::{FifoQueue, Latch, RejectReason, Task, ThreadPoolExecutor, prelude::*};
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::{check, thread};

#[test]
fn a_task_that_comes_while_the_worker_looks_for_the_last_time_is_found() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        for n in 0..4 {
            // If a worker does not find a task, shuttle reports a deadlock.
            assert_eq!(pool.submit(move || n).unwrap().join().unwrap(), n);
        }
        pool.close();
    });
}

/// A searching worker finds a task. After that, another worker must be woken for the next task.
#[test]
fn tasks_of_several_submitters_that_wait_for_each_other_all_get_a_worker() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        for _ in 0..2 {
            pool.submit(|| ()).unwrap().join().unwrap();
        }
        let both_here = Arc::new(Latch::new(2));
        let submit = {
            let pool = Arc::clone(&pool);
            move || {
                pool.submit(|| ()).unwrap().join().unwrap();
                let both_here = Arc::clone(&both_here);
                let body = move || {
                    both_here.count_down();
                    both_here.wait()
                };
                pool.submit(body).unwrap().join().unwrap().unwrap(); // otherwise shuttle reports a deadlock
            }
        };
        let other = thread::spawn(submit.clone());
        submit();
        other.join().unwrap();
        pool.close();
        assert_eq!(pool.stats().completed, 6);
    });
}

#[test]
fn a_bound_is_a_bound_for_several_submitters() {
    check(|| {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(4)).build().unwrap();
        let (pool, release) = (Arc::new(pool), Arc::new(Latch::new(1)));
        let (started, held) = (Arc::new(Latch::new(1)), Arc::clone(&release));
        let there = Arc::clone(&started);
        let busy = pool.submit(move || {
            there.count_down();
            held.wait()
        });
        started.wait().unwrap();
        for waiting in 1..=2 {
            // The first submission opens the inbox while it holds the lock. The second submission goes
            // through the inbox.
            pool.execute(|| ()).unwrap();
            assert_eq!(pool.queued(), waiting);
        }
        let submit = {
            let pool = Arc::clone(&pool);
            move || {
                let accepted = [(); 2].map(|()| match pool.execute(|| ()) {
                    Ok(()) => 1,
                    Err(refused) => {
                        assert!(matches!(refused.reason, RejectReason::Saturated), "{refused}");
                        0
                    }
                });
                accepted.iter().sum::<usize>()
            }
        };
        let other = thread::spawn(submit.clone());
        let accepted = submit() + other.join().unwrap();
        assert_eq!((accepted, pool.queued()), (2, 4));
        release.count_down();
        busy.unwrap().join().unwrap().unwrap();
        pool.close();
        assert_eq!(pool.stats().completed, 5);
    });
}

/// One submitter takes the lock, finds room and opens the inbox. At the same time another submitter is about
/// to take the lock, too.
#[test]
fn the_room_that_cancelled_tasks_leave_is_given_out_once() {
    check(|| {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(4)).build().unwrap();
        let (pool, release) = (Arc::new(pool), Arc::new(Latch::new(1)));
        let (started, held) = (Arc::new(Latch::new(1)), Arc::clone(&release));
        let there = Arc::clone(&started);
        let busy = pool.submit(move || {
            there.count_down();
            held.wait()
        });
        started.wait().unwrap();
        let waiting = [(); 4].map(|()| pool.submit(|| ()).unwrap());
        let submit = {
            let pool = Arc::clone(&pool);
            move || (0..2).filter(|_| pool.execute(|| ()).is_ok()).count()
        };
        let others = [(); 2].map(|()| thread::spawn(submit.clone()));
        let cancelled = waiting.iter().take(2).filter(|handle| handle.cancel()).count();
        let mut accepted = submit();
        for other in others {
            accepted += other.join().unwrap();
        }
        assert_eq!((cancelled, accepted, pool.queued()), (2, 2, 4));
        release.count_down();
        busy.unwrap().join().unwrap().unwrap();
        pool.close();
        assert_eq!(pool.stats().completed, 5);
    });
}

#[test]
fn tasks_of_one_submitter_run_in_order_whichever_way_they_come() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let (count, out_of_order) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let looker = thread::spawn({
            let pool = Arc::clone(&pool);
            move || (0..3).map(|_| pool.stats().queued).max() // moves tasks from the inbox to the queue
        });
        for n in 0..5 {
            let (count, out_of_order) = (Arc::clone(&count), Arc::clone(&out_of_order));
            let body = move || {
                if count.fetch_add(1, SeqCst) != n {
                    out_of_order.fetch_add(1, SeqCst);
                }
            };
            pool.execute(Task::new(body)).unwrap();
        }
        assert!(looker.join().unwrap() <= Some(5));
        pool.close();
        assert_eq!((count.load(SeqCst), out_of_order.load(SeqCst)), (5, 0));
    });
}

#[test]
fn a_higher_core_size_counts_for_the_next_task() {
    check(|| {
        let pool = ThreadPoolExecutor::builder()
            .core_threads(1)
            .maximum_threads(2)
            .queue(FifoQueue::bounded(9))
            .build()
            .unwrap();
        let (begun, both_here) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(2)));
        let meet = || {
            let (begun, both_here) = (Arc::clone(&begun), Arc::clone(&both_here));
            move || {
                begun.count_down();
                both_here.count_down();
                both_here.wait().unwrap();
            }
        };
        let first = pool.submit(meet()).unwrap();
        begun.wait().unwrap();
        let waiting = pool.submit(|| ()).unwrap(); // goes under the lock and opens the inbox
        drop(pool.remove(waiting.id()));
        pool.set_core_threads(2).unwrap();
        pool.submit(meet()).unwrap().join().unwrap(); // otherwise shuttle reports a deadlock
        first.join().unwrap();
        pool.close();
    });
}

#[test]
fn a_shutdown_counts_for_the_next_task() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (begun, release) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
        let (there, held) = (Arc::clone(&begun), Arc::clone(&release));
        let busy = pool.submit(move || {
            there.count_down();
            held.wait()
        });
        begun.wait().unwrap();
        pool.execute(|| ()).unwrap(); // goes under the lock and opens the inbox
        pool.shutdown();
        let refused = pool.execute(|| ()).unwrap_err();
        assert!(matches!(refused.reason, RejectReason::Shutdown), "{refused}");
        release.count_down();
        busy.unwrap().join().unwrap().unwrap();
        pool.close();
        assert_eq!(pool.stats().completed, 2);
    });
}
