//! The number of allocations that a task needs. This test runs in a separate process, because an allocator
//! counts the allocations of its whole process.
#![allow(unsafe_code, reason = "an allocator that counts is an allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use executor::{DirectExecutor, FutureTask, Promise, Task, ThreadPoolExecutor, prelude::*};

/// An allocator that counts the allocations of threads that take part in the test. It ignores the thread of
/// the test harness. A reallocation counts, too.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static TAKES_PART: Cell<bool> = const { Cell::new(false) };
}

fn count() {
    if TAKES_PART.try_with(Cell::get).unwrap_or(false) {
        ALLOCATIONS.fetch_add(1, Ordering::SeqCst);
    }
}

// SAFETY: each method passes its arguments to `System` unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of this method; `System` has the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of this method; `System` has the same contract.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of this method; `System` has the same contract.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations_of(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    work();
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

/// Repeats `round` until two consecutive rounds allocate nothing. One round without allocations is not
/// enough, because new tasks go into one of two buffers, and the buffers change places after each round.
/// After one round without allocations, the next round could still enlarge its buffer.
fn until_nothing_is_allocated(round: impl Fn()) {
    let quiet = || allocations_of(&round) == 0;
    assert!((0..10).any(|_| quiet() && quiet()), "there is no end to the allocations");
}

const TASKS: usize = 1_000;

#[test]
fn a_small_task_is_passed_on_without_an_allocation_and_a_submitted_one_with_exactly_one() {
    let small = |counter: &Arc<AtomicUsize>| {
        let counter = Arc::clone(counter);
        move || _ = counter.fetch_add(1, Ordering::Relaxed)
    };
    let counter = Arc::new(AtomicUsize::new(0));
    TAKES_PART.set(true);

    drop(Task::new(|| ())); // sets up what a process sets up once

    // Counts the allocations of a single task.
    assert_eq!(allocations_of(|| drop(Task::new(small(&counter)))), 0);
    let large = [0_u8; 25];
    assert_eq!(allocations_of(|| drop(Task::new(move || _ = black_box(large)))), 1, "more than three words");
    assert_eq!(allocations_of(|| drop(FutureTask::new(small(&counter)))), 1);

    // Counts the allocations of a promise, from its creation until the joining thread has the result.
    let promised = || {
        let (promise, handle) = Promise::new();
        promise.complete(1).unwrap();
        assert_eq!(handle.join().unwrap(), 1);
    };
    promised();
    assert_eq!(allocations_of(promised), 1);

    // Through `DirectExecutor`. Before the count, one task runs, because a thread allocates some memory only
    // once.
    DirectExecutor.execute(small(&counter)).unwrap();
    let inline = allocations_of(|| (0..TASKS).for_each(|_| DirectExecutor.execute(small(&counter)).unwrap()));
    assert_eq!(inline, 0);

    // Counts the allocations of a task in a pool that already has its buffers. One task keeps the worker busy
    // while the tasks of a round are submitted. The last task of the round keeps the worker busy for the next
    // round. So the worker never sleeps between two rounds, and each round needs the same amount of room in
    // each buffer.
    let pool = ThreadPoolExecutor::single();
    let barrier = Arc::new(Barrier::new(2));
    let hold = || {
        let (begun, end) = (Arc::clone(&barrier), Arc::clone(&barrier));
        pool.execute(move || {
            begun.wait();
            end.wait();
        })
        .unwrap();
    };
    pool.execute(|| TAKES_PART.set(true)).unwrap();
    hold();
    barrier.wait();
    let round = |submit: &dyn Fn()| {
        (0..TASKS).for_each(|_| submit());
        hold();
        barrier.wait(); // the worker goes on
        barrier.wait(); // by now it has run all tasks of the round
    };
    let execute = || pool.execute(small(&counter)).unwrap();
    let submit = || drop(pool.submit(small(&counter)).unwrap());
    until_nothing_is_allocated(|| round(&execute));
    assert_eq!(allocations_of(|| round(&execute)), 0);
    assert_eq!(allocations_of(|| round(&submit)), TASKS);
    barrier.wait();

    // The submitter waits for each result before it submits the next task.
    let join = || pool.submit(small(&counter)).unwrap().join().unwrap();
    join();
    assert_eq!(allocations_of(|| (0..TASKS).for_each(|_| join())), TASKS);
}
