//! The pool of those who have none.

use super::pool::ForkJoinPool;
use crate::sync::lazy_static;

lazy_static! {
    static ref COMMON: ForkJoinPool = ForkJoinPool::make_common();
}

/// The common pool, made when it is first asked for.
pub(super) fn common() -> &'static ForkJoinPool {
    &COMMON
}
