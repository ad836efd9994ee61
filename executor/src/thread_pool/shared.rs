//! What a pool and its workers share, and the border at which panics of user code stop.
//!
//! [`PoolShared`] is what is left of a pool when its workers outlive it. It has the state, which changes
//! under its lock, and what changes without that lock or never. The files below add a subject each.
//!
//! # Panics
//!
//! Hooks and queues are users' code. A panic in a hook is caught where it is called, a panic of a queue by
//! [`ask`](super::state::ask) under the lock. Neither is reported under the lock, since a panic handler is
//! user code, too: what `ask` has kept is reported by [`PoolShared::report_kept`] afterwards.

use super::hooks::{Hooks, TaskInfo};
use super::inbox::Inbox;
use super::queue::WorkQueue;
use super::queue::sealed::Ours;
use super::settings::PoolSettings;
use super::state::PoolData;
use crate::cancel::{CancelToken, Registration};
use crate::panics::{self, PanicHandler, contain};
use crate::sync::atomic::AtomicBool;
use crate::sync::{Arc, Condvar, Mutex, Weak};
use crate::task::Task;
use crate::task::outcome::Outcome;
use crate::task::tombstones::Tombstones;
use crate::waiting::latch::Latch;
use crate::waiting::queue_owner::QueueRegistration;
use crate::waiting::starvation::OnStarvation;

pub(super) struct PoolShared {
    pub(super) state: Mutex<PoolData>,
    /// Tasks that were accepted and are not in the state's queue yet.
    pub(super) inbox: Inbox,
    /// There is something for a worker to see to: a task, a changed size, the pool's end.
    pub(super) work: Condvar,
    /// A worker that was being started has begun, or will not come.
    pub(super) started: Condvar,
    pub(super) terminated: Latch,

    /// How many cancelled tasks wait. See `cancelled`.
    pub(super) tombstones: Tombstones,
    /// A submitter wants to hear of room. See `room`.
    pub(super) submitter_waits: AtomicBool,

    /// Above the tokens of all the tasks that run here.
    pub(super) root: CancelToken,
    /// Stops the pool when its owner's token is cancelled. See `stopper`.
    pub(super) owner_token: Mutex<Option<Registration>>,
    pub(super) hooks: Option<Box<dyn Hooks>>,
    pub(super) panic_handler: Option<Arc<dyn PanicHandler>>,
    /// What its workers do about waits that never end. See `starving`.
    pub(super) on_starvation: OnStarvation,
    /// For the tasks in the queue, which tell this when they are cancelled.
    pub(super) registration: QueueRegistration,
    /// For the threads that are started.
    pub(super) me: Weak<PoolShared>,
}

impl PoolShared {
    pub(super) fn new(
        mut queue: Box<dyn WorkQueue>,
        settings: PoolSettings,
        hooks: Option<Box<dyn Hooks>>,
        panic_handler: Option<Arc<dyn PanicHandler>>,
        root: CancelToken,
        on_starvation: OnStarvation,
    ) -> Arc<Self> {
        let inbox = Inbox::new(queue.as_fifo(Ours).is_some());
        Arc::new_cyclic(|me| Self {
            state: Mutex::new(PoolData::new(queue, settings)),
            inbox,
            work: Condvar::new(),
            started: Condvar::new(),
            terminated: Latch::new(1),
            tombstones: Tombstones::new(),
            submitter_waits: AtomicBool::new(false),
            root,
            owner_token: Mutex::new(None),
            hooks,
            panic_handler,
            on_starvation,
            registration: QueueRegistration::new(me),
            me: me.clone(),
        })
    }

    /// Calls the hooks, if the pool has any.
    pub(super) fn call_hooks(&self, call: impl FnOnce(&dyn Hooks)) {
        if let Some(hooks) = &self.hooks {
            self.contain_and_report(|| call(&**hooks));
        }
    }

    /// Calls user code; a panic in it is reported and goes no further.
    pub(super) fn contain_and_report(&self, call: impl FnOnce()) {
        if let Err(panic) = contain(call) {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }

    /// Runs a task with the hooks around it. `ended` counts it before its outcome is published: a thread that
    /// has joined a task finds it counted.
    #[inline]
    pub(super) fn run_task(&self, task: Task, ended: impl FnOnce(&Outcome)) {
        let label = task.label();
        let info = TaskInfo { id: label.id(), name: label.name() };
        if let Some(hooks) = &self.hooks {
            self.contain_and_report(|| hooks.before_execute(&info));
        }
        task.run_then(|outcome| {
            if let Outcome::Panicked(panic) = outcome {
                panic.set_origin(Some(label.to_string()), self.panic_handler.clone());
            }
            if let Some(hooks) = &self.hooks {
                self.contain_and_report(|| hooks.after_execute(&info, outcome));
            }
            ended(outcome);
        });
    }

    /// Reports panics of the queue. Not under a lock.
    pub(super) fn report_kept(&self) {
        for panic in panics::take_kept() {
            panic.set_origin(None, self.panic_handler.clone());
        }
    }
}
