//! The panic handler of the process gets the reports of panics for which no pool has a handler. This test
//! runs in a separate process, because a process has only one panic handler.

use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use executor::panics::{PanicHandler, PanicReport, set_handler, take_handler};
use executor::{
    DirectExecutor, Executor, ExecutorService, FutureTask, Promise, Task, ThreadPerTaskExecutor,
    ThreadPoolExecutor, prelude::*,
};

const LONG: Duration = Duration::from_secs(10);

type Heard = Arc<Mutex<Vec<String>>>;

fn recorder(heard: &Heard) -> Arc<dyn PanicHandler> {
    let heard = Arc::clone(heard);
    Arc::new(move |report: &PanicReport<'_>| {
        heard.lock().unwrap().push(format!("{} {}", report.task.unwrap_or("-"), report.message));
    })
}

fn fail() {
    resume_unwind(Box::new("oh")) // without calling the panic hook
}

/// Waits until the handler has got all the expected reports, and removes these reports from the list.
fn hear(heard: &Heard, expected: &[&str]) {
    let deadline = std::time::Instant::now() + LONG;
    while heard.lock().unwrap().len() < expected.len() {
        assert!(std::time::Instant::now() < deadline, "{:?}", heard.lock().unwrap());
        std::thread::yield_now();
    }
    assert_eq!(std::mem::take(&mut *heard.lock().unwrap()), expected);
}

/// A handler that reports each call. When the handler is dropped, its destructor reports the drop and then
/// panics.
struct Bomb(mpsc::Sender<()>, Mutex<mpsc::Receiver<()>>);
impl PanicHandler for Bomb {
    fn panicked(&self, _: &PanicReport<'_>) {
        self.0.send(()).unwrap();
        self.1.lock().unwrap().recv_timeout(LONG).unwrap();
    }
}
impl Drop for Bomb {
    fn drop(&mut self) {
        let _ = self.0.send(());
        resume_unwind(Box::new("the handler's drop"));
    }
}

/// All these checks are in one test, because a process has only one panic handler.
#[test]
fn the_handler_of_the_process_hears_of_what_no_pool_has_a_handler_for() {
    let heard = Heard::default();
    assert!(set_handler(recorder(&heard)).is_none());

    let pool = ThreadPoolExecutor::fixed(1);
    let executors: [&dyn Executor; 3] = [&pool, &DirectExecutor, &ThreadPerTaskExecutor::new()];
    for executor in executors {
        drop(executor.submit(FutureTask::new(fail).named("bad")).unwrap());
        hear(&heard, &["bad oh"]);
        assert!(executor.submit(fail).unwrap().join().is_err());
    }
    pool.execute(Task::new(fail).named("bad")).unwrap();
    hear(&heard, &["bad oh"]);

    let FutureTask { task, handle } = FutureTask::new(fail);
    let id = task.id();
    task.run();
    drop(handle);
    hear(&heard, &[&format!("{id} oh")]);

    let (promise, handle) = Promise::<()>::new();
    let id = promise.id();
    drop(handle);
    assert!(promise.panic_with(Box::new("oh")).is_ok());
    hear(&heard, &[&format!("{id} oh")]);

    let (promise, handle) = Promise::<()>::new();
    assert!(handle.cancel());
    assert!(promise.panic_with(Box::new("oh")).is_err(), "the caller gets it back");

    let (_promise, handle) = Promise::<()>::new();
    let shared = handle.shared();
    shared.on_done(|_| fail());
    shared.on_done(|_| ());
    assert!(shared.cancel());
    hear(&heard, &["- oh"]);

    let own = Heard::default();
    let handler = recorder(&own);
    for _ in 0..2 {
        let told = ThreadPoolExecutor::builder().panic_handler(Arc::clone(&handler)).build().unwrap();
        told.execute(Task::new(fail).named("bad")).unwrap();
        told.close();
        hear(&own, &["bad oh"]);
    }
    assert_eq!(*heard.lock().unwrap(), [""; 0], "the pool's own handler takes its place");

    let second = Heard::default();
    let first = set_handler(recorder(&second)).expect("the handler that was set before");
    pool.execute(Task::new(fail).named("bad")).unwrap();
    hear(&second, &["bad oh"]);
    assert_eq!(*heard.lock().unwrap(), [""; 0]);
    drop(set_handler(first).expect("the second"));
    pool.execute(Task::new(fail).named("bad")).unwrap();
    pool.close();
    hear(&heard, &["bad oh"]);
    assert_eq!(*second.lock().unwrap(), [""; 0], "the first was put back");

    // Another thread removes the handler while a worker calls this handler, so the worker drops the handler.
    let ((tell, told), (release, released)) = (mpsc::channel(), mpsc::channel());
    drop(set_handler(Arc::new(Bomb(tell, Mutex::new(released)))));
    let pool = ThreadPoolExecutor::single();
    let worker = pool.submit(|| std::thread::current().id()).unwrap().join().unwrap();
    pool.execute(fail).unwrap();
    told.recv_timeout(LONG).unwrap();
    drop(take_handler());
    release.send(()).unwrap();
    told.recv_timeout(LONG).expect("it is dropped by the worker");
    let same = pool.submit(|| std::thread::current().id()).unwrap().join_timeout(LONG).unwrap();
    assert_eq!(same, worker, "the thread has survived it");
}
