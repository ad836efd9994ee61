//! The one who writes the state: what became of pages comes in, commits go out.
//!
//! A commit waits for the disk, which takes as long for one page as for many. So the keeper takes all that has come in meanwhile. A
//! page's permit is given back when its commit is there: permits are the pages that are *in flight*, fetched or being fetched, and
//! not durable. No more than that is fetched again after a crash.

use super::frontier::Job;
use super::state::{Record, State};
use anyhow::anyhow;
use executor::channel::{Receiver, Sender, bounded};
use executor::{CancelReason, CancelToken, ExecutorExt, OwnedPermit, TaskHandle, ThreadPoolExecutor};
use std::sync::Arc;

/// Pages that are in flight.
pub const IN_FLIGHT: usize = 64;

/// What a task has come to.
pub struct Outcome {
    /// What became of a page. A list of pages that a site gives is none.
    pub page: Option<(Arc<str>, Record)>,
    /// Pages that it links to and that nobody had seen.
    pub found: Vec<Job>,
    /// Its place among those in flight.
    pub permit: Option<OwnedPermit>,
}

/// A keeper at work, on a thread of its own.
pub struct Keeper {
    kept: TaskHandle<anyhow::Result<()>>,
    _thread: ThreadPoolExecutor,
}

impl Keeper {
    /// Begins to write what is sent to the sender. If that cannot be written, `stop` is cancelled at once.
    ///
    /// # Errors
    /// If there is no thread.
    pub fn begin(state: Arc<State>, stop: CancelToken) -> anyhow::Result<(Sender<Outcome>, Keeper)> {
        let (outcomes, arrived) = bounded(IN_FLIGHT);
        let thread = ThreadPoolExecutor::builder().threads(1).name("keeper").build()?;
        let kept = thread.submit(move || keep(&arrived, &state, &stop))?;
        Ok((outcomes, Keeper { kept, _thread: thread }))
    }

    /// Waits until nobody can send any more and all is written.
    ///
    /// # Errors
    /// If something could not be written.
    pub fn end(self) -> anyhow::Result<()> {
        self.kept.join().map_err(|_| anyhow!("the thread that writes the state has panicked"))?
    }
}

// ANCHOR: keep
/// Writes outcomes in the order in which they come, until nobody sends any more.
///
/// The order counts: a page that was found is fetched after the outcome of the page that links to it has been sent. So it is committed
/// together with that one or later, and never without it.
///
/// # Errors
/// If the state cannot be written. What was committed stays, and `stop` is cancelled.
pub fn keep(outcomes: &Receiver<Outcome>, state: &State, stop: &CancelToken) -> anyhow::Result<()> {
    while let Ok(first) = outcomes.take() {
        let mut batch = vec![first];
        while let Ok(next) = outcomes.try_take() {
            batch.push(next);
        }
        let found = batch
            .iter()
            .flat_map(|outcome| outcome.found.iter().map(|page| (&*page.url, Record::waiting(page.depth))));
        let done = batch.iter().filter_map(|outcome| outcome.page.as_ref());
        let committed = state.commit(done.map(|(url, record)| (&**url, record)), found);
        if committed.is_err() {
            // Before the permits are given back: no more pages are fetched in vain.
            stop.cancel_because(CancelReason::new("the state cannot be written"));
        }
        committed?;
    } // the batch is dropped, and its permits with it
    Ok(())
}
// ANCHOR_END: keep
