//! The child processes that the tests start. Each child process runs one ignored test, and this test proves
//! nothing by itself.

use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use executor::fork_join::ForkJoinPool;
use executor::shutdown_hooks::{Shutdown, ShutdownGuard, ShutdownHooks};
use executor::{
    CancelToken, DirectExecutor, FutureTask, Latch, Promise, SerialExecutor, Task, ThreadPoolExecutor,
    dump_at_sigquit, panics, prelude::*,
};
use rustix::process::{Signal, getpid, kill_process};

use crate::process::LONG;

/// A deadline that passes during the test.
pub(crate) const SOON: Duration = Duration::from_secs(1);

/// Reports an event to the test in a separate line, because the test harness also writes to standard output.
fn say(what: impl std::fmt::Display) {
    let mut stdout = std::fs::OpenOptions::new().write(true).open("/dev/stdout").unwrap();
    stdout.write_all(format!("\n@{what}\n").as_bytes()).unwrap();
}

fn install(deadline: Duration) -> ShutdownGuard {
    ShutdownHooks::builder().deadline(deadline).install().unwrap()
}

fn add(shutdown: &ShutdownHooks, name: &'static str) {
    shutdown.add(name, move |_| say(name)).unwrap();
}

/// Adds a hook that also reports why the process ends.
fn add_with_cause(shutdown: &ShutdownHooks, name: &'static str) {
    let hook = move |shutdown: &Shutdown<'_>| say(format_args!("{name}: {:?}", shutdown.cause()));
    shutdown.add(name, hook).unwrap();
}

fn wait_for_the_end() -> ! {
    thread::sleep(2 * LONG);
    panic!("the process has not ended");
}

/// Sends a signal to the process, as another process would do.
fn terminate() -> ! {
    kill_process(getpid(), Signal::TERM).unwrap();
    wait_for_the_end()
}

/// Defines the test function that a child process runs.
macro_rules! child {
    ($name:ident $body:block) => {
        #[test]
        #[ignore = "a process that another test starts"]
        fn $name() $body
    };
}

child!(three_hooks {
    let shutdown = install(LONG);
    for name in ["a", "b", "c"] {
        add(&shutdown, name);
    }
    say("ready");
    wait_for_the_end();
});

child!(returns {
    let shutdown = install(LONG);
    add_with_cause(&shutdown, "a");
    add(&shutdown, "b");
    drop(shutdown);
    say("main goes on");
});

child!(returns_after_a_signal {
    let shutdown = install(LONG);
    let runs = Arc::new(Latch::new(1));
    let running = Arc::clone(&runs);
    shutdown.add("a", move |_| {
        running.count_down();
        thread::sleep(SOON); // in this time, a `main` that does not wait would end the process
        say("a");
    }).unwrap();
    kill_process(getpid(), Signal::TERM).unwrap();
    runs.wait().unwrap();
    drop(shutdown);
    say("main goes on");
});

child!(unwinds {
    let shutdown = install(LONG);
    add_with_cause(&shutdown, "a");
    panic!("main fails");
});

child!(exits {
    let shutdown = install(LONG);
    add_with_cause(&shutdown, "a");
    add(&shutdown, "b");
    shutdown.exit(7);
});

child!(exits_in_a_hook {
    let shutdown = install(LONG);
    add_with_cause(&shutdown, "a");
    let own = ShutdownHooks::clone(&shutdown);
    shutdown.add("b", move |_| {
        say("b");
        own.exit(9);
    }).unwrap();
    add(&shutdown, "c");
    terminate();
});

child!(exits_in_a_hook_and_has_a_handler {
    let report = |report: &panics::PanicReport<'_>| say(format_args!("reported: {report}"));
    panics::set_handler(Arc::new(report));
    let shutdown = install(LONG);
    add(&shutdown, "a");
    let own = ShutdownHooks::clone(&shutdown);
    shutdown.add("b", move |_| own.exit(9)).unwrap();
    terminate();
});

child!(exits_in_a_hook_that_panics {
    struct Exits(ShutdownHooks);
    impl Drop for Exits {
        fn drop(&mut self) {
            self.0.exit(9);
        }
    }
    let shutdown = install(LONG);
    add(&shutdown, "a");
    let exits = Exits(ShutdownHooks::clone(&shutdown));
    shutdown.add("b", move |_| {
        let _exits = exits;
        panic!("it failed");
    }).unwrap();
    add(&shutdown, "c");
    terminate();
});

/// Runs a process in which a hook calls `exit` directly or through nested calls.
fn exits_by(how: fn(ShutdownHooks)) {
    let report = |report: &panics::PanicReport<'_>| say(format_args!("reported: {report}"));
    panics::set_handler(Arc::new(report));
    let shutdown = install(LONG);
    add_with_cause(&shutdown, "a");
    for name in ["b1", "b2"] {
        let own = ShutdownHooks::clone(&shutdown);
        shutdown
            .add(name, move |_| {
                say(name);
                how(own);
                say("the hook goes on");
            })
            .unwrap();
    }
    add(&shutdown, "c");
    terminate();
}

/// Calls `exit`. The closure of a hook returns `()`, so this function does not have the return type `!`.
fn exit(hooks: &ShutdownHooks) {
    hooks.exit(9);
}

struct Exits(ShutdownHooks);

impl Drop for Exits {
    fn drop(&mut self) {
        exit(&self.0);
    }
}

child!(exits_in_on_cancel {
    exits_by(|hooks| {
        let token = CancelToken::new();
        token.on_cancel(move || exit(&hooks)).keep();
        token.cancel();
    });
});

child!(exits_in_on_done {
    exits_by(|hooks| {
        let (promise, handle) = Promise::new();
        handle.on_done(move |_| exit(&hooks));
        promise.complete(()).unwrap();
    });
});

child!(exits_in_on_done_of_a_shared_handle {
    exits_by(|hooks| {
        let (promise, handle) = Promise::new();
        handle.shared().on_done(move |_| exit(&hooks));
        promise.complete(()).unwrap();
    });
});

child!(exits_in_a_destructor {
    exits_by(|hooks| {
        let exits = Exits(hooks);
        drop(FutureTask::new(move || drop(exits)));
    });
});

child!(exits_in_a_destructor_of_a_result {
    exits_by(|hooks| {
        let (promise, handle) = Promise::new();
        drop(handle);
        drop(promise.complete(Exits(hooks)));
    });
});

child!(exits_in_a_task {
    exits_by(|hooks| DirectExecutor.execute(move || exit(&hooks)).unwrap());
});

child!(exits_in_a_task_of_a_line {
    exits_by(|hooks| {
        let line = SerialExecutor::over(DirectExecutor);
        let _handle = line.submit(move || exit(&hooks)).unwrap();
    });
});

child!(exits_in_a_scope {
    exits_by(|hooks| {
        DirectExecutor.scope(|scope| scope.spawn(|| exit(&hooks)).unwrap()).unwrap();
    });
});

child!(exits_in_a_computation {
    exits_by(|hooks| {
        let pool = ForkJoinPool::new(1).unwrap();
        let _never = pool.invoke(|| exit(&hooks)); // the runner is a guest there
    });
});

child!(exits_in_a_panic_handler {
    exits_by(|hooks| {
        let exits = move |_: &panics::PanicReport<'_>| exit(&hooks);
        panics::set_handler(Arc::new(exits));
        DirectExecutor.execute(|| panic!("no joiner reads it")).unwrap();
    });
});

child!(exits_in_a_catch_unwind {
    exits_by(|hooks| drop(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| exit(&hooks)))));
});

child!(exits_after_the_hooks {
    let shutdown = install(LONG);
    add(&shutdown, "a");
    let own = ShutdownHooks::clone(&shutdown);
    drop(shutdown);
    own.exit(5);
});

child!(chooses_the_status {
    let shutdown = install(LONG);
    shutdown.add("a", |shutdown| {
        shutdown.set_status(0);
        say(format_args!("a: {:?}", shutdown.cause()));
    }).unwrap();
    terminate();
});

child!(chooses_a_status_that_main_does_not_have {
    let shutdown = install(LONG);
    shutdown.add("a", |shutdown| {
        shutdown.set_status(3);
        say(format_args!("a: {:?}", shutdown.cause()));
    }).unwrap();
    drop(shutdown);
    say("main goes on");
});

child!(has_the_guard_in_a_hook {
    let guard = install(LONG);
    let shutdown = ShutdownHooks::clone(&guard);
    add(&shutdown, "a");
    shutdown.add("b", move |_| {
        drop(guard);
        say("b");
    }).unwrap();
    add(&shutdown, "c");
    terminate();
});

child!(asks_for_the_time {
    let shutdown = install(LONG);
    shutdown.add("a", |shutdown| {
        let left = shutdown.left();
        say(format_args!("in time: {}", LONG / 2 < left && left <= LONG));
    }).unwrap();
});

child!(requested {
    let shutdown = install(LONG);
    let run = Arc::new(Latch::new(1));
    let has_run = Arc::clone(&run);
    shutdown.add("z", move |_| run.count_down()).unwrap();
    add_with_cause(&shutdown, "a");
    assert!(shutdown.begin());
    assert!(!shutdown.begin());
    has_run.wait().unwrap();
    say("main goes on");
});

child!(requested_and_hangs {
    let shutdown = install(LONG);
    shutdown.begin();
    say("ready");
    wait_for_the_end();
});

/// Adds three hooks: the hook that runs second blocks, so the hook that would run last never runs.
fn hooks_that_block(shutdown: &ShutdownHooks) {
    add(shutdown, "a");
    shutdown.add("blocks", |_| thread::sleep(2 * LONG)).unwrap();
    add(shutdown, "b");
}

child!(blocks_after_a_signal {
    let shutdown = install(SOON);
    hooks_that_block(&shutdown);
    terminate();
});

child!(blocks_at_the_end {
    let shutdown = install(SOON);
    hooks_that_block(&shutdown);
});

child!(blocks_after_exit {
    let shutdown = install(SOON);
    hooks_that_block(&shutdown);
    shutdown.exit(0);
});

child!(blocks_after_a_request {
    let shutdown = install(SOON);
    add(&shutdown, "b"); // here it is `main` that does not end
    shutdown.begin();
    wait_for_the_end();
});

child!(blocks_with_a_status {
    let shutdown = ShutdownHooks::builder().deadline(SOON).status_at_deadline(3).install().unwrap();
    hooks_that_block(&shutdown);
    terminate();
});

child!(hangs_in_a_hook {
    let shutdown = install(Duration::MAX);
    hooks_that_block(&shutdown);
    say("ready");
    wait_for_the_end();
});

child!(panics {
    let report = |report: &panics::PanicReport<'_>| say(format_args!("reported: {report}"));
    panics::set_handler(Arc::new(report));
    let shutdown = install(LONG);
    add(&shutdown, "a");
    shutdown.add("b", |_| panic!("it failed")).unwrap();
    add(&shutdown, "c");
    terminate();
});

child!(panics_soon {
    let shutdown = install(SOON);
    add(&shutdown, "a");
    shutdown.add("panics", |_| panic!("it failed")).unwrap();
    add(&shutdown, "b");
    say("ready");
    wait_for_the_end();
});

child!(writes_much {
    let shutdown = install(SOON);
    add(&shutdown, "a");
    shutdown.add("writes", |_| {
        let _ = std::io::stderr().write_all(&vec![b'.'; 1 << 20]);
    }).unwrap();
    add(&shutdown, "b");
    say("ready");
    wait_for_the_end();
});

child!(cannot_flush {
    let _shutdown = install(SOON);
    // The code opens the pipe a second time, so that only the new file description is non-blocking.
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK;
    let pipe = rustix::fs::open("/dev/stdout", flags, rustix::fs::Mode::empty()).unwrap();
    print!("half a line, which stays in the buffer");
    while rustix::io::write(&pipe, b"fills the pipe").is_ok() {}
    terminate();
});

child!(changes_hooks_too_late {
    let shutdown = install(LONG);
    let a = shutdown.add("a", |_| say("a")).unwrap();
    let own = ShutdownHooks::clone(&shutdown);
    shutdown.add("b", move |_| {
        say(format_args!("add: {}", own.add("d", |_| say("d")).unwrap_err()));
        say(format_args!("remove: {}", a.remove().unwrap_err()));
    }).unwrap();
    add(&shutdown, "c");
    terminate();
});

child!(removes {
    struct Dropped;
    impl Drop for Dropped {
        fn drop(&mut self) {
            say("b was dropped");
        }
    }
    let shutdown = install(LONG);
    add(&shutdown, "a");
    let captured = Dropped;
    let b = shutdown.add("b", move |_| drop(captured)).unwrap();
    add(&shutdown, "c");
    b.remove().unwrap();
    terminate();
});

child!(installs_twice {
    let shutdown = install(LONG);
    add(&shutdown, "a");
    say(format_args!("{:?}", ShutdownHooks::builder().install().unwrap_err().kind()));
});

child!(ends_a_pool {
    let shutdown = install(LONG);
    add(&shutdown, "log");
    let pool = Arc::new(ThreadPoolExecutor::single());
    shutdown.add_pool("pool", &pool, LONG).unwrap();
    let (tell, told) = mpsc::channel();
    pool.execute(move || {
        tell.send(()).unwrap();
        CancelToken::current().sleep(Duration::from_millis(50)).unwrap(); // the hook's token is not cancelled
        say("quick task done");
    }).unwrap();
    told.recv().unwrap();
    terminate();
});

child!(cancels_a_pool {
    struct Waits {
        cancelled: Arc<Latch>,
    }
    impl Drop for Waits {
        fn drop(&mut self) {
            self.cancelled.wait_timeout(LONG).unwrap();
            say("the other never began");
        }
    }
    let shutdown = install(LONG);
    add(&shutdown, "log");
    let pool = Arc::new(ThreadPoolExecutor::single());
    shutdown.add_pool("pool", &pool, Duration::from_millis(50)).unwrap();
    let (tell, told) = mpsc::channel();
    let waits = Waits { cancelled: Arc::new(Latch::new(1)) };
    let cancelled = Arc::clone(&waits.cancelled);
    pool.execute(move || {
        tell.send(()).unwrap();
        CancelToken::current().sleep(2 * LONG).unwrap_err();
        say("slow task cancelled");
        cancelled.count_down();
    }).unwrap();
    pool.execute(move || drop(waits)).unwrap();
    told.recv().unwrap();
    terminate();
});

child!(waits_for_a_pool_that_it_has_stopped {
    let shutdown = install(LONG);
    add(&shutdown, "log");
    let pool = Arc::new(ThreadPoolExecutor::single());
    shutdown.add_pool("pool", &pool, Duration::ZERO).unwrap();
    let (tell, told) = mpsc::channel();
    pool.execute(move || {
        tell.send(()).unwrap();
        CancelToken::current().sleep(2 * LONG).unwrap_err();
        thread::sleep(SOON / 4); // in this time, a hook that does not wait would end
        say("task ended");
    }).unwrap();
    told.recv().unwrap();
    terminate();
});

child!(has_lost_its_pool {
    let shutdown = install(LONG);
    add(&shutdown, "log");
    let pool = Arc::new(ThreadPoolExecutor::single());
    shutdown.add_pool("pool", &pool, LONG).unwrap();
    drop(pool);
    say("pool dropped");
    terminate();
});

child!(works_hard {
    let shutdown = install(LONG);
    for name in ["1", "2"] {
        add(&shutdown, name);
    }
    let pool = Arc::new(ThreadPoolExecutor::fixed(4));
    let ended = Arc::clone(&pool);
    shutdown.add("pool", move |_| {
        drop(ended.shutdown_now());
        assert!(ended.await_termination(LONG));
        say("pool ended");
    }).unwrap();
    for name in ["4", "5"] {
        add(&shutdown, name);
    }
    say("ready");
    // The process runs tasks, drops results, allocates, and starts and ends threads. A signal may interrupt
    // any of these operations.
    while let Ok(task) = pool.submit(|| vec![1; 1_000].iter().sum::<usize>()) {
        let other = thread::spawn(|| "text".repeat(100));
        let _ = (task.join(), other.join());
    }
    wait_for_the_end();
});

#[test]
#[ignore = "a process that another test starts"]
fn dumps() {
    let shutdown = install(LONG);
    add(&shutdown, "a");
    dump_at_sigquit().unwrap();
    dump_at_sigquit().unwrap();
    let pool = ThreadPoolExecutor::builder().name("quit").build().unwrap();
    let (tell, is_stuck) = mpsc::channel();
    let stuck = Task::new(move || {
        let _held = std::io::stderr().lock();
        tell.send(()).unwrap();
        wait_for_the_end();
    });
    let later = Task::new(|| ()).named("later");
    let both = [stuck.named("stuck"), later].map(|task| pool.execute(task));
    assert!(both.iter().all(Result::is_ok));
    is_stuck.recv().unwrap();
    say("ready");
    wait_for_the_end();
}
