//! The thread that writes the state while the other threads fetch pages.
//!
//! A commit waits for the disk; this wait takes as long for one page as for many pages. So the keeper writes
//! in one commit everything that arrived during the previous commit, and during a short pause: on a fast disk,
//! a commit ends before a second page arrives. A page is *in flight* while it is being
//! fetched, or was fetched and is not durable yet. Each page in flight has a permit, which the commit gives
//! back. After a crash, the number of pages that are fetched again is at most the number of permits.

use super::state::{Changes, State};
use anyhow::anyhow;
use executor::channel::{Receiver, ReceiverExt, Sender, SenderExt, bounded};
use executor::{ExecutorExt, Permit, Semaphore, TaskHandle, ThreadPoolExecutor, masked};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The largest number of pages in flight.
pub const IN_FLIGHT: usize = 64;

/// The shortest time from the end of a commit to the next commit.
const PAUSE: Duration = Duration::from_millis(2);

/// The interval at which a thread that waits for a permit checks whether the keeper can still write.
const TICK: Duration = Duration::from_millis(50);

/// Passes changes to a thread that writes them to the state; the thread exists only while there are
/// changes to write.
pub struct Keeper {
    state: Arc<State>,
    permits: Arc<Semaphore>,
    /// The number of writes that were requested.
    writes: u64,
    /// The number of writes that are durable. The keeper's thread increases this number (`Release`) after
    /// the commit; a thread that reads the number (`Acquire`) finds that many writes in the file.
    durable: Arc<AtomicU64>,
    at_work: Option<AtWork>,
}

struct AtWork {
    changes: Sender<(Changes, usize)>,
    kept: TaskHandle<anyhow::Result<()>>,
    _thread: ThreadPoolExecutor,
}

impl Keeper {
    /// Returns a keeper of the given file.
    pub fn of(state: Arc<State>) -> Keeper {
        let (permits, durable) = (Arc::new(Semaphore::new(IN_FLIGHT)), Arc::default());
        Keeper { state, permits, writes: 0, durable, at_work: None }
    }

    /// Takes up to `most` permits for fetching pages. If no permit is free and no page is `out` (being
    /// fetched), waits for a permit.
    ///
    /// # Errors
    /// Fails if an earlier change could not be written, because then fetching more pages is useless.
    pub fn take(&mut self, most: usize, out: usize) -> anyhow::Result<usize> {
        loop {
            if self.at_work.as_ref().is_some_and(|work| work.kept.is_finished()) {
                self.flush()?;
            }
            let count = self.permits.available_permits().min(most);
            if count > 0 || out > 0 || most == 0 {
                return Ok(self.permits.try_acquire_many(count).map_or(0, Permit::forget));
            }
            drop(masked(|| self.permits.acquire_timeout(TICK)));
        }
    }

    /// Takes back the permits of pages that were not fetched.
    pub fn give_back(&self, permits: usize) {
        self.permits.release(permits);
    }

    /// Passes changes to the keeper's thread, which writes the changes to the file. When the changes are
    /// durable, `permits` permits are given back.
    ///
    /// # Errors
    /// Fails if the thread cannot be started, or if an earlier change could not be written.
    pub fn write(&mut self, changes: Changes, permits: usize) -> anyhow::Result<()> {
        if changes.is_empty() {
            self.permits.release(permits);
            return Ok(());
        }
        let work = match &mut self.at_work {
            Some(work) => work,
            none => none.insert(AtWork::begin(&self.state, &self.permits, &self.durable)?),
        };
        self.writes += 1;
        let sent = masked(|| work.changes.put((changes, permits)).is_ok());
        if sent { Ok(()) } else { self.flush() }
    }

    /// Returns the number of writes that were requested so far.
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Returns the number of durable [`writes`](Self::writes); writes become durable in the order of the requests.
    pub fn durable(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// Waits until all changes are durable.
    ///
    /// # Errors
    /// Fails if a change could not be written.
    pub fn flush(&mut self) -> anyhow::Result<()> {
        let Some(AtWork { changes, kept, _thread: thread }) = self.at_work.take() else { return Ok(()) };
        drop(changes); // first, because the thread ends when no sender is left
        drop(thread);
        masked(|| kept.join()).map_err(|_| anyhow!("the thread that writes the state has panicked"))?
    }
}

impl AtWork {
    fn begin(
        state: &Arc<State>,
        permits: &Arc<Semaphore>,
        durable: &Arc<AtomicU64>,
    ) -> anyhow::Result<AtWork> {
        let (changes, arrived) = bounded(IN_FLIGHT);
        let (state, permits, durable) = (Arc::clone(state), Arc::clone(permits), Arc::clone(durable));
        let thread = ThreadPoolExecutor::builder().threads(1).name("keeper").build()?;
        let kept = thread.submit(move || keep(&arrived, &state, &permits, &durable))?;
        Ok(AtWork { changes, kept, _thread: thread })
    }
}

// ANCHOR: keep
/// Writes changes in the order in which they arrive, until all senders are gone.
///
/// The order matters: a page that was found is fetched only after the outcome of the page that links to it
/// has been sent. So the found page is committed together with the page that links to it, or in a later
/// commit, but never without that page.
///
/// # Errors
/// Fails if the state cannot be written. All committed changes stay.
fn keep(
    changes: &Receiver<(Changes, usize)>,
    state: &State,
    given_back: &Semaphore,
    durable: &AtomicU64,
) -> anyhow::Result<()> {
    let mut last = Instant::now();
    while let Ok((mut all, mut permits)) = changes.take() {
        thread::sleep(PAUSE.saturating_sub(last.elapsed())); // no arrival wakes this thread
        let mut writes = 1;
        while let Ok((next, more)) = changes.try_recv() {
            all.extend(next);
            permits += more;
            writes += 1;
        }
        state.commit(&all)?;
        durable.fetch_add(writes, Ordering::Release);
        given_back.release(permits);
        last = Instant::now();
    }
    Ok(())
}
// ANCHOR_END: keep
