//! Where the pages of a crawl are, as its workers see it, and how a worker works.
//!
//! ```text
//!              leases                              outcomes
//!   store ───────────────▶ tasks of an executor ───────────────▶ store
//! ```
//!
//! A worker *pulls*: it takes as many leases as it has places, does what they say, and brings the outcomes back. It takes new leases
//! with the same call. So the store alone knows what may be done now, what rests, and what is left; and a worker that is gone has
//! nothing that the store has not.

use crate::door::channel::{Receiver, bounded};
use crate::door::{CancelToken, Cancelled, CutOff, ExecutorExt, ExecutorService, TrackingExecutor, masked};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

/// A worker looks this often whether it is to stop, and shows how far it is.
const TICK: Duration = Duration::from_millis(50);

/// What workers take their work from.
pub trait Store {
    /// The right to do one thing, and what is needed for it.
    type Lease: Clone + Send + Sync + 'static;
    /// What came of it.
    type Outcome: Send + 'static;
    /// Why the store cannot go on.
    type Error;

    /// Brings what came of leases, and takes up to `most` new ones. What was brought may be on its way to the disk when this returns; the
    /// store sees to it that it is not much.
    ///
    /// # Errors
    /// If something cannot be written.
    fn exchange(
        &mut self,
        finished: Vec<(Self::Lease, Self::Outcome)>,
        most: usize,
    ) -> Result<Taken<Self::Lease>, Self::Error>;

    /// Brings what came of leases, and waits until all that was ever brought is durable.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    fn finish(&mut self, finished: Vec<(Self::Lease, Self::Outcome)>) -> Result<(), Self::Error>;

    /// Gives leases back whose work was not begun, or not done. That costs no try.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    fn give_back(&mut self, leases: Vec<Self::Lease>) -> Result<(), Self::Error>;

    /// How far the crawl is.
    fn status(&self) -> Status;

    /// Takes up to `most` leases.
    ///
    /// # Errors
    /// As [`exchange`](Self::exchange).
    fn take(&mut self, most: usize) -> Result<Taken<Self::Lease>, Self::Error> {
        self.exchange(Vec::new(), most)
    }
}

/// What a store has handed out.
#[derive(Debug)]
pub struct Taken<L> {
    /// Leases.
    pub leases: Vec<L>,
    /// The time until there is more, even if nobody finishes anything. None: there may be none before that.
    pub pause: Option<Duration>,
    /// Every page is over, or left to another run.
    pub is_over: bool,
}

/// How far a crawl is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// Each site. The one with the most pages to do is first.
    pub sites: Vec<SiteNow>,
    /// Pages that are not over.
    pub open: usize,
    /// Pages that are left to another run.
    pub left: usize,
    /// Pages that have been seen, in this run and before.
    pub seen: usize,
}

/// How far a site is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteNow {
    /// Scheme, host and port.
    pub name: Arc<str>,
    /// Pages that wait.
    pub waiting: usize,
    /// Stripes that have a page, or rest.
    pub taken: usize,
    /// Pages that are over, in this run.
    pub over: usize,
    /// It does not answer, for so long.
    pub away: Option<Duration>,
}

// ANCHOR: work
/// Works until the crawl is over, or `stop` is cancelled: with up to `most` leases at a time, each a task of `tasks`, which has no others. At
/// the end `tasks` is shut down, and what was cut off has been given back: so many leases.
///
/// A `task` must not panic: nobody would learn what became of its lease.
///
/// # Errors
/// As those of the store.
pub fn work<S: Store, E: ExecutorService>(
    store: &mut S,
    tasks: &TrackingExecutor<E, S::Lease>,
    most: usize,
    stop: &CancelToken,
    task: impl Fn(&S::Lease, &CancelToken) -> Result<S::Outcome, Cancelled> + Clone + Send + 'static,
    mut show: impl FnMut(&S),
) -> Result<usize, S::Error> {
    let (outcomes, arrived) = bounded(most);
    let (mut under_way, mut finished, mut refused) = (0, Vec::new(), Vec::new());
    let mut turn = |finished: &mut Vec<_>| {
        let taken = store.exchange(mem::take(finished), most - under_way)?;
        for lease in taken.leases {
            under_way += 1;
            let (task, outcomes, tag) = (task.clone(), outcomes.clone(), lease.clone());
            let begun = tasks.tagged(tag.clone()).submit_cancellable(move |token| {
                // Cut off before the outcome is sent, nothing has happened. After that, nothing is lost.
                let outcome = task(&lease, token)?;
                masked(|| outcomes.put((lease, outcome)).map_err(|_| Cancelled))
            });
            refused.extend(begun.is_err().then_some(tag));
        }
        show(store);
        if taken.is_over && under_way == 0 {
            return Ok(false);
        }
        *finished = arriving(&arrived, taken.pause.map_or(TICK, |pause| pause.min(TICK)));
        under_way -= finished.len();
        Ok(true)
    };
    let mut ended = Ok(true);
    while matches!(ended, Ok(true)) && !stop.is_cancelled() {
        ended = turn(&mut finished);
    }
    // ANCHOR_END: work
    // ANCHOR: end
    let not_begun = tasks.stop().into_iter().filter_map(|(_, lease)| lease);
    refused.extend(not_begun);
    masked(|| while !tasks.await_termination(Duration::from_hours(1)) {});
    ended?;
    finished.extend(arriving(&arrived, Duration::ZERO));
    // A task that has returned although it was told to stop has sent its outcome.
    let cut_off = tasks.cut_off().unwrap_or_default().into_iter().filter(CutOff::is_certain);
    let cut_off: Vec<_> = cut_off.filter_map(|task| task.tag).collect();
    let count = cut_off.len();
    store.finish(finished)?;
    refused.extend(cut_off);
    store.give_back(refused)?;
    Ok(count)
    // ANCHOR_END: end
}

/// All that has arrived, once something has, or nothing after a while.
fn arriving<T>(arrived: &Receiver<T>, pause: Duration) -> Vec<T> {
    let first = arrived.take_timeout(pause).ok();
    first.into_iter().chain(std::iter::from_fn(|| arrived.try_take().ok())).collect()
}
