//! Fork/join: work that splits itself.

mod batches; // several tasks at once, and forks as long as there are thieves
mod deep; // recursions that are too deep for help, scopes that spawn late, and other attacks
mod guests; // threads from outside
mod helping; // what a worker does while it waits, and what it never does
mod hostile; // panics, deep recursion and shutdowns at the worst moments
mod joins; // joins: results, panics, borrowed data, tokens
mod lifecycle; // workers come and go, and the pool ends
mod loops; // all elements of a slice or a range
mod mixed; // computations of all kinds inside each other
mod quiescence; // waiting until no task is left
mod sort; // the parallel sort
mod tasks; // forked and submitted tasks

use executor::fork_join::{ForkJoinPool, join};

fn pool(threads: usize) -> ForkJoinPool {
    ForkJoinPool::new(threads).unwrap()
}

fn fibonacci(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}
