//! Each task runs once, in the correct order, and sees all changes that it must see.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use executor::{CancelToken, FutureTask, Task, TaskState, ThreadPoolExecutor, prelude::*};

use crate::support::{LONG, Signal, occupy, on_every_executor, on_every_pool, rounds, within_deadline};

/// INV-2, INV-58
#[test]
fn a_submitted_closure_yields_its_value() {
    within_deadline(|| {
        on_every_executor(|executor| {
            assert_eq!(executor.submit(|| 6 * 7).unwrap().join().unwrap(), 42);
        });
    });
}

/// INV-3, INV-57
#[test]
fn a_submitted_closure_without_a_value_has_run_when_its_handle_is_finished() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let ran = Signal::new();
            let handle = executor.submit({
                let ran = ran.clone();
                move || ran.set()
            });
            let done = Signal::new();
            handle.unwrap().on_done({
                let done = done.clone();
                move |result| {
                    result.unwrap();
                    done.set();
                }
            });
            done.wait();
            assert!(ran.is_set());
        });
    });
}

/// INV-4, INV-18, INV-19: the user only needs a closure that returns the value.
#[test]
fn work_without_a_value_can_be_given_one() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let work = || ();
            let handle = executor.submit(move || {
                work();
                "done"
            });
            assert_eq!(handle.unwrap().join().unwrap(), "done");
        });
    });
}

/// INV-20
#[test]
fn a_finished_handle_gives_its_result_even_in_no_time() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let handle = executor.submit(|| 1).unwrap();
            crate::support::eventually("the task is finished", || handle.is_finished());
            assert_eq!(handle.join_timeout(Duration::ZERO).unwrap(), 1);
        });
    });
}

/// SIZE-15, SIZE-18
#[test]
fn each_of_many_tasks_runs_exactly_once() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let runs: Arc<Vec<AtomicUsize>> = Arc::new((0..200).map(|_| AtomicUsize::new(0)).collect());
            let handles: Vec<_> = (0..runs.len())
                .map(|n| {
                    let runs = Arc::clone(&runs);
                    executor.submit(move || runs[n].fetch_add(1, Ordering::Relaxed)).unwrap()
                })
                .collect();
            for handle in handles {
                handle.join().unwrap();
            }
            assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
        });
    });
}

/// SAT-7: a user can submit the same closure again and again, and each submission is a separate task.
#[test]
fn one_closure_can_be_submitted_again_and_again() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let runs = Arc::new(AtomicUsize::new(0));
            let work = {
                let runs = Arc::clone(&runs);
                move || runs.fetch_add(1, Ordering::Relaxed)
            };
            let handles: Vec<_> = (0..100).map(|_| executor.submit(work.clone()).unwrap()).collect();
            for handle in handles {
                handle.join().unwrap();
            }
            assert_eq!(runs.load(Ordering::Relaxed), 100);
        });
    });
}

#[test]
fn tasks_with_a_name_and_tasks_made_with_their_handle_are_accepted_as_well() {
    within_deadline(|| {
        on_every_executor(|executor| {
            let ran = Signal::new();
            let task = Task::new({
                let ran = ran.clone();
                move || ran.set()
            });
            executor.execute(task.named("index")).unwrap();
            ran.wait();

            let handle = executor.submit(FutureTask::new(|| 7).named("seven")).unwrap();
            assert_eq!(handle.join().unwrap(), 7);
        });
    });
}

/// SLIP-14: the traits' provided methods must not rely on another thread.
#[test]
fn the_provided_methods_work_when_the_task_runs_inline() {
    within_deadline(|| {
        let executor = executor::DirectExecutor;
        let handle = executor.submit(|| 1).unwrap();
        assert_eq!(handle.state(), TaskState::Completed);
        assert_eq!(handle.try_join().unwrap(), 1);
        assert!(executor.submit_cancellable(CancelToken::check).unwrap().join().is_ok());
        executor.execute(|| ()).unwrap();
    });
}

/// SIZE-15
#[test]
fn a_single_thread_runs_tasks_in_the_order_of_their_submission() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let order = Arc::new(Mutex::new(Vec::new()));
        let busy = occupy(&pool);
        for n in 0..500 {
            let order = Arc::clone(&order);
            pool.execute(move || order.lock().unwrap().push(n)).unwrap();
        }
        drop(busy);
        pool.close();
        assert_eq!(*order.lock().unwrap(), (0..500).collect::<Vec<_>>());
    });
}

#[test]
fn a_single_thread_keeps_the_order_across_panics() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let order = Arc::new(Mutex::new(Vec::new()));
        for n in 0..100 {
            let order = Arc::clone(&order);
            pool.execute(move || {
                order.lock().unwrap().push(n);
                std::panic::resume_unwind(Box::new("every task panics")); // without the hook's message
            })
            .unwrap();
        }
        pool.close();
        assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>());
    });
}

#[test]
fn a_pool_runs_as_many_tasks_at_once_as_it_has_threads_and_no_more() {
    within_deadline(|| {
        const THREADS: usize = 3;
        let pool = ThreadPoolExecutor::fixed(THREADS);
        let busy: Vec<_> = (0..THREADS).map(|_| occupy(&pool)).collect(); // each returns when its task runs
        let extra = pool.submit(|| ()).unwrap();
        assert_eq!(pool.stats().active, THREADS);
        assert_eq!((extra.state(), pool.queued()), (TaskState::Pending, 1));
        drop(busy);
        extra.join_timeout(LONG).unwrap();
    });
}

/// A blocked task delays its own thread, but does not delay the tasks that wait behind it.
#[test]
fn an_idle_worker_takes_what_a_blocked_one_cannot() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        for _ in rounds(100) {
            let (ask, answer) = (Signal::new(), Signal::new());
            let first = pool.submit({
                let (ask, answer) = (ask.clone(), answer.clone());
                move || {
                    ask.set();
                    answer.wait();
                }
            });
            ask.wait();
            let second = pool.submit(move || answer.set());
            second.unwrap().join_timeout(LONG).unwrap();
            first.unwrap().join_timeout(LONG).unwrap();
        }
    });
}

/// A burst of submissions wakes all the workers that the burst needs, although the submitter wakes only the
/// first worker.
#[test]
fn tasks_that_wait_for_each_other_all_get_a_thread() {
    within_deadline(|| {
        const THREADS: usize = 3;
        let pool = ThreadPoolExecutor::fixed(THREADS);
        for _ in rounds(200) {
            let present: Vec<_> = (0..THREADS).map(|_| Signal::new()).collect();
            let handles: Vec<_> = (0..THREADS)
                .map(|n| {
                    let present = present.clone();
                    let meet = move || {
                        present[n].set();
                        present.iter().for_each(Signal::wait);
                    };
                    pool.submit(meet).unwrap()
                })
                .collect();
            for handle in handles {
                handle.join_timeout(LONG).unwrap();
            }
        }
    });
}

/// This test is only a smoke test; the models check the memory order. On a machine that keeps all stores in
/// order, the test cannot find a missing memory order.
#[test]
fn what_was_done_before_the_submission_is_seen_by_the_task_and_what_it_did_by_the_joiner() {
    within_deadline(|| {
        on_every_executor(|executor| {
            for round in 1..=50 {
                let (there, back) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
                there.store(round, Ordering::Relaxed);
                let handle = executor.submit({
                    let (there, back) = (Arc::clone(&there), Arc::clone(&back));
                    move || back.store(there.load(Ordering::Relaxed), Ordering::Relaxed)
                });
                handle.unwrap().join().unwrap();
                assert_eq!(back.load(Ordering::Relaxed), round);
            }
        });
    });
}

#[test]
fn tasks_of_a_single_thread_see_what_those_before_them_did() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let sum = Arc::new(AtomicUsize::new(0));
        for _ in 0..1_000 {
            let sum = Arc::clone(&sum);
            // The addition deliberately has two separate steps. If a second thread ran at the same time, or
            // if a read were stale, an addition would be lost.
            pool.execute(move || sum.store(sum.load(Ordering::Relaxed) + 1, Ordering::Relaxed)).unwrap();
        }
        pool.close();
        assert_eq!(sum.load(Ordering::Relaxed), 1_000);
    });
}

#[test]
fn many_threads_can_submit_at_once() {
    within_deadline(|| {
        on_every_pool(|pool| {
            let runs = Arc::new(AtomicUsize::new(0));
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for _ in 0..250 {
                            let runs = Arc::clone(&runs);
                            pool.execute(move || _ = runs.fetch_add(1, Ordering::Relaxed)).unwrap();
                        }
                    });
                }
            });
            pool.close();
            assert_eq!(runs.load(Ordering::Relaxed), 1_000);
        });
    });
}

#[test]
fn a_task_can_submit_further_tasks_to_its_own_pool() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let inner = pool.submit({
            let pool = Arc::clone(&pool);
            move || (0..10).map(|n| pool.submit(move || n).unwrap()).collect::<Vec<_>>()
        });
        let sum: i32 = inner.unwrap().join().unwrap().into_iter().map(|handle| handle.join().unwrap()).sum();
        assert_eq!(sum, 45);
    });
}

/// All threads run tasks at the same time. The first task in the queue begins first, even if all running
/// tasks wait until other tasks begin. Even after short tasks, a worker must not take two tasks at a time,
/// because the first task could wait for the second task.
#[test]
fn pairs_of_tasks_that_wait_for_each_other_meet_on_two_threads() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(2);
        for _ in 0..200 {
            let met: Vec<_> = (0..4)
                .flat_map(|_| {
                    let meet = Arc::new(Barrier::new(2));
                    [(); 2].map(|()| {
                        let meet = Arc::clone(&meet);
                        pool.submit(move || _ = meet.wait()).unwrap()
                    })
                })
                .collect();
            for task in met {
                task.join().unwrap();
            }
            for _ in 0..100 {
                pool.execute(|| ()).unwrap();
            }
        }
        pool.close();
    });
}
