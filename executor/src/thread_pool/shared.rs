//! The part of a pool that its workers share, and the calls that catch panics of user code.
//!
//! [`PoolShared`] exists until the pool is dropped and its last worker has left. The field `state` changes
//! under one lock. The other fields change without the lock of the state, or never change.
//!
//! # Panics
//!
//! Hooks and queues can be user code. The code that calls a hook catches the hook's panic. The function
//! [`ask`](super::state::ask), which calls the queue under the lock, catches the queue's panic. A panic
//! handler is user code, too, so the pool does not call it under the lock: `ask` keeps the panic, and
//! [`PoolShared::report_kept`] passes it to the handler later.

use super::failures::NeverTaken;
use super::hooks::{Hooks, TaskInfo};
use super::inbox::Inbox;
use super::queue::WorkQueue;
use super::queue::sealed::Ours;
use super::settings::PoolSettings;
use super::state::PoolData;
use super::watchdog::Watchdog;
use crate::cancel::{CancelToken, Registration, outside_any_task};
use crate::executor::RejectedExecution;
use crate::panics::{self, PanicHandler, contain};
use crate::sync::atomic::AtomicBool;
use crate::sync::{Arc, Condvar, Instant, Mutex, Weak};
use crate::task::outcome::Outcome;
use crate::task::tombstones::Tombstones;
use crate::task::{Task, TaskLabel};
use crate::waiting::latch::Latch;
use crate::waiting::queue_owner::QueueRegistration;
use crate::waiting::starvation::OnStarvation;

pub(super) struct PoolShared {
    /// The name with which the pool was made. A dump shows this name if the lock of the state is busy.
    pub(super) first_name: Option<Arc<str>>,
    pub(super) state: Mutex<PoolData>,
    /// The accepted tasks that are not yet in the state's queue.
    pub(super) inbox: Inbox,
    /// The condition variable of the workers: it is notified if there is a task, if a size has changed, or if
    /// the pool ends.
    pub(super) work: Condvar,
    /// The condition variable of the submitters: it is notified if a requested worker has begun, or if it is
    /// certain that the worker will not start.
    pub(super) started: Condvar,
    pub(super) terminated: Latch,

    /// The number of cancelled tasks that are still in the queue. See `cancelled`.
    pub(super) tombstones: Tombstones,
    /// The counts of the tasks that no worker has taken. See `failures`.
    pub(super) never_taken: NeverTaken,
    /// True if a submitter waits and the pool must tell it when there is room. See `room`.
    pub(super) submitter_waits: AtomicBool,

    /// The parent of the tokens of all tasks that run in this pool.
    pub(super) root: CancelToken,
    /// The registration of the callback that stops the pool when the parent of the pool's root token is
    /// cancelled. See `stopper`.
    pub(super) owner_token: Mutex<Option<Registration>>,
    pub(super) hooks: Option<Box<dyn Hooks>>,
    pub(super) watchdog: Option<Watchdog>,
    /// True if the hooks want the pool to measure times.
    pub(super) is_timed: bool,
    pub(super) panic_handler: Option<Arc<dyn PanicHandler>>,
    /// The pool's reaction to waits that could never end. See `starving`.
    pub(super) on_starvation: OnStarvation,
    /// The registration of the pool as the owner of its queue: a thread that cancels a task finds the pool
    /// through this registration.
    pub(super) registration: QueueRegistration,
    /// A reference to this struct itself, for the threads that the pool starts.
    pub(super) me: Weak<PoolShared>,
}

impl PoolShared {
    pub(super) fn new(
        mut queue: Box<dyn WorkQueue>,
        settings: PoolSettings,
        hooks: Option<Box<dyn Hooks>>,
        watchdog: Option<Watchdog>,
        panic_handler: Option<Arc<dyn PanicHandler>>,
        root: CancelToken,
        on_starvation: OnStarvation,
    ) -> Arc<Self> {
        let inbox = Inbox::new(queue.as_fifo(Ours).is_some(), hooks.is_some());
        Arc::new_cyclic(|me| Self {
            first_name: settings.name.clone(),
            state: Mutex::new(PoolData::new(queue, settings)),
            inbox,
            work: Condvar::new(),
            started: Condvar::new(),
            terminated: Latch::new(1),
            tombstones: Tombstones::new(),
            never_taken: NeverTaken::new(),
            submitter_waits: AtomicBool::new(false),
            root,
            owner_token: Mutex::new(None),
            is_timed: hooks.as_deref().is_some_and(|hooks| contain(|| hooks.wants_times()).unwrap_or(false)),
            hooks,
            watchdog,
            panic_handler,
            on_starvation,
            registration: QueueRegistration::new(me),
            me: me.clone(),
        })
    }

    /// Calls the hooks, if the pool has any. Catches and reports a panic in a hook.
    #[inline]
    pub(super) fn call_hooks(&self, call: impl FnOnce(&dyn Hooks)) {
        if let Some(hooks) = &self.hooks
            && let Err(panic) = contain(|| call(&**hooks))
        {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }

    /// Calls the hooks on a thread that may be running a task of its own. The hooks do not belong to that task.
    pub(super) fn tell_hooks(&self, call: impl FnOnce(&dyn Hooks)) {
        if self.hooks.is_some() {
            outside_any_task(|| self.call_hooks(call));
        }
    }

    /// Runs a task with the hooks around it. Calls `ended` before a joiner can see the outcome, so that a
    /// thread that has joined the task finds the task in the counts.
    #[inline]
    pub(super) fn run_task(&self, task: Task, ended: impl FnOnce(&Outcome)) {
        if self.hooks.is_some() {
            return self.run_with_hooks(task, ended);
        }
        let label = task.label();
        task.run_then(|outcome| {
            self.record_origin(&label, outcome);
            ended(outcome);
        });
    }

    fn run_with_hooks(&self, task: Task, ended: impl FnOnce(&Outcome)) {
        let label = task.label();
        let mut info = TaskInfo::of(&label);
        let began = self.is_timed.then(Instant::now);
        info.waited = began.and_then(|began| Some(began - task.given_at()?));
        self.call_hooks(|hooks| hooks.before_execute(&info));
        task.run_then(|outcome| {
            self.record_origin(&label, outcome);
            if let Some(began) = began {
                info.ran = Some(began.elapsed());
            }
            self.call_hooks(|hooks| hooks.after_execute(&info, outcome));
            ended(outcome);
        });
    }

    /// Records in a panic which task it comes from, and the handler to which it is reported.
    #[inline]
    fn record_origin(&self, label: &TaskLabel, outcome: &Outcome) {
        if let Outcome::Panicked(panic) = outcome {
            panic.set_origin(Some(label.to_string()), self.panic_handler.clone());
        }
    }

    /// Notifies the hooks that the pool did not accept a task.
    pub(super) fn tell_of_refusal(&self, refused: &RejectedExecution) {
        self.never_taken.refused();
        self.tell_hooks(|hooks| hooks.refused(&TaskInfo::of(&refused.task.label()), &refused.reason));
    }

    /// Reports the panics of the queue. The caller must not hold a lock.
    pub(super) fn report_kept(&self) {
        for panic in panics::take_kept() {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }
}
