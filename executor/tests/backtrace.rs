//! If the panic hook of this library is installed, the report of a panic has a backtrace. This test runs in a
//! separate process, because a process has only one panic hook.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use executor::panics::{PanicReport, install_hook};
use executor::{ExecutorService, JoinError, Panic, Promise, ThreadPoolExecutor, prelude::*};

#[inline(never)]
fn the_place_of_the_panic() {
    panic!("where am I?");
}

fn panic_of(pool: &ThreadPoolExecutor) -> Panic {
    match pool.submit(the_place_of_the_panic).unwrap().join() {
        Err(JoinError::Panicked(panic)) => panic,
        other => panic!("{other:?}"),
    }
}

fn failed_with(payload: Box<dyn std::any::Any + Send>) -> Panic {
    let (promise, handle) = Promise::<()>::new();
    promise.panic_with(payload).unwrap();
    match handle.join() {
        Err(JoinError::Panicked(panic)) => panic,
        other => panic!("{other:?}"),
    }
}

/// All these checks are in one test, because the order in which hooks are installed matters.
#[test]
fn an_installed_hook_gives_backtraces_and_calls_the_one_before() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let reports = Arc::new(Mutex::new(Vec::new()));
    let pool = ThreadPoolExecutor::builder().panic_handler({
        let reports = Arc::clone(&reports);
        move |report: &PanicReport<'_>| reports.lock().unwrap().push(report.to_string())
    });
    let pool = pool.build().unwrap();

    std::panic::set_hook(Box::new(|info| {
        CALLS.fetch_add(1, Ordering::SeqCst);
        eprintln!("{info}"); // or the output would not say which assertion failed
    }));
    assert!(panic_of(&pool).backtrace().is_none(), "the hook is not installed yet");
    assert_eq!(CALLS.load(Ordering::SeqCst), 1);

    install_hook();
    install_hook(); // a second call does nothing
    let panic = panic_of(&pool);
    assert_eq!(CALLS.load(Ordering::SeqCst), 2, "the hook that was there is called, once");
    let backtrace = panic.backtrace().expect("it was asked for").to_string();
    assert!(backtrace.contains("the_place_of_the_panic"), "{backtrace}");
    assert_eq!((panic.message(), panic.thread()), ("where am I?", Some("pool-1-thread-1")));

    // `resume_unwind` does not call the hook. So the report has no backtrace, not even the backtrace of an
    // earlier panic.
    let resumed = pool.submit(|| std::panic::resume_unwind(Box::new("again"))).unwrap();
    match resumed.join() {
        Err(JoinError::<()>::Panicked(panic)) => assert!(panic.backtrace().is_none()),
        other => panic!("{other:?}"),
    }

    // A report has a backtrace only if this thread has just caught the report's payload. An earlier panic on
    // this thread has no effect on the report.
    let caught = std::panic::catch_unwind(the_place_of_the_panic).unwrap_err();
    assert!(failed_with(Box::new("another payload")).backtrace().is_none());
    assert!(failed_with(caught).backtrace().is_none(), "its backtrace was thrown away by then");
    let caught = std::panic::catch_unwind(the_place_of_the_panic).unwrap_err();
    let backtrace = failed_with(caught).backtrace().expect("it was caught here").to_string();
    assert!(backtrace.contains("the_place_of_the_panic"), "{backtrace}");

    pool.execute(the_place_of_the_panic).unwrap();
    pool.close();
    drop(std::panic::take_hook());
    let reports = reports.lock().unwrap();
    assert!(reports.len() == 1 && reports[0].contains("where am I?\n"), "{reports:?}");
    assert!(reports[0].contains("the_place_of_the_panic"), "{reports:?}");
}
