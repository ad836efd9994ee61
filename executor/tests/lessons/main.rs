//! Tests files of `examples` that a page of the book asks its readers to change. The program is small, so that a
//! reader sees soon which test a change breaks.

#[expect(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "the tests of the program `executor` use the rest"
)]
#[path = "../executor/support.rs"]
mod support;

mod divide_and_conquer; // examples that split a problem: the results of one thread, for each kind of input
mod locks_and_waiting; // the small latch and semaphore of the book, and the wait that they share
mod pool_steps; // the straightforward pool, which is not an executor: what each of its steps adds
