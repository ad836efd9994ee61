//! What a thread can wait for, what could end its wait, and the detector that tells whether the wait can
//! still end.
//!
//! A wait says what it waits for as an [`Awaited`]. The wait itself cannot tell whether that will ever come:
//! the answer needs all threads that wait, and the queues of all executors. A [`Detector`] has these. It
//! stands above the waits in the order of modules, so the first task with a handle, or the first worker,
//! plugs it in below them. A program without such tasks and workers has no detector, and its waits just
//! sleep.

use super::parker::Parker;
use super::queue_owner::PoolOwner;
use super::starvation::{Starvation, WaitsFor};
use crate::ids::{Location, QueueId};
use crate::sync::Arc;
use crate::sync::process::OnceLock;
use crate::task::HandleCell;

/// What a thread waits for.
pub(crate) enum Awaited {
    /// The end of this task. The second field is the task's name.
    Task(Arc<dyn HandleCell>, Option<Arc<String>>),
    /// Something else, which knows what could bring it about.
    Other(Arc<dyn Source>),
}

/// Something other than one task that a thread waits for.
pub(crate) trait Source: Send + Sync {
    /// Returns what could end the wait. After this call, a thread that changes the answer must wake the
    /// waiting threads, so that they look again.
    fn comes_from(&self) -> ComesFrom;

    /// Returns the collector to which the awaited tasks report, if the wait is for the end of one of them. A
    /// thread that can run such a task uses it.
    fn collector(&self) -> Option<usize> {
        None
    }

    /// Returns how a report describes this wait, if the wait depends on [`Places`](ComesFrom::Places).
    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Permits
    }

    /// Whether the waiting thread can go on without what it waits for. If not, the thread is never told that
    /// it starves: the threads that wait for it are told instead.
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
    /// Something that is not known here, or something that has already come.
    Elsewhere,
    /// The end of one of this number of tasks, which report to this collector.
    TasksOf { collector: usize, tasks: usize },
    /// A thread that takes a task out of this queue.
    Room(QueueId),
    /// An event at one of these places.
    Places(Vec<Location>),
}

/// Measures that were taken so that a wait can end. They are undone when the wait is over.
#[derive(Default)]
pub(crate) struct Relief {
    spares: Vec<Spare>,
}

impl Relief {
    /// Notes that the pool has started a thread beyond its maximum. The pool dismisses that thread at the end
    /// of the wait.
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

/// Plugs the detector in, so that every wait of this process asks it. Must be called before a thread becomes
/// one that others can count on.
pub(crate) fn plug_in(detector: &'static dyn Detector) {
    DETECTOR.get_or_init(|| detector);
}

pub(crate) fn detector() -> Option<&'static dyn Detector> {
    DETECTOR.get().copied()
}
