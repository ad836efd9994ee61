//! Shows two ways in which a hook can stop its own pool. A hook that has an `Arc` of the pool keeps the pool
//! alive. A hook that has a `Stopper` does not keep the pool alive.
//!
//! ```sh
//! cargo run --example stop_from_inside
//! ```
//!
//! The book explains this example in the chapter "Deadlines, reasons, links".

use executor::{Hooks, Outcome, Stopper, TaskInfo, ThreadPoolExecutor, prelude::*};
use std::error::Error;
use std::sync::{Arc, OnceLock};

// ANCHOR: fuse
/// Hooks that stop their pool when a task panics.
struct Fuse<P>(OnceLock<P>, fn(&P));

impl<P: Send + Sync> Hooks for Fuse<P> {
    fn after_execute(&self, _: &TaskInfo<'_>, outcome: &Outcome) {
        if let (Outcome::Panicked(_), Some(pool)) = (outcome, self.0.get()) {
            (self.1)(pool);
        }
    }
}
// ANCHOR_END: fuse

/// Drops the given `Arc` of the pool, and returns whether the pool still exists. The pool still exists if its
/// hook has an `Arc` of the pool, too.
fn lives_on(pool: Arc<ThreadPoolExecutor>) -> bool {
    let pool_is_there = Arc::downgrade(&pool);
    drop(pool);
    pool_is_there.strong_count() > 0
}

fn main() -> Result<(), Box<dyn Error>> {
    // ANCHOR: owner
    let fuse = Arc::new(Fuse(OnceLock::new(), |pool: &Arc<ThreadPoolExecutor>| pool.shutdown()));
    let pool = Arc::new(ThreadPoolExecutor::builder().hooks(Arc::clone(&fuse)).build()?);
    let _ = fuse.0.set(Arc::clone(&pool)); // the pool owns the hook, and the hook owns the pool
    // ANCHOR_END: owner
    println!("the hook has an Arc of the pool; dropped, the pool lives on: {}", lives_on(pool));

    // ANCHOR: stopper
    let fuse = Arc::new(Fuse(OnceLock::new(), Stopper::shutdown));
    let pool = Arc::new(ThreadPoolExecutor::builder().hooks(Arc::clone(&fuse)).build()?);
    let _ = fuse.0.set(pool.stopper());
    // ANCHOR_END: stopper
    drop(pool.submit(|| panic!("a fault"))?.join());
    println!("the hook has stopped the pool: {}", pool.is_shutdown());
    println!("the hook has a Stopper; dropped, the pool lives on: {}", lives_on(pool));
    Ok(())
}
