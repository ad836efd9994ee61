//! The store of the pages of a crawl, as its workers see it, and how a worker works.
//!
//! ```text
//!              leases                              outcomes
//!   store ───────────────▶ tasks of an executor ───────────────▶ store
//! ```
//!
//! A worker *pulls*: it takes as many leases as it has places, does what they say, and brings the outcomes
//! back. The worker takes new leases with the same call. So only the store knows what may be done now, what
//! is paused, and what is left; and a worker that is gone had nothing that the store does not have.

use crate::door::channel::{ReceiverExt, Sender, bounded};
use crate::door::sync::{Arc, Mutex, MutexGuard, PoisonError};
use crate::door::{
    CancelToken, Cancelled, CutOff, ExecutorExt, ExecutorService, TICK, TrackingExecutor, masked,
};
use std::mem;
use std::time::Duration;

/// The longest pause of a worker that has no lease. Another process may find pages at any moment, and no
/// message says so.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

// ANCHOR: store
/// What workers take their work from. Threads may call it at the same time.
pub trait Store: Send + Sync + 'static {
    /// The right to do one thing, and what is needed for it.
    type Lease: Clone + Send + Sync + 'static;
    /// The outcome of a lease.
    type Outcome: Send + 'static;
    /// Why the store cannot go on.
    type Error: Send + 'static;

    /// Brings the outcomes of leases, and takes up to `most` new leases. When this returns, some outcomes may
    /// not be on the disk yet; the store limits how many.
    ///
    /// # Errors
    /// If something cannot be written.
    fn exchange(
        &self,
        finished: Vec<(Self::Lease, Self::Outcome)>,
        most: usize,
    ) -> Result<Taken<Self::Lease>, Self::Error>;

    /// Waits until everything that was brought so far is durable.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    fn finish(&self) -> Result<(), Self::Error>;

    /// Gives leases back whose work was not begun, or not done. This does not count as a try.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    fn give_back(&self, leases: Vec<Self::Lease>) -> Result<(), Self::Error>;

    /// How far the crawl is.
    fn status(&self) -> Status;
}
// ANCHOR_END: store

/// What a store has handed out.
#[derive(Debug)]
pub struct Taken<L> {
    /// The new leases.
    pub leases: Vec<L>,
    /// The time until there is more work, even if no lease is finished meanwhile. `None` if there may be no
    /// more work before a lease is finished.
    pub pause: Option<Duration>,
    /// Whether every page is over, or left to another run.
    pub is_over: bool,
}

/// How far a crawl is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// The sites; the site with the most pages to do is first.
    pub sites: Vec<SiteNow>,
    /// How many pages are not over.
    pub open: usize,
    /// How many pages are left to another run.
    pub left: usize,
    /// How many pages have been seen, in this run and before.
    pub seen: usize,
}

/// How far a site is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteNow {
    /// Scheme, host and port.
    pub name: Arc<str>,
    /// How many pages wait.
    pub waiting: usize,
    /// How many stripes have a page, or rest.
    pub taken: usize,
    /// How many pages are over, in this run.
    pub over: usize,
    /// How long the site has not answered, if it does not answer now.
    pub away: Option<Duration>,
}

// ANCHOR: work
/// Works until the crawl is over or `stop` is cancelled, with up to `most` leases at a time; each lease is a
/// task of `tasks`, which has no other tasks. At the end `tasks` is shut down, and the leases that were cut
/// off have been given back. Returns how many leases were cut off.
///
/// A `task` must not panic: the store would not learn what became of its lease.
///
/// # Errors
/// The errors of the store.
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

/// What the tasks of one `work` share.
struct Worker<S: Store, E, F> {
    store: Arc<S>,
    tasks: Arc<TrackingExecutor<E, S::Lease>>,
    task: F,
    /// Outcomes that no turn has brought yet.
    finished: Mutex<Vec<(S::Lease, S::Outcome)>>,
    /// The thread that has a turn holds this lock.
    places: Mutex<Places<S::Lease, S::Error>>,
    /// Tells the thread that waits for the end to take a turn.
    wake: Sender<()>,
}

/// The places for leases: each lease that is out has one.
struct Places<L, E> {
    /// How many leases may be out: zero once the end has come.
    most: usize,
    taken: usize,
    /// Leases whose task could not be submitted.
    refused: Vec<L>,
    error: Option<E>,
}

/// When to take another turn, even if no task ends.
#[derive(Default)]
struct Next {
    /// The time until there is more work. `None` if there may be no more work before a task ends.
    pause: Option<Duration>,
    /// Whether no lease is out.
    is_idle: bool,
    is_over: bool,
}

impl<S, E, F> Worker<S, E, F>
where
    S: Store,
    E: ExecutorService + 'static,
    F: Fn(&S::Lease, &CancelToken) -> Result<S::Outcome, Cancelled> + Send + Sync + 'static,
{
    /// Exchanges all finished leases for new ones, and makes a task of each new lease. There is one turn at a
    /// time: if two turns counted the free places at once, the second one would find none, although the store
    /// may have a lease for it.
    ///
    /// What is finished during a turn is brought by the next turn, all at once. The thread that is first to
    /// finish a lease during a turn waits for the next turn, and the others go on.
    fn turn(self: &Arc<Self>, finished: Option<(S::Lease, S::Outcome)>) -> Next {
        let is_task = finished.is_some();
        let is_first = self.add(finished);
        if is_task && !is_first {
            return Next::default();
        }
        let mut places = self.places();
        let finished = mem::take(&mut *lock(&self.finished));
        if is_task && finished.is_empty() {
            return Next::default(); // the thread that waits for the end had a turn
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

    /// The thread that has done a task takes the next turn itself. So it has a new lease without another
    /// thread being woken.
    fn begin(self: &Arc<Self>, lease: S::Lease) {
        let (worker, tag) = (Arc::clone(self), lease.clone());
        let begun = self.tasks.tagged(tag.clone()).submit_cancellable(move |token| {
            // If the task is cut off before its outcome is brought, nothing has happened; after that, nothing
            // is lost.
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

    /// Adds an outcome to those that the next turn brings. Returns true if there was none before.
    fn add(&self, finished: Option<(S::Lease, S::Outcome)>) -> bool {
        let mut all = lock(&self.finished);
        let is_first = all.is_empty();
        all.extend(finished);
        is_first
    }

    /// Ensures that no new lease is handed out from now on.
    fn close(&self) {
        self.places().most = 0;
        let _ = self.wake.try_send(());
    }

    // ANCHOR: end
    /// Ends all tasks, and gives back the leases that they have not finished.
    fn end(&self) -> Result<usize, S::Error> {
        self.close();
        let mut given_back: Vec<_> = self.tasks.stop().into_iter().filter_map(|(_, lease)| lease).collect();
        masked(|| while !self.tasks.await_termination(Duration::from_hours(1)) {});
        if let Some(error) = self.places().error.take() {
            return Err(error);
        }
        given_back.append(&mut self.places().refused);
        // A task that has returned although it was told to stop has brought its outcome.
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
