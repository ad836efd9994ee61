//! When a pool starts threads and when it ends them: the core size and the maximum, the keep-alive time, and
//! the effect of the queue.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use executor::{
    Block, CancelToken, ExecutorService, FifoQueue, HandOffQueue, Hooks, RejectReason, TaskState,
    ThreadPoolBuilder, ThreadPoolExecutor, prelude::*,
};

use crate::support::{
    LONG, Record, SHORT, Signal, assert_matches, eventually, occupy, occupy_all, rounds, settle,
    with_enough_time, within_deadline,
};

fn builder() -> ThreadPoolBuilder {
    ThreadPoolExecutor::builder()
}

fn size(pool: &ThreadPoolExecutor) -> usize {
    pool.stats().threads
}

/// SLIP-2
#[test]
fn the_order_is_core_then_queue_then_maximum_then_the_saturation_policy() {
    within_deadline(|| {
        let pool = builder().core_threads(1).maximum_threads(3).queue(FifoQueue::bounded(2)).build().unwrap();
        let mut busy = vec![occupy(&pool)];
        for queued in [1, 2] {
            pool.execute(|| ()).unwrap();
            assert_eq!((size(&pool), pool.queued()), (1, queued), "the queue takes it");
        }
        for threads in [2, 3] {
            busy.push(occupy(&pool));
            assert_eq!((size(&pool), pool.queued()), (threads, 2), "it runs although others came before");
        }
        assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Saturated);
        drop(busy);
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().peak_threads), (5, 3));
    });
}

#[test]
fn with_a_queue_that_never_refuses_a_pool_never_has_more_than_its_core_threads() {
    within_deadline(|| {
        let pool = builder().threads(2).build().unwrap();
        let busy = occupy_all(&pool, 2);
        for _ in 0..1_000 {
            pool.execute(|| ()).unwrap();
        }
        assert_eq!((size(&pool), pool.queued()), (2, 1_000));
        drop(busy);
        pool.close();
        assert_eq!(pool.stats().peak_threads, 2);
    });
}

#[test]
fn threads_first_reaches_the_maximum_before_anything_is_queued_even_without_a_bound() {
    within_deadline(|| {
        let pool = builder().core_threads(1).maximum_threads(3).threads_first().build().unwrap();
        let _busy = occupy_all(&pool, 3);
        pool.execute(|| ()).unwrap();
        assert_eq!((size(&pool), pool.queued()), (3, 1));
    });
}

/// SIZE-27, SLIP-10
#[test]
fn a_pool_of_core_size_zero_runs_what_it_queues_with_one_thread_and_more_only_when_the_queue_refuses() {
    within_deadline(|| {
        let pool = builder().core_threads(0).maximum_threads(2).queue(FifoQueue::bounded(1)).build().unwrap();
        assert_eq!(size(&pool), 0);
        let mut busy = vec![occupy(&pool)];
        pool.execute(|| ()).unwrap();
        assert_eq!((size(&pool), pool.queued()), (1, 1));
        busy.push(occupy(&pool));
        assert_eq!(size(&pool), 2);
        drop(busy);
        pool.close();
        assert_eq!((pool.stats().completed, pool.core_threads()), (3, 0));

        let unbounded = builder().core_threads(0).build().unwrap();
        for n in 0..100 {
            assert_eq!(unbounded.submit(move || n).unwrap().join_timeout(LONG).unwrap(), n);
        }
        assert_eq!(unbounded.stats().peak_threads, 1);
    });
}

/// SIZE-1
#[test]
fn prestarting_one_starts_one_until_the_core_size_is_reached() {
    within_deadline(|| {
        let pool = builder().threads(2).queue(FifoQueue::bounded(1)).build().unwrap();
        assert!(pool.prestart_core_thread() && pool.prestart_core_thread());
        assert_eq!(size(&pool), 2);
        assert!(!pool.prestart_core_thread());
        pool.set_maximum_threads(4).unwrap();
        assert!(!pool.prestart_core_thread(), "the maximum does not matter");
        pool.set_core_threads(3).unwrap();
        assert!(pool.prestart_core_thread() && !pool.prestart_core_thread());
        assert_eq!(pool.stats().peak_threads, 3);
        pool.close();
        assert!(!pool.prestart_core_thread(), "after the pool's end no thread is started");
    });
}

/// SIZE-2
#[test]
fn prestarting_all_starts_what_is_missing() {
    within_deadline(|| {
        let pool = builder().core_threads(3).maximum_threads(9).queue(HandOffQueue::new()).build().unwrap();
        let _busy = occupy(&pool);
        assert_eq!((pool.prestart_all_core_threads(), size(&pool)), (2, 3));
        assert_eq!((pool.prestart_all_core_threads(), size(&pool)), (0, 3));
        pool.set_core_threads(5).unwrap();
        assert_eq!((pool.prestart_all_core_threads(), size(&pool)), (2, 5));

        let prestarted = builder().threads(3).prestart().build().unwrap();
        assert_eq!(size(&prestarted), 3);
        prestarted.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
        assert_eq!(size(&prestarted), 3, "the existing threads take it");
    });
}

/// SIZE-13
#[test]
fn a_cached_pool_uses_an_idle_thread_and_starts_one_only_if_none_is_idle() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::cached();
        assert_eq!((pool.core_threads(), pool.maximum_threads()), (0, usize::MAX));
        assert_eq!(pool.keep_alive(), Duration::from_mins(1));
        for _ in 0..10 {
            settle(&pool);
            assert_eq!(size(&pool), 1);
        }
        let busy = occupy_all(&pool, 5);
        assert_eq!((size(&pool), pool.queued()), (5, 0));
        drop(busy);
        pool.close();
        assert_eq!(pool.stats().completed, 15);
    });
}

/// KEEP-3
#[test]
fn with_core_timeout_an_idle_core_thread_ends_and_the_next_task_gets_another() {
    within_deadline(|| {
        let pool = builder().keep_alive(SHORT).core_timeout(true).build().unwrap();
        for _ in 0..3 {
            pool.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
            eventually("the thread has ended", || size(&pool) == 0);
        }
        assert_eq!(pool.stats().peak_threads, 1);
    });
}

/// KEEP-4. The thread above the core size has ended, so the core thread has also had enough time to end.
#[test]
fn without_core_timeout_core_threads_survive_the_keep_alive_time_and_those_above_do_not() {
    within_deadline(|| {
        let pool = builder()
            .core_threads(1)
            .maximum_threads(3)
            .keep_alive(SHORT)
            .queue(HandOffQueue::new())
            // A thread that has just ended a task needs a moment until it is idle. The submitter waits until
            // the thread is idle.
            .rejection_handler(Block::new())
            .build()
            .unwrap();
        for _ in 0..2 {
            drop(occupy_all(&pool, 3));
            eventually("the threads above core size have ended", || size(&pool) == 1);
        }
        assert!(!pool.await_termination(4 * SHORT));
        assert_eq!(size(&pool), 1);
    });
}

/// Records when each thread ends.
struct Ends(Record<Instant>);

impl Hooks for Ends {
    fn worker_ended(&self) {
        self.0.add(Instant::now());
    }
}

/// KEEP-5
#[test]
fn ten_core_threads_come_one_by_one_and_end_after_the_keep_alive_time_and_not_before() {
    within_deadline(|| {
        const KEEP_ALIVE: Duration = Duration::from_millis(30);
        let ends = Record::new();
        let pool = builder().threads(10).keep_alive(KEEP_ALIVE).core_timeout(true);
        let pool = pool.hooks(Ends(ends.clone())).build().unwrap();
        let begin = Instant::now();
        let busy: Vec<_> = (1..=10)
            .map(|threads| {
                let busy = occupy(&pool);
                assert_eq!(size(&pool), threads);
                busy
            })
            .collect();
        drop(busy);
        eventually("all have ended", || ends.len() == 10);
        assert_eq!(size(&pool), 0);
        assert!(ends.so_far().iter().all(|end| end.duration_since(begin) >= KEEP_ALIVE));
    });
}

#[test]
fn a_keep_alive_time_of_zero_ends_threads_above_core_size_as_soon_as_they_are_idle() {
    within_deadline(|| {
        let pool = builder()
            .core_threads(0)
            .maximum_threads(2)
            .keep_alive(Duration::ZERO)
            .queue(HandOffQueue::new());
        let pool = pool.build().unwrap();
        let busy = occupy_all(&pool, 2);
        assert_eq!(size(&pool), 2);
        drop(busy);
        eventually("both have ended", || size(&pool) == 0);
    });
}

#[test]
fn a_keep_alive_time_longer_than_the_clock_means_for_ever() {
    within_deadline(|| {
        let pool = builder().keep_alive(Duration::MAX).core_timeout(true).build().unwrap();
        settle(&pool);
        settle(&pool);
        assert_eq!((size(&pool), pool.stats().completed), (1, 2));
    });
}

/// If a thread has already slept for longer than the new keep-alive time, the thread ends at once.
#[test]
fn a_new_keep_alive_time_counts_for_threads_that_are_idle_already() {
    within_deadline(|| {
        let pool = builder().core_threads(0).maximum_threads(3).queue(HandOffQueue::new()).build().unwrap();
        drop(occupy_all(&pool, 3));
        assert!(!pool.await_termination(2 * SHORT));
        assert_eq!(size(&pool), 3);
        pool.set_keep_alive(SHORT).unwrap();
        eventually("they have ended", || size(&pool) == 0);
        assert_eq!(pool.keep_alive(), SHORT);
    });
}

#[test]
fn a_thread_that_is_woken_without_a_task_has_been_idle_all_the_same() {
    within_deadline(|| {
        with_enough_time(|keep_alive| {
            let pool = builder().core_threads(0).maximum_threads(1).keep_alive(keep_alive).build().unwrap();
            settle(&pool);
            let (woken, longest) = (Cell::new(Instant::now()), Cell::new(Duration::ZERO));
            eventually("it ends although it is woken again and again", || {
                pool.set_keep_alive(keep_alive).unwrap();
                longest.set(longest.get().max(woken.replace(Instant::now()).elapsed()));
                size(&pool) == 0
            });
            // If the thread of this test had a long pause, the worker may have ended because no task woke it.
            longest.get().max(woken.get().elapsed()) < keep_alive / 2
        });
    });
}

#[test]
fn allowing_core_threads_to_time_out_counts_for_those_that_are_idle_already() {
    within_deadline(|| {
        let pool = builder().threads(2).keep_alive(SHORT).build().unwrap();
        drop(occupy_all(&pool, 2));
        assert!(!pool.await_termination(4 * SHORT));
        assert_eq!((size(&pool), pool.core_timeout()), (2, false));
        pool.set_core_timeout(true).unwrap();
        eventually("they have ended", || size(&pool) == 0);
        assert!(pool.core_timeout());
    });
}

/// SIZE-24
#[test]
fn a_lower_core_size_ends_idle_threads_and_a_higher_one_starts_threads_for_what_waits() {
    within_deadline(|| {
        let pool = builder().threads(3).keep_alive(SHORT).queue(FifoQueue::bounded(10)).build().unwrap();
        drop(occupy_all(&pool, 3));
        pool.set_core_threads(1).unwrap();
        eventually("two have ended", || size(&pool) == 1);

        let _busy = occupy(&pool);
        let waiting: Vec<_> = (0..5).map(|n| pool.submit(move || n).unwrap()).collect();
        assert_eq!(size(&pool), 1);
        pool.set_core_threads(3).unwrap();
        for (n, handle) in waiting.into_iter().enumerate() {
            assert_eq!(handle.join_timeout(LONG).unwrap(), n, "by a thread that was started for it");
        }
        assert_eq!((size(&pool), pool.stats().peak_threads), (3, 3));
    });
}

/// The core size and the maximum of such a pool must be equal, so users can change the two values only
/// together.
#[test]
fn a_pool_without_a_bound_is_resized_in_both_directions() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(3);
        drop(occupy_all(&pool, 3));
        pool.set_threads(1).unwrap();
        eventually("two have ended, long before their keep-alive time is over", || size(&pool) == 1);

        let _busy = occupy(&pool);
        let waiting: Vec<_> = (0..5).map(|n| pool.submit(move || n).unwrap()).collect();
        assert_eq!(size(&pool), 1);
        pool.set_threads(3).unwrap();
        for (n, handle) in waiting.into_iter().enumerate() {
            assert_eq!(handle.join_timeout(LONG).unwrap(), n, "by a thread that was started for it");
        }
        assert_eq!((size(&pool), pool.core_threads(), pool.maximum_threads()), (3, 3, 3));
    });
}

#[test]
fn a_higher_core_size_starts_no_more_threads_than_there_are_tasks_that_wait() {
    within_deadline(|| {
        let pool =
            builder().core_threads(1).maximum_threads(10).queue(FifoQueue::bounded(10)).build().unwrap();
        let _busy = occupy(&pool);
        pool.set_core_threads(3).unwrap();
        assert_eq!(size(&pool), 1, "nothing waits");
        pool.set_core_threads(1).unwrap();
        let waiting = pool.submit(|| ()).unwrap();
        pool.set_core_threads(10).unwrap();
        waiting.join_timeout(LONG).unwrap();
        assert_eq!(size(&pool), 2);
    });
}

/// SIZE-25, SLIP-3
#[test]
fn tasks_that_change_the_core_size_disturb_no_busy_thread() {
    within_deadline(|| {
        const THREADS: usize = 20;
        let pool = builder().threads(THREADS).keep_alive(SHORT).queue(FifoQueue::bounded(1));
        let pool = Arc::new(pool.build().unwrap());
        let (here, go) = (Arc::new(AtomicUsize::new(0)), Signal::new());
        let handles: Vec<_> = (0..THREADS)
            .map(|n| {
                let (pool, here, go) = (Arc::clone(&pool), Arc::clone(&here), go.clone());
                pool.clone()
                    .submit(move || {
                        here.fetch_add(1, Ordering::SeqCst);
                        go.wait();
                        pool.set_core_threads(n % 3).unwrap();
                        let undisturbed = CancelToken::current().check();
                        pool.set_core_threads(THREADS).unwrap();
                        undisturbed
                    })
                    .unwrap()
            })
            .collect();
        eventually("all are here", || here.load(Ordering::SeqCst) == THREADS);
        go.set();
        for handle in handles {
            handle.join_timeout(LONG).unwrap().unwrap();
        }
        assert_eq!(pool.stats().peak_threads, THREADS);
    });
}

#[test]
fn a_lower_maximum_ends_threads_as_their_tasks_end_and_lets_no_other_start() {
    within_deadline(|| {
        let pool = builder().core_threads(1).maximum_threads(4).queue(FifoQueue::bounded(1)).build().unwrap();
        let mut busy = vec![occupy(&pool)];
        pool.execute(|| ()).unwrap(); // fills the queue
        busy.extend(occupy_all(&pool, 3));
        pool.set_maximum_threads(2).unwrap();
        assert_eq!(size(&pool), 4, "busy threads are left alone");
        for left in [3, 2] {
            drop(busy.pop());
            eventually("one thread less", || size(&pool) == left);
            assert_eq!(pool.queued(), 1, "it ended instead of taking the next");
        }
        drop(busy.pop());
        eventually("the next thread took it", || pool.queued() == 0);
        assert_eq!(size(&pool), 2);
    });
}

/// QUEUE-3
#[test]
fn the_life_of_a_pool() {
    within_deadline(|| {
        let pool = builder()
            .core_threads(3)
            .maximum_threads(9)
            .keep_alive(LONG)
            .queue(FifoQueue::bounded(9))
            .build()
            .unwrap();
        let mut busy = occupy_all(&pool, 3);
        for queued in 1..=9 {
            pool.execute(|| ()).unwrap();
            assert_eq!((size(&pool), pool.queued()), (3, queued));
        }
        busy.extend(occupy_all(&pool, 6));
        assert_eq!((size(&pool), pool.queued()), (9, 9));
        assert!(pool.execute(|| ()).is_err());

        pool.set_maximum_threads(12).unwrap();
        busy.extend(occupy_all(&pool, 3));
        assert_eq!((size(&pool), pool.queued(), pool.stats().active), (12, 9, 12));
        assert!(pool.execute(|| ()).is_err());
        assert_eq!(pool.stats().task_count(), 21);

        pool.set_maximum_threads(6).unwrap();
        drop(busy);
        eventually("all tasks are done", || pool.stats().completed == 21);
        eventually("there are no more than six", || size(&pool) == 6);
        pool.set_keep_alive(SHORT).unwrap();
        eventually("only the core is left", || size(&pool) == 3);
        assert!(!pool.await_termination(2 * SHORT));
        assert_eq!(size(&pool), 3);
        pool.set_core_timeout(true).unwrap();
        eventually("none is left", || size(&pool) == 0);

        pool.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
        pool.close();
        let stats = pool.stats();
        assert_eq!((stats.queued, stats.active, stats.threads), (0, 0, 0), "{stats}");
        assert_eq!((stats.completed, stats.task_count(), stats.peak_threads), (22, 22, 12), "{stats}");
    });
}

/// Threads end while new tasks come, and every task must get a thread.
#[test]
fn no_task_is_missed_by_threads_that_are_about_to_end() {
    within_deadline(|| {
        let pool = builder().core_threads(0).maximum_threads(2).keep_alive(Duration::from_micros(50));
        let pool = pool.queue(FifoQueue::bounded(10)).build().unwrap();
        let mut tasks = 0;
        for n in rounds(300) {
            let handle = pool.submit(move || n).unwrap();
            assert_eq!(handle.join_timeout(LONG).unwrap(), n);
            tasks += 1;
            if n % 3 == 0 {
                // This sleep does not wait for any event, so its duration does not matter.
                std::thread::sleep(Duration::from_micros(40));
            }
        }
        eventually("all threads have ended", || size(&pool) == 0);
        pool.close();
        assert_eq!(pool.stats().completed, tasks);
    });
}

/// If a task runs on a surplus thread of the pool, the pool does not lose the task.
#[test]
fn a_pool_shut_down_while_it_shrinks_ends() {
    within_deadline(|| {
        let pool = builder().core_threads(0).maximum_threads(4).queue(HandOffQueue::new()).build().unwrap();
        let busy = occupy_all(&pool, 4);
        pool.set_maximum_threads(1).unwrap();
        let last = pool.submit(|| ()).unwrap_err();
        pool.shutdown();
        drop(busy);
        assert!(pool.await_termination(LONG));
        assert_eq!((pool.stats().completed, last.handle.state()), (4, TaskState::Pending));
    });
}
