//! When an executor over another executor is dropped, the drop waits for no task, whatever the state of the
//! other executor.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use executor::{
    Block, BoundedExecutor, CancellingExecutor, Executor, ExecutorCompletionService, FifoQueue, RefusingPool,
    RejectedExecution, RejectionHandler, SerialExecutor, StripedExecutor, ThreadPoolExecutor,
    TrackingExecutor, prelude::*,
};

use crate::support::{LONG, Signal, Spot, eventually, on_thread, within_deadline};

type Pool = Arc<ThreadPoolExecutor>;
type Wrapper = Box<dyn Submits>;
type Make = fn(Pool) -> Wrapper;
type Closure = Box<dyn FnOnce() + Send>;

/// A wrapper, reduced to the only method that these tests need.
trait Submits: Send {
    fn submit(&self, f: Closure);
}

struct Over<E>(E);

impl<E: Executor> Submits for Over<E> {
    fn submit(&self, f: Closure) {
        self.0.execute(f).unwrap();
    }
}

impl<E: Executor + 'static> Submits for StripedExecutor<u8, E> {
    fn submit(&self, f: Closure) {
        self.execute_in(1, f).unwrap();
    }
}

impl<E: Executor> Submits for ExecutorCompletionService<E, ()> {
    fn submit(&self, f: Closure) {
        let _canceller = ExecutorCompletionService::submit(self, f).unwrap();
    }
}

fn boxed(executor: impl Executor + 'static) -> Wrapper {
    Box::new(Over(executor))
}

/// Each kind of wrapper, and some wrappers over other wrappers.
const WRAPPERS: [(&str, Make); 8] = [
    ("serial", |pool| boxed(SerialExecutor::over(pool))),
    ("serial, by turns", |pool| boxed(SerialExecutor::over(pool).turns_of(1))),
    ("striped, by turns", |pool| Box::new(StripedExecutor::over(pool).turns_of(1))),
    ("bounded", |pool| boxed(BoundedExecutor::over(pool, 9))),
    ("tracking", |pool| boxed(TrackingExecutor::over(pool))),
    ("cancelling", |pool| boxed(CancellingExecutor::new(pool))),
    ("completion service", |pool| Box::new(ExecutorCompletionService::new(pool))),
    ("serial, by turns, bounded, tracked", |pool| {
        boxed(SerialExecutor::over(BoundedExecutor::over(TrackingExecutor::over(pool), 9)).turns_of(1))
    }),
];

/// The state of the pool below the wrapper.
#[derive(Debug, Clone, Copy, PartialEq)]
enum State {
    /// The pool's threads are busy, one of them with a task of the wrapper, and the pool's queue is full.
    Full,
    /// The state is the same as `Full`, except that the wrapper's task has ended. The drain task of a strand
    /// waits for room before its next turn.
    HeadWaits,
    /// The pool was shut down, and its threads are busy.
    ShutDown,
}

/// A handler that shows when a submitter waits for room.
struct Waits(Spot, Block);

impl RejectionHandler for Waits {
    fn rejected(&self, refused: RejectedExecution, pool: &RefusingPool<'_>) -> Result<(), RejectedExecution> {
        self.0.arrive();
        self.1.rejected(refused, pool)
    }
}

#[test]
fn an_executor_over_another_one_is_dropped_at_once() {
    within_deadline(|| {
        for (name, make) in WRAPPERS {
            for state in [State::Full, State::HeadWaits, State::ShutDown] {
                for by_a_worker in [false, true] {
                    drop_in(name, make, state, by_a_worker);
                }
            }
        }
    });
}

fn drop_in(name: &str, make: Make, state: State, by_a_worker: bool) {
    let case = format!("{name}, {state:?}, by a worker: {by_a_worker}");
    let waits = Spot::default();
    let builder = ThreadPoolExecutor::builder().threads(2).queue(FifoQueue::bounded(1));
    let builder = builder.rejection_handler(Waits(waits.clone(), Block::new()));
    let pool = Arc::new(builder.build().unwrap());
    let wrapper = make(Arc::clone(&pool));
    let takes_turns = name.contains("by turns");

    // One thread runs a task of the wrapper. A second task of the wrapper waits behind the first task. The
    // second task waits in the wrapper's strand, or, if the wrapper has no strands, in the pool's queue.
    let (begun, ends, ran) = (Signal::new(), Signal::new(), Arc::new(AtomicUsize::new(0)));
    let (is_begun, until, counts) = (begun.clone(), ends.clone(), Arc::clone(&ran));
    wrapper.submit(Box::new(move || {
        is_begun.set();
        until.wait();
        counts.fetch_add(1, Ordering::SeqCst);
    }));
    begun.wait();

    // The other thread drops the wrapper, or is busy until another thread has dropped the wrapper.
    let (busy, drops, dropped) = (Signal::new(), Signal::new(), Signal::new());
    let (is_busy, until) = (busy.clone(), if by_a_worker { drops.clone() } else { dropped.clone() });
    let counts = Arc::clone(&ran);
    let second = move || _ = counts.fetch_add(1, Ordering::SeqCst);
    let (given, to_be_dropped) = std::sync::mpsc::channel::<Wrapper>();
    let tell = dropped.clone();
    pool.execute(move || {
        is_busy.set();
        until.wait();
        if by_a_worker {
            drop(to_be_dropped.recv_timeout(LONG).unwrap());
            tell.set();
        }
    })
    .unwrap();
    busy.wait();
    wrapper.submit(Box::new(second));
    let is_in_line = pool.queued() == 0;
    if is_in_line {
        pool.execute(|| ()).unwrap();
    }
    match state {
        State::Full => {}
        State::HeadWaits => {
            ends.set();
            if takes_turns {
                waits.wait_until_blocked();
            }
        }
        State::ShutDown => pool.shutdown(),
    }
    if by_a_worker {
        given.send(wrapper).unwrap();
        drops.set();
        eventually(&case, || dropped.is_set());
    } else {
        on_thread(move || drop(wrapper)).result();
        dropped.set();
    }
    ends.set();
    eventually(&case, || ran.load(Ordering::SeqCst) == 2);
    pool.close();
}
