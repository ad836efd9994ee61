//! Chains of callbacks, wakers and destructors: each link first triggers the next link and then waits.

use std::cell::RefCell;
use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

use executor::{CancelToken, Latch, Promise, TaskHandle};

use super::{LINKS, on_two_megabytes};
use crate::support::{LONG, within_deadline};

/// Blocks for a very short time, in one of the library's waits.
fn blocks() {
    CancelToken::new().sleep(Duration::from_nanos(1)).unwrap();
}

#[test]
fn callbacks_that_complete_the_next_promise_and_then_wait() {
    on_two_megabytes(|| {
        let (first, mut last) = Promise::new();
        for _ in 0..LINKS {
            let (next, handle) = Promise::new();
            last.on_done(move |n| {
                next.complete(n.unwrap() + 1).unwrap();
                blocks();
            });
            last = handle;
        }
        first.complete(0).unwrap();
        assert_eq!(last.join().unwrap(), LINKS);
    });
}

#[test]
fn callbacks_of_shared_handles_that_complete_the_next_and_then_wait() {
    on_two_megabytes(|| {
        let (first, last) = Promise::new();
        let mut last = last.shared();
        for _ in 0..LINKS {
            let (next, handle) = Promise::new();
            last.on_done(move |n| {
                next.complete(*n.unwrap() + 1).unwrap();
                blocks();
            });
            last = handle.shared();
        }
        first.complete(0).unwrap();
        assert_eq!(*last.join().unwrap(), LINKS);
    });
}

#[test]
fn callbacks_that_cancel_the_next_token_and_then_wait() {
    on_two_megabytes(|| {
        let (first, all) = (CancelToken::new(), Arc::new(Latch::new(LINKS)));
        let mut token = first.clone();
        for _ in 0..LINKS {
            let (next, all) = (CancelToken::new(), Arc::clone(&all));
            let cancels = next.clone();
            token
                .on_cancel(move || {
                    cancels.cancel();
                    blocks();
                    all.count_down();
                })
                .keep();
            token = next;
        }
        first.cancel();
        all.wait_timeout(LONG).unwrap();
        assert!(token.is_cancelled());
    });
}

/// The library drops the results, because no handle to any result is left.
#[test]
fn destructors_that_complete_the_next_promise_and_then_join() {
    struct Link(Option<(Promise<Link>, Box<Link>)>, Arc<Latch>);
    impl Drop for Link {
        fn drop(&mut self) {
            if let Some((promise, next)) = self.0.take() {
                drop(promise.complete(*next));
                let (_never, handle) = Promise::<()>::new();
                assert!(handle.join_timeout(Duration::from_nanos(1)).is_err());
            }
            self.1.count_down();
        }
    }

    on_two_megabytes(|| {
        let all = Arc::new(Latch::new(LINKS + 1));
        let mut link = Link(None, Arc::clone(&all));
        for _ in 0..LINKS {
            let (promise, handle) = Promise::new();
            drop(handle);
            link = Link(Some((promise, Box::new(link))), Arc::clone(&all));
        }
        drop(link);
        all.wait_timeout(LONG).unwrap();
    });
}

/// A thread must not wait for a callback that is further down on the thread's own stack. Each callback in
/// this test waits until the last callback of the chain has run, so all callbacks are on some stack at the
/// same time. A few threads have enough stack for all callbacks of the chain.
#[test]
fn callbacks_that_wait_for_the_end_of_their_chain() {
    const FEW: usize = 256;
    on_two_megabytes(|| {
        let threads = Arc::new(Mutex::new(HashSet::new()));
        let (end, ended) = Promise::<usize>::new();
        let ended = ended.shared();
        let (first, mut last) = Promise::new();
        let mut going_on = Vec::new();
        for _ in 0..FEW {
            let (next, handle) = Promise::new();
            let (ended, threads) = (ended.clone(), Arc::clone(&threads));
            let (goes_on, gone_on) = Promise::new();
            going_on.push(gone_on);
            last.on_done(move |n| {
                threads.lock().unwrap().insert(thread::current().id());
                next.complete(n.unwrap() + 1).unwrap();
                goes_on.complete(*ended.join().unwrap()).unwrap();
            });
            last = handle;
        }
        last.on_done(move |n| end.complete(n.unwrap()).unwrap());
        first.complete(0).unwrap();
        for gone_on in going_on {
            assert_eq!(gone_on.join_timeout(LONG).unwrap(), FEW);
        }
        // On each stack, 32 callbacks are nested directly in each other, and 32 callbacks are nested in
        // waits. The last callback of the chain runs on one of these stacks.
        assert_eq!(threads.lock().unwrap().len(), FEW.div_ceil(64));
    });
}

/// When a thread ends, its thread-locals are destroyed. The library's thread-locals that the callbacks need
/// must exist until the end of the thread.
#[test]
fn callbacks_that_a_destructor_of_a_thread_local_begins() {
    struct Completes(RefCell<Option<Promise<usize>>>);
    impl Drop for Completes {
        fn drop(&mut self) {
            self.0.take().unwrap().complete(0).unwrap();
        }
    }
    thread_local! {
        static LAST: Completes = const { Completes(RefCell::new(None)) };
    }

    within_deadline(|| {
        let (first, mut last) = Promise::new();
        for _ in 0..LINKS {
            let (next, handle) = Promise::new();
            last.on_done(move |n| next.complete(n.unwrap() + 1).unwrap());
            last = handle;
        }
        let ends = thread::Builder::new().stack_size(2 << 20);
        let callbacks_before_that = || {
            LAST.with(|kept| kept.0.replace(Some(first)));
            let (promise, handle) = Promise::new();
            handle.on_done(|_| ());
            // The library creates its thread-locals of this thread after `LAST`, so the library's
            // thread-locals are destroyed before `LAST`.
            promise.complete(()).unwrap();
        };
        ends.spawn(callbacks_before_that).unwrap();
        assert_eq!(last.join_timeout(LONG).unwrap(), LINKS);
    });
}

/// A call of a waker may itself run the task that the waker wakes.
#[test]
fn wakers_that_complete_the_next_promise() {
    struct Completes(Mutex<Option<Promise<()>>>);
    impl Wake for Completes {
        fn wake(self: Arc<Self>) {
            let promise = self.0.lock().unwrap().take();
            promise.unwrap().complete(()).unwrap();
        }
    }

    on_two_megabytes(|| {
        let (first, mut last) = Promise::new();
        let mut polled = Vec::new();
        for _ in 0..LINKS {
            let (next, handle) = Promise::new();
            let waker = Waker::from(Arc::new(Completes(Mutex::new(Some(next)))));
            assert!(Pin::new(&mut last).poll(&mut Context::from_waker(&waker)).is_pending());
            polled.push(last);
            last = handle;
        }
        first.complete(()).unwrap();
        last.join().unwrap();
        assert!(polled.iter().all(TaskHandle::is_finished));
    });
}
