//! Tests what a worker does while it waits.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use executor::fork_join::{ForkJoinPool, blocking, fork, join};
use executor::{
    CutShort, ExecutorCompletionService, FutureTask, JoinError, SerialExecutor, SharedHandle,
    StripedExecutor, TaskHandle, ThreadPoolExecutor, prelude::*,
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
        // A thief steals the second half of the join. The stolen half makes a piece, and only the waiting
        // thread can run this piece.
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
            // The waiting worker can see the three tasks that are submitted here. The stolen half does not
            // need these tasks in order to end.
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
        // If the worker of this pool is the last to search, this worker runs the task itself. If the worker
        // of the plain pool is the last to search, this worker gets the report.
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

/// The worker does not starve: it waits until any of several tasks has ended, and it can run one of these
/// tasks itself.
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

/// If a worker already has 32 nested tasks on its stack, it runs no further task while it waits.
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

/// A worker cannot run a task of a strand before the earlier tasks of the strand. So the worker does not
/// help, and its waiting thread gets the report.
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

/// The waiting code runs in a task of a strand, but on a thread that is a worker.
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

/// Only the end of the stolen half wakes the worker. While the worker unwinds, it does not look for pieces.
/// The thief of the half then begins another task, so the thief does not fall asleep.
#[test]
fn a_worker_that_unwinds_is_woken_by_the_end_of_what_was_stolen_from_it() {
    within_deadline(|| {
        let (stolen, joined, spot) = (Signal::new(), Signal::new(), Spot::default());
        let next = Mutex::new(None);
        let first = || {
            stolen.wait();
            spot.arrive();
            resume_unwind(Box::new("first"));
        };
        let second = || {
            let until = joined.clone();
            *next.lock().unwrap() = Some(fork(move || until.wait()));
            stolen.set();
            spot.wait_until_blocked();
        };
        let computation = || {
            let unwound = catch_unwind(AssertUnwindSafe(|| join(first, second)));
            joined.set();
            assert!(unwound.is_err());
            let next = next.lock().unwrap().take().unwrap();
            next.join_timeout(LONG).unwrap(); // the signal has ended it
        };
        pool(2).invoke(computation).unwrap();
    });
}

/// The worker waits with a time limit. Because the wait has a time limit, only the thief knows that the
/// worker waits for a piece.
#[test]
fn a_worker_that_sleeps_for_so_long_at_most_takes_a_piece_that_its_thief_offers_later() {
    within_deadline(|| {
        let waits = pool(2).submit(|| {
            let (stolen, spot) = (Signal::new(), Spot::default());
            let (says, waits) = (stolen.clone(), spot.clone());
            let task = fork(move || {
                says.set();
                waits.wait_until_blocked();
                let helped = Signal::new();
                join(|| helped.wait(), || helped.set());
            });
            stolen.wait();
            spot.arrive();
            task.join_timeout(LONG).is_ok()
        });
        assert!(waits.unwrap().join_timeout(LONG).unwrap());
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
        assert_eq!(pool.submit(|| 7).unwrap().join().unwrap(), 7, "no worker is there to run it");
        release.set();
        blocked.unwrap().join().unwrap();
        eventually("the surplus worker sleeps", || pool.stats().awake <= 1);
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

/// A blocked worker returns from its wait while the worker that replaced it still runs a task. Now the pool
/// has one worker too many, so the first worker without a task sleeps.
#[test]
fn a_worker_that_goes_on_leaves_what_comes_to_its_stand_in() {
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(1).spare_threads(1).build().unwrap();
        let signals = [(); 4].map(|()| Signal::new());
        let [inside, go_on, stands_in, release] = signals.clone();
        let blocks = pool.submit(move || {
            blocking(|| {
                inside.set();
                go_on.wait();
            });
        });
        let [inside, go_on, ..] = &signals;
        inside.wait();
        let replaces = pool.submit(move || {
            stands_in.set();
            release.wait();
        });
        let [.., stands_in, release] = &signals;
        stands_in.wait();
        let waits = pool.submit(|| ()).unwrap();
        go_on.set();
        blocks.unwrap().join_timeout(LONG).unwrap();
        eventually("the surplus worker sleeps", || pool.stats().awake == 1);
        assert!(!waits.is_finished());
        release.set();
        replaces.unwrap().join_timeout(LONG).unwrap();
        waits.join_timeout(LONG).unwrap();
    });
}

#[test]
fn nobody_stands_in_for_a_worker_that_does_not_block_any_more() {
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(1).spare_threads(1).build().unwrap();
        pool.submit(|| blocking(|| ())).unwrap().join_timeout(LONG).unwrap();
        eventually("it sleeps", || pool.stats().awake == 0);
        let busy = crate::support::occupy(&pool);
        let waits = pool.submit(|| ()).unwrap();
        assert_eq!((pool.stats().awake, waits.is_finished()), (1, false));
        drop(busy);
        waits.join_timeout(LONG).unwrap();
    });
}

/// If a thief has offered a half before it begins a stolen task, this half is not a part of the stolen task.
/// This half may need a lock that the waiter holds.
#[test]
fn a_half_that_its_thief_has_offered_before_is_no_piece_of_a_stolen_task() {
    within_deadline(|| {
        let pool = pool(2);
        let (tell, told) = std::sync::mpsc::channel::<SharedHandle<()>>();
        let [is_there, begun, end] = [(); 3].map(|()| Signal::new());
        let (spot, says, until) = (Spot::default(), is_there.clone(), end.clone());
        let steals = pool.submit(move || {
            says.set();
            let task = told.recv().unwrap();
            let here = std::thread::current().id();
            let (joined, ran_on) = join(|| task.join().is_ok(), || std::thread::current().id());
            joined && ran_on == here
        });
        is_there.wait();
        let waits = pool.submit(move || {
            let (says, waits) = (begun.clone(), spot.clone());
            let task = fork(move || {
                says.set();
                waits.wait_until_blocked();
            });
            let task = task.shared();
            tell.send(task.clone()).unwrap();
            begun.wait();
            spot.arrive();
            let joined = task.join().is_ok();
            until.wait(); // otherwise this worker would be free and steal the half
            joined
        });
        assert!(steals.unwrap().join_timeout(LONG).unwrap(), "it ran on top of another wait");
        end.set();
        assert!(waits.unwrap().join_timeout(LONG).unwrap());
    });
}
