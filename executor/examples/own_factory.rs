//! A user's own thread factory: it lets several pools share a limited number of threads. If a pool gets fewer
//! threads than it wants, it works with the threads that it has; if a pool gets no thread, it returns an
//! error to its submitter.
//!
//! ```sh
//! cargo run --example own_factory
//! ```
//!
//! The book explains this example in the chapter "Threads, factories and hooks".

use executor::{Latch, Semaphore, ThreadFactory, ThreadPoolExecutor, Worker, prelude::*};
use std::sync::Arc;
use std::{io, thread};

// ANCHOR: factory
/// A factory that starts a thread only if the semaphore has a permit for the thread. When the thread ends, it
/// gives its permit back.
struct Budget(Arc<Semaphore>);

impl ThreadFactory for Budget {
    fn start(&self, worker: Worker) -> io::Result<()> {
        let permit =
            self.0.try_acquire().ok_or_else(|| io::Error::other("the budget of threads is spent"))?;
        let budget = Arc::clone(&self.0);
        thread::Builder::new().spawn(move || {
            worker.run();
            budget.release(1);
        })?;
        permit.forget(); // now it belongs to the thread
        Ok(())
    }
}
// ANCHOR_END: factory

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // ANCHOR: pools
    let budget = Arc::new(Budget(Arc::new(Semaphore::new(3))));
    let pool =
        |threads| ThreadPoolExecutor::builder().threads(threads).thread_factory(Arc::clone(&budget)).build();
    let (pages, images, mails) = (pool(2)?, pool(4)?, pool(1)?);
    // ANCHOR_END: pools

    let gate = Arc::new(Latch::new(1));
    for pool in [&pages, &images] {
        let running = Arc::new(Latch::new(1));
        let (has_begun, may_end) = (Arc::clone(&running), Arc::clone(&gate));
        pool.execute(move || {
            has_begun.count_down();
            _ = may_end.wait();
        })?;
        running.wait()?;
        for _ in 0..3 {
            let may_end = Arc::clone(&gate);
            pool.execute(move || _ = may_end.wait())?;
        }
    }
    println!("pages:  {}", pages.stats());
    println!("images: {}", images.stats());
    println!("mails:  {}", mails.execute(|| ()).expect_err("there is no thread at all"));
    gate.count_down();
    Ok(())
}
