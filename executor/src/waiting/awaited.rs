//! What a thread can wait for, what could bring it about, and who can tell whether that can still happen.
//!
//! A wait says what it waits for as an [`Awaited`]. The wait itself does not know whether that can ever come:
//! this needs all threads that wait, and the queues of all executors. So a [`Detector`] knows it, which
//! stands above the waits and is plugged in below them by the first task or worker that it may have to tell
//! of. A program without any has no detector, and its waits just sleep.

use super::parker::Parker;
use super::queue_owner::PoolOwner;
use super::starvation::{Starvation, WaitsFor};
use crate::ids::{Location, QueueId};
use crate::sync::Arc;
use crate::sync::process::OnceLock;
use crate::task::HandleCell;

/// What a thread waits for.
pub(crate) enum Awaited {
    /// The end of a task, with its name.
    Task(Arc<dyn HandleCell>, Option<Arc<String>>),
    /// Something else that knows what could bring it about.
    Other(Arc<dyn Source>),
}

/// What a thread waits for that is not one task.
pub(crate) trait Source: Send + Sync {
    /// What could bring it about. From here on, whoever changes that has the threads that wait look again.
    fn comes_from(&self) -> ComesFrom;

    /// The collector, if it is the end of one of the tasks that report there: for a thread that can run one
    /// of them.
    fn collector(&self) -> Option<usize> {
        None
    }

    /// What to say of it if it comes from [`Places`](ComesFrom::Places).
    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Permits
    }

    /// Whether the wait can end without it. If not, it is never told that it starves: those are that wait for
    /// it in turn.
    fn can_be_given_up(&self) -> bool {
        true
    }
}

impl Awaited {
    pub(crate) fn can_be_given_up(&self) -> bool {
        match self {
            Self::Task(..) => true,
            Self::Other(source) => source.can_be_given_up(),
        }
    }
}

/// What could end a wait.
pub(crate) enum ComesFrom {
    /// Something that is not known here, or that is there already.
    Elsewhere,
    /// The end of one of so many tasks, those which report to this address.
    TasksOf { collector: usize, tasks: usize },
    /// A thread that takes a task out of this queue.
    Room(QueueId),
    /// What happens at one of these places.
    Places(Vec<Location>),
}

/// What was done so that a wait can end, for as long as it lasts.
#[derive(Default)]
pub(crate) struct Relief {
    spares: Vec<Spare>,
}

impl Relief {
    /// The pool has started a thread beyond its maximum, which it dismisses at the end of the wait.
    pub(crate) fn add_spare_of(&mut self, pool: &Arc<dyn PoolOwner>) {
        self.spares.push(Spare(Arc::clone(pool)));
    }
}

/// A thread beyond the maximum of a pool.
struct Spare(Arc<dyn PoolOwner>);

impl Drop for Spare {
    fn drop(&mut self) {
        self.0.dismiss_spare();
    }
}

/// Finds waits that could never end.
pub(crate) trait Detector: Send + Sync {
    /// Sleeps in the parker of the calling thread, which waits for `what` and has no deadline. Returns when
    /// the thread must look again: after a wake-up, or at once if something was done so that the wait can
    /// end.
    ///
    /// # Errors
    /// The wait can never end.
    fn sleep(&self, what: Awaited, parker: &Arc<Parker>, relief: &mut Relief) -> Result<(), Starvation>;
}

static DETECTOR: OnceLock<&'static dyn Detector> = OnceLock::new();

/// Has the waits of this process ask the detector. Called before a thread becomes one that others may count
/// on.
pub(crate) fn plug_in(detector: &'static dyn Detector) {
    DETECTOR.get_or_init(|| detector);
}

pub(crate) fn detector() -> Option<&'static dyn Detector> {
    DETECTOR.get().copied()
}
