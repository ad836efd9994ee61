//! A user's code that runs outside any task: callbacks, hooks, and the `Drop` of what nobody wants any more.

use std::sync::mpsc;

use executor::{
    CancelToken, ExecutorService, FutureTask, Hooks, Latch, Promise, TaskInfo, ThreadPoolExecutor, prelude::*,
};

use crate::support::{LONG, occupy, within_deadline};

// ----- whose token is current -----

/// Does what a user's code might do who believes that the token is nobody else's, and says whether a wait there obeys
/// somebody.
fn cancel_the_current_token() -> bool {
    CancelToken::current().cancel();
    Latch::new(0).wait().is_ok() && !CancelToken::current().is_cancelled()
}

/// Cancels the current token and reports, when it is dropped.
struct CancelsWhenDropped(mpsc::Sender<bool>);

impl Drop for CancelsWhenDropped {
    fn drop(&mut self) {
        let _ = self.0.send(cancel_the_current_token());
    }
}

/// The pool goes on: a task that is submitted now is not born cancelled.
fn assert_unharmed(pool: &impl ExecutorService) {
    assert_eq!(pool.submit_cancellable(|token| token.check()).unwrap().join().unwrap(), ());
}

#[test]
fn in_a_callback_of_a_task_that_has_ended_the_current_token_is_nobody_elses() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (tell, told) = mpsc::channel();
        for shared in [false, true] {
            let busy = occupy(&pool);
            let handle = pool.submit(|| ()).unwrap();
            let tell = tell.clone();
            if shared {
                handle.shared().on_done(move |_| tell.send(cancel_the_current_token()).unwrap());
            } else {
                handle.on_done(move |_| tell.send(cancel_the_current_token()).unwrap());
            }
            drop(busy);
            assert!(told.recv_timeout(LONG).unwrap());
            assert_unharmed(&pool);
        }
    });
}

#[test]
fn in_the_drop_of_a_result_that_nobody_wants_the_current_token_is_nobody_elses() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let (tell, told) = mpsc::channel();
        let busy = occupy(&pool);
        drop(pool.submit(move || CancelsWhenDropped(tell)).unwrap());
        drop(busy);
        assert!(told.recv_timeout(LONG).unwrap());
        assert_unharmed(&pool);
    });
}

#[test]
fn in_a_hook_the_current_token_is_nobody_elses() {
    struct Cancels(mpsc::SyncSender<bool>);
    impl Hooks for Cancels {
        fn worker_started(&self) {
            self.0.send(cancel_the_current_token()).unwrap();
        }
        fn before_execute(&self, _: &TaskInfo<'_>) {
            self.0.send(cancel_the_current_token()).unwrap();
        }
        fn after_execute(&self, _: &TaskInfo<'_>, _: &executor::Outcome) {
            self.0.send(cancel_the_current_token()).unwrap();
        }
    }

    within_deadline(|| {
        let (tell, told) = mpsc::sync_channel(100);
        let pool = ThreadPoolExecutor::builder().threads(1).hooks(Cancels(tell)).build().unwrap();
        assert_unharmed(&pool);
        assert_unharmed(&pool);
        pool.close();
        drop(pool);
        let told: Vec<_> = told.iter().collect();
        assert_eq!(told, [true; 5]);
    });
}

/// A task that completes a promise, or cancels somebody, lends its thread to the callbacks and not its token.
#[test]
fn a_callback_that_runs_on_the_thread_of_a_task_does_not_run_in_that_task() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::cancellable(|token| {
            let (tell, told) = mpsc::channel();
            let (promise, promised) = Promise::new();
            promised.on_done({
                let tell = tell.clone();
                move |_| tell.send(cancel_the_current_token()).unwrap()
            });
            promise.complete(()).unwrap();

            let other = CancelToken::new();
            let _registration = other.on_cancel({
                let tell = tell.clone();
                move || tell.send(cancel_the_current_token()).unwrap()
            });
            other.cancel();
            // At once, because it is cancelled already.
            let _late = other.on_cancel({
                let tell = tell.clone();
                move || tell.send(cancel_the_current_token()).unwrap()
            });

            let FutureTask { task: _never_run, handle } = FutureTask::new({
                let captured = CancelsWhenDropped(tell);
                move || drop(captured)
            });
            handle.cancel();
            token.check().map(|()| told.try_iter().collect::<Vec<_>>())
        });
        task.run();
        assert_eq!(handle.join().unwrap(), [true; 4]);
    });
}
