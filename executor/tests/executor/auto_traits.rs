//! Checks which types can be sent to other threads, can be shared between threads, and survive a caught
//! panic. The compiler makes these checks.

use std::cell::Cell;
use std::error::Error;
use std::panic::{RefUnwindSafe, UnwindSafe};

use executor::{
    Barrier, BarrierError, BoundedExecutor, CancelReason, CancelToken, CancellableStream, Cancelled,
    Canceller, CancellingExecutor, CutShort, DelayedExecutor, DirectExecutor, Executor,
    ExecutorCompletionService, ExecutorService, FutureTask, InvokeAllError, InvokeAnyError, JoinError, Latch,
    ManualExecutor, MinimalPool, NotTerminated, Outcome, OwnedPermit, Panic, Permit, PoolState, PoolStats,
    Promise, Registration, RejectReason, RejectedExecution, RejectedSeries, RejectedSubmission,
    ScheduledThreadPoolExecutor, Semaphore, Series, SeriesEnd, SharedHandle, SharedJoinError, Starvation,
    Stopper, Task, TaskError, TaskFailure, TaskHandle, TaskId, TaskState, ThreadPerTaskExecutor,
    ThreadPoolExecutor, TrackingExecutor, TryJoinError, WaitError, Worker,
};

/// A type that can be sent to another thread but not shared between threads: the weakest result type that
/// must work.
type OnlySend = Cell<i32>;

fn shareable<T: Send + Sync>() {}
fn sync<T: Sync>() {}
fn error<T: Error + Send + Sync + 'static>() {}
fn unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}

#[test]
fn everything_public_is_send_and_sync() {
    shareable::<BoundedExecutor<DirectExecutor>>();
    shareable::<CancelToken>();
    shareable::<Canceller>();
    shareable::<CancellingExecutor<DirectExecutor>>();
    shareable::<DirectExecutor>();
    shareable::<ExecutorCompletionService<DirectExecutor, OnlySend>>();
    shareable::<FutureTask<OnlySend>>();
    shareable::<Latch>();
    shareable::<ManualExecutor>();
    shareable::<MinimalPool>();
    shareable::<Outcome>();
    shareable::<OwnedPermit>();
    shareable::<Panic>();
    sync::<Permit<'_>>(); // it stays on its thread
    shareable::<PoolState>();
    shareable::<PoolStats>();
    shareable::<Promise<OnlySend>>();
    shareable::<Registration>();
    shareable::<CancelReason>();
    shareable::<CancellableStream>();
    shareable::<Stopper>();
    shareable::<RejectReason>();
    shareable::<Worker>(); // so that a factory's error can carry it
    shareable::<ScheduledThreadPoolExecutor>();
    shareable::<Semaphore>();
    shareable::<Barrier>();
    shareable::<DelayedExecutor<DirectExecutor>>();
    shareable::<Series>();
    shareable::<SeriesEnd>();
    shareable::<SharedHandle<i32>>();
    shareable::<Task>();
    shareable::<TaskHandle<OnlySend>>();
    shareable::<TaskId>();
    shareable::<TaskState>();
    shareable::<ThreadPerTaskExecutor>();
    shareable::<ThreadPoolExecutor>();
    shareable::<TrackingExecutor<DirectExecutor, i32>>();
    shareable::<Box<dyn Executor>>();
    shareable::<Box<dyn ExecutorService>>();
}

#[test]
fn every_error_can_be_passed_on_with_a_question_mark_whatever_the_result_is() {
    error::<Cancelled>();
    error::<WaitError>();
    error::<CutShort>();
    error::<BarrierError>();
    error::<NotTerminated>();
    error::<Starvation>();
    error::<Panic>();
    error::<TaskError>();
    error::<SharedJoinError>();
    error::<RejectedExecution>();
    error::<RejectedSeries>();
    error::<RejectedSubmission<OnlySend>>();
    error::<InvokeAllError<OnlySend>>();
    error::<InvokeAnyError<OnlySend, String>>();
    error::<InvokeAnyError<OnlySend, Box<dyn Error + Send + Sync>>>();
    error::<TaskFailure<Cancelled>>();
    error::<JoinError<OnlySend>>();
    error::<TryJoinError<OnlySend>>();
}

#[test]
fn what_a_caught_panic_may_leave_behind_stays_usable() {
    unwind_safe::<CancelToken>();
    unwind_safe::<Latch>();
    unwind_safe::<Barrier>();
    unwind_safe::<Semaphore>();
    unwind_safe::<ThreadPoolExecutor>();
    unwind_safe::<ScheduledThreadPoolExecutor>();
    unwind_safe::<DirectExecutor>();
    unwind_safe::<ThreadPerTaskExecutor>();
}

/// A queue stores its tasks side by side, so tasks must be small. A handle has a name, and a pointer to the
/// state that it shares with its task.
#[test]
fn a_task_is_no_larger_than_six_words() {
    assert!(size_of::<Task>() <= 6 * size_of::<usize>(), "{} bytes", size_of::<Task>());
    assert!(size_of::<TaskHandle<[u64; 100]>>() <= 4 * size_of::<usize>());
}
