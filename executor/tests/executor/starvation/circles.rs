//! Tests the kinds of cycles of waits, and the text of the report for each kind.

use std::sync::{Arc, Mutex, mpsc};

use executor::{
    Block, CutShort, ExecutorCompletionService, FifoQueue, FutureTask, InvokeFailure, OnStarvation,
    RejectReason, Semaphore, SharedJoinError, TaskHandle, ThreadPoolExecutor, WaitsFor,
    fork_join::{ForkJoinPool, InvokeError},
    panics::PanicReport,
    prelude::*,
};

use super::{named, one_thread, outside, shared, starves};
use crate::support::{Signal, Spot, assert_matches, within_deadline};

#[test]
fn a_page_waits_for_its_header_on_the_same_thread() {
    within_deadline(|| {
        let pool = named("renderer", 1);
        let own = Arc::clone(&pool);
        let page =
            FutureTask::new(move || starves(own.submit(FutureTask::new(|| ()).named("header")).unwrap()));
        let page = pool.submit(page.named("page")).unwrap();
        let id = page.id();
        let report = outside(page);
        let [wait] = report.chain() else { panic!("{report}") };
        let page = wait.task.as_ref().unwrap();
        assert_eq!((page.id, page.name.as_deref()), (id, Some("page")));
        assert_eq!(wait.thread.as_deref(), Some("renderer-thread-1"));
        assert_eq!(wait.pool.as_deref(), Some("renderer"));
        let WaitsFor::Queued { task, pool: queued_in, .. } = &wait.waits_for else { panic!("{report}") };
        assert_eq!((task.name.as_deref(), &**queued_in), (Some("header"), "renderer"));
        assert_eq!((report.closes_at(), report.others()), (0, &[][..]));
        assert_eq!(
            report.to_string(),
            format!(
                "starvation deadlock: task page ({id}) on renderer-thread-1 waits for task header ({}), queued in \
                 renderer, where no thread is free",
                task.id
            )
        );
        assert_eq!(pool.stats().starved, 1);
        assert!(pool.stats().to_string().ends_with(", 1 starved"));
    });
}

/// Runs a ring of pools, each with one thread. The task of each pool waits for a task in the queue of the
/// next pool, and the task of the last pool waits for a task of the first pool. All tasks begin before any of
/// the tasks waits.
fn ring(length: usize) -> Vec<executor::Starvation> {
    let pools: Vec<_> = (0..length).map(|n| named(&format!("p{n}"), 1)).collect();
    let all_begun = Arc::new(std::sync::Barrier::new(length));
    let handles: Vec<_> = (0..length)
        .map(|n| {
            let (next, all_begun) = (Arc::clone(&pools[(n + 1) % length]), Arc::clone(&all_begun));
            let task = FutureTask::new(move || {
                all_begun.wait();
                match next.submit(FutureTask::new(|| ()).named(format!("x{n}"))).unwrap().join() {
                    Err(executor::JoinError::Starved(_, report)) => Some(report),
                    other => other.map(|()| None).unwrap(),
                }
            });
            pools[n].submit(task.named(format!("t{n}"))).unwrap()
        })
        .collect();
    handles.into_iter().filter_map(outside).collect()
}

#[test]
fn two_pools_wait_crosswise_and_one_of_them_is_told() {
    within_deadline(|| {
        let reports = ring(2);
        let [report] = &*reports else { panic!("{reports:?}") };
        assert_eq!((report.chain().len(), report.closes_at(), report.others().len()), (2, 0, 0), "{report}");
        let (first, second) = (&report.chain()[0], &report.chain()[1]);
        assert_ne!(first.pool, second.pool);
        let WaitsFor::Queued { pool, .. } = &first.waits_for else { panic!("{report}") };
        assert_eq!(Some(pool), second.pool.as_ref());
    });
}

#[test]
fn a_ring_of_three_pools_is_told_once() {
    within_deadline(|| {
        let reports = ring(3);
        let [report] = &*reports else { panic!("{reports:?}") };
        assert_eq!((report.chain().len(), report.closes_at()), (3, 0), "{report}");
        let picture = format!("{report:#}");
        assert_eq!(picture.lines().count(), 8, "{picture}");
    });
}

#[test]
fn every_thread_of_a_larger_pool_is_in_the_report() {
    within_deadline(|| {
        let pool = named("pool", 3);
        let all_begun = Arc::new(std::sync::Barrier::new(3));
        let handles: Vec<_> = (0..3)
            .map(|_| {
                let (own, all_begun) = (Arc::clone(&pool), Arc::clone(&all_begun));
                pool.submit(move || {
                    all_begun.wait();
                    let awaited = own.submit(|| ()).unwrap();
                    match awaited.join() {
                        Err(executor::JoinError::Starved(_, report)) => Some(report),
                        _ => None,
                    }
                })
                .unwrap()
            })
            .collect();
        let reports: Vec<_> = handles.into_iter().filter_map(outside).collect();
        assert_eq!(reports.len(), 1, "the reported task goes on, and its thread runs the other tasks");
        assert_eq!(reports[0].chain().len() + reports[0].others().len(), 3, "{}", reports[0]);
    });
}

/// Two running tasks wait for each other, although the pool has enough threads.
#[test]
fn two_tasks_that_run_wait_for_each_other() {
    within_deadline(|| {
        let pool = named("pool", 4);
        let (to_first, gets_second) = mpsc::channel::<TaskHandle<bool>>();
        let (to_second, gets_first) = mpsc::channel::<TaskHandle<bool>>();
        let joins = |gets: mpsc::Receiver<TaskHandle<bool>>| move || matches!(gets.recv().unwrap().join(), Err(executor::JoinError::Starved(_, report)) if report.chain().len() == 2);
        let (first_done, second_done) = (Signal::new(), Signal::new());
        let told = Arc::new(Mutex::new(0));
        let tasks =
            [(gets_second, first_done.clone()), (gets_first, second_done.clone())].map(|(gets, done)| {
                let (joins, told) = (joins(gets), Arc::clone(&told));
                pool.submit(move || {
                    let is_told = joins();
                    *told.lock().unwrap() += u32::from(is_told);
                    done.set();
                    is_told
                })
                .unwrap()
            });
        let [first, second] = tasks;
        to_first.send(second).unwrap();
        to_second.send(first).unwrap();
        first_done.wait();
        second_done.wait();
        assert_eq!(*told.lock().unwrap(), 1);
    });
}

#[test]
fn a_task_submits_to_its_own_full_queue() {
    within_deadline(|| {
        let builder = ThreadPoolExecutor::builder().name("own").queue(FifoQueue::bounded(1));
        let pool = shared(builder.rejection_handler(Block::new()));
        let own = Arc::clone(&pool);
        let submits = pool.submit(move || {
            own.execute(|| ()).unwrap(); // fills the queue
            own.execute(|| ()).unwrap_err().reason
        });
        let reason = outside(submits.unwrap());
        let RejectReason::Starved(report) = &reason else { panic!("{reason:?}") };
        assert_matches!(&report.chain()[0].waits_for, WaitsFor::Room { pool, .. } if pool == "own");
        assert!(reason.to_string().contains("room in the queue of own"), "{reason}");
    });
}

#[test]
fn permits_are_held_by_tasks_that_wait_for_more() {
    within_deadline(|| {
        let pool = named("pool", 2);
        let permits = Arc::new(Semaphore::new(2));
        let both_have_one = Arc::new(std::sync::Barrier::new(2));
        let handles = [(); 2].map(|()| {
            let (permits, both_have_one) = (Arc::clone(&permits), Arc::clone(&both_have_one));
            pool.submit(move || {
                let _one = permits.acquire().unwrap();
                both_have_one.wait();
                let starves = matches!(permits.acquire(), Err(CutShort::Starved(report))
                    if matches!(report.chain()[0].waits_for, WaitsFor::Permits));
                starves
            })
            .unwrap()
        });
        let told = handles.into_iter().map(outside).filter(|&told| told).count();
        assert_eq!(told, 1, "the task with the report gives its permit to the other task");
        assert_eq!(permits.available_permits(), 2);
    });
}

#[test]
fn a_completion_service_inside_a_task() {
    within_deadline(|| {
        let pool = named("own", 1);
        let own = Arc::clone(&pool);
        let takes = pool.submit(move || {
            let service = ExecutorCompletionService::new(&own);
            for _ in 0..3 {
                service.submit(|| ()).unwrap();
            }
            service.take().map(drop).unwrap_err()
        });
        let error = outside(takes.unwrap());
        let CutShort::Starved(report) = &error else { panic!("{error:?}") };
        assert_matches!(&report.chain()[0].waits_for, WaitsFor::OneOf { tasks: 3, pools, .. } if *pools == ["own"]);
    });
}

/// A task takes handles from a service over a pool. The pool's only thread has all the service's tasks on its
/// stack: either one task, or one task and a second task nested in the first. Each of these tasks waits for a
/// permit that the taker holds.
#[test]
fn tasks_of_a_service_that_run_are_behind_who_takes_from_it() {
    within_deadline(|| {
        for tasks in [1, 2] {
            let (pool, first) = (one_thread(OnStarvation::HelpOthers { depth: 8 }), named("first", 1));
            let (over, spot) = (Arc::clone(&pool), Spot::default());
            let takes = first.submit(move || {
                let (service, permits) = (ExecutorCompletionService::new(over), Arc::new(Semaphore::new(1)));
                let permit = permits.acquire().unwrap();
                for _ in 0..tasks {
                    let (permits, spot) = (Arc::clone(&permits), spot.clone());
                    let is_told = move || {
                        spot.wait_until_blocked(); // so this task looks last, and helps or gets the report
                        let ended = permits.acquire();
                        matches!(ended, Err(CutShort::Starved(report)) if !report.chain().is_empty())
                    };
                    service.submit(is_told).unwrap();
                }
                spot.arrive();
                let ended = service.take().unwrap().unwrap();
                drop(permit);
                ended.join().unwrap()
            });
            assert!(outside(takes.unwrap()));
        }
    });
}

#[test]
fn all_and_any_inside_a_task() {
    within_deadline(|| {
        let pool = named("own", 1);
        let own = Arc::clone(&pool);
        let all = pool.submit(move || own.invoke_all([|| (), || ()]).unwrap_err());
        let error = outside(all.unwrap());
        assert_matches!(error.reason, InvokeFailure::Starved(_));
        assert!(error.handles.iter().all(TaskHandle::is_finished), "no task is left behind");
        let own = Arc::clone(&pool);
        let any = pool.submit(move || own.invoke_any([|| Ok::<_, ()>(()), || Ok(())]).unwrap_err());
        assert_matches!(outside(any.unwrap()).reason, InvokeFailure::Starved(_));
        assert_eq!(pool.stats().queued, 0);
    });
}

#[test]
fn a_shared_handle_inside_a_task() {
    within_deadline(|| {
        let pool = named("own", 1);
        let own = Arc::clone(&pool);
        let joins = pool.submit(move || own.submit(|| ()).unwrap().shared().join().unwrap_err());
        assert_matches!(outside(joins.unwrap()), SharedJoinError::Starved(_));
    });
}

/// A task of an executor runs on the thread of another pool. A task of that pool waits for the executor's
/// task.
#[test]
fn a_task_that_the_caller_runs_counts_as_running_on_the_callers_thread() {
    within_deadline(|| {
        let pool = named("own", 1);
        let own = Arc::clone(&pool);
        let outer = pool.submit(move || {
            let queued = own.submit(|| ()).unwrap();
            executor::DirectExecutor.submit(move || starves(queued)).unwrap().join().unwrap()
        });
        assert_eq!(outside(outer.unwrap()).chain().len(), 1);
    });
}

#[test]
fn what_nobody_reads_goes_to_the_panic_handler() {
    within_deadline(|| {
        let (tell, told) = mpsc::channel();
        let builder = ThreadPoolExecutor::builder().name("own");
        let pool = shared(builder.panic_handler(move |report: &PanicReport<'_>| {
            tell.send((report.starved, report.to_string())).unwrap();
        }));
        let own = Arc::clone(&pool);
        outside(pool.submit(move || drop(own.submit(|| ()).unwrap().join())).unwrap());
        let (starved, text) = told.recv().unwrap();
        assert!(starved && text.contains("queued in own"), "{text}");
        let own = Arc::clone(&pool);
        outside(
            pool.submit(move || own.submit(|| ()).unwrap().join().map_err(|read| read.to_string())).unwrap(),
        )
        .unwrap_err();
        pool.close();
        assert!(told.try_recv().is_err(), "the second was read");
    });
}

#[test]
fn the_handle_that_comes_back_can_be_used() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::Report);
        let own = Arc::clone(&pool);
        let runs_it_itself = pool.submit(move || match own.submit(|| 42).unwrap().join() {
            Err(executor::JoinError::Starved(handle, _)) => {
                handle.remove().expect("it waits in the queue").run();
                handle.join().unwrap()
            }
            other => other.unwrap(),
        });
        assert_eq!(outside(runs_it_itself.unwrap()), 42);
    });
}

/// A scope, an `invoke` and a half of a join do not wait for permits, so the report must not mention permits.
#[test]
fn a_wait_for_what_borrows_is_named_as_such() {
    within_deadline(|| {
        let (a, b) = (Arc::new(ForkJoinPool::new(1).unwrap()), Arc::new(ForkJoinPool::new(1).unwrap()));
        let (own, other) = (Arc::clone(&a), Arc::clone(&b));
        // The worker of the pool `a` waits for the worker of the pool `b`, and the worker of `b` waits for
        // the worker of `a`.
        let report = a.submit(move || {
            other.invoke(move || match own.invoke(|| ()) {
                Err(InvokeError::Starved(starvation)) => starvation,
                other => panic!("{other:?}"),
            })
        });
        let report = outside(report.unwrap()).unwrap();
        let waits: Vec<_> = report.chain().iter().map(|wait| &wait.waits_for).collect();
        assert_eq!(waits, [&WaitsFor::Borrowers, &WaitsFor::Borrowers], "{report}");
        assert!(!report.to_string().contains("permits"), "{report}");
    });
}
