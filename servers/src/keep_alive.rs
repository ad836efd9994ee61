//! Decides whether connections may stay open: this depends on the stage's settings and on the clients that
//! wait.

use executor::CancelToken;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// For this time after the server has closed an idle connection for another client, no answer promises to
/// keep its own connection open.
const PRESSURE: Duration = Duration::from_secs(1);

pub(crate) struct KeepAlive {
    has_threads: Option<Box<dyn Fn() -> bool + Send + Sync>>,
    /// `None` if no request to stop can reach the server.
    stop: Option<Stop>,
    began: Instant,
    /// The time when an idle connection was last closed for another client, in milliseconds since `began`; 0
    /// means never.
    pressure: AtomicU64,
}

/// The request to stop, and the time when it came.
struct Stop {
    token: CancelToken,
    since: Arc<OnceLock<Instant>>,
}

impl KeepAlive {
    pub(crate) fn new() -> KeepAlive {
        KeepAlive { has_threads: None, stop: None, began: Instant::now(), pressure: AtomicU64::new(0) }
    }

    pub(crate) fn only_while(&mut self, has_threads: impl Fn() -> bool + Send + Sync + 'static) {
        self.has_threads = Some(Box::new(has_threads));
    }

    pub(crate) fn until(&mut self, stop: &CancelToken) {
        let since = Arc::new(OnceLock::new());
        let noted = Arc::clone(&since);
        stop.on_cancel(move || _ = noted.set(Instant::now())).keep();
        self.stop = Some(Stop { token: stop.clone(), since });
    }

    /// Returns whether an idle connection stays open until its client acts, because no other client and no
    /// stop can end its wait.
    pub(crate) fn is_certain(&self) -> bool {
        self.has_threads.is_none() && self.stop.is_none()
    }

    /// Returns whether an answer may say that its connection stays open.
    pub(crate) fn may_be_promised(&self) -> bool {
        !self.stop_token().is_some_and(CancelToken::is_cancelled)
            && self.has_threads()
            && !self.is_under_pressure()
    }

    /// Returns whether no other client waits for a thread.
    pub(crate) fn has_threads(&self) -> bool {
        self.has_threads.as_ref().is_none_or(|has_threads| has_threads())
    }

    /// Returns whether an idle connection must be closed for another client. The server remembers
    /// for a while when it closed such a connection.
    pub(crate) fn is_thread_wanted(&self, now: Instant) -> bool {
        let is_wanted = !self.has_threads();
        if is_wanted {
            // Relaxed is enough: at worst a thread sees the new value late, and promises once more that a
            // connection stays open.
            self.pressure.store(self.milliseconds(now), Ordering::Relaxed);
        }
        is_wanted
    }

    fn is_under_pressure(&self) -> bool {
        let last = self.pressure.load(Ordering::Relaxed);
        last > 0 && u128::from(self.milliseconds(Instant::now()).saturating_sub(last)) < PRESSURE.as_millis()
    }

    fn milliseconds(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.began);
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1)
    }

    /// Returns whether at least `time` has passed since the request to stop.
    pub(crate) fn is_stopped_for(&self, time: Duration, now: Instant) -> bool {
        let since = self.stop.as_ref().and_then(|stop| stop.since.get());
        since.is_some_and(|&since| now.saturating_duration_since(since) >= time)
    }

    pub(crate) fn stop_token(&self) -> Option<&CancelToken> {
        self.stop.as_ref().map(|stop| &stop.token)
    }
}
