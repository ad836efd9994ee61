//! The state of a strand, and the steps that change it. Each step runs under the lock of the strand, and
//! returns tasks and wakers to its caller. After the caller has released the lock, the caller must drop or
//! run these tasks, and call these wakers.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;

use crate::ids::{QueueId, TaskId, ThreadKey};
use crate::task::tombstones::Tombstones;
use crate::task::{StrandDrain, Task, TaskLabel};
use crate::wait_graph::{enter_strand, leave_strand};
use crate::waiting::wait::{self, Ticket};

/// The state of a strand's drain task. The drawing in this folder's `mod.rs` shows the steps between the
/// states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DrainState {
    /// There is no drain task, and no task in the strand.
    Gone,
    /// A submitter is giving the drain task to the underlying executor, which can still refuse it.
    Offered(ThreadKey),
    /// The underlying executor has accepted the drain task, which has not begun.
    Accepted,
    /// The drain task runs on this thread.
    Runs(ThreadKey),
    /// The turn of the drain task is over, and the drain task is giving its successor to the underlying
    /// executor.
    HandsOver(ThreadKey),
}

pub(crate) struct StrandState {
    tasks: VecDeque<Queued>,
    priorities: Priorities,
    pub(super) drain: DrainState,
    /// The priority of the drain task that has not begun. If a more urgent task joins the strand, the
    /// priority rises. If that task leaves the strand, the priority stays the same.
    pub(super) priority: i32,
    /// True if a user has the drain task, and has neither run nor dropped it.
    handed_out: bool,
    /// The submitters that wait until the drain task is accepted or refused.
    pub(super) submitters: wait::WaitList,
}

struct Queued {
    task: Task,
    /// The collector of the task, or 0: see [`enter_strand`].
    collector: usize,
}

/// The number of tasks in a strand for each priority. Tasks of priority zero are not counted, because nearly
/// all tasks have this priority.
#[derive(Default)]
struct Priorities {
    counts: BTreeMap<i32, usize>,
    counted: usize,
}

impl Priorities {
    fn enter(&mut self, priority: i32) {
        if priority != 0 {
            *self.counts.entry(priority).or_default() += 1;
            self.counted += 1;
        }
    }

    fn leave(&mut self, priority: i32) {
        if priority == 0 {
            return;
        }
        let Entry::Occupied(mut count) = self.counts.entry(priority) else { return };
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
        self.counted -= 1;
    }

    /// Returns the highest priority in a strand of `tasks` tasks.
    fn highest(&self, tasks: usize) -> Option<i32> {
        let counted = self.counts.last_key_value().map(|(&priority, _)| priority);
        let zero = (tasks > self.counted).then_some(0);
        counted.max(zero)
    }
}

/// The number of tasks for which an empty strand keeps memory.
const KEPT: usize = 32;

/// What a step leaves to its caller: when the lock is free, the caller must call these wakers and drop these
/// tasks.
#[derive(Default)]
#[must_use = "it must be woken and dropped when the lock is free"]
pub(super) struct Remains {
    pub(super) waiting: Vec<Waker>,
    pub(super) tasks: (Vec<Task>, Vec<Task>),
}

impl StrandState {
    pub(super) fn new() -> Self {
        let (tasks, priorities) = (VecDeque::new(), Priorities::default());
        let submitters = wait::WaitList::new();
        Self { tasks, priorities, drain: DrainState::Gone, priority: 0, handed_out: false, submitters }
    }

    /// Returns the number of tasks in the strand, including cancelled tasks.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns whether the strand has neither a task nor a drain task.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.drain == DrainState::Gone
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.drain, DrainState::Runs(_) | DrainState::HandsOver(_))
    }

    pub(crate) fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().map(|queued| &queued.task)
    }

    // ----- the way in -----

    /// Returns whether the submitter `me` must wait, because the drain task can still be refused. The thread
    /// that offers the drain task does not wait for itself.
    pub(super) fn is_undecided_for(&self, me: ThreadKey) -> bool {
        matches!(self.drain, DrainState::Offered(by) if by != me)
    }

    pub(super) fn wait(&mut self, waker: &Waker) -> Ticket {
        self.submitters.join(waker.clone())
    }

    /// Puts a task at the end of the strand. If the strand was idle, the submitter `me` must now offer a
    /// drain task to the underlying executor. If the strand was not idle, returns whether the drain task must
    /// be raised.
    pub(super) fn join(
        &mut self,
        task: Task,
        me: ThreadKey,
        queue_id: QueueId,
        tombstones: &Tombstones,
    ) -> bool {
        let collector = task.collector();
        enter_strand(collector, queue_id);
        if !task.enter_queue(queue_id) {
            tombstones.made(); // the task was cancelled before it was in the queue
        }
        let task = task.up_to_date();
        let priority = task.priority();
        self.priorities.enter(priority);
        self.tasks.push_back(Queued { task, collector });
        if self.drain == DrainState::Gone {
            (self.drain, self.priority) = (DrainState::Offered(me), priority);
            return false;
        }
        self.rise(priority)
    }

    /// If the drain task has not begun, raises its priority to at least `priority`. Returns whether the call
    /// has changed the drain task's priority.
    fn rise(&mut self, priority: i32) -> bool {
        if matches!(self.drain, DrainState::Runs(_)) || priority <= self.priority {
            return false;
        }
        self.priority = priority;
        true
    }

    /// Changes the priority of a task in the strand, for [`Strand::raise_task`](super::Strand::raise_task).
    /// Returns whether the drain task of this strand must be raised, too.
    pub(super) fn raise(&mut self, id: TaskId, priority: i32) -> bool {
        let Some(queued) = self.tasks.iter_mut().find(|queued| queued.task.id() == id) else { return false };
        self.priorities.leave(queued.task.priority());
        queued.task.set_priority(priority);
        self.priorities.enter(priority);
        self.rise(priority)
    }

    /// Returns the label of the task that would be run next.
    pub(super) fn first(&self) -> Option<TaskLabel> {
        self.tasks().find(|task| !task.is_cancelled()).map(Task::stands_for)
    }

    /// Remembers that the underlying executor has accepted the drain task that this thread offered. Does
    /// nothing if the drain task has already begun or was already dropped.
    pub(super) fn is_accepted(&mut self, me: ThreadKey) -> Remains {
        if self.drain != DrainState::Offered(me) {
            return Remains::default();
        }
        self.drain = DrainState::Accepted;
        self.decided()
    }

    fn decided(&mut self) -> Remains {
        if self.submitters.is_empty() {
            return Remains::default(); // the usual case
        }
        Remains { waiting: self.submitters.take_all().collect(), ..Remains::default() }
    }

    // ----- the drain task -----

    /// Returns whether this thread is offering the drain task. If this thread begins the drain task now, the
    /// drain task runs inside the submission of the first task.
    pub(super) fn is_offered_by(&self, me: ThreadKey) -> bool {
        self.drain == DrainState::Offered(me)
    }

    /// Begins the drain task on this thread. Returns `None` if the drain task must do nothing. For example,
    /// if the predecessor submits the drain task and this submission itself runs the drain task, the
    /// predecessor continues to run the strand.
    pub(super) fn begin(&mut self, me: ThreadKey) -> Option<Remains> {
        self.handed_out = false;
        match self.drain {
            DrainState::HandsOver(by) if by == me => {
                self.drain = DrainState::Runs(me);
                None
            }
            DrainState::Offered(_) | DrainState::Accepted | DrainState::HandsOver(_) => {
                self.drain = DrainState::Runs(me);
                Some(self.decided())
            }
            DrainState::Gone | DrainState::Runs(_) => None,
        }
    }

    /// Takes out the next task, and puts the cancelled tasks before it into `cancelled`. Also returns whether
    /// the strand is now empty.
    pub(super) fn next(
        &mut self,
        queue_id: QueueId,
        tombstones: &Tombstones,
        cancelled: &mut Vec<Task>,
    ) -> Option<(Task, bool)> {
        while let Some(queued) = self.tasks.pop_front() {
            match queued.leave(&mut self.priorities, queue_id, tombstones) {
                (task, false) => return Some((task, self.tasks.is_empty())),
                (task, true) => cancelled.push(task),
            }
        }
        None
    }

    /// Ends the drain task, because the strand has no task.
    pub(super) fn end(&mut self) {
        self.drain = DrainState::Gone;
        self.tasks.shrink_to(KEPT);
    }

    /// Begins the hand-over to the successor, and returns the priority of the successor. Returns `None` if
    /// the strand is empty and needs no successor.
    pub(super) fn begin_to_hand_over(&mut self, me: ThreadKey) -> Option<i32> {
        let priority = self.priorities.highest(self.tasks.len())?;
        (self.drain, self.priority) = (DrainState::HandsOver(me), priority);
        Some(priority)
    }

    /// Ends the hand-over to the successor, after the underlying executor has accepted or refused the
    /// successor. Returns true if this drain task must continue, because its successor was refused or
    /// dropped, or ran inside the call.
    pub(super) fn goes_on(&mut self, me: ThreadKey) -> bool {
        if self.drain == DrainState::HandsOver(me) {
            self.drain = DrainState::Accepted;
        }
        self.drain == DrainState::Runs(me)
    }

    /// Handles the drop of a drain task that was never run: removes all tasks from the strand. If the
    /// predecessor is still handing over, the tasks stay in the strand, because the predecessor continues to
    /// run them.
    pub(super) fn abandon(&mut self, queue_id: QueueId, tombstones: &Tombstones) -> Remains {
        self.handed_out = false;
        match self.drain {
            DrainState::HandsOver(by) => self.drain = DrainState::Runs(by),
            DrainState::Offered(_) | DrainState::Accepted => {
                self.drain = DrainState::Gone;
                let tasks = self.take_all(queue_id, tombstones, |_| true);
                return Remains { tasks, ..self.decided() };
            }
            DrainState::Gone | DrainState::Runs(_) => {}
        }
        Remains::default()
    }

    /// Remembers that the drain task was handed out to a user, and takes out the tasks that scopes wait for.
    /// If this strand contains the drain task of another strand, that drain task is handed out, too.
    pub(super) fn is_handed_out(&mut self, queue_id: QueueId, tombstones: &Tombstones) -> Vec<Task> {
        self.handed_out = true;
        let (mut taken, cancelled) = self.take_all(queue_id, tombstones, Task::is_of_scope);
        taken.extend(cancelled);
        taken.extend(self.tasks().filter_map(Task::drain).flat_map(StrandDrain::handed_out));
        taken
    }

    /// Returns true if a task must not join the strand: a user has the drain task, and a scope would wait for
    /// the task.
    pub(super) fn would_strand(&self, task: Option<&Task>) -> bool {
        self.handed_out && task.is_some_and(Task::is_of_scope)
    }

    // ----- out of the strand -----

    /// Takes a task out. Returns the task, and whether the task was cancelled while it was in the
    /// strand.
    pub(super) fn take_out(
        &mut self,
        id: TaskId,
        queue_id: QueueId,
        tombstones: &Tombstones,
    ) -> Option<(Task, bool)> {
        let place = self.tasks.iter().position(|queued| queued.task.id() == id)?;
        Some(self.tasks.remove(place)?.leave(&mut self.priorities, queue_id, tombstones))
    }

    /// Takes out the wanted tasks. Returns two lists: the tasks that can still be run, in their order, and
    /// the cancelled tasks.
    pub(super) fn take_all(
        &mut self,
        queue_id: QueueId,
        tombstones: &Tombstones,
        wanted: impl Fn(&Task) -> bool,
    ) -> (Vec<Task>, Vec<Task>) {
        let (out, tasks) = self.tasks.drain(..).partition(|queued| wanted(&queued.task));
        self.tasks = tasks;
        let out: VecDeque<Queued> = out;
        let out = out.into_iter().map(|queued| queued.leave(&mut self.priorities, queue_id, tombstones));
        let (cancelled, live): (Vec<_>, Vec<_>) = out.partition(|(_, was_cancelled)| *was_cancelled);
        let tasks = |taken: Vec<(Task, bool)>| taken.into_iter().map(|(task, _)| task).collect();
        (tasks(live), tasks(cancelled))
    }
}

impl Queued {
    /// Updates the records of the strand after a task has left the strand. Returns the task, and whether the
    /// task was cancelled while it was in the strand.
    #[inline]
    fn leave(self, priorities: &mut Priorities, queue_id: QueueId, tombstones: &Tombstones) -> (Task, bool) {
        priorities.leave(self.task.priority());
        leave_strand(self.collector, queue_id);
        let was_cancelled = tombstones.has_left(&self.task);
        (self.task, was_cancelled)
    }
}
