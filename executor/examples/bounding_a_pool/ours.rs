//! Shows three things: whether a submitter waits, how a program changes the bound, and which call ends which
//! executor.

use executor::{BoundedExecutor, ManualExecutor, RejectedExecution, ThreadPoolExecutor, prelude::*};
use std::{thread, time::Duration};

// ANCHOR: waiting
pub fn waiting() -> Result<(), RejectedExecution> {
    let uploads = BoundedExecutor::over(ManualExecutor::new(), 2);
    uploads.execute(|| ())?;
    uploads.execute(|| ())?;
    println!("{}", uploads.stats());

    let refused = uploads.without_waiting().execute(|| ()).unwrap_err();
    println!("without waiting: {}", refused.reason);
    let refused = uploads.waiting_at_most(Duration::from_millis(10)).execute(|| ()).unwrap_err();
    println!("waiting at most 10 ms: {}", refused.reason);

    thread::scope(|scope| {
        let third = scope.spawn(|| uploads.execute(|| ()));
        while uploads.stats().waiting == 0 {
            thread::yield_now();
        }
        println!("{}", uploads.stats());
        uploads.set_bound(3);
        third.join().expect("it does not panic")
    })?;
    println!("bound 3: {}", uploads.stats());
    uploads.set_bound(1);
    println!("bound 1: {}", uploads.stats());
    uploads.executor().run_all();
    println!("all have run: {}", uploads.stats());
    Ok(())
}
// ANCHOR_END: waiting

// ANCHOR: ends
pub fn ends() {
    let pool = ThreadPoolExecutor::fixed(2);
    let uploads = BoundedExecutor::over(&pool, 3);
    uploads.close();
    println!("over:   uploads ended: {}, pool ended: {}", uploads.is_terminated(), pool.is_terminated());

    let uploads = BoundedExecutor::owning(pool, 3);
    uploads.close();
    let pool = uploads.executor();
    println!("owning: uploads ended: {}, pool ended: {}", uploads.is_terminated(), pool.is_terminated());
}
// ANCHOR_END: ends
