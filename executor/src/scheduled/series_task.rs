//! One run of a series, as a task of the pool.
//!
//! For the pool, a run is a task like any other task. A run has the id and the name of its series. Hooks see
//! the run, statistics count the run, and the report of a panic names the run. An observer connects the task
//! with the series. The observer reports the end of the task to the series in every case. The observer also
//! makes the token of the series a parent of the task's token.
//!
//! Between two runs, the body is in the series. During a run, the body is on the stack of the run. There is
//! never more than one run under way, so a run finds the body in the series.

use super::series::{Planner, Series, SeriesBody, SeriesShared};
use crate::cancel::CancelToken;
use crate::panics::Panic;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::task::Task;
use crate::task::observer::TaskObserver;
use crate::task::outcome::Outcome;

pub(super) fn task(series: Arc<SeriesShared>, run: u64, planner: Arc<dyn Planner>) -> Task {
    let (body, id, name) = (Arc::clone(&series), series.id, series.name.clone());
    let task = Task::of(id, move || run_body(&body, run));
    let task = if let Some(name) = name { task.named(name) } else { task };
    task.accompanied(SeriesRun { series, number: run, planner, is_told: AtomicBool::new(false) })
}

fn run_body(series: &Arc<SeriesShared>, run: u64) {
    /// Puts the body back into the series, even when the body panics.
    struct BodyInUse<'a>(&'a SeriesShared, Option<SeriesBody>);
    impl Drop for BodyInUse<'_> {
        fn drop(&mut self) {
            *self.0.body.lock() = self.1.take();
            // Release: pairs with the Acquire in `Series::runs`.
            self.0.runs.fetch_add(1, Ordering::Release);
        }
    }

    if !series.planner.upgrade().is_some_and(|planner| planner.begin(series.id, run)) {
        return;
    }
    let body = series.body.lock().take();
    let mut body = BodyInUse(series, body);
    if let Some(body) = &mut body.1 {
        body(&Series::of(series)); // the body is missing only if the series was ended a moment ago
    }
}

struct SeriesRun {
    series: Arc<SeriesShared>,
    number: u64,
    /// A reference that keeps the executor of the series alive until the run has reported its end.
    planner: Arc<dyn Planner>,
    /// True if the planner knows that the run has ended.
    is_told: AtomicBool,
}

impl SeriesRun {
    fn tell(&self, panic: Option<&Panic>) {
        // Relaxed: only one thread at a time has the task. The thread that gets the task sees all writes of
        // the previous thread that had the task.
        if !self.is_told.swap(true, Ordering::Relaxed) {
            self.planner.ended(&self.series, self.number, panic);
        }
    }
}

impl TaskObserver for SeriesRun {
    fn finished(&self, outcome: &Outcome) {
        let panic = if let Outcome::Panicked(panic) = outcome { Some(panic) } else { None };
        self.tell(panic);
    }

    fn root(&self) -> Option<&CancelToken> {
        Some(&self.series.token)
    }
}

impl Drop for SeriesRun {
    /// Reports the end of a task that was dropped before it ran.
    fn drop(&mut self) {
        self.tell(None);
    }
}
