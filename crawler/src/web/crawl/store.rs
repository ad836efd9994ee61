//! The store of a crawl's pages, in the form in which its workers see it, and the work loop of a worker.
//!
//! ```text
//!              leases                              outcomes
//!   store ───────────────▶ tasks of an executor ───────────────▶ store
//! ```
//!
//! A worker *pulls*: it takes as many leases as it has places, executes them, and reports the outcomes to the
//! store. In the same call, the worker reports outcomes and takes new leases. So only the store knows which
//! work is available, paused or left, and no data is lost when a worker dies.

use crate::door::channel::{ReceiverExt, Sender, bounded};
use crate::door::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::door::{
    CancelToken, Cancelled, CutOff, ExecutorExt, ExecutorService, TICK, TrackingExecutor, masked,
};
use std::mem;
use std::time::Duration;

/// The longest pause of a worker that has no lease. Another process may find pages at any moment, and no
/// message tells this worker about them.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

// ANCHOR: store
/// The source of the workers' leases. Several threads may call the methods at the same time.
pub trait Store: Send + Sync + 'static {
    /// The right to do one job, and the data that the job needs.
    type Lease: Clone + Send + Sync + 'static;
    /// The outcome of a lease.
    type Outcome: Send + 'static;
    /// The reason why the store cannot continue.
    type Error: Send + 'static;

    /// Reports the outcomes of leases, and takes up to `most` new leases. When this method returns, some
    /// outcomes may not be on the disk yet; the store limits their number.
    ///
    /// # Errors
    /// Fails if an outcome cannot be written.
    fn exchange(
        &self,
        finished: Vec<(Self::Lease, Self::Outcome)>,
        most: usize,
    ) -> Result<Taken<Self::Lease>, Self::Error>;

    /// Waits until all reported outcomes are durable.
    ///
    /// # Errors
    /// Fails in the same cases as [`exchange`](Self::exchange).
    fn finish(&self) -> Result<(), Self::Error>;

    /// Gives back the leases whose work was not begun or not finished. A lease that is given back does not
    /// count as a try.
    ///
    /// # Errors
    /// Fails in the same cases as [`exchange`](Self::exchange).
    fn give_back(&self, leases: Vec<Self::Lease>) -> Result<(), Self::Error>;

    /// Returns the progress of the crawl.
    fn status(&self) -> Status;
}
// ANCHOR_END: store

/// The leases that a store has handed out.
#[derive(Debug)]
pub struct Taken<L> {
    /// The new leases.
    pub leases: Vec<L>,
    /// The time until there is more work, even if no lease is finished meanwhile. The time is `None` if
    /// there may be no more work until a lease is finished.
    pub pause: Option<Duration>,
    /// True if every page is finished, or was left to another run.
    pub is_over: bool,
}

/// The progress of a crawl.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// The sites, beginning with the site that has the most remaining pages.
    pub sites: Vec<SiteNow>,
    /// The number of pages that are not finished.
    pub open: usize,
    /// The number of pages that are left to another run.
    pub left: usize,
    /// The number of pages that have been seen, in this run and before.
    pub seen: usize,
}

/// The progress of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteNow {
    /// The scheme, host and port of the site.
    pub name: Arc<str>,
    /// The number of waiting pages.
    pub waiting: usize,
    /// The number of stripes that have a page or are resting.
    pub taken: usize,
    /// The number of pages that were finished in this run.
    pub over: usize,
    /// If the site does not answer now, the time for which it has not answered.
    pub away: Option<Duration>,
}

// ANCHOR: work
/// Works until the crawl has ended or `stop` is cancelled, with up to `most` leases at a time. Each lease is
/// a task of the executor `tasks`; this executor must have no other tasks. At the end, `tasks` is shut down,
/// and the interrupted leases are given back. Returns the number of interrupted leases.
///
/// A `task` must not panic, because after a panic the store would not learn the outcome of the lease.
///
/// # Errors
/// Fails with the errors of the store.
pub fn work<S: Store, E: ExecutorService + 'static>(
    store: &Arc<S>,
    tasks: &Arc<TrackingExecutor<E, S::Lease>>,
    most: usize,
    stop: &CancelToken,
    task: impl Fn(&S::Lease, &CancelToken) -> Result<S::Outcome, Cancelled> + Send + Sync + 'static,
    mut show: impl FnMut(&S),
) -> Result<usize, S::Error> {
    let (wake, woken) = bounded(1);
    let places = Mutex::new(Places { most, taken: 0, refused: Vec::new(), error: None });
    let (store, tasks, finished) = (Arc::clone(store), Arc::clone(tasks), Mutex::default());
    let worker = Arc::new(Worker { store, tasks, task, finished, places, wake });
    let mut longest = TICK;
    while !stop.is_cancelled() && worker.places().most > 0 {
        let next = worker.turn(None);
        show(&worker.store);
        if next.is_over {
            break;
        }
        longest = if next.is_idle { longest.min(LONGEST_PAUSE / 2) * 2 } else { TICK };
        let _ = stop.attach(|| woken.take_timeout(next.pause.unwrap_or(longest).min(longest)));
    }
    worker.end()
}

/// The data that the tasks of one `work` call share.
struct Worker<S: Store, E, F> {
    store: Arc<S>,
    tasks: Arc<TrackingExecutor<E, S::Lease>>,
    task: F,
    /// Outcomes that no turn has reported yet.
    finished: Mutex<Vec<(S::Lease, S::Outcome)>>,
    /// A thread holds this lock while it takes a turn.
    places: Mutex<Places<S::Lease, S::Error>>,
    /// Tells the thread that waits for the end of the crawl that it must take a turn.
    wake: Sender<()>,
}

/// The places for leases: each lease that is handed out has a place.
struct Places<L, E> {
    /// The largest number of leases that may be handed out, which is zero after the end.
    most: usize,
    taken: usize,
    /// Leases whose task could not be submitted.
    refused: Vec<L>,
    error: Option<E>,
}

/// The time of the next turn if no task ends earlier.
#[derive(Default)]
struct Next {
    /// The time until there is more work. The time is `None` if there may be no more work until a task
    /// ends.
    pause: Option<Duration>,
    /// True if no lease is handed out.
    is_idle: bool,
    is_over: bool,
}

impl<S, E, F> Worker<S, E, F>
where
    S: Store,
    E: ExecutorService + 'static,
    F: Fn(&S::Lease, &CancelToken) -> Result<S::Outcome, Cancelled> + Send + Sync + 'static,
{
    /// Exchanges all finished leases for new leases, and creates a task for each new lease. Only one thread
    /// takes a turn at a time. If two turns counted the free places at the same time, the second turn would
    /// find no free place, although the store may have a lease for it.
    ///
    /// The outcomes that arrive during a turn are reported together by the next turn. The first thread that
    /// finishes a lease during a turn waits for the next turn; other threads continue.
    fn turn(self: &Arc<Self>, finished: Option<(S::Lease, S::Outcome)>) -> Next {
        let is_task = finished.is_some();
        let is_first = self.add(finished);
        if is_task && !is_first {
            return Next::default();
        }
        let mut places = self.places();
        let finished = mem::take(&mut *lock(&self.finished));
        if is_task && finished.is_empty() {
            return Next::default(); // the thread that waits for the end took a turn
        }
        places.taken -= finished.len();
        let free = places.most.saturating_sub(places.taken);
        let taken = match self.store.exchange(finished, free) {
            Ok(taken) => taken,
            Err(error) => {
                places.most = 0;
                places.error.get_or_insert(error);
                return Next { is_over: true, ..Next::default() };
            }
        };
        places.taken += taken.leases.len();
        let is_idle = places.taken == 0;
        drop(places);
        taken.leases.into_iter().for_each(|lease| self.begin(lease));
        Next { pause: taken.pause, is_idle, is_over: taken.is_over && is_idle }
    }

    /// The thread that has finished a task takes the next turn itself. So this thread gets a new lease, and
    /// no other thread must be woken.
    fn begin(self: &Arc<Self>, lease: S::Lease) {
        let (worker, tag) = (Arc::clone(self), lease.clone());
        let begun = self.tasks.tagged(tag.clone()).submit_cancellable(move |token| {
            // If a task is interrupted before its outcome is reported, its lease counts as not begun; after
            // the report, no work is lost.
            let outcome = (worker.task)(&lease, token)?;
            let next = masked(|| worker.turn(Some((lease, outcome))));
            if next.is_over || next.pause.is_some_and(|pause| pause < TICK) {
                let _ = worker.wake.try_send(());
            }
            Ok(())
        });
        if begun.is_err() {
            self.close();
            self.places().refused.push(tag);
        }
    }
    // ANCHOR_END: work

    /// Adds an outcome to the outcomes that the next turn reports. Returns true if no other outcome was
    /// already waiting for the next turn.
    fn add(&self, finished: Option<(S::Lease, S::Outcome)>) -> bool {
        let mut all = lock(&self.finished);
        let is_first = all.is_empty();
        all.extend(finished);
        is_first
    }

    /// Ensures that no new lease is handed out after this call.
    fn close(&self) {
        self.places().most = 0;
        let _ = self.wake.try_send(());
    }

    // ANCHOR: end
    /// Ends all tasks, and gives back the leases of the tasks that did not finish.
    fn end(&self) -> Result<usize, S::Error> {
        self.close();
        let mut given_back: Vec<_> = self.tasks.stop().into_iter().filter_map(|(_, lease)| lease).collect();
        masked(|| while !self.tasks.await_termination(Duration::from_hours(1)) {});
        if let Some(error) = self.places().error.take() {
            return Err(error);
        }
        given_back.append(&mut self.places().refused);
        // A task that has returned has already delivered its outcome, even if the task was told to stop.
        let cut_off = self.tasks.cut_off().unwrap_or_default().into_iter().filter(CutOff::is_certain);
        let cut_off: Vec<_> = cut_off.filter_map(|task| task.tag).collect();
        let count = cut_off.len();
        given_back.extend(cut_off);
        self.store.finish()?;
        self.store.give_back(given_back)?;
        Ok(count)
    }
    // ANCHOR_END: end

    fn places(&self) -> MutexGuard<'_, Places<S::Lease, S::Error>> {
        lock(&self.places)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
