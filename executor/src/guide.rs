//! A guide to the source, for its readers. Users of the library do not need this guide.
//!
//! # The modules
//!
//! The modules below are listed in bottom-up order: each module refers only to modules above it, and a test
//! checks this order. The book of the course explains the modules from the top down. The third column names
//! the chapter of the book in which a module first appears. A ★ marks a module on the [first
//! path](#a-first-path). Every module begins with a page of text, which explains the problem, the states, the
//! code that changes them, and the invariants. The name of a module links to its source.
//!
//! | module | in it | first met in | what it is about |
//! |---|---|---|---|
//! | [`sync`](../../src/executor/sync.rs.html) | | – | the only access to locks, threads and time, so that a model checker can replace them |
//! | [`panics`](../../src/executor/panics.rs.html) | [`Panic`](crate::Panic), [`panics::PanicHandler`](crate::panics::PanicHandler), [`panics::PanicReport`](crate::panics::PanicReport) | Threads, factories and hooks | where panics stop, and which handler gets a panic that no caller reads |
//! | [`ids`](../../src/executor/ids.rs.html) | [`TaskId`](crate::TaskId) | The life of a task | the ids of tasks, queues and threads |
//! | [`time`](../../src/executor/time/mod.rs.html) | | Deadlines, reasons, links | a heap of due times, and the thread that acts at deadlines |
//! | [`cancel`](../../src/executor/cancel/mod.rs.html) | [`CancelReason`](crate::CancelReason), [`CancelKind`](crate::CancelKind), [`Cancelled`](struct@crate::Cancelled), [`CancelToken`](crate::CancelToken), [`Registration`](crate::Registration), [`Attached`](crate::Attached), [`masked`](crate::masked) | The handle | requests to stop a task, with their reasons; how deep callbacks nest |
//! | [`task`](../../src/executor/task/mod.rs.html) ★ | [`Outcome`](crate::Outcome), [`Task`](crate::Task), [`TaskState`](crate::TaskState) | The life of a task | a closure that is run once, its outcome, and its observers |
//! | [`waiting`](../../src/executor/waiting/mod.rs.html) ★ | [`Starvation`](crate::Starvation), [`OnStarvation`](crate::OnStarvation), [`CutShort`](crate::CutShort), [`WaitError`](crate::WaitError), [`RejectReason`](crate::RejectReason), [`Latch`](crate::Latch), [`Barrier`](crate::Barrier), [`Semaphore`](crate::Semaphore), [`OwnedPermit`](crate::OwnedPermit), [`block_on`](crate::block_on()), `SenderExt`, `ReceiverExt` (feature `channel`) | The handle | the wait that all blocking calls share, and the types that use it: latches, barriers, semaphores, channels |
//! | [`wait_graph`](../../src/executor/wait_graph/mod.rs.html) | | Tasks that wait for tasks | which threads wait for what, and whether these waits can still end |
//! | [`handle`](../../src/executor/handle/mod.rs.html) ★ | [`FutureTask`](crate::FutureTask), [`TaskHandle`](crate::TaskHandle), [`SharedHandle`](crate::SharedHandle), [`Canceller`](crate::Canceller), [`CancelOnDrop`](crate::CancelOnDrop), [`Promise`](crate::Promise) | The handle | the result of a task, and how to cancel it |
//! | [`executor`](../../src/executor/executor/mod.rs.html) ★ | [`Executor`](crate::Executor), [`ExecutorExt`](crate::ExecutorExt), [`ExecutorService`](crate::ExecutorService), [`InvokeAllError`](crate::InvokeAllError), [`InvokeAnyError`](crate::InvokeAnyError), [`DirectExecutor`](crate::DirectExecutor), [`ThreadPerTaskExecutor`](crate::ThreadPerTaskExecutor), [`MinimalPool`](crate::MinimalPool), [`ExecutorCompletionService`](crate::ExecutorCompletionService) | Tasks and executors | the interface and the promises of all executors; three simple policies; many tasks at once |
//! | [`thread_pool`](../../src/executor/thread_pool/mod.rs.html) ★ | [`WorkQueue`](crate::WorkQueue), [`FifoQueue`](crate::FifoQueue), [`HandOffQueue`](crate::HandOffQueue), [`LifoQueue`](crate::LifoQueue), [`PriorityQueue`](crate::PriorityQueue), [`ThreadPoolExecutor`](crate::ThreadPoolExecutor), [`ThreadPoolBuilder`](crate::ThreadPoolBuilder), [`RejectionHandler`](crate::RejectionHandler), [`Hooks`](crate::Hooks), [`LongTask`](crate::LongTask), [`ThreadFactory`](crate::ThreadFactory), [`PoolStats`](crate::PoolStats), [`Stopper`](crate::Stopper), [`Timing`](crate::Timing), [`TaskMetrics`](crate::TaskMetrics), [`TimeHistogram`](crate::TimeHistogram), [`PrometheusText`](crate::PrometheusText), `MetricsFacade`, [`recommended_threads`](crate::recommended_threads), `WaitCompute` | The pooled server | worker threads, a queue and a life cycle |
//! | [`composed`](../../src/executor/composed/mod.rs.html) | [`ManualExecutor`](crate::ManualExecutor), [`BoundedExecutor`](crate::BoundedExecutor), [`BoundedStats`](crate::BoundedStats), [`TrackingExecutor`](crate::TrackingExecutor), [`CutOff`](crate::CutOff), [`SerialExecutor`](crate::SerialExecutor), [`StripedExecutor`](crate::StripedExecutor), [`Stripe`](crate::Stripe), [`Identity`](crate::Identity), [`StripedStats`](crate::StripedStats), [`CancellableTask`](crate::CancellableTask), [`CancellingExecutor`](crate::CancellingExecutor) | Bounding a pool | executors over other executors: they add bounds, order, or a record of the running tasks |
//! | [`scheduled`](../../src/executor/scheduled/mod.rs.html) | [`ScheduledThreadPoolExecutor`](crate::ScheduledThreadPoolExecutor), [`Series`](crate::Series), [`MissedTicks`](crate::MissedTicks), [`AfterPanic`](crate::AfterPanic), [`DelayedExecutor`](crate::DelayedExecutor) | Schedules against timers | tasks that run later, or again and again |
//! | [`fork_join`](../../src/executor/fork_join/mod.rs.html) | [`ForkJoinPool`](crate::fork_join::ForkJoinPool), [`join`](crate::fork_join::join), [`fork`](crate::fork_join::fork()) | Work stealing | tasks that split themselves into pieces, on threads that take pieces from each other |
//! | [`dump`](../../src/executor/dump.rs.html) | [`dump`](crate::dump()), [`Dump`](crate::Dump) | Threads, factories and hooks | what all pools do now, and which thread waits for what |
//! | [`system`](../../src/executor/system/mod.rs.html) | [`CancellableStream`](crate::CancellableStream), `CancellableListener`, `CancellableChild`, `ShutdownHooks`, `dump_at_sigquit` (feature `signals`) | Blocking that nobody can interrupt | blocking calls of the system, made cancellable; the hooks that run before a process ends |
//! | [`guide`](../../src/executor/guide.rs.html) | | – | this page |
//!
//! # A first path
//!
//! The first path leads from `submit` to the result. Each part of the path answers a question that the
//! previous part raises. To understand a part, a reader needs no other file. Together the parts have some
//! sixteen hundred lines; half of these lines are comments. Three subjects are not on the path: how a pool
//! grows and ends, cancellation, and the other queues.
//!
//! 1. `executor/mod.rs`, up to `fn submit_cancellable`: what it means to hand over a task.
//! 2. `executor/simple.rs`: three executors that fit on a page, and what is wrong with them.
//! 3. `../examples/pool_steps/step_5_own_queue.rs`: a whole pool with one lock, and a user's queue.
//! 4. `handle/mod.rs`, up to `mod error`: how the result of a task comes back.
//! 5. `task/mod.rs`, up to `struct Rare`: what a pool stores of a task.
//! 6. `thread_pool/queue.rs`, up to `struct LifoQueue`: where tasks wait.
//! 7. `thread_pool/mod.rs`, up to `mod hooks`: a page about the library's pool.
//! 8. `thread_pool/state.rs`: the facts that change together, under one lock.
//! 9. `thread_pool/inbox.rs`, up to `use std`: the short way into the pool, which most tasks take.
//! 10. `thread_pool/admission.rs`, up to `fn give_a_thread`: the long way into the pool.
//! 11. `thread_pool/batch.rs`, up to `# Without a lock`: how the workers share the submitted tasks.
//! 12. `thread_pool/worker.rs`, up to `fn find`: how a worker finds a task and runs it.
//! 13. `waiting/wait.rs`, up to `use std`: how a thread waits for the result.
//!
//! # The walk of a task
//!
//! The walk follows a task from `pool.submit(f)` to the thread that joins the task, function by function. The
//! rows of this table show the steps of the task from top to bottom. In one row the task returns to an
//! earlier function; the row says so.
//!
//! | where | function | what happens |
//! |---|---|---|
//! | `executor/mod.rs` | `submit` | a closure becomes a task and a handle, in one allocation (`handle/future_task.rs`) |
//! | `thread_pool/admission.rs` | `admit` | the task goes into the inbox, or `decide` finds a thread or a place for it |
//! | `thread_pool/inbox.rs` | `try_push` | before a worker can see the task, the task notes its queue (back to `enter` in `admission.rs`) |
//! | `thread_pool/worker.rs` | `next_task` | a worker claims the next task of the batch (`Batch::claim` in `batch.rs`), or looks for one |
//! | `thread_pool/shared.rs` | `run_task` | the worker calls the hooks before and after the task |
//! | `task/mod.rs` | `run_then` | the task tells its observers; a task with a handle then calls the handle's cell |
//! | `handle/cell.rs` | `run` | the body leaves the cell and runs in a frame of its own (`cancel/current.rs`); the outcome is decided |
//! | `handle/listener.rs` | `release_waiters` | the worker calls the waker that the joiner has left |
//! | `waiting/parker.rs` | `wake` | the joiner wakes up |
//! | `waiting/wait.rs` | `wait` | the joiner looks again, finds the result, and `join` returns it |
//!
//! # Words
//!
//! The pages use these words. The last column names the page that explains the word:
//!
//! | word | what it means | page |
//! |---|---|---|
//! | token | carries the request to stop; tokens form a tree | `cancel/mod.rs` |
//! | frame | a thread's record of one task that it is running | `cancel/mod.rs` |
//! | level | a number for each thread; it is one higher while the thread runs users' code that belongs to no task | `cancel/outside.rs` |
//! | observer | learns where its task is, and is dropped with the task | `task/observer.rs` |
//! | parker | the place where a thread sleeps until a wake-up comes | `waiting/parker.rs` |
//! | wait list | the waiters for one thing, in the order in which they came | `waiting/latch.rs` |
//! | queue owner | the executor to which a queue of tasks belongs; it can take tasks out, and says which threads run them | `waiting/queue_owner.rs` |
//! | detector | finds waits that can never end | `waiting/awaited.rs` |
//! | starvation | tasks that wait for tasks, until no thread is left | `waiting/starvation.rs` |
//! | membership | the record of the queue that a task is in | `handle/mod.rs` |
//! | inbox | the place where submitters leave tasks without the lock of the pool's state | `thread_pool/inbox.rs` |
//! | batch | tasks that the workers of a pool claim one at a time without a lock | `thread_pool/batch.rs` |
//! | worker slot | the record of what one worker has claimed, begun and completed | `thread_pool/batch.rs` |
//! | tombstone | a cancelled task that is still in its queue | `thread_pool/cancelled.rs` |
//! | strand | tasks that run one at a time, in order, on the threads of another executor | `composed/strand/mod.rs` |
//! | drain task | the task that a strand gives to the other executor; the drain task runs the strand's tasks | `composed/strand/mod.rs` |
//! | series | a task that runs again and again | `scheduled/series.rs` |
//! | worker queue | the jobs of one fork/join worker; other workers steal jobs from it | `fork_join/worker_queue.rs` |
//! | granularity | how long the pieces of a job take; a queue of fine pieces offers only a few | `fork_join/worker_queue.rs` |
//! | demand flag | says whether a worker's queue offers thieves enough jobs | `fork_join/demand.rs` |
