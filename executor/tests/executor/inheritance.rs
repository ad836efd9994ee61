//! Checks which requests a new task inherits from the token that is current where the task is made. The table
//! of these requests is in the documentation of `CancelToken`. The test reads the table from this
//! documentation, and tests each cell of the table.

use std::sync::{Arc, LazyLock, mpsc};
use std::time::Duration;

use executor::fork_join::{self, ForkJoinPool, RecursiveTask, fork};
use executor::{
    BoundedExecutor, CallerRuns, CancelToken, DirectExecutor, FifoQueue, FutureTask, MinimalPool,
    ScheduledThreadPoolExecutor, SerialExecutor, StripedExecutor, ThreadPerTaskExecutor, ThreadPoolExecutor,
    TrackingExecutor, masked, prelude::*,
};

use crate::support::{LONG, Signal, eventually, occupy, on_thread, within_deadline};

/// These executors exist longer than the calls: the token of a call is cancelled, so a call that closed an
/// executor would also cancel the executor's tasks.
static POOL: LazyLock<Arc<ThreadPoolExecutor>> = LazyLock::new(|| Arc::new(ThreadPoolExecutor::cached()));
static TIMED: LazyLock<ScheduledThreadPoolExecutor> = LazyLock::new(|| ScheduledThreadPoolExecutor::new(2));
static STRIPES: LazyLock<StripedExecutor<u32, Arc<ThreadPoolExecutor>>> =
    LazyLock::new(|| StripedExecutor::over(Arc::clone(&POOL)));
static MINIMAL: LazyLock<MinimalPool> = LazyLock::new(|| MinimalPool::new(2));

/// The columns of the table.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Column {
    /// The token that is current at the call is cancelled.
    Cancel,
    /// The deadline of the token that is current at the call passes.
    Deadline,
    /// The call is made in a masked step, and the token is cancelled.
    Masked,
}

/// The body of the task that a row's code makes.
#[derive(Clone)]
struct Probe {
    begun: Signal,
    is_up: Signal,
    /// True if the table says that the request to stop reaches the task.
    expected: bool,
    tell: mpsc::Sender<bool>,
}

impl Probe {
    /// Waits until the caller's token is cancelled, and then reports whether a wait of this task is cut
    /// short.
    fn look(self) {
        self.begun.set();
        self.is_up.wait(); // this wait obeys no token
        let nap = if self.expected { LONG } else { Duration::from_millis(1) };
        let _ = self.tell.send(CancelToken::current().sleep(nap).is_err()); // the test may be over
    }
}

impl RecursiveTask for Probe {
    type Output = ();

    fn compute(self) {
        self.look();
    }
}

/// A function that makes a task, which runs the probe. If the call waits for the end of the task, this
/// function waits, too.
type Way = fn(Probe);

/// The rows of the table; each row has the ways to make a task that the row describes.
const ROWS: &[(&str, &[Way])] = &[
    (
        "`execute`, `submit`, `schedule`, on threads of an executor",
        &[
            |probe| POOL.execute(|| probe.look()).unwrap(),
            |probe| drop(POOL.submit(|| probe.look()).unwrap()),
            |probe| {
                drop(
                    POOL.submit_cancellable(|_| {
                        probe.look();
                        Ok(())
                    })
                    .unwrap(),
                );
            },
            |probe| drop(ForkJoinPool::common().submit(|| probe.look()).unwrap()),
            |probe| drop(TIMED.submit(|| probe.look()).unwrap()),
            |probe| drop(TIMED.schedule(Duration::ZERO, || probe.look()).unwrap()),
            |probe| drop(SerialExecutor::over(Arc::clone(&POOL)).submit(|| probe.look()).unwrap()),
            |probe| drop(STRIPES.stripe(7).submit(|| probe.look()).unwrap()),
            |probe| drop(BoundedExecutor::over(Arc::clone(&POOL), 1).submit(|| probe.look()).unwrap()),
            |probe| drop(TrackingExecutor::over(Arc::clone(&POOL)).submit(|| probe.look()).unwrap()),
            |probe| drop(ThreadPerTaskExecutor::new().submit(|| probe.look()).unwrap()),
            |probe| MINIMAL.execute(|| probe.look()),
        ],
    ),
    (
        "`submit`, of a task [`under`](crate::FutureTask::under) the current token",
        &[
            |probe| {
                drop(POOL.submit(FutureTask::new(|| probe.look()).under(&CancelToken::current())).unwrap());
            },
            |probe| {
                let task = FutureTask::new(|| probe.look()).under(&CancelToken::current());
                drop(STRIPES.stripe(8).submit(task).unwrap());
            },
        ],
    ),
    (
        "`submit`, if the task runs on the calling thread",
        &[
            |probe| drop(DirectExecutor.submit(|| probe.look()).unwrap()),
            |probe| {
                let full = ThreadPoolExecutor::builder().threads(1).queue(FifoQueue::bounded(1));
                let full = Box::leak(Box::new(full.rejection_handler(CallerRuns).build().unwrap()));
                std::mem::forget(occupy(full));
                full.execute(|| ()).unwrap();
                drop(full.submit(|| probe.look()).unwrap());
            },
        ],
    ),
    (
        "[`fork`](crate::fork_join::fork())",
        &[|probe| drop(fork(|| probe.look())), |probe| drop(probe.fork())],
    ),
    (
        "[`join`](crate::fork_join::join), [`par_for_each`](crate::fork_join::par_for_each)",
        &[
            |probe| _ = fork_join::join(|| probe.look(), || ()),
            |probe| _ = fork_join::join(|| (), || probe.look()),
            |probe| drop(ForkJoinPool::common().invoke(|| fork_join::join(|| (), || probe.look()))),
            |probe| fork_join::par_for_each(&[probe][..], |probe: &Probe| probe.clone().look()),
        ],
    ),
    (
        "[`scope`](crate::ExecutorExt::scope)",
        &[
            |probe| _ = POOL.scope(|scope| scope.spawn(|| probe.look())),
            |probe| _ = ForkJoinPool::common().scope(|scope| scope.spawn(|| probe.look())),
        ],
    ),
    (
        "[`invoke_all`](crate::ExecutorExt::invoke_all), [`invoke_any`](crate::ExecutorExt::invoke_any)",
        &[
            |probe| _ = POOL.invoke_all([|| probe.look()]),
            |probe| {
                _ = POOL.invoke_any([move || {
                    probe.look();
                    Ok::<_, ()>(())
                }]);
            },
        ],
    ),
    (
        "a callback, a hook",
        &[
            |probe| POOL.submit(|| ()).unwrap().on_done(|_| probe.look()),
            |probe| {
                let other = CancelToken::new();
                other.on_cancel(|| probe.look()).keep();
                other.cancel();
            },
        ],
    ),
    ("a thread that the task starts", &[|probe| drop(std::thread::spawn(|| probe.look()))]),
    (
        "such a thread, under [`attach`](Self::attach)",
        &[|probe| {
            let token = CancelToken::current();
            std::thread::spawn(move || token.attach(|| probe.look()));
        }],
    ),
];

/// Tries one cell once. Returns `None` if the deadline passed before the task began.
fn try_way(way: Way, column: Column, expected: bool, deadline: Duration) -> Option<bool> {
    let (tell, told) = mpsc::channel();
    let probe = Probe { begun: Signal::new(), is_up: Signal::new(), expected, tell };
    let (begun, is_up) = (probe.begun.clone(), probe.is_up.clone());
    let token = CancelToken::new();
    let token = if column == Column::Deadline { token.with_timeout(deadline) } else { token };
    let of_caller = token.clone();
    let _caller = on_thread(move || {
        of_caller.attach(|| if column == Column::Masked { masked(|| way(probe)) } else { way(probe) });
    });
    if column == Column::Deadline {
        eventually("the task begins, or the time is up", || begun.is_set() || token.is_cancelled());
        let in_time = !token.is_cancelled();
        eventually("the time is up", || token.is_cancelled());
        is_up.set();
        return in_time.then(|| told.recv_timeout(LONG).unwrap());
    }
    begun.wait();
    token.cancel();
    is_up.set();
    Some(told.recv_timeout(LONG * 2).unwrap())
}

/// Returns the rows of the table on the page of `CancelToken`: the label, and a word for each column.
fn table() -> Vec<(String, [bool; 3])> {
    let page = include_str!("../../src/cancel/tree.rs");
    let rows = page
        .lines()
        .map(str::trim_start)
        .skip_while(|line| !line.starts_with("/// | how the task is made |"));
    let rows = rows.skip(2).map_while(|line| line.strip_prefix("/// | ")?.strip_suffix(" |"));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    cells
        .map(|cells| (cells[0].to_owned(), [cells[1] == "yes", cells[2] == "yes", cells[3] == "yes"]))
        .collect()
}

#[test]
fn each_cell_of_the_table_of_inheritance_is_true() {
    let table = table();
    let labels: Vec<_> = table.iter().map(|(label, _)| &label[..]).collect();
    assert_eq!(labels, ROWS.iter().map(|(label, _)| *label).collect::<Vec<_>>(), "the rows of the page");
    within_deadline(move || {
        for ((label, ways), (_, says)) in ROWS.iter().zip(&table) {
            for (column, &expected) in
                [Column::Cancel, Column::Deadline, Column::Masked].into_iter().zip(says)
            {
                for (n, way) in ways.iter().enumerate() {
                    let attempts = [20, 500, 8_000].map(Duration::from_millis).into_iter();
                    let seen =
                        attempts.map(|time| try_way(*way, column, expected, time)).find_map(|seen| seen);
                    let seen = seen.expect("with so much time, the task begins before the deadline");
                    assert_eq!(seen, expected, "{label}, way {n}, column {column:?}");
                }
            }
        }
    });
}
