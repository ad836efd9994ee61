//! The executor context of a thread: the pools for which the thread is a worker, and the tasks that it has
//! begun and not ended.

use std::cell::RefCell;
use std::task::Waker;

use super::awaited::Awaited;
use super::queue_owner::PoolOwner;
use crate::cancel::{RunningTask, runs_a_task, tasks_of_this_thread};
use crate::ids::{QueueId, TaskId};
use crate::panics::OnDrop;
use crate::sync::{Arc, thread_local};
use crate::task::TaskLabel;

/// A worker of a pool, as the detector and its reports see it.
pub(crate) trait PoolWorker: Send + Sync {
    /// Returns the task that the worker runs.
    fn runs(&self) -> Option<TaskLabel>;

    /// Tells the worker two things: its task is the drain task of a strand, and `_part` is the task of the
    /// strand that runs now.
    fn runs_part(&self, _line: TaskId, _part: &TaskLabel) {}

    /// Returns whether the worker helps: whether it works towards an awaited thing before its thread sleeps.
    fn helps(&self) -> bool {
        false
    }

    /// Works towards the awaited thing, on the thread that waits. Returns false if there is nothing to do.
    /// A worker that had nothing to do calls the waker as soon as there may be something to do.
    fn help(&self, _what: &Awaited, _waker: &Waker) -> bool {
        false
    }
}

/// A role that a thread has for an executor.
#[derive(Clone)]
enum ExecutorRole {
    /// The thread is a worker of this pool.
    WorkerOf(QueueId, Arc<dyn PoolWorker>),
    /// The thread runs the drain task of a strand (first field), and inside the drain task a task of the
    /// strand (second field).
    DrainsStrand(TaskId, TaskLabel),
}

thread_local! {
    /// The roles of this thread. A thread has several roles if a task of one executor runs tasks of another
    /// executor.
    static ROLES: RefCell<Vec<ExecutorRole>> = RefCell::new(Vec::new());
}

/// Gives the calling thread the role of a worker until the result is dropped.
pub(crate) fn work_for(pool: QueueId, worker: Arc<dyn PoolWorker>) -> OnDrop<fn()> {
    begin(ExecutorRole::WorkerOf(pool, worker))
}

/// Records that the calling thread runs `task`, a task of a strand, inside the drain task of that strand.
pub(crate) fn drain_for(drain: TaskId, task: TaskLabel) -> OnDrop<fn()> {
    begin(ExecutorRole::DrainsStrand(drain, task))
}

/// Tells the worker on this thread which task of a strand the drain task runs next. Called only if the next
/// task or the previous task has a name. The drain task can itself be a task of another strand. Then the
/// worker is told about the outermost drain task, because the worker runs this drain task.
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

fn begin(role: ExecutorRole) -> OnDrop<fn()> {
    let _ = ROLES.try_with(|roles| roles.borrow_mut().push(role));
    OnDrop(|| {
        let role = ROLES.try_with(|roles| roles.borrow_mut().pop());
        drop(role); // after the borrow has ended
    })
}

/// Returns the innermost worker on the calling thread, if that worker [helps](PoolWorker::helps). The worker
/// also helps while it runs a task of a strand.
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

/// Returns whether other threads can depend on the calling thread, because it is a worker of a pool or runs
/// a task.
pub(crate) fn concerns_this_thread() -> bool {
    ROLES.try_with(|roles| !roles.borrow().is_empty()).unwrap_or(false) || runs_a_task()
}

/// The roles and tasks of a thread that waits.
pub(crate) struct WorkerContext {
    roles: Vec<ExecutorRole>,
    /// The running tasks that have handles. The innermost task is the last task in the list.
    tasks: Vec<Arc<dyn RunningTask>>,
}

impl WorkerContext {
    pub(crate) fn of_this_thread() -> Self {
        let roles = ROLES.try_with(|roles| roles.borrow().clone()).unwrap_or_default();
        Self { roles, tasks: tasks_of_this_thread() }
    }

    /// Returns the pools for which the thread is a worker.
    pub(crate) fn pools(&self) -> impl DoubleEndedIterator<Item = QueueId> {
        self.roles
            .iter()
            .filter_map(|role| if let ExecutorRole::WorkerOf(pool, _) = role { Some(*pool) } else { None })
    }

    /// Returns the innermost pool for which the thread is a worker.
    pub(crate) fn pool(&self) -> Option<Arc<dyn PoolOwner>> {
        self.pools().next_back()?.pool()
    }

    /// Returns the innermost task of the thread. The thread runs the body of the task, or a hook before or
    /// after the body.
    pub(crate) fn runs(&self) -> Option<TaskLabel> {
        match self.roles.last()? {
            ExecutorRole::WorkerOf(_, worker) => worker.runs(),
            ExecutorRole::DrainsStrand(_, task) => Some(task.clone()),
        }
    }

    /// Returns the tasks that cannot end before this thread goes on.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> {
        let in_hooks = self.runs().map(|label| label.id());
        self.tasks.iter().map(|task| task.id()).chain(in_hooks)
    }

    pub(crate) fn innermost(&self) -> Option<TaskId> {
        self.tasks.last().map(|task| task.id())
    }

    /// Returns the collectors to which the thread's tasks report, one entry for each task.
    pub(crate) fn collectors(&self) -> impl Iterator<Item = usize> {
        self.tasks.iter().map(|task| task.collector()).filter(|&collector| collector != 0)
    }
}
