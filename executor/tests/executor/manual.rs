//! An executor for tests: the test decides when the executor runs its tasks, and in which order.

use std::sync::Arc;

use executor::{
    BoundedExecutor, CancelToken, FutureTask, JoinError, ManualExecutor, Outcome, RejectReason, Task, TaskId,
    TaskState, ThreadPoolExecutor, prelude::*,
};

use crate::support::{LONG, Record, SHORT, Signal, assert_matches, on_thread, rounds, within_deadline};

/// Submits a task for each number. Each task records its number when it runs.
fn submit(executor: &ManualExecutor, record: &Record<u32>, numbers: std::ops::Range<u32>) -> Vec<TaskId> {
    let submit = |n| {
        let record = record.clone();
        let task = Task::new(move || record.add(n));
        let id = task.id();
        executor.execute(task).unwrap();
        id
    };
    numbers.map(submit).collect()
}

#[test]
fn nothing_runs_until_it_is_told_to_and_then_in_order() {
    let (executor, record) = (ManualExecutor::new(), Record::new());
    assert!(executor.run_next().is_none());
    submit(&executor, &record, 0..3);
    assert_eq!((record.so_far(), executor.pending().len()), (vec![], 3));
    assert_matches!(executor.run_next(), Some(Outcome::Completed));
    assert_eq!((record.so_far(), executor.pending().len()), (vec![0], 2));
    assert_eq!((executor.run_all(), record.so_far()), (2, vec![0, 1, 2]));
    assert_eq!(executor.run_all(), 0);
}

#[test]
fn a_task_runs_out_of_its_turn_and_once() {
    let (executor, record) = (ManualExecutor::new(), Record::new());
    let ids = submit(&executor, &record, 0..4);
    for n in [2, 0, 3] {
        assert_matches!(executor.run(ids[n]), Some(Outcome::Completed));
        assert!(executor.run(ids[n]).is_none());
    }
    assert_eq!((record.so_far(), executor.pending()[0].id), (vec![2, 0, 3], ids[1]));
}

#[test]
fn what_is_pending_is_listed_by_id_and_name() {
    let executor = ManualExecutor::new();
    let handle = executor.submit(FutureTask::new(|| ()).named("index")).unwrap();
    executor.execute(|| ()).unwrap();
    let pending = executor.pending();
    assert_eq!((pending[0].id, pending[0].name.as_deref()), (handle.id(), Some("index")));
    assert_eq!(pending[1].name, None);
    let printed = format!("{executor:?}");
    assert_eq!(
        printed,
        format!("ManualExecutor {{ pending: [\"index ({})\", \"{}\"] }}", handle.id(), pending[1].id)
    );
}

#[test]
fn what_a_task_submits_is_left_pending_or_run() {
    let (executor, record) = (Arc::new(ManualExecutor::new()), Record::new());
    let submit_chain = || {
        let (own, first, second) = (Arc::clone(&executor), record.clone(), record.clone());
        let task = move || {
            first.add(1);
            own.execute(move || second.add(2)).unwrap();
        };
        executor.execute(task).unwrap();
    };
    submit_chain();
    assert_eq!((executor.run_pending(), record.so_far(), executor.pending().len()), (1, vec![1], 1));
    assert_eq!(executor.run_pending(), 1);
    submit_chain();
    assert_eq!((executor.run_all(), record.so_far()), (2, vec![1, 2, 1, 2]));
}

#[test]
fn a_task_may_run_others() {
    let executor = Arc::new(ManualExecutor::new());
    let own = Arc::clone(&executor);
    let outer = executor.submit(move || own.run_next().is_some()).unwrap();
    let inner = executor.submit(|| 5).unwrap();
    assert_eq!(executor.run_pending(), 1, "the second was run by the first");
    assert_eq!((outer.join().unwrap(), inner.join().unwrap()), (true, 5));
}

#[test]
fn tasks_are_taken_out_discarded_and_cancelled() {
    let executor = ManualExecutor::new();
    let handles: Vec<_> = (0..6).map(|n| executor.submit(move || n).unwrap()).collect();
    let taken = executor.take(handles[3].id()).unwrap();
    assert!(executor.take(handles[3].id()).is_none() && executor.run(handles[3].id()).is_none());
    assert_eq!(executor.discard_next(), Some(handles[0].id()));
    assert_eq!(handles[0].state(), TaskState::Cancelled);
    assert_eq!(executor.take_next().unwrap().id(), handles[1].id());
    assert!(handles[2].cancel());
    assert_eq!(executor.pending().len(), 2);
    let removed = handles[4].remove().unwrap();
    assert_eq!(executor.run_all(), 1);
    taken.run();
    removed.run();
    let ends: Vec<_> = handles.into_iter().map(|handle| handle.join().ok()).collect();
    assert_eq!(ends, [None, None, None, Some(3), Some(4), Some(5)]);
    assert_eq!((executor.discard_next(), executor.take_next().is_none()), (None, true));
}

#[test]
fn one_that_was_cancelled_before_it_came_is_not_pending() {
    let executor = ManualExecutor::new();
    let FutureTask { task, handle } = FutureTask::new(|| ());
    assert!(handle.cancel());
    executor.execute(task).unwrap();
    assert!(executor.pending().is_empty());
    executor.shutdown();
    assert!(executor.is_terminated());
}

#[test]
fn as_many_submissions_are_refused_as_it_was_told() {
    let executor = ManualExecutor::new();
    executor.refuse_next(RejectReason::Saturated);
    executor.refuse_next(RejectReason::TimedOut);
    assert_matches!(executor.execute(|| ()).unwrap_err().reason, RejectReason::Saturated);
    let refused = executor.submit(|| 7).unwrap_err();
    assert_matches!(refused.reason, RejectReason::TimedOut);
    assert!(executor.pending().is_empty());
    executor.execute(refused.task).unwrap();
    assert_eq!((executor.run_all(), refused.handle.join().unwrap()), (1, 7));
}

#[test]
fn a_panic_stops_at_the_handle() {
    let executor = ManualExecutor::new();
    let bad = executor.submit(|| panic!("in a task")).unwrap();
    assert_matches!(executor.run_next(), Some(Outcome::Panicked(_)));
    assert_matches!(bad.join(), Err(JoinError::Panicked(_)));
}

#[test]
fn it_is_terminated_when_the_last_task_has_ended() {
    within_deadline(|| {
        let executor = Arc::new(ManualExecutor::new());
        executor.execute(|| ()).unwrap();
        executor.shutdown();
        assert_matches!(executor.execute(|| ()).unwrap_err().reason, RejectReason::Shutdown);
        assert!(executor.is_shutdown() && !executor.is_terminated() && !executor.await_termination(SHORT));
        let own = Arc::clone(&executor);
        let waits = on_thread(move || own.await_termination(LONG));
        assert_eq!(executor.run_all(), 1);
        assert!(waits.result() && executor.is_terminated());
    });
}

#[test]
fn stopping_it_hands_out_what_is_pending_and_cancels_what_runs() {
    let executor = Arc::new(ManualExecutor::new());
    let own = Arc::clone(&executor);
    let stops = executor
        .submit(move || {
            let back = own.shutdown_now();
            (back, CancelToken::current().is_cancelled(), own.is_terminated())
        })
        .unwrap();
    let (first, second) = (executor.submit(|| 1).unwrap(), executor.submit(|| 2).unwrap());
    executor.run_next();
    let (mut back, is_cancelled, is_terminated) = stops.join().unwrap();
    assert!(is_cancelled && !is_terminated && executor.is_terminated());
    assert_eq!(back.iter().map(Task::id).collect::<Vec<_>>(), [first.id(), second.id()]);
    drop(back.pop());
    assert_matches!(second.join(), Err(JoinError::Cancelled(_)));
    back.pop().unwrap().run();
    assert_eq!(first.join().unwrap(), 1);
}

#[test]
fn closing_it_runs_what_is_pending_and_waits_for_what_others_run() {
    within_deadline(|| {
        let executor = Arc::new(ManualExecutor::new());
        let (begun, end) = (Signal::new(), Signal::new());
        let (is_begun, until) = (begun.clone(), end.clone());
        let elsewhere = executor.submit(move || {
            is_begun.set();
            until.wait();
        });
        let own = Arc::clone(&executor);
        let runs = on_thread(move || own.run_next().is_some());
        begun.wait();
        let here = executor.submit(|| 1).unwrap();
        let own = Arc::clone(&executor);
        let closes = on_thread(move || own.close());
        crate::support::eventually("it has run the pending tasks", || here.is_finished());
        assert!(closes.still_waits());
        end.set();
        closes.result();
        assert!(runs.result() && elsewhere.unwrap().is_finished() && executor.is_terminated());
    });
}

#[test]
fn one_that_is_closed_by_its_own_task_only_shuts_down() {
    within_deadline(|| {
        let executor = Arc::new(ManualExecutor::new());
        let own = Arc::clone(&executor);
        executor.execute(move || own.close()).unwrap();
        let behind = executor.submit(|| ()).unwrap();
        executor.run_next();
        assert!(executor.is_shutdown() && !behind.is_finished());
        executor.close();
        assert!(behind.is_finished());
    });
}

#[test]
fn dropping_it_cancels_what_is_pending() {
    let executor = ManualExecutor::new();
    let handle = executor.submit(|| ()).unwrap();
    drop(executor);
    assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
}

#[test]
fn an_executor_over_it_takes_back_its_own() {
    let executor = ManualExecutor::new();
    let bounded = BoundedExecutor::over(&executor, 2);
    let (own, other) = (bounded.submit(|| 1).unwrap(), executor.submit(|| 2).unwrap());
    let back = bounded.shutdown_now();
    assert_eq!((back[0].id(), back.len(), bounded.under_way()), (own.id(), 1, 0));
    assert_eq!((executor.run_all(), other.join().unwrap()), (1, 2));
}

#[test]
fn a_task_of_a_pool_that_waits_for_a_pending_one_is_not_said_to_starve() {
    within_deadline(|| {
        let (executor, pool) = (ManualExecutor::new(), ThreadPoolExecutor::fixed(1));
        let pending = executor.submit(|| 3).unwrap();
        let spot = crate::support::Spot::default();
        let there = spot.clone();
        let waits = pool.submit(move || {
            there.arrive();
            pending.join().unwrap()
        });
        spot.wait_until_blocked();
        assert_eq!(executor.run_all(), 1);
        assert_eq!(waits.unwrap().join().unwrap(), 3);
    });
}

#[test]
fn a_task_is_run_or_cancelled() {
    within_deadline(|| {
        for _ in rounds(300) {
            let executor = Arc::new(ManualExecutor::new());
            let handles: Vec<_> = (0..4).map(|n| executor.submit(move || n).unwrap()).collect();
            let cancellers: Vec<_> = handles.iter().map(executor::TaskHandle::canceller).collect();
            let own = Arc::clone(&executor);
            let cancels = on_thread(move || cancellers.iter().filter(|task| task.cancel()).count());
            let run = on_thread(move || own.run_all());
            let ended = handles.into_iter().filter_map(|handle| handle.join().ok()).count();
            assert_eq!(ended + cancels.result(), 4);
            assert!(run.result() >= ended);
            assert!(executor.pending().is_empty());
        }
    });
}
