//! What changes together in a strand, and how: steps to be taken under the lock of whoever keeps the strand.
//! What they give back is to be dropped, woken or run when the lock is free.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;

use crate::ids::{QueueId, TaskId, ThreadKey};
use crate::task::tombstones::Tombstones;
use crate::task::{StrandDrain, Task, TaskLabel};
use crate::wait_graph::{enter_strand, leave_strand};
use crate::waiting::wait::{self, Ticket};

/// Where the drain task of a strand is. The page of the folder shows who moves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DrainState {
    /// There is none, and no task.
    Gone,
    /// A submitter gives it to the executor below, which may refuse it.
    Offered(ThreadKey),
    /// The executor below has it.
    Accepted,
    /// It runs.
    Runs(ThreadKey),
    /// It has run for long enough and gives its successor to the executor below.
    HandsOver(ThreadKey),
}

pub(crate) struct StrandState {
    tasks: VecDeque<Queued>,
    priorities: Priorities,
    pub(super) drain: DrainState,
    /// Of the drain task that has not begun: it rises with the tasks that come, and does not fall with those
    /// that go.
    pub(super) priority: i32,
    /// A user has the drain task, and may keep it for ever.
    handed_out: bool,
    /// Submitters that wait until the drain task is accepted or refused.
    pub(super) submitters: wait::WaitList,
}

/// A task in the strand.
struct Queued {
    task: Task,
    /// See [`enter_strand`].
    collector: usize,
}

/// What a task that joins a strand changes for its drain task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ForTheDrain {
    /// It will come to the task.
    Nothing,
    /// There is none: whoever has brought the task offers it to the executor below.
    Offer,
    /// It has not begun, and has a higher priority now.
    Raise,
}

/// Which priorities the tasks of a strand have. Only those are counted that are not zero: nearly all are.
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
        let Entry::Occupied(mut count) = self.counts.entry(priority) else { return };
        *count.get_mut() -= 1;
        if *count.get() == 0 {
            count.remove();
        }
        self.counted -= 1;
    }

    /// The highest of so many tasks.
    fn highest(&self, tasks: usize) -> Option<i32> {
        let counted = self.counts.last_key_value().map(|(&priority, _)| priority);
        let zero = (tasks > self.counted).then_some(0);
        counted.max(zero)
    }
}

/// Room for so many tasks stays with a strand that is empty.
const KEPT: usize = 32;

/// What the drain task runs next.
pub(super) struct NextInStrand {
    pub(super) task: Task,
    /// There is no other in the strand, for the time being.
    pub(super) is_last: bool,
}

/// What a step leaves to be done without the lock.
#[derive(Default)]
#[must_use = "it is to be woken and dropped when the lock is free"]
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

    /// How many tasks are in it, with those that were cancelled.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Nothing is in it, and no drain task.
    pub(crate) fn is_idle(&self) -> bool {
        self.drain == DrainState::Gone
    }

    /// One of its tasks is under way.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self.drain, DrainState::Runs(_) | DrainState::HandsOver(_))
    }

    pub(crate) fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().map(|queued| &queued.task)
    }

    // ----- the way in -----

    /// Whether a submitter has to wait: nobody may count on a drain task that can still be refused. A thread
    /// that submits while it offers does not wait for itself.
    pub(super) fn is_undecided_for(&self, me: ThreadKey) -> bool {
        matches!(self.drain, DrainState::Offered(by) if by != me)
    }

    pub(super) fn wait(&mut self, waker: &Waker) -> Ticket {
        self.submitters.join(waker.clone())
    }

    /// Puts a task at the end. Says what that changes for the drain task.
    pub(super) fn join(
        &mut self,
        task: Task,
        me: ThreadKey,
        queue_id: QueueId,
        tombstones: &Tombstones,
    ) -> ForTheDrain {
        let collector = task.collector();
        enter_strand(collector, queue_id);
        if !task.enter_queue(queue_id) {
            tombstones.made(); // it was cancelled before it could tell us
        }
        let task = task.up_to_date();
        let priority = task.priority();
        self.priorities.enter(priority);
        self.tasks.push_back(Queued { task, collector });
        if self.drain == DrainState::Gone {
            (self.drain, self.priority) = (DrainState::Offered(me), priority);
            return ForTheDrain::Offer;
        }
        self.rise(priority)
    }

    /// A task with this priority waits in the strand.
    fn rise(&mut self, priority: i32) -> ForTheDrain {
        if matches!(self.drain, DrainState::Runs(_)) || priority <= self.priority {
            return ForTheDrain::Nothing;
        }
        self.priority = priority;
        ForTheDrain::Raise
    }

    /// A task in the strand, the drain task of another one, has a higher priority now.
    pub(super) fn raise(&mut self, id: TaskId, priority: i32) -> ForTheDrain {
        let Some(queued) = self.tasks.iter_mut().find(|queued| queued.task.id() == id) else {
            return ForTheDrain::Nothing;
        };
        self.priorities.leave(queued.task.priority());
        queued.task.set_priority(priority);
        self.priorities.enter(priority);
        self.rise(priority)
    }

    /// The task that would be run next.
    pub(super) fn first(&self) -> Option<TaskLabel> {
        self.tasks().find(|task| !task.is_cancelled()).map(Task::stands_for)
    }

    /// The executor below has accepted the drain task that this thread has offered, if nothing has come of it
    /// yet.
    pub(super) fn is_accepted(&mut self, me: ThreadKey) -> Remains {
        if self.drain != DrainState::Offered(me) {
            return Remains::default();
        }
        self.drain = DrainState::Accepted;
        self.decided()
    }

    fn decided(&mut self) -> Remains {
        if self.submitters.is_empty() {
            return Remains::default(); // nearly always, and twice for each burst
        }
        Remains { waiting: self.submitters.take_all().collect(), ..Remains::default() }
    }

    // ----- the drain task -----

    /// Whether the drain task would be run by the submitter of the first task, in the middle of its
    /// submission.
    pub(super) fn is_offered_by(&self, me: ThreadKey) -> bool {
        self.drain == DrainState::Offered(me)
    }

    /// The drain task is run on this thread. `None` if there is nothing for it to do: the drain task that
    /// gives it to the executor below goes on itself.
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

    /// Takes the next task out, and those before it that were cancelled.
    pub(super) fn next(
        &mut self,
        queue_id: QueueId,
        tombstones: &Tombstones,
        cancelled: &mut Vec<Task>,
    ) -> Option<NextInStrand> {
        while let Some(queued) = self.tasks.pop_front() {
            match queued.leave(&mut self.priorities, queue_id, tombstones) {
                (task, false) => return Some(NextInStrand { task, is_last: self.tasks.is_empty() }),
                (task, true) => cancelled.push(task),
            }
        }
        None
    }

    /// The drain task has found nothing.
    pub(super) fn end(&mut self) {
        self.drain = DrainState::Gone;
        self.tasks.shrink_to(KEPT);
    }

    /// The priority of the next drain task, if this one has reason to let others go first. From then on it is
    /// about to hand over.
    pub(super) fn begin_to_hand_over(&mut self, me: ThreadKey) -> Option<i32> {
        let priority = self.priorities.highest(self.tasks.len())?;
        (self.drain, self.priority) = (DrainState::HandsOver(me), priority);
        Some(priority)
    }

    /// The executor below has answered. True if this drain task is to go on: its successor was refused,
    /// dropped, or run inside of the call.
    pub(super) fn goes_on(&mut self, me: ThreadKey) -> bool {
        if self.drain == DrainState::HandsOver(me) {
            self.drain = DrainState::Accepted;
        }
        self.drain == DrainState::Runs(me)
    }

    /// The drain task was dropped without having been run, and with it all that counted on it. A drain task
    /// that hands over counts on itself.
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

    /// The drain task was given to a user: what scopes wait for cannot stay. That of another strand in this
    /// one goes with it.
    pub(super) fn is_handed_out(&mut self, queue_id: QueueId, tombstones: &Tombstones) -> Vec<Task> {
        self.handed_out = true;
        let (mut taken, cancelled) = self.take_all(queue_id, tombstones, Task::is_of_scope);
        taken.extend(cancelled);
        taken.extend(self.tasks().filter_map(Task::drain).flat_map(StrandDrain::handed_out));
        taken
    }

    /// Whether a task must not wait behind this drain task, since a scope would wait for it.
    pub(super) fn would_strand(&self, task: Option<&Task>) -> bool {
        self.handed_out && task.is_some_and(Task::is_of_scope)
    }

    // ----- out of the strand -----

    /// Takes a task out, and says whether it was cancelled in there.
    pub(super) fn take_out(
        &mut self,
        id: TaskId,
        queue_id: QueueId,
        tombstones: &Tombstones,
    ) -> Option<(Task, bool)> {
        let place = self.tasks.iter().position(|queued| queued.task.id() == id)?;
        Some(self.tasks.remove(place)?.leave(&mut self.priorities, queue_id, tombstones))
    }

    /// Takes out what is wanted: first what can still be run, in its order, then what was cancelled.
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
    /// Counts a task that is out of the strand. True if it was cancelled in there.
    fn leave(self, priorities: &mut Priorities, queue_id: QueueId, tombstones: &Tombstones) -> (Task, bool) {
        priorities.leave(self.task.priority());
        leave_strand(self.collector, queue_id);
        let was_cancelled = tombstones.has_left(&self.task);
        (self.task, was_cancelled)
    }
}
