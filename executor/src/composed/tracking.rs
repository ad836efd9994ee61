//! Finds out which tasks were running when an executor was shut down abruptly.
//!
//! `shutdown_now` returns the tasks that have not begun, and asks the running tasks to stop. Most of these
//! running tasks must be repeated later. For instance, a crawler must fetch a half-fetched page again. Only
//! the executor knows which tasks were running.
//!
//! # What is known and what is presumed
//!
//! | the task was asked to stop while it ran, and then | reported as |
//! |---|---|
//! | its body gave up, with `Err(Cancelled)` | [`CutOffHow::GaveUp`]: known |
//! | its body returned | [`CutOffHow::Returned`]: presumed |
//! | its body panicked | [`CutOffHow::Panicked`]: presumed |
//!
//! [`CutOffHow::Returned`] can be a *false positive*. This cannot be avoided: the body may have done all its
//! work just before the request, and a closure that returns nothing cannot report this fact. So a client
//! should repeat a task that is reported as `Returned` only if a second run does no harm. The usual
//! implementation looks at the thread's interrupt flag, so each of its reports is only a guess.
//!
//! # Invariants
//!
//! 1. `shutdown_now` loses no task. `shutdown_now` hands out each task that it finds in a queue. If a task
//!    has left its queue, the token of the task is a child of the root, and `shutdown_now` cancels the root.
//!    This task is reported, unless the task had ended before this cancellation or is dropped.
//! 2. The [lifecycle](super::lifecycle) counts a task until the task was reported. So the report is complete
//!    when the executor is terminated.
//! 3. Tags are users' values, so the lock of the record is not held when a tag is cloned or dropped.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;

use super::lifecycle::{InFlightTask, Underlying, rest_of_service};
use crate::cancel::{CancelToken, call_outside, is_cancelled_here};
use crate::executor::{Executor, ExecutorService, RejectedExecution};
use crate::ids::{QueueId, TaskId};
use crate::sync::{Arc, Mutex};
use crate::task::observer::TaskObserver;
use crate::task::outcome::Outcome;
use crate::task::{Task, TaskLabel};
use crate::waiting::starvation::TaskRef;

/// Passes tasks on to another executor, and records which tasks were running when `shutdown_now` was called.
///
/// A report has the id and the name of the task, and the *tag* that the user gave to the task: for instance,
/// an address or the number of a job. With the tag, the user can submit the work again. An example from a
/// crawler:
///
/// ```
/// use executor::{CancelToken, Cancelled, ThreadPoolExecutor, TrackingExecutor, prelude::*};
/// use std::time::Duration;
///
/// fn crawl(page: &str, token: &CancelToken) -> Result<(), Cancelled> {
///     token.sleep(Duration::from_secs(if page == "/" { 0 } else { 3600 })) // some take longer
/// }
///
/// let crawler = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1)).with_tags();
/// for page in ["/", "/about", "/news"] {
///     let _handle = crawler.tagged(page).submit_cancellable(|token| crawl(page, token))?;
/// }
/// # while crawler.stats().under_way > 2 || crawler.stats().running < 1 { std::thread::yield_now(); }
/// // Later: stop now, and go on tomorrow.
/// let mut tomorrow: Vec<&str> = crawler.stop().into_iter().filter_map(|(_task, page)| page).collect();
/// crawler.await_termination(Duration::from_secs(10));
/// tomorrow.extend(crawler.cut_off()?.into_iter().filter_map(|task| task.tag));
/// assert_eq!(tomorrow, ["/news", "/about"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What is reported
/// A task is reported under two conditions: [`shutdown_now`](ExecutorService::shutdown_now) of this executor
/// or of the underlying executor asked the task to stop while it was running, and the task has ended since
/// then. [`CutOff::is_certain`] tells whether the task itself says that it was cut off. Two kinds of tasks
/// are not reported: tasks that ended before the request, and tasks that the underlying executor dropped.
///
/// # Its end
/// A tracking executor ends in the same way as a [`BoundedExecutor`](crate::BoundedExecutor). A tracking
/// executor that was made with [`over`](Self::over) does not end its underlying executor. A tracking executor
/// that was made with [`owning`](Self::owning) also ends the underlying service.
pub struct TrackingExecutor<E, T = ()> {
    inner: Underlying<E>,
    record: Arc<Mutex<TrackingRecord<T>>>,
}

struct TrackingRecord<T> {
    /// The tags of the tasks that are under way. When a caller takes a tag, `None` replaces the tag.
    tags: BTreeMap<TaskId, Arc<Mutex<Option<T>>>>,
    running: usize,
    cut_off: Vec<Arc<CutOff<T>>>,
}

impl<E: Executor> TrackingExecutor<E> {
    /// Makes a tracking executor over `executor`. Other tasks of `executor` are not tracked.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, TrackingExecutor, prelude::*};
    ///
    /// let pool = ThreadPoolExecutor::fixed(2);
    /// let crawler = TrackingExecutor::over(&pool);
    /// assert_eq!(crawler.submit(|| 6 * 7)?.join()?, 42);
    /// crawler.close();
    /// assert!(!pool.is_shutdown()); // the pool goes on
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn over(executor: E) -> Self {
        Self { inner: Underlying::over(executor), record: TrackingRecord::empty() }
    }

    /// Makes a tracking executor that owns `service`. When the tracking executor ends, it also ends
    /// `service`.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, TrackingExecutor, prelude::*};
    ///
    /// let crawler = TrackingExecutor::owning(ThreadPoolExecutor::fixed(2));
    /// crawler.close(); // closes the pool, too
    /// assert!(crawler.executor().is_terminated());
    /// ```
    pub fn owning(service: E) -> Self
    where
        E: ExecutorService,
    {
        Self { inner: Underlying::owning(service), record: TrackingRecord::empty() }
    }

    /// Changes the type of the tags: tasks can then be [tagged](Self::tagged) with values of type `T`.
    ///
    /// ```
    /// use executor::{ManualExecutor, TrackingExecutor, prelude::*};
    ///
    /// let crawler = TrackingExecutor::over(ManualExecutor::new()).with_tags::<&str>();
    /// crawler.tagged("/news").execute(|| ())?;
    /// assert_eq!(crawler.stats().under_way, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// Panics if tasks are under way.
    pub fn with_tags<T>(self) -> TrackingExecutor<E, T> {
        assert_eq!(Arc::strong_count(&self.record), 1, "tasks are under way without tags");
        TrackingExecutor { inner: self.inner, record: TrackingRecord::empty() }
    }
}

impl<T> TrackingRecord<T> {
    fn empty() -> Arc<Mutex<Self>> {
        Arc::new(Mutex::new(Self { tags: BTreeMap::new(), running: 0, cut_off: Vec::new() }))
    }
}

impl<E: Executor, T: Send + Sync + 'static> TrackingExecutor<E, T> {
    /// Returns an executor that gives every task this tag.
    ///
    /// ```
    /// use executor::{ManualExecutor, TrackingExecutor, prelude::*};
    ///
    /// let crawler = TrackingExecutor::over(ManualExecutor::new()).with_tags();
    /// crawler.tagged("/news").execute(|| ())?;
    /// let tags: Vec<_> = crawler.stop().into_iter().map(|(_task, tag)| tag).collect();
    /// assert_eq!(tags, [Some("/news")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tagged(&self, tag: T) -> Tagged<'_, E, T>
    where
        T: Clone,
    {
        Tagged { tracking: self, tag }
    }

    /// Does what [`shutdown_now`](ExecutorService::shutdown_now) does, but also returns the tags of the tasks
    /// that have not begun.
    ///
    /// ```
    /// use executor::{ManualExecutor, TrackingExecutor, prelude::*};
    ///
    /// let crawler = TrackingExecutor::over(ManualExecutor::new()).with_tags::<&str>();
    /// crawler.execute(|| ())?; // without a tag
    /// let unbegun = crawler.stop();
    /// assert_eq!((unbegun.len(), unbegun[0].1), (1, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "the tasks that were not begun; dropping them cancels their handles"]
    pub fn stop(&self) -> Vec<(Task, Option<T>)> {
        self.inner.shutdown_now_each(|task| {
            let tag = self.record.lock().tags.get(&task.id()).cloned();
            tag.and_then(|tag| tag.lock().take())
        })
    }

    /// Returns the tasks that were asked to stop while they ran, in the order in which they ended.
    ///
    /// ```
    /// use executor::{CutOffHow, Latch, ThreadPoolExecutor, TrackingExecutor, prelude::*};
    /// use std::{sync::Arc, time::Duration};
    ///
    /// let crawler = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1));
    /// let begun = Arc::new(Latch::new(1));
    /// let here = Arc::clone(&begun);
    /// let _nap = crawler.submit_cancellable(move |token| {
    ///     here.count_down();
    ///     token.sleep(Duration::from_secs(3600))
    /// })?;
    /// begun.wait()?;
    /// drop(crawler.shutdown_now());
    /// crawler.await_termination(Duration::from_secs(30));
    /// assert_eq!(crawler.cut_off()?[0].how, CutOffHow::GaveUp);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NotTerminated`] if the executor is not terminated yet: a task that still runs can be cut off
    /// later.
    pub fn cut_off(&self) -> Result<Vec<CutOff<T>>, NotTerminated>
    where
        T: Clone,
    {
        if !self.inner.is_terminated() {
            return Err(NotTerminated);
        }
        let cut_off = self.record.lock().cut_off.clone();
        Ok(cut_off.iter().map(|task| CutOff::clone(task)).collect())
    }

    /// Returns what this executor is doing, in numbers.
    ///
    /// ```
    /// use executor::{ManualExecutor, TrackingExecutor, prelude::*};
    ///
    /// let crawler = TrackingExecutor::over(ManualExecutor::new());
    /// crawler.execute(|| ())?;
    /// let stats = crawler.stats();
    /// assert_eq!((stats.under_way, stats.running, stats.cut_off), (1, 0, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stats(&self) -> TrackingStats {
        let under_way = self.inner.life().under_way();
        let record = self.record.lock();
        TrackingStats { under_way, running: record.running, cut_off: record.cut_off.len() }
    }

    /// Returns the underlying executor.
    ///
    /// ```
    /// use executor::{ThreadPoolExecutor, TrackingExecutor};
    ///
    /// let crawler = TrackingExecutor::over(ThreadPoolExecutor::fixed(2));
    /// assert_eq!(crawler.executor().maximum_threads(), 2);
    /// ```
    pub fn executor(&self) -> &E {
        self.inner.executor()
    }

    fn track(&self, task: Task, tag: Option<T>) -> Result<(), RejectedExecution> {
        self.inner.pass_on(task, |task, member| {
            let label = task.label();
            let tag = tag.map(|tag| Arc::new(Mutex::new(Some(tag))));
            if let Some(tag) = &tag {
                let replaced = self.record.lock().tags.insert(label.id(), Arc::clone(tag));
                drop(replaced); // the tag of a task that was submitted twice
            }
            let record = Arc::clone(&self.record);
            task.accompanied(Tracked { member, label, tag, record })
        })
    }
}

impl<E: Executor, T: Send + Sync + 'static> Executor for TrackingExecutor<E, T> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.track(task, None)
    }
}

impl<E: Executor, T: Send + Sync + 'static> ExecutorService for TrackingExecutor<E, T> {
    fn shutdown(&self) {
        self.inner.shutdown();
    }

    fn shutdown_now(&self) -> Vec<Task> {
        self.inner.shutdown_now()
    }

    rest_of_service!(self.inner);
}

/// A [`TrackingExecutor`] that gives every task the same tag: see [`tagged`](TrackingExecutor::tagged).
///
/// ```
/// use executor::{ManualExecutor, TrackingExecutor, prelude::*};
///
/// let crawler = TrackingExecutor::over(ManualExecutor::new()).with_tags();
/// let news = crawler.tagged("/news");
/// news.execute(|| ())?;
/// news.execute(|| ())?; // with the same tag
/// assert!(crawler.stop().iter().all(|(_task, tag)| *tag == Some("/news")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tagged<'a, E, T> {
    tag: T,
    tracking: &'a TrackingExecutor<E, T>,
}

impl<E: Executor, T: Clone + Send + Sync + 'static> Executor for Tagged<'_, E, T> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.tracking.track(task, Some(self.tag.clone()))
    }
}

struct Tracked<T: Send + Sync + 'static> {
    member: InFlightTask,
    label: TaskLabel,
    tag: Option<Arc<Mutex<Option<T>>>>,
    record: Arc<Mutex<TrackingRecord<T>>>,
}

impl<T: Send + Sync + 'static> TaskObserver for Tracked<T> {
    fn queued(&self, queue: QueueId) {
        self.member.queued(queue);
    }

    fn dequeued(&self) {
        self.member.dequeued();
    }

    fn started(&self) {
        self.member.started();
        self.record.lock().running += 1;
    }

    fn finished(&self, outcome: &Outcome) {
        let how = match outcome {
            Outcome::Completed => CutOffHow::Returned,
            Outcome::Panicked(_) => CutOffHow::Panicked,
            Outcome::Cancelled(_) => CutOffHow::GaveUp,
        };
        // The task may have been handed out, and its new owner may run it after this executor has ended. This
        // task is not reported, because its new owner decides what to do with it.
        let is_cut_off = self.member.stays() && is_cancelled_here();
        let report = is_cut_off.then(|| {
            let task = TaskRef::new(self.label.id(), self.label.name());
            Arc::new(CutOff { task, tag: self.tag.as_ref().and_then(|tag| tag.lock().take()), how })
        });
        let mut record = self.record.lock();
        record.running -= 1;
        record.cut_off.extend(report);
    }

    fn handed_out(&self) {
        self.member.handed_out();
    }

    fn root(&self) -> Option<&CancelToken> {
        self.member.root()
    }
}

impl<T: Send + Sync + 'static> Drop for Tracked<T> {
    fn drop(&mut self) {
        let Some(tag) = self.tag.take() else { return };
        let mut record = self.record.lock();
        if record.tags.get(&self.label.id()).is_some_and(|known| Arc::ptr_eq(known, &tag)) {
            record.tags.remove(&self.label.id()); // this drops no user's value: `tag` is another owner
        }
        drop(record);
        call_outside(|| drop(tag)); // the tag may be the last owner of another task
    }
}

/// A task that was asked to stop while it ran.
///
/// ```
/// use executor::{CutOff, Latch, ThreadPoolExecutor, TrackingExecutor, prelude::*};
/// use std::sync::Arc;
///
/// let crawler = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1)).with_tags();
/// # let (begun, end) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
/// # let (here, until) = (begun.clone(), end.clone());
/// # let load = move || { here.count_down(); executor::masked(|| until.wait().unwrap()); };
/// crawler.tagged("/news").execute(load)?;
/// # begun.wait()?;
/// drop(crawler.stop()); // while the task runs
/// # end.count_down();
/// crawler.close();
/// let report: Vec<CutOff<&str>> = crawler.cut_off()?;
/// assert_eq!(report[0].tag, Some("/news"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CutOff<T = ()> {
    /// The id and the name of the task.
    pub task: TaskRef,
    /// The task's [tag](TrackingExecutor::tagged), if it has one.
    pub tag: Option<T>,
    /// The way in which the task ended after it was asked to stop.
    pub how: CutOffHow,
}

/// The way in which a task ended after it had been asked to stop.
///
/// ```
/// use executor::{CutOffHow, Latch, ThreadPoolExecutor, TrackingExecutor, prelude::*};
/// # use std::sync::Arc;
///
/// let crawler = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1));
/// # let (begun, end) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
/// # let (here, until) = (begun.clone(), end.clone());
/// # let ignores_its_token = move || { here.count_down(); executor::masked(|| until.wait().unwrap()); };
/// crawler.execute(ignores_its_token)?;
/// # begun.wait()?;
/// drop(crawler.stop()); // while the task runs
/// # end.count_down();
/// crawler.close();
/// assert_eq!(crawler.cut_off()?[0].how, CutOffHow::Returned);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CutOffHow {
    /// The body of a [cancellable](crate::FutureTask::cancellable) task returned `Err(Cancelled)`, so the
    /// task is cancelled.
    GaveUp,
    /// The task's body returned. The body may have done all of its work.
    Returned,
    /// The task's body panicked.
    Panicked,
}

impl<T> CutOff<T> {
    /// Returns whether the task itself says that it has not done all its work. If the result is false, the
    /// library only presumes that the task was cut off.
    ///
    /// ```
    /// use executor::{Latch, ThreadPoolExecutor, TrackingExecutor, prelude::*};
    /// # use std::sync::Arc;
    ///
    /// let crawler = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1));
    /// # let (begun, end) = (Arc::new(Latch::new(1)), Arc::new(Latch::new(1)));
    /// # let (here, until) = (begun.clone(), end.clone());
    /// # let ignores_its_token = move || { here.count_down(); executor::masked(|| until.wait().unwrap()); };
    /// crawler.execute(ignores_its_token)?;
    /// # begun.wait()?;
    /// drop(crawler.stop()); // while the task runs
    /// # end.count_down();
    /// crawler.close();
    /// assert!(!crawler.cut_off()?[0].is_certain()); // perhaps the task has done all of its work
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_certain(&self) -> bool {
        self.how == CutOffHow::GaveUp
    }
}

/// The error of [`TrackingExecutor::cut_off`]: the executor is not terminated, so further tasks may be cut
/// off.
///
/// ```
/// use executor::{NotTerminated, ThreadPoolExecutor, TrackingExecutor};
///
/// let crawler = TrackingExecutor::owning(ThreadPoolExecutor::fixed(1));
/// assert!(matches!(crawler.cut_off(), Err(NotTerminated { .. })));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotTerminated;

impl fmt::Display for NotTerminated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the executor is not terminated yet")
    }
}

impl Error for NotTerminated {}

/// Numbers that show what a [`TrackingExecutor`] is doing.
///
/// ```
/// use executor::{DirectExecutor, TrackingExecutor, prelude::*};
///
/// let crawler = TrackingExecutor::over(DirectExecutor);
/// crawler.execute(|| ())?; // has ended when the call returns
/// println!("{}", crawler.stats());
/// assert_eq!(crawler.stats().under_way, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TrackingStats {
    /// The number of tasks that run or wait in the underlying executor.
    pub under_way: usize,
    /// The number of tasks that are running.
    pub running: usize,
    /// The number of tasks that were asked to stop while they ran, and have ended.
    pub cut_off: usize,
}

impl fmt::Display for TrackingStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} under way, {} of them running, {} cut off", self.under_way, self.running, self.cut_off)
    }
}

impl<E: fmt::Debug, T> fmt::Debug for TrackingExecutor<E, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (running, cut_off) = {
            let record = self.record.lock();
            (record.running, record.cut_off.len())
        };
        f.debug_struct("TrackingExecutor")
            .field("under_way", &self.inner.life().under_way())
            .field("running", &running)
            .field("cut_off", &cut_off)
            .field("executor", self.inner.executor())
            .finish()
    }
}
