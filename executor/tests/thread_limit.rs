//! Tests how the library behaves when the system cannot start any more threads. This test runs in a separate
//! process, because the limit is for the whole process: the limit leaves no memory for another thread's
//! stack.
#![cfg(target_os = "linux")]

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use executor::{
    ExecutorService, Outcome, RejectReason, TaskState, ThreadPerTaskExecutor, ThreadPoolExecutor, prelude::*,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const LONG: Duration = Duration::from_secs(10);

/// While this value exists, no new thread can be started.
struct NoMoreThreads(Rlimit);

impl NoMoreThreads {
    fn begin() -> Self {
        const ROOM_FOR_SMALL_THINGS: u64 = 512 * 1024; // a thread's stack takes two megabytes
        let before = getrlimit(Resource::As);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
        let kilobytes: u64 = size.trim().strip_suffix(" kB").unwrap().parse().unwrap();
        let limit = kilobytes * 1024 + ROOM_FOR_SMALL_THINGS;
        setrlimit(Resource::As, Rlimit { current: Some(limit), maximum: before.maximum }).unwrap();
        Self(before)
    }
}

impl Drop for NoMoreThreads {
    fn drop(&mut self) {
        setrlimit(Resource::As, Rlimit { current: self.0.current, maximum: self.0.maximum }).unwrap();
    }
}

/// All these checks are in one test, because the limit holds for the whole process.
#[test]
fn without_threads_to_be_had_tasks_come_back_or_make_do_with_the_threads_there_are() {
    let pool = ThreadPoolExecutor::fixed(2);
    pool.submit(|| ()).unwrap().join_timeout(LONG).unwrap();
    assert_eq!(pool.stats().threads, 1);
    let short_of_threads = NoMoreThreads::begin();

    a_thread_per_task_gives_the_task_back();
    let empty = ThreadPoolExecutor::fixed(1);
    a_pool_without_a_thread_gives_the_task_back(&empty);
    for n in 0..100 {
        // The system cannot start the second thread. So the submitter must wake the first thread, which is
        // idle.
        assert_eq!(pool.submit(move || n).unwrap().join_timeout(LONG).unwrap(), n);
    }
    assert_eq!((pool.stats().threads, pool.stats().completed), (1, 101));

    drop(short_of_threads);
    assert_eq!(empty.submit(|| 1).unwrap().join_timeout(LONG).unwrap(), 1);
    assert_eq!(empty.stats().threads, 1, "without a thread it asks for one at once");
    let deadline = Instant::now() + LONG; // with a thread, it waits up to a second before it asks for another
    while pool.stats().threads == 1 {
        assert!(Instant::now() < deadline, "it has not recovered");
        assert_eq!(pool.submit(|| 1).unwrap().join_timeout(LONG).unwrap(), 1);
    }
    empty.shutdown();
    assert!(empty.await_termination(LONG));
}

fn a_thread_per_task_gives_the_task_back() {
    let executor = ThreadPerTaskExecutor::new();
    // The system may still have memory for one or two stacks, so a few attempts can succeed. The tasks do
    // not end during the attempts.
    let release = Arc::new((Mutex::new(false), Condvar::new()));
    let rejected = (0..64)
        .find_map(|_| {
            let release = Arc::clone(&release);
            let task = move || drop(release.1.wait_timeout_while(release.0.lock().unwrap(), LONG, |go| !*go));
            executor.submit(task).err()
        })
        .expect("the limit is reached");
    *release.0.lock().unwrap() = true;
    release.1.notify_all();

    assert!(matches!(rejected.reason, RejectReason::NoThread(_)), "{rejected}");
    assert!(rejected.to_string().contains("no thread could be started"), "{rejected}");
    assert_eq!(rejected.handle.state(), TaskState::Pending);
    assert!(matches!(rejected.task.run(), Outcome::Completed));
    assert!(rejected.handle.join().is_ok());
}

fn a_pool_without_a_thread_gives_the_task_back(pool: &ThreadPoolExecutor) {
    let mut expected = pool.stats();
    expected.refused += 1;
    let rejected = pool.submit(|| 7).unwrap_err();
    assert!(matches!(rejected.reason, RejectReason::NoThread(_)), "{rejected}");
    assert!(matches!(rejected.task.run(), Outcome::Completed));
    assert_eq!(rejected.handle.join().unwrap(), 7);
    assert_eq!(pool.stats(), expected, "nothing else was counted");
}
