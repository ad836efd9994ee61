//! Tests the service with an allocator that logs at every call, on every thread: the service must never wait
//! for a lock that the same thread holds. Also tests that the service allocates no memory after its first lines.
#![expect(unsafe_code, reason = "an allocator is an unsafe trait")]

use logservice::{Level, LogHandle, LogService, Sink};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// A time limit; only a test that hangs reaches this limit.
const LONG: Duration = Duration::from_mins(1);

struct Talks;

static LOG: OnceLock<LogHandle> = OnceLock::new();
static IS_TALKING: AtomicBool = AtomicBool::new(false);

thread_local! {
    static ASKED: Cell<u64> = const { Cell::new(0) };
}

fn tell_of(size: usize) {
    let _ = ASKED.try_with(|asked| asked.set(asked.get() + 1));
    if let Some(log) = LOG.get().filter(|_| IS_TALKING.load(Ordering::Relaxed)) {
        let _ = log.say(Level::Trace, "allocator", format_args!("{size} bytes"));
    }
}

// SAFETY: every call is passed to the system allocator with the same arguments; logging does not touch the
// allocated memory.
unsafe impl GlobalAlloc for Talks {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        tell_of(layout.size());
        // SAFETY: the caller fulfils the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller fulfils the contract of `dealloc`, and this allocator's `alloc` took this memory
        // from the system allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Talks = Talks;

static TAKEN: AtomicU64 = AtomicU64::new(0);

struct Counts;

impl Sink for Counts {
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        drop(vec![0_u8; 100]); // the writer's own thread allocates, too
        TAKEN.fetch_add(memchr::memchr_iter(b'\n', lines).count() as u64, Ordering::Relaxed);
        Ok(lines.len())
    }

    fn name(&self) -> String {
        "a count".into()
    }
}

#[test]
fn an_allocator_may_log_and_a_warm_service_allocates_nothing() {
    let (tell, told) = mpsc::channel();
    let test = thread::spawn(move || {
        log_from_the_allocator();
        let _ = tell.send(());
    });
    let hangs = told.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout);
    IS_TALKING.store(false, Ordering::Relaxed); // otherwise the report of a failure would wait, too
    assert!(!hangs, "after {LONG:?}: a thread waits for itself");
    test.join().unwrap();
}

fn log_from_the_allocator() {
    let service = LogService::builder().start(Counts).unwrap();
    LOG.set(service.handle()).unwrap();

    IS_TALKING.store(true, Ordering::Relaxed);
    thread::scope(|scope| {
        for thread in 0..4 {
            let service = &service;
            scope.spawn(move || {
                for number in 0..1_000 {
                    let text = "x".repeat(number);
                    service.say(Level::Info, "test", format_args!("{thread} {number} {text}")).unwrap();
                }
            });
        }
    });
    IS_TALKING.store(false, Ordering::Relaxed);

    let before = ASKED.get();
    for number in 0..1_000 {
        service.say(Level::Info, "test", format_args!("{number}")).unwrap();
    }
    assert!(
        ASKED.get() - before <= 8,
        "this thread's line grows once, and then no more: {}",
        ASKED.get() - before
    );
    let before = ASKED.get();
    (0..1_000).for_each(|number| service.say(Level::Info, "test", format_args!("{number}")).unwrap());
    assert_eq!(ASKED.get(), before);

    let counts = service.stop(LONG);
    assert!(counts.accepted > 7_000, "the allocator was heard: {counts:?}");
    assert_eq!((counts.accepted, TAKEN.load(Ordering::Relaxed)), (counts.written, counts.written));
}
