//! Tests the library's errors as I/O errors, and tests task bodies that return errors of other types.

use std::error::Error;
use std::io;
use std::sync::Arc;

use executor::{
    CancelReason, CancelToken, Cancelled, CutShort, FutureTask, JoinError, Latch, RejectReason,
    RejectedExecution, RejectedSubmission, Semaphore, TaskState, ThreadPoolExecutor, WaitError, prelude::*,
};

use crate::support::{LONG, SHORT, blocked, within_deadline};

/// Returns the message of the reason with which a task was cancelled, if `error` holds a `Cancelled`.
fn cancelled_because(error: io::Error) -> Option<String> {
    Cancelled::from_io(error).ok()?.reason()?.message().map(str::to_owned)
}

#[test]
fn an_interrupted_wait_becomes_a_cancelled_with_its_reason() {
    let waits: [fn() -> io::Result<()>; 6] = [
        || Ok(CancelToken::current().sleep(LONG)?),
        || Ok(Latch::new(1).wait_timeout(LONG)?),
        || Ok(Semaphore::new(0).acquire().map(drop)?),
        || Ok(FutureTask::new(|| ()).handle.join()?),
        || Ok(FutureTask::new(|| ()).handle.shared().join().map(drop)?),
        || Ok(ThreadPoolExecutor::single().invoke_all([|| ()]).map(drop)?),
    ];
    let token = CancelToken::new();
    token.cancel_because(CancelReason::new("the client hung up"));
    for wait in waits {
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let error = token.attach(wait).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Other, "a caller would repeat the call after `Interrupted`");
        assert_eq!(cancelled_because(error).as_deref(), Some("the client hung up"));
        drop((task, handle));
    }
}

#[test]
fn a_time_limit_keeps_its_kind_and_every_error_can_be_taken_out_again() {
    let late = io::Error::from(Latch::new(1).wait_timeout(SHORT).unwrap_err());
    assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    assert_eq!(late.downcast::<WaitError>().unwrap(), WaitError::TimedOut);

    let task = FutureTask::new(|| 6 * 7);
    let late = io::Error::from(task.handle.join_timeout(SHORT).unwrap_err());
    assert_eq!(late.kind(), io::ErrorKind::TimedOut);
    let Ok(JoinError::TimedOut(handle)) = late.downcast::<JoinError<i32>>() else { panic!("it is lost") };
    task.task.run();
    assert_eq!(handle.join().unwrap(), 42);

    assert_eq!(io::Error::from(RejectReason::TimedOut).kind(), io::ErrorKind::TimedOut);
    assert_eq!(io::Error::from(RejectReason::Shutdown).to_string(), RejectReason::Shutdown.to_string());
    let settings = ThreadPoolExecutor::builder().threads(0).build().unwrap_err();
    assert_eq!(io::Error::from(settings).kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn a_refused_task_is_in_the_io_error_and_can_still_be_run() {
    let pool = ThreadPoolExecutor::single();
    pool.shutdown();
    let refused = io::Error::from(pool.submit(|| 6 * 7).unwrap_err());
    let RejectedSubmission { task, handle, .. } = refused.downcast::<RejectedSubmission<i32>>().unwrap();
    task.run();
    assert_eq!(handle.join().unwrap(), 42);

    let refused = io::Error::from(pool.execute(|| ()).unwrap_err());
    assert!(matches!(refused.downcast::<RejectedExecution>().unwrap().reason, RejectReason::Shutdown));
}

#[test]
fn a_cancelled_task_is_not_mistaken_for_the_cancel_of_its_joiner() {
    let task = FutureTask::new(|| ());
    task.handle.cancel();
    let error = io::Error::from(task.handle.join().unwrap_err());
    let error = Cancelled::from_io(error).unwrap_err();
    assert!(matches!(error.downcast::<JoinError<()>>().unwrap(), JoinError::Cancelled(_)));
}

#[test]
fn a_cut_short_becomes_an_io_error() {
    let cancelled = CutShort::Interrupted(Cancelled);
    assert!(Cancelled::from_io(cancelled.into()).is_ok());
}

#[test]
fn a_fallible_body_ends_as_cancelled_or_with_its_own_error() {
    type Boxed = Box<dyn Error + Send + Sync>;

    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(4));
        let begun = Arc::new(Latch::new(4));
        let naps = [true, false].map(|in_io| {
            let begun = Arc::clone(&begun);
            let nap = move |token: &CancelToken| {
                begun.count_down();
                let nap = token.sleep(LONG);
                if in_io { Ok::<_, Boxed>(nap.map_err(io::Error::from)?) } else { Ok(nap?) }
            };
            pool.submit_fallible(nap).unwrap()
        });
        let waits = Arc::clone(&begun);
        let io_nap = pool.submit_fallible(move |token| {
            waits.count_down();
            token.sleep(LONG)?;
            Ok::<_, io::Error>(())
        });
        let io_nap = io_nap.unwrap();
        begun.count_down();
        begun.wait().unwrap();
        let failed = FutureTask::fallible(|_| Err::<(), _>(io::Error::from(io::ErrorKind::NotFound)));
        failed.task.run();
        assert_eq!(failed.handle.join().unwrap().unwrap_err().kind(), io::ErrorKind::NotFound);
        let failed = FutureTask::fallible(|_| Err::<(), Boxed>("no such order".into()));
        failed.task.run();
        assert_eq!(failed.handle.join().unwrap().unwrap_err().to_string(), "no such order");

        // These outcomes come from the bodies, not from a cancellation by the handles.
        drop(pool.shutdown_now());
        for nap in naps {
            assert!(matches!(nap.join(), Err(JoinError::Cancelled(_))));
        }
        assert!(matches!(io_nap.join(), Err(JoinError::Cancelled(_))));
        pool.close();
    });
}

#[test]
fn a_fallible_body_that_is_refused_comes_back() {
    let pool = ThreadPoolExecutor::single();
    pool.shutdown();
    let refused = pool.submit_fallible(|_| Ok::<_, io::Error>(7)).unwrap_err();
    refused.task.run();
    assert_eq!(refused.handle.state(), TaskState::Completed);
    assert!(blocked(move || refused.handle.join()).result().is_ok());
}
