//! Tests the events that `NamedThreads` logs about its threads. This test runs in a separate process, because
//! the test sets the subscriber of the whole process.

use std::fmt::{self, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use executor::{HandOffQueue, NamedThreads, RejectReason, ThreadPoolExecutor, prelude::*};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// A subscriber that records each event of the library as a line.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("executor")
    }

    fn event(&self, event: &Event<'_>) {
        assert_eq!(
            (event.metadata().level(), event.metadata().target()),
            (&Level::DEBUG, "executor::threads")
        );
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    // The library has no spans.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let name = field.name();
        let written =
            if name == "message" { write!(self.0, "{value:?}") } else { write!(self.0, " {name}={value:?}") };
        written.unwrap();
    }
}

/// Returns the events about one factory's threads, as soon as there are `number` events.
fn heard_of(listener: &Listener, name: &str, number: usize) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let all = listener.0.lock().unwrap().clone();
        let of_it: Vec<_> = all.into_iter().filter(|line| line.contains(name)).collect();
        if of_it.len() >= number {
            return of_it;
        }
        assert!(Instant::now() < deadline, "only {of_it:#?}");
        thread::yield_now();
    }
}

/// All these checks are in one test, because a process has only one subscriber.
#[test]
fn a_thread_is_told_of_when_it_begins_when_it_ends_and_when_it_is_refused() {
    let listener = Listener::default();
    tracing::subscriber::set_global_default(listener.clone()).unwrap();

    let pool = ThreadPoolExecutor::builder().core_threads(0).maximum_threads(2).queue(HandOffQueue::new());
    let pool = pool.name("heard").build().unwrap();
    let begun = pool.submit(|| thread::current().name().map(str::to_owned)).unwrap().join().unwrap();
    assert_eq!(begun.as_deref(), Some("heard-thread-1"));
    // The thread itself logs this event before its first task, so the log already contains this line.
    assert_eq!(heard_of(&listener, "heard", 0), [r#"a thread begins thread="heard-thread-1" alive=1"#]);
    pool.close();
    assert_eq!(
        heard_of(&listener, "heard", 2)[1..],
        [r#"a thread has ended thread="heard-thread-1" alive=0"#]
    );

    // This stack is larger than the address space.
    let threads = Arc::new(NamedThreads::new("refused").stack_size(usize::MAX / 4));
    let pool = ThreadPoolExecutor::builder().thread_factory(threads.clone()).build().unwrap();
    let refused = pool.execute(|| ()).unwrap_err();
    let RejectReason::NoThread(error) = refused.reason else { panic!("{refused}") };
    assert_eq!(
        heard_of(&listener, "refused", 0),
        [format!(r#"a thread could not be started thread="refused-thread-1" alive=0 error={error}"#)]
    );
    assert_eq!((threads.created(), threads.alive()), (0, 0));
}
