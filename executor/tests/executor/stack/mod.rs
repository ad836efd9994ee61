//! Tests of chains that have a hundred thousand links. The library calls, drops or runs each link as a
//! consequence of the previous link. A longer chain must not need more stack, so the thread of each test has
//! only two megabytes of stack.

mod callbacks; // callbacks that cause the next one, and wait
mod owners; // values that are each the last owner of the next

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use executor::fork_join::{ForkJoinPool, fork};
use executor::{
    Attached, CancelToken, DirectExecutor, FutureTask, Latch, OnStarvation, Scope, SerialExecutor,
    ThreadPoolExecutor, prelude::*,
};

use crate::support::{LONG, within_deadline};

const LINKS: usize = 100_000;

/// The length of a chain in which each link searches for a thread that could continue. Without special
/// treatment by the library, a stack would have room for only some hundreds of these links.
const SOME: usize = 20_000;

/// Runs a test on a stack of two megabytes, no matter what the environment variables say, and fails if the
/// test does not end in time.
fn on_two_megabytes(test: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let run = move || {
        let result = catch_unwind(AssertUnwindSafe(test));
        let _ = done.send(result); // fails only if the test has given up
    };
    thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap();
    match is_done.recv_timeout(2 * LONG) {
        Ok(Ok(())) => {}
        Ok(Err(panic)) => resume_unwind(panic),
        Err(error) => panic!("the test hangs: {error}"),
    }
}

// ----- tokens -----

#[test]
fn a_chain_of_tokens_is_cancelled_and_dropped() {
    on_two_megabytes(|| {
        let first = CancelToken::new();
        let mut last = first.clone();
        for n in 0..LINKS {
            last = if n % 2 == 0 { last.child() } else { CancelToken::linked([&last, &first]) };
        }
        let limited = last.with_timeout(Duration::from_hours(1));
        first.cancel();
        assert!(limited.is_cancelled());
        drop(first);
        drop(last);
        drop(limited);
    });
}

#[test]
fn guards_that_have_ended_below_a_task() {
    thread_local! {
        static GUARDS: RefCell<Vec<Attached>> = const { RefCell::new(Vec::new()) };
    }

    on_two_megabytes(|| {
        let (outer, inner) = (CancelToken::new(), CancelToken::new());
        let cancels = outer.clone();
        let is_cancelled = outer.attach(|| {
            GUARDS.set((0..LINKS).map(|_| inner.attached()).collect());
            let FutureTask { task, handle } = FutureTask::new(move || {
                drop(GUARDS.take());
                let current = CancelToken::current();
                cancels.cancel();
                current.is_cancelled()
            });
            task.run();
            handle.join().unwrap()
        });
        assert!(is_cancelled, "its token hangs below the token below the guards");
    });
}

// ----- tasks that are run in between -----

/// While a task of a strand runs, it submits another task to the same strand. The new task must not run while
/// the first task is still on the stack.
#[test]
fn tasks_of_a_line_over_the_submitter_each_of_which_submits_the_next() {
    fn submit(line: &Arc<SerialExecutor<DirectExecutor>>, left: usize, ran: &Arc<AtomicUsize>) {
        if left > 0 {
            let (own, count) = (Arc::clone(line), Arc::clone(ran));
            line.execute(move || {
                count.fetch_add(1, Ordering::Relaxed);
                submit(&own, left - 1, &count);
            })
            .unwrap();
        }
    }

    for line in [SerialExecutor::over(DirectExecutor), SerialExecutor::over(DirectExecutor).turns_of(1)] {
        on_two_megabytes(move || {
            let ran = Arc::new(AtomicUsize::new(0));
            submit(&Arc::new(line), LINKS, &ran);
            assert_eq!(ran.load(Ordering::Relaxed), LINKS);
        });
    }
}

/// The only thread of the pool waits in the scope, so the scope itself runs all tasks.
#[test]
fn tasks_of_a_scope_each_of_which_spawns_the_next() {
    fn link<'scope>(scope: &'scope Scope<'scope, '_>, left: usize, ran: &'scope AtomicUsize) {
        ran.fetch_add(1, Ordering::Relaxed);
        if left > 0 {
            scope.spawn(move || link(scope, left - 1, ran)).unwrap();
        }
    }

    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let own = Arc::clone(&pool);
        let task = pool.submit(move || {
            let ran = AtomicUsize::new(0);
            own.scope(|scope| link(scope, LINKS, &ran)).unwrap();
            ran.into_inner()
        });
        assert_eq!(task.unwrap().join_timeout(LONG).unwrap(), LINKS + 1);
    });
}

/// Each task waits for the task that was forked just before it. So if a worker takes the newest task first,
/// the worker has all the tasks on its stack.
#[test]
fn forks_each_of_which_joins_the_one_before() {
    within_deadline(|| {
        for (threads, links) in [(1, SOME), (2, LINKS)] {
            let pool = ForkJoinPool::builder().threads(threads).stack_size(2 << 20).build().unwrap();
            let chain = move || {
                let mut last = fork(|| 0_usize);
                for _ in 0..links {
                    last = fork(move || last.join().map_or(0, |n| n + 1)); // a task that starves begins anew
                }
                last.join()
            };
            let deep = pool.submit(chain).unwrap().join().unwrap();
            assert!(
                matches!(deep, Ok(n) if n > 100) || threads > 1,
                "it helps as long as there is room: {deep:?}"
            );
            assert!(pool.await_quiescence(LONG));
        }
    });
}

/// While the threads of the pool wait, they help to run the tasks. Each task submits the next task and waits
/// for it; the next task runs on the stack of the waiting task, up to the permitted depth.
#[test]
fn tasks_of_a_pool_that_helps_each_of_which_joins_the_next() {
    fn link(pool: &Arc<ThreadPoolExecutor>, left: usize, all: &Arc<Latch>) {
        all.count_down();
        if left > 0 {
            let (own, others) = (Arc::clone(pool), Arc::clone(all));
            let next = pool.submit(move || link(&own, left - 1, &others)).unwrap();
            let _value_or_starved = next.join();
        }
    }

    within_deadline(|| {
        let helps = OnStarvation::Help { depth: 8 };
        let pool = ThreadPoolExecutor::builder().threads(1).on_starvation(helps).build().unwrap();
        let (pool, all) = (Arc::new(pool), Arc::new(Latch::new(SOME + 1)));
        let (own, others) = (Arc::clone(&pool), Arc::clone(&all));
        pool.execute(move || link(&own, SOME, &others)).unwrap();
        all.wait_timeout(LONG).unwrap();
        pool.close();
    });
}
