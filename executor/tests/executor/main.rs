//! The behaviour of the executors, one test per behaviour, one module per subject.
//!
//! A name such as `END-5` in a test's comment is the behaviour's number in `CONFORMANCE.md`, the list of what the
//! conformance tests of `java.util.concurrent` pin down. It says where each behaviour is tested, or why not.

mod support; // deadlines, tasks that can be held up, values that tell when they are dropped

// Every executor
mod ordering; // each task runs once, in its order, and sees what it should see
mod simple; // what is special about the executors that are no pools
mod pool_steps; // the straightforward pool, which is no executor: what each of its steps adds
mod invoke_all; // a batch of tasks, and the wait for the last of them
mod invoke_any; // tasks that compete, and the wait for the first that succeeds
mod completion; // the completion service: results in the order in which their tasks end
mod auto_traits; // what can be sent to and shared with other threads, and survives a caught panic

mod scope; // tasks that borrow from the stack
mod fork_join; // work that splits itself
mod divide_and_conquer; // the examples that split a problem: the results of one thread, for every kind of input

// Handles
mod handle; // joining, looking without waiting, callbacks, and what the outcomes look like
mod time_limits; // joining for so long at most, and calling the task off when the time is up
mod taking_out; // taking a task out of its queue by its handle
mod shared; // handles for many waiters
mod promise; // handles that are completed by hand
mod awaiting; // handles as futures
mod printed; // what handles, cancellers, tasks and executors print

// Cancellation and waiting
mod cancel; // tokens: the tree, the callbacks, the current token of a thread
mod deadlines; // tokens that cancel themselves when their time is up
mod reasons; // why a token was cancelled, as its holders and the errors tell it
mod linked; // tokens that are cancelled as soon as one of several is
mod cancellation_points; // every call in which a task can be blocked, and that it comes back from each
mod cancel_task; // cancelling a task before it begins, while it runs and too late
mod attached; // guards that make a token current on a thread
mod masked; // steps that a cancellation does not cut off
mod cancelling; // tasks that bring their own way to be cancelled, on real sockets
mod timed_run; // the three timed runs of the book: what each does wrong, and that its cure does not
mod streams; // connections that end with a token
mod latch; // waiting until a count is zero
mod semaphore; // waiting for permits: the order, giving up, giving back
mod locks_and_waiting; // the small latch and semaphore of the book, and the way to wait that they share

// A pool at work
mod settings; // which settings contradict each other, and what can be changed while the pool runs
mod threads; // when threads start and end: sizes, keep-alive time, the queue's say
mod factory; // where threads come from, what they are called, and what happens if they come late or never
mod queues; // the order in which tasks run, taking them out, and what cancelled ones leave behind
mod saturation; // what happens to a task for which there is no room
mod blocking; // submitters that wait for room
mod hooks; // what a pool calls around its tasks, around its threads and at its end
mod stats; // the numbers of a pool, and the threads behind them

// The end of a pool
mod lifecycle; // shutting down: what is refused, what still runs, what comes back, when it is over
mod stopping; // by somebody who does not own the pool: a token that it hangs on, a stopper
mod closing; // closing and dropping: waiting for what was accepted

// A user's code that does its worst
mod panic; // a panic anywhere costs no thread, no task and no count
mod panic_handler; // which handler is told of a panic that no joiner reads
mod bad_queue; // a queue or comparator that panics, or that drops tasks
mod stack; // chains of a hundred thousand links, on a stack of two megabytes
mod drops; // dropping an executor over another one, which waits for nothing
mod callbacks; // code outside any task: callbacks, hooks and drops
mod reentrancy; // such code may use the pool, because none of ours is locked meanwhile
mod memory; // when what tasks capture and return is dropped
mod starvation; // tasks that wait for each other until no thread is left
mod manual; // tasks that run when the test says so
mod lives; // how executors over others end: what is refused, what still runs, what comes back, when it is over
mod bounded; // a bound on what is under way, over any executor
mod tracking; // which tasks ran when an executor was shut down abruptly
mod serial; // one task at a time, over any executor
mod lines; // what the executor below a line may do meanwhile
mod striped; // one task at a time for each key, over any executor
mod priorities; // what priorities and names mean for a line of tasks in the queue below
mod attributes; // what an executor over another one leaves of a task
mod created; // every way in which a task comes to be, and the token that it hangs below
mod searches; // puzzles that many tasks solve together: what they find, and that they end
mod steal_simulation; // the simulation of the pool that steals: it does all the work, in order, within the bounds
mod scheduled; // tasks that run later, and again and again
mod traps; // the complaints that people have about thread pools elsewhere
