//! What a worker does while it waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use executor::fork_join::{ForkJoinPool, blocking, fork, join};
use executor::{
    CutShort, ExecutorCompletionService, FutureTask, JoinError, SerialExecutor, StripedExecutor, TaskHandle,
    ThreadPoolExecutor, prelude::*,
};

use super::{fibonacci, pool};
use crate::support::{LONG, Signal, Spot, eventually, within_deadline};

/// FJ-6, FJ-11, FJ-12
#[test]
fn a_worker_that_joins_a_task_that_has_not_begun_runs_it_also_with_a_time_limit() {
    within_deadline(|| {
        let pool = pool(1);
        let (here, there, limited) = pool
            .invoke(|| {
                let one = fork(|| std::thread::current().id());
                let other = fork(|| std::thread::current().id());
                let limited = other.join_timeout(Duration::from_secs(5)).unwrap();
                (std::thread::current().id(), one.join().unwrap(), limited)
            })
            .unwrap();
        assert!(here == there && here == limited);
    });
}

#[test]
fn recursion_with_handles_needs_no_second_worker() {
    fn leaves(depth: u32) -> u64 {
        if depth == 0 {
            return 1;
        }
        let right = fork(move || leaves(depth - 1));
        leaves(depth - 1) + right.join().unwrap()
    }
    within_deadline(|| {
        for threads in [1, 2, 4] {
            assert_eq!(pool(threads).invoke(|| leaves(10)).unwrap(), 1024);
        }
    });
}

/// FJ-30, FJ-31, FJ-32, FJ-33
#[test]
fn a_batch_from_inside_needs_no_second_worker() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        let sum = pool.submit(move || {
            let handles = own.invoke_all((1..=10).map(|n| move || n)).unwrap();
            handles.into_iter().map(|handle| handle.join().unwrap()).sum::<u32>()
        });
        assert_eq!(sum.unwrap().join().unwrap(), 55);
    });
}

#[test]
fn a_waiting_worker_takes_pieces_of_what_was_stolen_from_it() {
    within_deadline(|| {
        let pool = pool(2);
        // The second half is stolen and makes a piece that only another thread can run, which is the one that waits.
        let stolen = Signal::new();
        let second = || {
            stolen.set();
            let thief = std::thread::current().id();
            let piece = Signal::new();
            let ((), by) = join(
                || piece.wait(),
                || {
                    piece.set();
                    std::thread::current().id()
                },
            );
            by != thief
        };
        let ((), was_helped) = pool.invoke(|| join(|| stolen.wait(), second)).unwrap();
        assert!(was_helped);
    });
}

#[test]
fn what_may_want_a_lock_of_the_waiting_frame_does_not_run_on_top_of_it() {
    within_deadline(|| {
        let pool = Arc::new(pool(2));
        let (stolen, release, ran) = (Signal::new(), Signal::new(), Signal::new());
        let lock = Arc::new(Mutex::new(()));
        let submit = |by: &dyn Fn(executor::Task)| {
            let (wanted, ran) = (Arc::clone(&lock), ran.clone());
            by(executor::Task::new(move || {
                let _held = wanted.lock().unwrap();
                ran.set();
            }));
        };
        let second = || {
            stolen.set();
            // Three that the waiting worker can see, and that nobody needs for this half to end.
            submit(&|task| pool.execute(task).unwrap());
            submit(&|task| pool.execute_externally(task).unwrap());
            submit(&|task| drop(fork(|| drop(task.run()))));
            release.wait();
        };
        let waits = release.clone();
        let outside = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            waits.set();
        });
        pool.invoke(|| {
            let _held = lock.lock().unwrap();
            join(|| stolen.wait(), second);
        })
        .unwrap();
        ran.wait();
        outside.join().unwrap();
    });
}

#[test]
fn waits_of_two_pools_for_each_other_end() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let (own, plain) = (Arc::clone(&pool), Arc::new(ThreadPoolExecutor::single()));
        let other = Arc::clone(&plain);
        let outer = plain.submit(move || {
            let inner = own.submit(move || other.submit(|| 1).unwrap().join());
            inner.unwrap().join()
        });
        // Whoever looks last: the worker of this pool runs the task itself, that of the plain one is told that it starves.
        let ended = outer.unwrap().join().unwrap();
        assert!(matches!(ended, Ok(Ok(1)) | Err(JoinError::Starved(..))), "{ended:?}");
    });
}

#[test]
fn a_thief_that_waits_for_the_task_whose_join_waits_for_it_is_told_so() {
    within_deadline(|| {
        let pool = pool(2);
        let slot = Arc::new(Mutex::new(None::<TaskHandle<()>>));
        let (stolen, is_here) = (Signal::new(), Signal::new());
        let (tell, told) = std::sync::mpsc::channel();
        let (own_handle, ready) = (Arc::clone(&slot), is_here.clone());
        let task = pool.submit(move || {
            let second = || {
                stolen.set();
                ready.wait();
                let own = own_handle.lock().unwrap().take().unwrap();
                tell.send(matches!(own.join(), Err(JoinError::Starved(..)))).unwrap();
            };
            join(|| stolen.wait(), second);
        });
        *slot.lock().unwrap() = Some(task.unwrap());
        is_here.set();
        assert!(told.recv_timeout(LONG).unwrap());
        assert!(pool.await_quiescence(LONG), "the join has not ended");
    });
}

/// It need not be told that it starves: any of these tasks will do, and it can run one.
#[test]
fn a_worker_that_waits_for_the_first_of_its_tasks_runs_one() {
    within_deadline(|| {
        for threads in [1, 2] {
            let pool = Arc::new(pool(threads));
            let all = Arc::new(std::sync::Barrier::new(threads));
            let ends: Vec<_> = (0..threads)
                .map(|_| {
                    let (own, all) = (Arc::clone(&pool), Arc::clone(&all));
                    let task = move || {
                        let service = ExecutorCompletionService::new(Arc::clone(&own));
                        all.wait();
                        let _ = (service.submit(|| 1).unwrap(), service.submit(|| 1).unwrap());
                        let mut sum = 0;
                        while let Some(handle) = service.take().unwrap() {
                            sum += handle.join().unwrap();
                        }
                        (sum, own.invoke_any([|| Err(3), || Ok(4)]).unwrap())
                    };
                    pool.submit(task).unwrap()
                })
                .collect();
            assert!(ends.into_iter().all(|end| end.join().unwrap() == (2, 4)));
        }
    });
}

/// With 32 on top of each other it runs no more of them.
#[test]
fn a_worker_that_lies_too_deep_to_run_one_of_its_tasks_is_told() {
    fn deeper(own: &Arc<ForkJoinPool>) -> u32 {
        let service = ExecutorCompletionService::new(Arc::clone(own));
        let below = Arc::clone(own);
        let _ = service.submit(move || deeper(&below)).unwrap();
        match service.take() {
            Ok(below) => 1 + below.unwrap().join().unwrap(),
            Err(CutShort::Starved(starvation)) => {
                assert!(starvation.to_string().contains("the first of 1 tasks, queued in"), "{starvation}");
                0
            }
            Err(other) => panic!("{other}"),
        }
    }
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        assert_eq!(pool.submit(move || deeper(&own)).unwrap().join().unwrap(), 32);
    });
}

/// A task of a line cannot be run before those in front of it. So nobody helps, and whoever waits is told.
#[test]
fn a_worker_that_waits_for_a_task_in_a_line_over_its_pool_is_told() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        let end = pool.submit(move || {
            let serial = SerialExecutor::over(Arc::clone(&own)).submit(|| 1).unwrap().join();
            let striped = StripedExecutor::over(own).submit_in(1, || 1).unwrap().join();
            [serial, striped].map(|joined| matches!(joined, Err(JoinError::Starved(..))))
        });
        assert_eq!(end.unwrap().join().unwrap(), [true, true]);
    });
}

/// What it runs there is a task of a line, and it is a worker all the same.
#[test]
fn the_head_of_a_line_helps_as_its_worker_does() {
    within_deadline(|| {
        let pool = Arc::new(pool(1));
        let own = Arc::clone(&pool);
        let head =
            SerialExecutor::over(Arc::clone(&pool)).submit(move || own.invoke_any([|| Ok::<_, ()>(1)]));
        assert_eq!(head.unwrap().join().unwrap().unwrap(), 1);
    });
}

#[test]
fn a_worker_that_sleeps_takes_a_piece_that_its_thief_offers_later() {
    within_deadline(|| {
        let (stolen, helped, spot) = (Signal::new(), Signal::new(), Spot::default());
        let first = || {
            stolen.wait();
            spot.arrive();
        };
        let second = || {
            stolen.set();
            spot.wait_until_blocked();
            join(|| helped.wait(), || helped.set());
        };
        pool(2).invoke(|| join(first, second)).unwrap();
    });
}

#[test]
fn the_only_worker_runs_what_it_waits_for_also_if_that_is_submitted_later() {
    within_deadline(|| {
        let (pool, spot) = (pool(1), Spot::default());
        let FutureTask { task, handle } = FutureTask::new(|| 7);
        let there = spot.clone();
        let waits = pool.submit(move || {
            there.arrive();
            handle.join().unwrap()
        });
        spot.wait_until_blocked();
        pool.execute(task).unwrap();
        assert_eq!(waits.unwrap().join().unwrap(), 7);
    });
}

/// FJ-7
#[test]
fn in_place_of_a_worker_that_says_that_it_blocks_another_one_works() {
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(1).spare_threads(1).build().unwrap();
        let (inside, release) = (Signal::new(), Signal::new());
        let (is_inside, until) = (inside.clone(), release.clone());
        let blocked = pool.submit(move || {
            blocking(|| {
                is_inside.set();
                until.wait();
            });
        });
        inside.wait();
        assert_eq!(pool.submit(|| 7).unwrap().join().unwrap(), 7, "nobody is there to run it");
        release.set();
        blocked.unwrap().join().unwrap();
        eventually("the one too many sleeps", || pool.stats().awake <= 1);
        assert_eq!(pool.invoke(|| fibonacci(10)).unwrap(), 55);
    });
}

#[test]
fn no_more_stand_in_than_were_allowed() {
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(1).spare_threads(2).build().unwrap();
        let (inside, release) = (Arc::new(AtomicUsize::new(0)), Signal::new());
        let tasks: Vec<_> = (0..5)
            .map(|_| {
                let (inside, release) = (Arc::clone(&inside), release.clone());
                pool.submit(move || {
                    blocking(|| {
                        inside.fetch_add(1, Ordering::SeqCst);
                        release.wait();
                    });
                })
                .unwrap()
            })
            .collect();
        eventually("three are there", || inside.load(Ordering::SeqCst) == 3);
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!((inside.load(Ordering::SeqCst), pool.stats().workers), (3, 3));
        release.set();
        for task in tasks {
            task.join().unwrap();
        }
    });
}
