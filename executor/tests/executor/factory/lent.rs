//! Threads that another pool lends and gets back.

use std::io;
use std::sync::Arc;
use std::thread;

use executor::{ExecutorService, ThreadFactory, ThreadPoolExecutor, Worker, prelude::*};

use crate::support::{LONG, SHORT, Signal, within_deadline};

/// A factory that runs a pool's workers on another executor's threads. The lent threads do other work before
/// and after they are lent.
struct Lend(Arc<ThreadPoolExecutor>);

impl ThreadFactory for Lend {
    fn start(&self, worker: Worker) -> io::Result<()> {
        self.0.execute(move || worker.run()).map_err(io::Error::other)
    }
}

fn lent(lender: &Arc<ThreadPoolExecutor>) -> ThreadPoolExecutor {
    ThreadPoolExecutor::builder().thread_factory(Lend(Arc::clone(lender))).build().unwrap()
}

#[test]
fn a_thread_that_was_lent_to_another_pool_still_belongs_to_its_own() {
    within_deadline(|| {
        let lender = Arc::new(ThreadPoolExecutor::fixed(1));
        let borrower = lent(&lender);
        assert_eq!(borrower.submit(|| 7).unwrap().join_timeout(LONG).unwrap(), 7);
        borrower.close();
        let own = Arc::clone(&lender);
        lender.submit(move || own.close()).unwrap().join_timeout(LONG).unwrap();
    });
}

#[test]
fn a_task_on_a_lent_thread_can_close_both_pools_whose_thread_it_is() {
    within_deadline(|| {
        let lender = Arc::new(ThreadPoolExecutor::fixed(1));
        let borrower = Arc::new(lent(&lender));
        let both = [Arc::clone(&lender), Arc::clone(&borrower)];
        borrower
            .submit(move || both.each_ref().map(ExecutorService::close))
            .unwrap()
            .join_timeout(LONG)
            .unwrap();
        assert!(borrower.await_termination(LONG) && lender.await_termination(LONG));
    });
}

/// The allocator may give the second pool the same address that the first pool had.
#[test]
fn a_thread_that_was_a_worker_once_waits_for_the_pools_that_it_closes() {
    within_deadline(|| {
        for _ in 0..20 {
            let lender = Arc::new(ThreadPoolExecutor::fixed(1));
            drop(lent(&lender).submit(|| ()).unwrap());
            let is_done = lender.submit(|| {
                let pool = ThreadPoolExecutor::fixed(1);
                let done = Signal::new();
                let tell = done.clone();
                pool.execute(move || {
                    thread::sleep(SHORT); // too short a time can only hide the fault
                    tell.set();
                })
                .unwrap();
                drop(pool);
                done.is_set()
            });
            assert!(is_done.unwrap().join_timeout(LONG).unwrap());
        }
    });
}
