//! Two ways to stop a pool without owning it: a token that is the parent of the pool's token, or a stopper.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use executor::{
    CancelKind, CancelToken, Cancelled, ExecutorService, Hooks, JoinError, RejectReason, Stopper, TaskInfo,
    TaskState, ThreadPoolExecutor, prelude::*,
};

use crate::support::{
    Explosions, LONG, SHORT, Signal, assert_matches, blocked, occupy, on_thread, rounds, tracked,
    within_deadline,
};

fn hanging_on(token: &CancelToken) -> ThreadPoolExecutor {
    ThreadPoolExecutor::builder().threads(1).cancel_token(token).build().unwrap()
}

/// Starts a task that sleeps until it is cancelled, and then sends the reason. The task sets the returned
/// signal when it begins.
fn sleeper(pool: &ThreadPoolExecutor) -> (Signal, mpsc::Receiver<Cancelled>) {
    let (begun, (tell, told)) = (Signal::new(), mpsc::channel());
    let there = begun.clone();
    pool.execute(sleeps(move || there.set(), tell)).unwrap();
    (begun, told)
}

fn sleeps(begins: impl FnOnce(), tell: mpsc::Sender<Cancelled>) -> impl FnOnce() {
    move || {
        begins();
        tell.send(CancelToken::current().sleep(Duration::MAX).unwrap_err()).unwrap();
    }
}

// ----- a token of the user's -----

#[test]
fn cancelling_the_token_of_a_pool_stops_what_runs_drops_what_waits_and_ends_the_pool() {
    within_deadline(|| {
        let token = CancelToken::new();
        let pool = hanging_on(&token);
        let (begun, told) = sleeper(&pool);
        begun.wait();
        assert!(token.cancel_because("the service ends"));
        let reason = told.recv_timeout(LONG).unwrap().reason().unwrap().clone();
        assert_eq!((reason.message(), reason.is_inherited()), (Some("the service ends"), true));
        assert_matches!(pool.submit(|| ()).unwrap_err().reason, RejectReason::Shutdown);
        assert!(pool.await_termination(LONG));

        let token = CancelToken::new();
        let pool = hanging_on(&token);
        let busy = occupy(&pool); // the busy task ignores its token, so no waiting task begins meanwhile
        let (value, alive) = tracked();
        let waits = pool.submit(move || drop(value)).unwrap();
        assert!(token.cancel_because("the service ends"));
        assert!(pool.is_shutdown() && !alive(), "when the cancel has returned");
        assert_eq!(waits.state(), TaskState::Cancelled);
        let Err(JoinError::Cancelled(why)) = waits.join() else { panic!("it was dropped") };
        let reason = why.reason().unwrap();
        assert_eq!((reason.message(), reason.is_inherited()), (Some("the service ends"), true));
        drop(busy);
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn pools_that_hang_on_one_token_end_together_at_its_deadline_for_instance() {
    within_deadline(|| {
        let service = CancelToken::new().with_timeout(4 * SHORT);
        let pools = [hanging_on(&service), hanging_on(&service.child())];
        let told = pools.each_ref().map(|pool| {
            let (tell, told) = mpsc::channel();
            let _ = pool.execute(sleeps(|| (), tell)); // refused if the deadline comes first
            told
        });
        for (told, pool) in told.iter().zip(&pools) {
            assert!(pool.await_termination(LONG));
            if let Ok(cancelled) = told.try_recv() {
                assert_eq!(cancelled.reason().unwrap().kind(), CancelKind::Deadline);
            }
        }
    });
}

#[test]
fn a_pool_under_a_cancelled_token_is_born_shut_down() {
    within_deadline(|| {
        let token = CancelToken::new();
        token.cancel();
        let pool = ThreadPoolExecutor::builder().threads(2).prestart().cancel_token(&token).build().unwrap();
        assert!(pool.is_terminated());
        assert_matches!(pool.execute(|| ()).unwrap_err().reason, RejectReason::Shutdown);
        assert_eq!(pool.stats().threads, 0);
    });
}

#[test]
fn shutting_a_pool_down_leaves_its_token_alone() {
    within_deadline(|| {
        let token = CancelToken::new();
        let pools = [hanging_on(&token), hanging_on(&token)];
        let (begun, told) = sleeper(&pools[0]);
        begun.wait();
        assert!(pools[0].shutdown_now().is_empty());
        assert_eq!(told.recv_timeout(LONG).unwrap().reason().unwrap().kind(), CancelKind::Shutdown);
        assert!(!token.is_cancelled());
        assert_eq!(pools[1].submit(|| 7).unwrap().join().unwrap(), 7);
    });
}

#[test]
fn a_task_may_cancel_the_token_of_its_own_pool() {
    within_deadline(|| {
        let token = CancelToken::new();
        let pool = hanging_on(&token);
        let cancels = token.clone();
        let task = pool.submit(move || (cancels.cancel(), CancelToken::current().is_cancelled()));
        assert_eq!(task.unwrap().join().unwrap(), (true, true));
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn a_pool_that_was_dropped_and_runs_on_still_hangs_on_its_token() {
    within_deadline(|| {
        let token = CancelToken::new();
        let builder =
            ThreadPoolExecutor::builder().cancel_token(&token).on_drop(executor::DropPolicy::Detach);
        let pool = builder.build().unwrap();
        let stopper = pool.stopper();
        let (begun, told) = sleeper(&pool);
        begun.wait();
        drop(pool);
        assert!(!stopper.is_terminated());
        token.cancel();
        told.recv_timeout(LONG).unwrap();
        assert!(stopper.await_termination(LONG));
    });
}

#[test]
fn what_waits_may_do_its_worst_when_it_is_dropped() {
    within_deadline(|| {
        let (token, explosions) = (CancelToken::new(), Explosions::default());
        let pool = hanging_on(&token);
        let busy = occupy(&pool);
        for _ in 0..3 {
            let bomb = explosions.bomb();
            pool.execute(move || drop(bomb)).unwrap();
        }
        assert!(token.cancel());
        assert_eq!(explosions.count(), 3);
        drop(busy);
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn a_cancel_races_with_submissions_and_each_task_has_its_end() {
    within_deadline(|| {
        for _ in rounds(200) {
            let token = CancelToken::new();
            let pool = Arc::new(hanging_on(&token));
            let shared = Arc::clone(&pool);
            let submits =
                on_thread(move || (0..50).map_while(|n| shared.submit(move || n).ok()).collect::<Vec<_>>());
            token.cancel();
            for handle in submits.result() {
                assert_matches!(handle.join_timeout(LONG), Ok(_) | Err(JoinError::Cancelled(_)));
            }
            assert!(pool.await_termination(LONG));
        }
    });
}

// ----- stoppers -----

#[test]
fn a_task_stops_its_own_pool() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let stopper = pool.stopper();
        let (begun, release) = (Signal::new(), Signal::new());
        let (there, held) = (begun.clone(), release.clone());
        let stops = pool.submit(move || {
            there.set();
            held.wait();
            let back = stopper.shutdown_now();
            (back.len(), stopper.is_shutdown(), stopper.is_terminated())
        });
        begun.wait();
        let never = pool.submit(|| ()).unwrap();
        release.set();
        assert_eq!(stops.unwrap().join().unwrap(), (1, true, false));
        assert_matches!(never.join(), Err(JoinError::Cancelled(_)));
        assert!(pool.await_termination(LONG));
    });
}

#[test]
fn a_pool_that_is_gone_counts_as_terminated() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::single();
        let stopper = pool.stopper();
        assert_eq!((stopper.is_shutdown(), stopper.is_terminated()), (false, false));
        assert_eq!(format!("{stopper:?}"), "Stopper { pool: Running }");
        pool.submit(|| ()).unwrap().join().unwrap();
        drop(pool);
        assert_eq!((stopper.is_shutdown(), stopper.is_terminated()), (true, true));
        stopper.shutdown();
        assert!(stopper.shutdown_now().is_empty() && stopper.clone().await_termination(Duration::ZERO));
        assert_eq!(format!("{stopper:?}"), "Stopper { pool: Terminated }");
    });
}

#[test]
fn it_waits_for_the_end_and_keeps_nobody_from_it() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (begun, _told) = sleeper(&pool);
        begun.wait();
        let stopper = pool.stopper();
        assert!(!stopper.await_termination(SHORT));
        let waits = blocked({
            let stopper = stopper.clone();
            move || stopper.await_termination(LONG)
        });
        stopper.shutdown();
        assert!(waits.still_waits());
        assert!(stopper.shutdown_now().is_empty());
        assert!(waits.result());
        drop(pool);
    });
}

/// Hooks that stop their pool when a task with the name "too much" begins. These hooks do not keep the pool
/// alive.
struct Fuse {
    stopper: Mutex<Option<Stopper>>,
    _value: Arc<()>,
}

impl Hooks for Fuse {
    fn before_execute(&self, task: &TaskInfo<'_>) {
        if task.name == Some("too much")
            && let Some(stopper) = &*self.stopper.lock().unwrap()
        {
            stopper.shutdown();
        }
    }
}

#[test]
fn a_hook_stops_its_pool_and_goes_with_it() {
    within_deadline(|| {
        let (value, alive) = tracked();
        let fuse = Arc::new(Fuse { stopper: Mutex::new(None), _value: value });
        let pool = ThreadPoolExecutor::builder().hooks(Arc::clone(&fuse)).build().unwrap();
        *fuse.stopper.lock().unwrap() = Some(pool.stopper());
        drop(fuse);
        pool.execute(executor::Task::new(|| ()).named("too much")).unwrap();
        assert!(pool.await_termination(LONG));
        drop(pool);
        crate::support::eventually("the hook is gone", || !alive());
    });
}
