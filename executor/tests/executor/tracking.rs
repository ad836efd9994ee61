//! After an abrupt shutdown, an executor reports two kinds of tasks: tasks that were certainly cut off, and
//! tasks that were presumably cut off. The executor does not report other tasks.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use executor::{
    BoundedExecutor, CancelToken, CutOffHow, DirectExecutor, Discard, FifoQueue, FutureTask, NotTerminated,
    Task, ThreadPoolExecutor, TrackingExecutor, prelude::*,
};

use crate::support::{
    Explosions, LONG, Signal, Spot, assert_matches, eventually, occupy, on_thread, rounds, within_deadline,
};

#[test]
fn a_task_that_gives_up_is_known_to_be_cut_off() {
    within_deadline(|| {
        let tracking = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1));
        let begun = Signal::new();
        let is_begun = begun.clone();
        let task = FutureTask::cancellable(move |token| {
            is_begun.set();
            token.sleep(LONG)
        });
        let handle = tracking.submit(task.named("fetch")).unwrap();
        begun.wait();
        assert_eq!(tracking.cut_off(), Err(NotTerminated));
        assert!(tracking.shutdown_now().is_empty());
        assert!(tracking.await_termination(LONG));
        let cut_off = tracking.cut_off().unwrap();
        assert_eq!((cut_off[0].task.id, cut_off[0].task.name.as_deref()), (handle.id(), Some("fetch")));
        assert_eq!((cut_off.len(), cut_off[0].how, cut_off[0].is_certain()), (1, CutOffHow::GaveUp, true));
        assert_eq!(tracking.stats().to_string(), "0 under way, 0 of them running, 1 cut off");
    });
}

/// This false positive cannot be avoided: the task has done its work, but a request to stop comes before the
/// task can report its completion.
#[test]
fn a_task_that_was_done_before_it_could_say_so_is_presumed_to_be_cut_off() {
    within_deadline(|| {
        let tracking = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1));
        let (done, returns) = (Signal::new(), Signal::new());
        let (is_done, until) = (done.clone(), returns.clone());
        let last_step = Arc::new(AtomicBool::new(false));
        let step = Arc::clone(&last_step);
        tracking
            .execute(move || {
                step.store(true, Ordering::SeqCst); // the task's whole work
                is_done.set();
                until.wait();
            })
            .unwrap();
        done.wait();
        assert!(tracking.shutdown_now().is_empty());
        returns.set();
        assert!(tracking.await_termination(LONG));
        let cut_off = tracking.cut_off().unwrap();
        assert!(last_step.load(Ordering::SeqCst), "it was done");
        assert_eq!((cut_off.len(), cut_off[0].how, cut_off[0].is_certain()), (1, CutOffHow::Returned, false));
    });
}

#[test]
fn a_task_that_panics_when_it_is_asked_to_stop_is_presumed_to_be_cut_off() {
    within_deadline(|| {
        let tracking = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1));
        let spot = Spot::default();
        let there = spot.clone();
        let handle = tracking.submit(move || {
            there.arrive();
            CancelToken::current().sleep(LONG).unwrap();
        });
        spot.wait_until_blocked();
        assert!(tracking.shutdown_now().is_empty());
        assert_matches!(handle.unwrap().join(), Err(executor::JoinError::Panicked(_)));
        assert!(tracking.await_termination(LONG));
        assert_eq!(tracking.cut_off().unwrap()[0].how, CutOffHow::Panicked);
    });
}

#[test]
fn what_ended_before_and_what_never_began_is_not_reported() {
    within_deadline(|| {
        let tracking = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1));
        tracking.submit(|| ()).unwrap().join().unwrap();
        assert_matches!(tracking.submit(|| panic!("before")).unwrap().join(), Err(_));
        let spot = Spot::default();
        let there = spot.clone();
        let cancelled = tracking.submit_cancellable(move |token| {
            there.arrive();
            token.sleep(LONG)
        });
        spot.wait_until_blocked();
        assert!(cancelled.unwrap().cancel());
        eventually("it has ended", || tracking.stats().running == 0);
        let busy = occupy(&tracking);
        let queued = tracking.submit(|| 1).unwrap();
        let back = tracking.shutdown_now();
        assert_eq!(back.iter().map(Task::id).collect::<Vec<_>>(), [queued.id()]);
        drop(busy);
        assert!(tracking.await_termination(LONG));
        for task in back {
            task.run();
        }
        assert_eq!(
            (queued.join().unwrap(), tracking.cut_off().unwrap().len()),
            (1, 1),
            "the task that kept it busy"
        );
    });
}

/// The pool below the executor has handed the task out. The new owner of the task runs it after the
/// executor's end, while a cancelled token is current.
#[test]
fn what_somebody_else_runs_after_the_end_is_not_reported() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let tracking = TrackingExecutor::over(Arc::clone(&pool));
        let busy = occupy(&pool);
        let queued = tracking.submit(|| 1).unwrap();
        let back = pool.shutdown_now();
        drop(busy);
        tracking.shutdown();
        assert!(tracking.await_termination(LONG));
        let token = CancelToken::new();
        token.cancel();
        token.attach(|| back.into_iter().for_each(|task| drop(task.run())));
        assert_eq!(queued.join().unwrap(), 1);
        assert_eq!(tracking.cut_off().unwrap(), []);
    });
}

#[test]
fn after_an_orderly_end_nothing_was_cut_off() {
    within_deadline(|| {
        let tracking = TrackingExecutor::owning(ThreadPoolExecutor::fixed(2));
        let handles: Vec<_> = (0..20).map(|n| tracking.submit(move || n).unwrap()).collect();
        tracking.close();
        assert!(
            tracking.cut_off().unwrap().is_empty() && handles.iter().all(executor::TaskHandle::is_finished)
        );
    });
}

#[test]
fn each_task_is_known_by_its_tag() {
    within_deadline(|| {
        let tracking = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1)).with_tags();
        let spot = Spot::default();
        let there = spot.clone();
        let running = tracking.tagged("/").submit_cancellable(move |token| {
            there.arrive();
            token.sleep(LONG)
        });
        spot.wait_until_blocked();
        let queued = tracking.tagged("/news").submit(|| ()).unwrap();
        tracking.execute(|| ()).unwrap();
        let back = tracking.stop();
        let tags: Vec<_> = back.iter().map(|(_, tag)| *tag).collect();
        assert_eq!((tags, back[0].0.id()), (vec![Some("/news"), None], queued.id()));
        assert!(tracking.await_termination(LONG) && running.unwrap().is_finished());
        assert_eq!(tracking.cut_off().unwrap()[0].tag, Some("/"));
        assert_eq!(tracking.cut_off(), tracking.cut_off(), "each time");
        assert_matches!(
            tracking.tagged("/late").execute(|| ()).unwrap_err().reason,
            executor::RejectReason::Shutdown
        );
    });
}

#[test]
fn a_tag_goes_with_its_task() {
    within_deadline(|| {
        let tag = Arc::new(());
        let only_ours = || Arc::strong_count(&tag) == 1;
        let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Discard);
        let tracking = TrackingExecutor::over(builder.build().unwrap()).with_tags();
        tracking.tagged(Arc::clone(&tag)).submit(|| ()).unwrap().join().unwrap();
        eventually("it is dropped with a task that has ended", only_ours);
        let busy = occupy(&tracking);
        let queued = tracking.tagged(Arc::clone(&tag)).submit(|| ()).unwrap();
        let _discarded = tracking.tagged(Arc::clone(&tag)).submit(|| ()).unwrap();
        assert_eq!(Arc::strong_count(&tag), 2, "the tag of the discarded task is dropped");
        drop(queued.remove());
        eventually("and the tag of a task that is taken out", only_ours);
        tracking.shutdown();
        drop(tracking.tagged(Arc::clone(&tag)).submit(|| ()).unwrap_err());
        assert!(only_ours(), "and the tag of a task that is refused");
        drop(busy);
        tracking.executor().close();
    });
}

#[test]
fn a_tag_that_panics_when_it_is_dropped_harms_nobody() {
    within_deadline(|| {
        let explosions = Explosions::default();
        let tracking = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1)).with_tags();
        let end = Signal::new();
        let until = end.clone();
        let handle = tracking.tagged(Arc::new(explosions.bomb())).submit(move || until.wait()).unwrap();
        end.set(); // now only the task has the tag
        handle.join().unwrap();
        eventually("it has exploded", || explosions.count() == 1);
        assert_eq!(tracking.submit(|| 1).unwrap().join().unwrap(), 1);
        assert_eq!(tracking.executor().stats().peak_threads, 1, "the worker lives");
        tracking.close();
    });
}

#[test]
fn it_sees_that_the_executor_below_is_stopped() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let tracking = TrackingExecutor::over(Arc::clone(&pool));
        let spot = Spot::default();
        let there = spot.clone();
        let handle = tracking.submit_cancellable(move |token| {
            there.arrive();
            token.sleep(LONG)
        });
        spot.wait_until_blocked();
        assert!(pool.shutdown_now().is_empty());
        tracking.close();
        assert_eq!(tracking.cut_off().unwrap()[0].task.id, handle.unwrap().id());
    });
}

#[test]
fn one_task_inline_that_stops_its_own_executor_is_cut_off() {
    let tracking = Arc::new(TrackingExecutor::over(DirectExecutor));
    let own = Arc::clone(&tracking);
    tracking.execute(move || assert!(own.shutdown_now().is_empty())).unwrap();
    assert_eq!(tracking.cut_off().unwrap()[0].how, CutOffHow::Returned);
    let tracking = TrackingExecutor::over(DirectExecutor);
    tracking.execute(|| ()).unwrap();
    tracking.shutdown();
    assert!(tracking.cut_off().unwrap().is_empty());
}

/// Returns a task that records whether it completed, or was asked to stop while it ran.
fn told(done: &Arc<std::sync::Mutex<BTreeSet<usize>>>, n: usize) -> Task {
    let done = Arc::clone(done);
    Task::new(move || {
        std::thread::yield_now();
        if !CancelToken::current().is_cancelled() {
            done.lock().unwrap().insert(n);
        }
    })
}

/// Each accepted task has one of three fates: the task completes before the request to stop, it comes back,
/// or the executor reports it. The executor may also report a completed task. A task that has begun never
/// comes back.
#[test]
fn no_task_is_lost_between_the_lists() {
    within_deadline(|| {
        for round in rounds(300) {
            let pool = Arc::new(ThreadPoolExecutor::fixed(2));
            let bounded = BoundedExecutor::over(Arc::clone(&pool), 10);
            let tracking = if round % 2 == 0 {
                TrackingExecutor::over(bounded)
            } else {
                TrackingExecutor::owning(bounded)
            };
            let tracking = Arc::new(tracking.with_tags());
            let done = Arc::default();
            let (own, own_done) = (Arc::clone(&tracking), Arc::clone(&done));
            let submits = on_thread(move || {
                let accepted = |n: &usize| own.tagged(*n).execute(told(&own_done, *n)).is_ok();
                (0..30).filter(accepted).collect::<BTreeSet<_>>()
            });
            if round % 3 == 0 {
                std::thread::yield_now();
            }
            let back: BTreeSet<_> = tracking.stop().into_iter().map(|(_task, tag)| tag.unwrap()).collect();
            let accepted = submits.result();
            assert!(tracking.await_termination(LONG));
            let cut_off = tracking.cut_off().unwrap();
            let cut_off: BTreeSet<_> = cut_off.into_iter().map(|task| task.tag.unwrap()).collect();
            let done = done.lock().unwrap().clone();
            let all: BTreeSet<_> = &(&done | &cut_off) | &back;
            assert_eq!(all, accepted);
            assert!(back.is_disjoint(&cut_off) && back.is_disjoint(&done));
            pool.close();
        }
    });
}
