//! The end of executors over other executors: the last task during the shutdown, submitters that wait for a
//! permit, and the tasks that the shutdown reports as cut off.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use executor_model::{
    BoundedExecutor, CancelToken, ExecutorService, FutureTask, Latch, ManualExecutor, RejectReason,
    TaskHandle, ThreadPerTaskExecutor, ThreadPoolExecutor, TrackingExecutor, prelude::*,
};
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use shuttle::thread;

use crate::check;

/// A time limit that is so long that it never ends a wait. Under a model an endless wait is a deadlock.
const FOR_EVER: Duration = Duration::MAX;

#[test]
fn it_is_over_when_the_last_outcome_can_be_seen() {
    check(|| {
        let bounded = Arc::new(BoundedExecutor::over(ThreadPerTaskExecutor, 2));
        let own = Arc::clone(&bounded);
        let submits =
            thread::spawn(move || (0..2).filter_map(|n| own.submit(move || n).ok()).collect::<Vec<_>>());
        bounded.shutdown();
        let handles = submits.join().unwrap();
        assert!(bounded.await_termination(FOR_EVER) && bounded.is_terminated());
        assert!(handles.iter().all(TaskHandle::is_finished));
        assert_eq!(bounded.under_way(), 0);
    });
}

#[test]
fn a_bound_that_changes_holds_and_strands_no_submitter() {
    check(|| {
        let bounded = Arc::new(BoundedExecutor::over(ThreadPerTaskExecutor, 1));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let submitters = [(); 2].map(|()| {
            let (own, now, most) = (Arc::clone(&bounded), Arc::clone(&now), Arc::clone(&most));
            thread::spawn(move || {
                let submit = || {
                    let (now, most) = (Arc::clone(&now), Arc::clone(&most));
                    own.submit(move || {
                        most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                        now.fetch_sub(1, SeqCst);
                    })
                };
                [submit().unwrap(), submit().unwrap()]
            })
        });
        bounded.set_bound(2);
        bounded.set_bound(1);
        for submitter in submitters {
            for handle in submitter.join().unwrap() {
                handle.join().unwrap();
            }
        }
        assert!(most.load(SeqCst) <= 2);
        // When the executor has taken back the permits above its new bound, one task may be under way, but
        // not two tasks.
        let end = Arc::new(Latch::new(1));
        let until = Arc::clone(&end);
        bounded.execute(move || until.wait().unwrap()).unwrap();
        let refused = bounded.without_waiting().execute(|| ()).unwrap_err();
        assert!(matches!(refused.reason, RejectReason::Saturated));
        end.count_down();
        bounded.close();
        assert_eq!((bounded.under_way(), bounded.bound()), (0, 1));
    });
}

/// A running task has the only permit, and this task ends only after two submitters were refused.
#[test]
fn submitters_that_wait_are_refused_at_the_end() {
    check(|| {
        let bounded = Arc::new(BoundedExecutor::over(ThreadPerTaskExecutor, 1));
        let refused = Arc::new(Latch::new(2));
        let until = Arc::clone(&refused);
        bounded.execute(move || until.wait().unwrap()).unwrap();
        let submitters = [(); 2].map(|()| {
            let (own, refused) = (Arc::clone(&bounded), Arc::clone(&refused));
            thread::spawn(move || {
                let reason = own.execute(|| ()).unwrap_err().reason;
                refused.count_down();
                matches!(reason, RejectReason::Shutdown)
            })
        });
        bounded.shutdown();
        assert!(bounded.await_termination(FOR_EVER));
        assert!(submitters.into_iter().all(|submitter| submitter.join().unwrap()));
    });
}

/// A running task gets its token while another thread stops the executor, or stops the pool below the
/// executor.
#[test]
fn a_task_hears_of_the_end_of_its_executor_and_of_its_pool() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(2));
        let bounded = Arc::new(BoundedExecutor::over(Arc::clone(&pool), 2));
        let own = bounded.submit(|| Latch::new(1).wait().is_err()).unwrap();
        let other = pool.submit(|| Latch::new(1).wait().is_err()).unwrap();
        let stopper = Arc::clone(&bounded);
        let back = thread::spawn(move || stopper.shutdown_now()).join().unwrap();
        assert!(bounded.await_termination(FOR_EVER));
        assert!(back.is_empty() == own.join().unwrap_or(false), "it came back, or has heard of it");
        let back_from_the_pool = pool.shutdown_now();
        drop(back_from_the_pool);
        assert!(other.join().unwrap_or(true));
        pool.close();
    });
}

#[test]
fn no_task_is_lost_between_what_comes_back_and_what_was_cut_off() {
    check(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let tracking = Arc::new(TrackingExecutor::over(BoundedExecutor::over(pool, 3)).with_tags());
        let done = Arc::new(Mutex::new(BTreeSet::new()));
        let (own, all_done) = (Arc::clone(&tracking), Arc::clone(&done));
        let submits = thread::spawn(move || {
            let submit = |n: &usize| {
                let (n, done) = (*n, Arc::clone(&all_done));
                let task = FutureTask::cancellable(move |token| {
                    token.check()?;
                    done.lock().unwrap().insert(n);
                    Ok(())
                });
                own.tagged(n).submit(task).is_ok()
            };
            (0..3).filter(submit).collect::<BTreeSet<usize>>()
        });
        let back: BTreeSet<_> = tracking.stop().into_iter().map(|(_task, tag)| tag.unwrap()).collect();
        let accepted = submits.join().unwrap();
        assert!(tracking.await_termination(FOR_EVER));
        let cut_off = tracking.cut_off().unwrap();
        let certain: BTreeSet<_> =
            cut_off.iter().filter(|task| task.is_certain()).map(|task| task.tag.unwrap()).collect();
        let cut_off: BTreeSet<_> = cut_off.into_iter().map(|task| task.tag.unwrap()).collect();
        let done = done.lock().unwrap().clone();
        assert_eq!(&(&done | &cut_off) | &back, accepted);
        assert!(back.is_disjoint(&done) && back.is_disjoint(&cut_off) && certain.is_disjoint(&done));
        tracking.executor().executor().close();
    });
}

/// Another thread stops the pool. The stopping thread either runs the tasks that `shutdown_now` returns, or
/// keeps these tasks until the executor above the pool is closed.
#[test]
fn what_another_has_taken_out_is_run_or_kept_and_the_end_comes() {
    check(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let bounded = Arc::new(BoundedExecutor::over(Arc::clone(&pool), 3));
        let handles = [1, 2].map(|n| bounded.submit(move || n).unwrap());
        let own = Arc::clone(&bounded);
        let closes = thread::spawn(move || own.close());
        let mut back = pool.shutdown_now();
        let kept = back.pop();
        for task in back {
            task.run();
        }
        closes.join().unwrap();
        assert!(bounded.is_terminated());
        drop(kept);
        assert!(handles.iter().all(TaskHandle::is_finished));
        assert_eq!(bounded.under_way(), 0);
        pool.close();
    });
}

#[test]
fn a_pending_task_is_run_or_cancelled_and_the_end_comes_after_it() {
    check(|| {
        let manual = Arc::new(ManualExecutor::new());
        let handles = [1, 2].map(|n| manual.submit(move || n).unwrap());
        let last = manual.submit(|| 3).unwrap();
        manual.shutdown();
        let cancellers = handles.each_ref().map(TaskHandle::canceller);
        let cancels = thread::spawn(move || cancellers.map(|task| task.cancel()));
        let own = Arc::clone(&manual);
        let runs = thread::spawn(move || own.run_all());
        assert!(manual.await_termination(FOR_EVER));
        assert!(handles.iter().all(TaskHandle::is_finished));
        assert_eq!(last.join().unwrap(), 3, "it is not cancelled");
        let cancelled = cancels.join().unwrap();
        assert_eq!(handles.map(|handle| handle.join().is_err()), cancelled);
        runs.join().unwrap();
        assert!(!CancelToken::current().is_cancelled() && manual.pending().is_empty());
    });
}
