//! What a thread is to executors: whose worker it is, and which tasks it is in the middle of.

use std::cell::RefCell;
use std::task::Waker;

use crate::awaited::Awaited;
use crate::cancel::{RunningTask, runs_a_task, tasks_of_this_thread};
use crate::ids::{TaskId, WatcherId};
use crate::sync::{Arc, thread_local};
use crate::task::TaskLabel;
use crate::watcher::Workforce;

/// A worker, as far as a report says something of it.
pub(crate) trait Worker: Send + Sync {
    /// The task that it runs.
    fn runs(&self) -> Option<TaskLabel>;

    /// The task that it runs is a line, which runs this one now.
    fn runs_part(&self, _line: TaskId, _part: &TaskLabel) {}

    /// Whether it does something for what it waits for before it sleeps.
    fn helps(&self) -> bool {
        false
    }

    /// Does something for it, on the thread that waits. If there is nothing to do, the answer is false, and the waker is
    /// called when there may be.
    fn help(&self, _what: &Awaited, _waker: &Waker) -> bool {
        false
    }
}

/// What a thread does for an executor.
#[derive(Clone)]
enum Job {
    /// It is a pool's.
    WorksFor(WatcherId, Arc<dyn Worker>),
    /// It runs the head of a line, and as a part of it this task.
    SeesTo(TaskId, TaskLabel),
}

thread_local! {
    /// What the thread does. More than one thing if a task of one executor runs tasks of another.
    static JOBS: RefCell<Vec<Job>> = RefCell::new(Vec::new());
}

/// The calling thread has a job until this is dropped.
#[must_use]
pub(crate) struct Employment(());

pub(crate) fn work_for(pool: WatcherId, worker: Arc<dyn Worker>) -> Employment {
    begin(Job::WorksFor(pool, worker))
}

/// The same, for a thread that runs a task of a line, as a part of its head.
pub(crate) fn see_to(head: TaskId, task: TaskLabel) -> Employment {
    begin(Job::SeesTo(head, task))
}

/// The calling thread runs the head of a line, which is about to run a task that has a name; or has not, and the one before it
/// had. If it runs the head as a worker, it says so: also if the head is a task of another line, which it runs as a worker.
pub(crate) fn runs_part(head: TaskId, part: &TaskLabel) {
    let as_whom = |jobs: &RefCell<Vec<Job>>| {
        let mut head = head;
        for job in jobs.borrow().iter().rev() {
            match job {
                Job::WorksFor(_, worker) => return Some((Arc::clone(worker), head)),
                Job::SeesTo(around, task) if task.id() == head => head = *around,
                Job::SeesTo(..) => return None,
            }
        }
        None
    };
    if let Some((worker, head)) = JOBS.try_with(as_whom).ok().flatten() {
        worker.runs_part(head, part);
    }
}

fn begin(job: Job) -> Employment {
    let _ = JOBS.try_with(|jobs| jobs.borrow_mut().push(job));
    Employment(())
}

impl Drop for Employment {
    fn drop(&mut self) {
        let job = JOBS.try_with(|jobs| jobs.borrow_mut().pop());
        drop(job);
    }
}

/// What the calling thread works as, if that [helps](Worker::helps). A task of a line that it sees to is run by the worker.
pub(crate) fn helper() -> Option<Arc<dyn Worker>> {
    let innermost = |jobs: &RefCell<Vec<Job>>| {
        let worker = jobs.borrow().iter().rev().find_map(|job| match job {
            Job::WorksFor(_, worker) => Some(Arc::clone(worker)),
            Job::SeesTo(..) => None,
        });
        worker.filter(|worker| worker.helps())
    };
    JOBS.try_with(innermost).ok().flatten()
}

/// Whether somebody may count on the calling thread: it is a pool's, or runs a task.
pub(crate) fn concerns_this_thread() -> bool {
    JOBS.try_with(|jobs| !jobs.borrow().is_empty()).unwrap_or(false) || runs_a_task()
}

/// What a thread that waits was doing.
pub(crate) struct Duties {
    jobs: Vec<Job>,
    /// Those with handles. The innermost is the last.
    tasks: Vec<Arc<dyn RunningTask>>,
}

impl Duties {
    pub(crate) fn of_this_thread() -> Self {
        let jobs = JOBS.try_with(|jobs| jobs.borrow().clone()).unwrap_or_default();
        Self { jobs, tasks: tasks_of_this_thread() }
    }

    /// The pools whose worker it is.
    pub(crate) fn pools(&self) -> impl DoubleEndedIterator<Item = WatcherId> {
        self.jobs.iter().filter_map(|job| if let Job::WorksFor(pool, _) = job { Some(*pool) } else { None })
    }

    /// The pool as whose worker it waits.
    pub(crate) fn pool(&self) -> Option<Arc<dyn Workforce>> {
        self.pools().next_back()?.pool()
    }

    /// The task that it is about, whether its body, or a hook before or after it.
    pub(crate) fn runs(&self) -> Option<TaskLabel> {
        match self.jobs.last()? {
            Job::WorksFor(_, worker) => worker.runs(),
            Job::SeesTo(_, task) => Some(task.clone()),
        }
    }

    /// The tasks that cannot end before it goes on.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> {
        let in_hooks = self.runs().map(|label| label.id());
        self.tasks.iter().map(|task| task.id()).chain(in_hooks)
    }

    pub(crate) fn innermost(&self) -> Option<TaskId> {
        self.tasks.last().map(|task| task.id())
    }

    /// Whom its tasks report to, a task each.
    pub(crate) fn collectors(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().map(|task| task.collector()).filter(|&collector| collector != 0)
    }
}
