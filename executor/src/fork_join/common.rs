//! The pool of those who have none.

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

/// The common pool, made when it is first asked for.
pub(super) fn common() -> &'static ForkJoinPool {
    &COMMON
}

impl ForkJoinPool {
    /// The pool in which [`join`](super::join) and the others work that are called outside any pool. It is
    /// made when it is first asked for, with one worker for each processor that the process may use; or with
    /// as many as the environment variable `EXECUTOR_COMMON_THREADS` said then. What is not a number from 1
    /// to 16383 counts as not set.
    ///
    /// It cannot be shut down. When `main` returns, its threads are gone in the middle of whatever they do;
    /// who waits for a computation before that loses nothing.
    #[doc(alias = "commonPool")]
    pub fn common() -> &'static Self {
        common()
    }
}
