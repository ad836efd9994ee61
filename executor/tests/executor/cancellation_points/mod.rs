//! Every blocking call of the library is a cancellation point: if a task is cancelled while the call blocks,
//! the call returns.
//!
//! A test compares the list of these calls with the sources. If a new public function can reach one of the
//! [`WAITS`], add a line for it here.

mod scan;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

#[cfg(feature = "channel")]
use executor::channel::{PutError, ReceiverExt, SenderExt, TakeError, bounded};
use executor::fork_join::{ForkJoinPool, InvokeError};
use executor::{
    Barrier, BarrierError, Block, CancelToken, CancellableTask, Cancelled, CancellingExecutor, DropPolicy,
    ExecutorCompletionService, FifoQueue, FutureTask, InvokeFailure, JoinError, Latch, RejectReason,
    ScheduledThreadPoolExecutor, Semaphore, Series, SharedJoinError, StripedExecutor, Task,
    ThreadPoolBuilder, ThreadPoolExecutor, WaitError, prelude::*,
};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{LONG, Occupied, Spot, occupy, within_deadline};
use scan::Sources;

/// A list of functions; each of them makes one blocking call. If there is no cancellation, the call blocks
/// for longer than the test waits. The function returns true if the call reported the cancellation.
const CALLS: &[(&str, Blocks)] = &[
    ("CancelToken::sleep", || CancelToken::current().sleep(FOR_EVER).is_err()),
    ("Latch::wait", || Latch::new(1).wait().is_err()),
    ("Latch::wait_timeout", || Latch::new(1).wait_timeout(FOR_EVER) == Err(WaitError::Interrupted)),
    ("Barrier::wait", || matches!(Barrier::new(2).wait(), Err(BarrierError::Interrupted(_)))),
    ("Barrier::wait_timeout", || {
        matches!(Barrier::new(2).wait_timeout(FOR_EVER), Err(BarrierError::Interrupted(_)))
    }),
    ("Semaphore::acquire", || Semaphore::new(0).acquire().is_err()),
    ("Semaphore::acquire_many", || Semaphore::new(1).acquire_many(2).is_err()),
    ("Semaphore::acquire_timeout", || {
        matches!(Semaphore::new(0).acquire_timeout(FOR_EVER), Err(WaitError::Interrupted))
    }),
    ("Semaphore::acquire_many_timeout", || {
        matches!(Semaphore::new(1).acquire_many_timeout(2, FOR_EVER), Err(WaitError::Interrupted))
    }),
    ("TaskHandle::join", || {
        let FutureTask { task: _not_run, handle } = FutureTask::new(|| ());
        matches!(handle.join(), Err(JoinError::Interrupted(_)))
    }),
    ("TaskHandle::join_timeout", || {
        let FutureTask { task: _not_run, handle } = FutureTask::new(|| ());
        matches!(handle.join_timeout(FOR_EVER), Err(JoinError::Interrupted(_)))
    }),
    ("TaskHandle::join_or_cancel", || {
        let FutureTask { task: _not_run, handle } = FutureTask::new(|| ());
        matches!(handle.join_or_cancel(FOR_EVER), Err(JoinError::Interrupted(_)))
    }),
    ("SharedHandle::join", || {
        let FutureTask { task: _not_run, handle } = FutureTask::new(|| ());
        matches!(handle.shared().join(), Err(SharedJoinError::Interrupted))
    }),
    ("SharedHandle::join_timeout", || {
        let FutureTask { task: _not_run, handle } = FutureTask::new(|| ());
        matches!(handle.shared().join_timeout(FOR_EVER), Err(SharedJoinError::Interrupted))
    }),
    ("ExecutorCompletionService::take", || {
        let (_busy, pool) = with_room();
        let service = ExecutorCompletionService::new(pool);
        let _ = service.submit(|| ()).unwrap();
        service.take().is_err()
    }),
    ("ExecutorCompletionService::take_timeout", || {
        let (_busy, pool) = with_room();
        let service = ExecutorCompletionService::new(pool);
        let _ = service.submit(|| ()).unwrap();
        matches!(service.take_timeout(FOR_EVER), Err(WaitError::Interrupted))
    }),
    ("ExecutorCompletionService::submit", || {
        let (_busy, pool) = full();
        refused(&ExecutorCompletionService::new(pool).submit(|| ()).unwrap_err().reason)
    }),
    ("ExecutorCompletionService::submit_cancellable", || {
        let (_busy, pool) = full();
        refused(&ExecutorCompletionService::new(pool).submit_cancellable(|_| Ok(())).unwrap_err().reason)
    }),
    ("CancellingExecutor::submit_task", || {
        let (_busy, pool) = full();
        refused(&CancellingExecutor::new(pool).submit_task(Nothing).unwrap_err().reason)
    }),
    ("Executor::execute_task", || {
        let (_busy, pool) = full();
        refused(&executor::Executor::execute_task(&pool, Task::new(|| ())).unwrap_err().reason)
    }),
    ("ExecutorExt::execute", || {
        let (_busy, pool) = full();
        refused(&pool.execute(|| ()).unwrap_err().reason)
    }),
    ("ExecutorExt::submit", || {
        let (_busy, pool) = full();
        refused(&pool.submit(|| ()).unwrap_err().reason)
    }),
    ("ExecutorExt::submit_cancellable", || {
        let (_busy, pool) = full();
        refused(&pool.submit_cancellable(|_| Ok(())).unwrap_err().reason)
    }),
    ("ExecutorExt::submit_fallible", || {
        let (_busy, pool) = full();
        refused(&pool.submit_fallible(|_| Ok::<_, std::io::Error>(())).unwrap_err().reason)
    }),
    ("ExecutorExt::invoke_all", || {
        let (_busy, pool) = with_room();
        matches!(pool.invoke_all([|| ()]).unwrap_err().reason, InvokeFailure::Interrupted)
    }),
    ("ExecutorExt::invoke_all_timeout", || {
        let (_busy, pool) = with_room();
        matches!(pool.invoke_all_timeout([|| ()], FOR_EVER).unwrap_err().reason, InvokeFailure::Interrupted)
    }),
    ("ExecutorExt::invoke_any", || {
        let (_busy, pool) = with_room();
        matches!(pool.invoke_any([|| Ok::<_, ()>(())]).unwrap_err().reason, InvokeFailure::Interrupted)
    }),
    ("ExecutorExt::invoke_any_timeout", || {
        let (_busy, pool) = with_room();
        let lost = pool.invoke_any_timeout([|| Ok::<_, ()>(())], FOR_EVER).unwrap_err();
        matches!(lost.reason, InvokeFailure::Interrupted)
    }),
    ("StripedExecutor::execute_in", || {
        let (_busy, pool) = full();
        let striped = StripedExecutor::over(Arc::new(pool));
        refused(&striped.execute_in(0, || ()).unwrap_err().reason)
    }),
    ("StripedExecutor::submit_in", || {
        let (_busy, pool) = full();
        let striped = StripedExecutor::over(Arc::new(pool));
        refused(&striped.submit_in(0, || ()).unwrap_err().reason)
    }),
    ("Series::join", || rests(&idle_scheduler()).join().is_err()),
    ("Series::join_timeout", || {
        rests(&idle_scheduler()).join_timeout(FOR_EVER) == Err(WaitError::Interrupted)
    }),
    ("ExecutorExt::scope", || {
        let (pool, cut_short) = (ThreadPoolExecutor::fixed(1), AtomicBool::new(false));
        let nap = || cut_short.store(CancelToken::current().sleep(FOR_EVER).is_err(), Ordering::SeqCst);
        let ended = pool.scope(|scope| scope.spawn(nap).unwrap());
        ended.is_err() || cut_short.load(Ordering::SeqCst)
    }),
    ("ForkJoinPool::invoke", || {
        let pool = ForkJoinPool::new(1).unwrap();
        let _busy = occupy(&pool);
        matches!(pool.invoke(|| ()), Err(InvokeError::Cancelled))
    }),
    ("ForkJoinPool::await_quiescence", || {
        let pool = ForkJoinPool::new(1).unwrap();
        let _busy = occupy(&pool);
        !pool.await_quiescence(FOR_EVER)
    }),
    ("ExecutorService::await_termination", || {
        let (_busy, pool) = with_room();
        !pool.await_termination(FOR_EVER)
    }),
    ("ExecutorService::close", || {
        let pool = ThreadPoolExecutor::fixed(1);
        let sleeps = pool.submit_cancellable(|token| token.sleep(FOR_EVER)).unwrap();
        pool.close(); // the cancel turns it into a `shutdown_now`
        matches!(sleeps.join(), Err(JoinError::Cancelled(_))) && pool.is_terminated()
    }),
    ("Stopper::await_termination", || {
        let (_busy, pool) = with_room();
        !pool.stopper().await_termination(FOR_EVER)
    }),
    #[cfg(feature = "channel")]
    ("SenderExt::put", || {
        let (sender, _receiver) = bounded(0);
        matches!(sender.put(()), Err(PutError::Interrupted(())))
    }),
    #[cfg(feature = "channel")]
    ("SenderExt::put_timeout", || {
        let (sender, _receiver) = bounded(0);
        matches!(sender.put_timeout((), FOR_EVER), Err(PutError::Interrupted(())))
    }),
    #[cfg(feature = "channel")]
    ("ReceiverExt::take", || {
        let (_sender, receiver) = bounded::<()>(1);
        receiver.take() == Err(TakeError::Interrupted)
    }),
    #[cfg(feature = "channel")]
    ("ReceiverExt::take_timeout", || {
        let (_sender, receiver) = bounded::<()>(1);
        receiver.take_timeout(FOR_EVER) == Err(TakeError::Interrupted)
    }),
    #[cfg(feature = "channel")]
    ("ReceiverExt::take_iter", || {
        let (_sender, receiver) = bounded::<()>(1);
        receiver.take_iter().next().is_none()
    }),
];

/// Functions that can reach a wait, but that are not cancellation points or that do not wait themselves.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("ThreadPoolExecutor::drop", "waits for the end in a masked step, as its documentation says"),
    ("ScheduledThreadPoolExecutor::drop", "the same"),
    ("ForkJoinPool::drop", "the same"),
    ("RecursiveTask::fork", "submits to a pool whose queue has no bound"),
    ("ScheduledThreadPoolExecutor::submit_with_timeout", "submits to a pool whose queue has no bound"),
    ("ScheduledThreadPoolExecutor::submit_with_timeout_or", "the same"),
    ("RejectionHandler::rejected", "is called in a submission, which is in `CALLS`"),
    ("RefusingPool::execute_when_room", "the same"),
    ("ShutdownHooks::add_pool", "registers a hook, which waits later and is no task"),
    ("ShutdownHooks::add_stopper", "registers a hook, which waits later and is no task"),
    ("CancellableStream::connect", "waits in the system, and is tried in `uninterruptible`"),
    #[cfg(not(feature = "channel"))]
    ("SenderExt::put", "is not there"),
    #[cfg(not(feature = "channel"))]
    ("SenderExt::put_timeout", "is not there"),
    #[cfg(not(feature = "channel"))]
    ("ReceiverExt::take", "is not there"),
    #[cfg(not(feature = "channel"))]
    ("ReceiverExt::take_timeout", "is not there"),
    #[cfg(not(feature = "channel"))]
    ("ReceiverExt::take_iter", "is not there"),
];

/// The innermost waits of all blocking calls: the wait in `wait.rs`, and the waits for a channel.
const WAITS: &[&str] = &["wait_as", "send_unless", "recv_unless"];

/// Functions that wait inside a task of the library or on a thread of the library. `Task::run` runs such a
/// task like any other task; for example, the drain task of a strand submits the next drain task. The scan
/// compares only names. So the scan must leave these functions out: it would find a path to their waits from
/// every function that runs a task.
const INSIDE: &[(&str, &str)] = &[("Strand", "hand_over"), ("ScheduledShared", "sleep_and_hand_over")];

type Blocks = fn() -> bool;

const FOR_EVER: Duration = Duration::MAX;

/// A task with an empty body.
struct Nothing;

impl CancellableTask for Nothing {
    type Output = ();

    fn run(self, _: &CancelToken) -> Result<(), Cancelled> {
        Ok(())
    }

    fn canceller(&self) -> impl FnOnce() + Send + 'static {
        || ()
    }
}

/// Returns a pool whose only thread is busy until the returned guard is dropped. The drop of the pool does
/// not wait for that thread.
fn with_room() -> (Occupied, ThreadPoolExecutor) {
    occupied(ThreadPoolExecutor::builder())
}

/// Returns a pool like the pool of [`with_room`], but with a full queue, so that submitters wait for room.
fn full() -> (Occupied, ThreadPoolExecutor) {
    let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Block::new());
    let (busy, pool) = occupied(builder);
    pool.execute(|| ()).unwrap();
    (busy, pool)
}

fn occupied(builder: ThreadPoolBuilder) -> (Occupied, ThreadPoolExecutor) {
    let pool = builder.on_drop(DropPolicy::Detach).build().unwrap();
    (occupy(&pool), pool)
}

fn idle_scheduler() -> ScheduledThreadPoolExecutor {
    ScheduledThreadPoolExecutor::new(1)
}

/// Returns a series that never runs.
fn rests(pool: &ScheduledThreadPoolExecutor) -> Series {
    pool.schedule_at_fixed_rate(FOR_EVER, FOR_EVER, |_| ()).unwrap()
}

fn refused(reason: &RejectReason) -> bool {
    matches!(reason, RejectReason::Interrupted)
}

#[test]
fn a_task_that_is_cancelled_comes_back_from_every_blocking_call() {
    let stuck: Vec<_> = CALLS.iter().filter(|(_, call)| !comes_back(*call)).map(|(name, _)| *name).collect();
    assert!(stuck.is_empty(), "no cancellation points: {stuck:?}");
}

fn comes_back(call: Blocks) -> bool {
    let pool = ThreadPoolExecutor::builder().on_drop(DropPolicy::Detach).build().unwrap();
    let (spot, (tell, told)) = (Spot::default(), mpsc::channel());
    let there = spot.clone();
    let task = pool.submit(move || {
        there.arrive();
        tell.send(call())
    });
    let task = task.unwrap();
    spot.wait_until_blocked();
    assert!(task.cancel());
    told.recv_timeout(LONG) == Ok(true)
}

#[test]
fn the_list_of_blocking_calls_is_that_of_the_sources() {
    let mut sources = Sources::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    for (owner, name) in INSIDE {
        sources.do_not_follow(owner, name);
    }
    let listed: BTreeSet<_> = CALLS
        .iter()
        .map(|(name, _)| *name)
        .chain(EXCEPTIONS.iter().map(|(name, _)| *name))
        .map(str::to_owned)
        .collect();
    let reach: BTreeSet<_> = WAITS.iter().flat_map(|wait| sources.that_reach(wait)).collect();
    let missing: Vec<_> = reach.difference(&listed).cloned().collect();
    assert!(
        missing.is_empty(),
        "these can come to the wait and have no line in `CALLS`:\n{}",
        missing.join("\n")
    );
    let gone: Vec<_> = listed.difference(&reach).collect();
    assert!(
        gone.is_empty(),
        "these have a line, and it is not found that they can come to the wait: {gone:?}"
    );
}

/// Tests the scan with small sources, to show that the previous test can fail.
#[test]
fn a_public_function_that_comes_to_the_wait_is_found_however_many_calls_are_between() {
    let mut sources = Sources::default();
    sources.add("fn wait_as() {}\npub(crate) fn wait() {\n    wait_as()\n}\n");
    sources.add(
        "pub struct Gate {\n    bolt: Bolt,\n}\n\nimpl<T: Fn(u8)> Gate<T> {\n    pub fn open(&self) {\n        self.bolt.draw();\n    }\n\n    \
         pub fn looks(&self) -> bool {\n        self.bolt.is_drawn()\n    }\n}\n\nimpl Drop for Gate {\n    fn drop(&mut self) {\n        \
         self.open();\n    }\n}\n",
    );
    sources.add("mod tests {\n    fn knock() {}\n}\nstruct Bolt;\n\nimpl Bolt {\n    fn draw(&self) { // wait()\n        crate::wait::wait();\n    }\n    fn is_drawn() {}\n}\n");
    sources.add("pub trait Door {\n    fn knock(&self);\n}\n\nimpl Door for Bolt {\n    fn knock(&self) {\n        self.draw()\n    }\n}\n");
    sources.add("pub struct House;\n\nimpl House {\n    pub fn enter(door: &dyn Door) {\n        door\n            .knock();\n    }\n}\n");
    let found = sources.that_reach("wait_as");
    assert_eq!(
        found.iter().map(String::as_str).collect::<Vec<_>>(),
        ["Door::knock", "Gate::drop", "Gate::open", "House::enter"]
    );
}

#[test]
fn joins_and_waits_come_back_when_a_deadline_cuts_them_short_too() {
    within_deadline(|| {
        for (name, call) in CALLS {
            let limit = CancelToken::new().with_timeout(Duration::from_millis(1));
            assert!(limit.attach(*call), "{name}");
        }
    });
}
