//! The things that a thread can wait for, and the events that could end its wait. A detector tells whether the
//! wait can still end.
//!
//! An [`Awaited`] says what a wait is for. The wait itself cannot find out whether the awaited thing will
//! ever come: the answer depends on all threads that wait, and on the queues of all executors. The
//! [`DETECTOR`] knows all waiting threads and all queues. This module cannot name the detector, because the
//! module of the detector uses this module. Instead, the first task with a handle, or the first worker, sets
//! the detector. A program without workers and without tasks with handles has no detector: its waits are not
//! checked.

use super::parker::Parker;
use super::queue_owner::PoolOwner;
use super::starvation::{Starvation, WaitsFor};
use crate::ids::{Location, QueueId};
use crate::sync::Arc;
use crate::sync::process::OnceLock;
use crate::task::HandleCell;

/// The thing that a thread waits for.
#[derive(Clone)]
pub(crate) enum Awaited {
    /// The end of this task. The second field is the task's name.
    Task(Arc<dyn HandleCell>, Option<Arc<String>>),
    /// Something else. The source knows which events could end the wait.
    Other(Arc<dyn Source>),
}

/// Something that a thread waits for, other than the end of one task.
pub(crate) trait Source: Send + Sync {
    /// Returns the events that could end the wait. A thread that changes the answer later must wake the
    /// waiting threads, so that they ask again.
    fn comes_from(&self) -> ComesFrom;

    /// Returns the collector to which the awaited tasks report, if the wait is for the end of any one of
    /// several tasks. A thread that can run one of these tasks uses the collector to find the task.
    fn collector(&self) -> Option<usize> {
        None
    }

    /// Returns the description that a report gives of this wait, if the wait depends on
    /// [`Places`](ComesFrom::Places).
    fn waits_for(&self) -> WaitsFor {
        WaitsFor::Permits
    }

    /// Returns whether the waiting thread can go on without the thing that it waits for. If the thread cannot
    /// go on, its wait never ends with an error. The threads that wait for this thread get the error instead.
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

/// The events that could end a wait.
pub(crate) enum ComesFrom {
    /// An event that is not known here, or an event that has already come.
    Elsewhere,
    /// The end of any one of the tasks that report to this collector. `tasks` is the number of these tasks.
    TasksOf { collector: usize, tasks: usize },
    /// Room in this queue. A thread makes room when it takes a task out of the queue.
    Room(QueueId),
    /// An event at one of these places.
    Places(Vec<Location>),
}

/// The spare threads that pools have started so that a wait can end. Dropping this value dismisses these
/// threads.
#[derive(Default)]
pub(crate) struct Relief {
    /// The pool of each spare thread.
    spares: Vec<Arc<dyn PoolOwner>>,
}

impl Relief {
    /// Records that the pool has started a thread beyond its maximum. The pool dismisses that thread at the
    /// end of the wait.
    pub(crate) fn add_spare_of(&mut self, pool: &Arc<dyn PoolOwner>) {
        self.spares.push(Arc::clone(pool));
    }
}

impl Drop for Relief {
    fn drop(&mut self) {
        self.spares.iter().for_each(|pool| pool.dismiss_spare());
    }
}

/// Finds waits that could never end.
///
/// The detector makes the calling thread sleep in the thread's parker. The thread waits for the awaited
/// thing, without a deadline. If a pool or this thread has done something that can end the wait, the detector
/// returns at once. If not, the detector returns after a wake-up. Then the thread must check again whether
/// the awaited thing has come. The detector fails if the wait can never end.
pub(crate) type Detector = fn(Awaited, &Arc<Parker>, &mut Relief) -> Result<(), Starvation>;

/// The detector of the process. The detector must be set before any thread becomes a worker or runs a task
/// with a handle.
pub(crate) static DETECTOR: OnceLock<Detector> = OnceLock::new();
