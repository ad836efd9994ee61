//! What a thread is to executors: whose worker it is, and which tasks it is in the middle of.

use std::cell::RefCell;
use std::task::Waker;

use super::awaited::Awaited;
use super::queue_owner::PoolOwner;
use crate::cancel::{RunningTask, runs_a_task, tasks_of_this_thread};
use crate::ids::{QueueId, TaskId};
use crate::sync::{Arc, thread_local};
use crate::task::TaskLabel;

/// A worker, as far as a report says something of it.
pub(crate) trait PoolWorker: Send + Sync {
    /// The task that it runs.
    fn runs(&self) -> Option<TaskLabel>;

    /// The task that it runs is a strand, which runs this one now.
    fn runs_part(&self, _line: TaskId, _part: &TaskLabel) {}

    /// Whether it does something for what it waits for before it sleeps.
    fn helps(&self) -> bool {
        false
    }

    /// Does something for it, on the thread that waits. If there is nothing to do, the answer is false, and
    /// the waker is called when there may be.
    fn help(&self, _what: &Awaited, _waker: &Waker) -> bool {
        false
    }
}

/// What a thread does for an executor.
#[derive(Clone)]
enum ExecutorRole {
    /// It is a pool's.
    WorkerOf(QueueId, Arc<dyn PoolWorker>),
    /// It runs the drain task of a strand, and as a part of it this task.
    DrainsStrand(TaskId, TaskLabel),
}

thread_local! {
    /// What the thread does. More than one thing if a task of one executor runs tasks of another.
    static ROLES: RefCell<Vec<ExecutorRole>> = RefCell::new(Vec::new());
}

/// The calling thread has a job until this is dropped.
#[must_use]
pub(crate) struct RoleGuard(());

pub(crate) fn work_for(pool: QueueId, worker: Arc<dyn PoolWorker>) -> RoleGuard {
    begin(ExecutorRole::WorkerOf(pool, worker))
}

/// The same, for a thread that runs a task of a strand, as a part of its drain task.
pub(crate) fn drain_for(drain: TaskId, task: TaskLabel) -> RoleGuard {
    begin(ExecutorRole::DrainsStrand(drain, task))
}

/// The calling thread runs the drain task of a strand, which is about to run a task that has a name; or has
/// not, and the one before it had. If it runs the drain task as a worker, it says so: also if the drain task
/// is a task of another strand, which it runs as a worker.
pub(crate) fn runs_part(drain: TaskId, part: &TaskLabel) {
    let as_whom = |roles: &RefCell<Vec<ExecutorRole>>| {
        let mut drain = drain;
        for role in roles.borrow().iter().rev() {
            match role {
                ExecutorRole::WorkerOf(_, worker) => return Some((Arc::clone(worker), drain)),
                ExecutorRole::DrainsStrand(around, task) if task.id() == drain => drain = *around,
                ExecutorRole::DrainsStrand(..) => return None,
            }
        }
        None
    };
    if let Some((worker, drain)) = ROLES.try_with(as_whom).ok().flatten() {
        worker.runs_part(drain, part);
    }
}

fn begin(role: ExecutorRole) -> RoleGuard {
    let _ = ROLES.try_with(|roles| roles.borrow_mut().push(role));
    RoleGuard(())
}

impl Drop for RoleGuard {
    fn drop(&mut self) {
        let role = ROLES.try_with(|roles| roles.borrow_mut().pop());
        drop(role);
    }
}

/// What the calling thread works as, if that [helps](PoolWorker::helps). A task of a strand that it sees to
/// is run by the worker.
pub(crate) fn helper() -> Option<Arc<dyn PoolWorker>> {
    let innermost = |roles: &RefCell<Vec<ExecutorRole>>| {
        let worker = roles.borrow().iter().rev().find_map(|role| match role {
            ExecutorRole::WorkerOf(_, worker) => Some(Arc::clone(worker)),
            ExecutorRole::DrainsStrand(..) => None,
        });
        worker.filter(|worker| worker.helps())
    };
    ROLES.try_with(innermost).ok().flatten()
}

/// Whether somebody may count on the calling thread: it is a pool's, or runs a task.
pub(crate) fn concerns_this_thread() -> bool {
    ROLES.try_with(|roles| !roles.borrow().is_empty()).unwrap_or(false) || runs_a_task()
}

/// What a thread that waits was doing.
pub(crate) struct WorkerContext {
    roles: Vec<ExecutorRole>,
    /// Those with handles. The innermost is the last.
    tasks: Vec<Arc<dyn RunningTask>>,
}

impl WorkerContext {
    pub(crate) fn of_this_thread() -> Self {
        let roles = ROLES.try_with(|roles| roles.borrow().clone()).unwrap_or_default();
        Self { roles, tasks: tasks_of_this_thread() }
    }

    /// The pools whose worker it is.
    pub(crate) fn pools(&self) -> impl DoubleEndedIterator<Item = QueueId> {
        self.roles
            .iter()
            .filter_map(|role| if let ExecutorRole::WorkerOf(pool, _) = role { Some(*pool) } else { None })
    }

    /// The pool as whose worker it waits.
    pub(crate) fn pool(&self) -> Option<Arc<dyn PoolOwner>> {
        self.pools().next_back()?.pool()
    }

    /// The task that it is about, whether its body, or a hook before or after it.
    pub(crate) fn runs(&self) -> Option<TaskLabel> {
        match self.roles.last()? {
            ExecutorRole::WorkerOf(_, worker) => worker.runs(),
            ExecutorRole::DrainsStrand(_, task) => Some(task.clone()),
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
