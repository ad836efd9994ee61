//! The common pool, for calls outside any pool.

use super::builder::ForkJoinBuilder;
use super::pool::ForkJoinPool;
use crate::sync::lazy_static;

lazy_static! {
    static ref COMMON: ForkJoinPool = make();
}

fn make() -> ForkJoinPool {
    let asked_for = std::env::var("EXECUTOR_COMMON_THREADS").ok().and_then(|number| number.parse().ok());
    let asked_for = asked_for.filter(|number| (1..=ForkJoinBuilder::MAX_THREADS / 2).contains(number));
    let builder = ForkJoinPool::builder().name("common").common();
    let builder = asked_for.into_iter().fold(builder, ForkJoinBuilder::threads);
    builder.build().expect("the number was checked")
}

/// Returns the common pool. The first call makes it.
pub(super) fn common() -> &'static ForkJoinPool {
    &COMMON
}

impl ForkJoinPool {
    /// Returns the common pool. It serves [`join`](super::join) and the other functions of this module when
    /// they are called outside any pool.
    ///
    /// The first use makes the pool, with one worker for each processor that the process may use. If the
    /// environment variable `EXECUTOR_COMMON_THREADS` is a number from 1 to 16383 at that time, the pool has
    /// that many workers instead. Any other value of the variable is ignored.
    ///
    /// The common pool cannot be shut down. When `main` returns, the threads of this pool end in the middle
    /// of their jobs. So `main` should wait for its computations before it returns.
    #[doc(alias = "commonPool")]
    pub fn common() -> &'static Self {
        common()
    }
}
