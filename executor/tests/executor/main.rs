//! The behaviour of the executors: one test for each behaviour, one module for each subject.
//!
//! If the comment of a test contains a name such as `END-5`, the name is the id of a behaviour in
//! `CONFORMANCE.md`. `CONFORMANCE.md` lists the behaviours that the conformance tests of
//! `java.util.concurrent` check. For each behaviour, this list says where the behaviour is tested, or why it
//! is not tested.

mod support; // deadlines, tasks that the test holds up, values that report their drop

// Every executor
mod ordering; // each task runs once, in order, and sees the changes that it must see
mod simple; // what is special about the executors without a pool
mod invoke_all; // a batch of tasks, and the wait for the last of them
mod invoke_any; // tasks that compete, and the wait for the first success
mod completion; // the completion service: results in the order in which their tasks end
mod auto_traits; // types that can be sent to other threads, be shared with them, and survive a caught panic

mod scope; // tasks that borrow from the stack
mod fork_join; // work that splits itself

// Handles
mod handle; // joining, checking without waiting, callbacks and outcomes
mod time_limits; // joining with a time limit, and cancelling the task when the time is up
mod limits; // a task's own time limit, deadline and token, on every executor
mod inheritance; // what a new task inherits from the current token, for each way to make a task
mod taking_out; // taking a task out of its queue by its handle
mod shared; // handles for many waiters
mod promise; // handles that are completed by hand
mod awaiting; // handles as futures
mod printed; // what handles, cancellers, tasks and executors print

// Cancellation and waiting
mod cancel; // tokens: the tree, the callbacks, the current token of a thread
mod deadlines; // tokens that cancel themselves when their time is up
mod reasons; // why a token was cancelled, as its holders and the errors report it
mod linked; // tokens that are cancelled as soon as one of several tokens is
mod cancellation_points; // every call in which a task can block, and its return when the task is cancelled
mod cancel_task; // cancelling a task before it begins, while it runs and after its end
mod attached; // guards that make a token current on a thread
mod masked; // steps that a cancel does not cut off
mod conversions; // the library's errors as I/O errors, and bodies that return errors of other types
mod cancelling; // tasks with their own way to be cancelled, on real sockets
mod timed_run; // the three timed runs of the book, each with its fault and its cure
mod streams; // connections that are shut down when a token is cancelled
mod latch; // waiting until a count is zero
mod barrier; // meetings of a group, and the effect of a missing party on the other parties
mod semaphore; // waiting for permits: the order, giving up, giving back
mod lock_across_a_join; // joins, scopes and parallel loops under a lock

// A pool at work
mod settings; // contradictory settings, and what can be changed while the pool runs
mod threads; // when threads start and end: sizes, keep-alive time, the effect of the queue
mod factory; // where threads come from, how they are named, and what happens if they come late or never
mod queues; // the order in which tasks run, taking tasks out, and what cancelled tasks leave behind
mod saturation; // what happens to a task for which there is no room
mod blocking; // submitters that wait for room
mod hooks; // the hooks that a pool calls around its tasks, around its threads and at its end
mod stats; // the numbers of a pool, and the threads behind them
mod dump; // dumps of what all pools do and wait for, for a program that stands still
mod operators; // the numbers that operators alarm on: counts of tasks by their end, times, metrics

// The end of a pool
mod lifecycle; // shutdown: tasks that are refused, that still run or that come back, and the end of the pool
mod stopping; // stopping a pool without owning it: by a token, by a stopper
mod closing; // closing and dropping: both wait for the accepted tasks

// Hostile user code
mod panic; // a panic costs no thread, no task and no count, wherever it happens
mod panic_handler; // which handler gets the report of a panic that no joiner reads
mod bad_queue; // a queue or comparator that panics, or that drops tasks
mod stack; // chains of a hundred thousand links, on a stack of two megabytes
mod drops; // the drop of an executor over another executor waits for no task
mod callbacks; // code outside any task: callbacks, hooks and drops
mod reentrancy; // user code may use the pool, because the library holds no lock meanwhile
mod memory; // when the values that tasks capture and return are dropped
mod starvation; // tasks that wait for each other until no thread is left
mod manual; // tasks that run when the test says so
mod lives; // how executors over other executors end: tasks that are refused, still run or come back
mod bounded; // a bound on the tasks under way, over any executor
mod tracking; // which tasks ran when an executor was shut down abruptly
mod serial; // one task at a time, over any executor
mod lines; // what the executor below a line may do during a submission
mod striped; // one task at a time for each key, over any executor
mod priorities; // how priorities and names of a line's tasks act on the queue below
mod attributes; // which attributes of its tasks an executor over another executor keeps
mod created; // every way to create a task, and the parent of the task's token
mod searches; // puzzles that many tasks solve together: what they find, and that they end
mod steal_simulation; // the simulation of a pool that steals: it does all the work, in order, within the bounds
mod scheduled; // tasks that run later, and again and again
mod traps; // common complaints about other thread pools
