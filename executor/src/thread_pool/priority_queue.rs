//! A queue that gives out the most important task first.
//!
//! The queue has a level for each priority. Tasks of one level are first in, first out.
//!
//! # Tasks that rise
//!
//! A strand waits in the queue as one [drain task](crate::WorkQueue::raise), with the priority of the most
//! urgent task in the strand. The priority of a drain task can rise while the drain task waits. When its
//! priority rises, the drain task must move to another level. A search for the drain task would take time in
//! proportion to the length of the queue, under the lock of the pool. So a task whose priority can rise is
//! kept *apart* from the levels, in a map with the task's id as the key. A *mark* in the level of the task's
//! priority represents the task. When the priority of the task rises, the task gets a new mark in its new
//! level. The old mark stays where it is. The old mark is *outdated*, and `pop` skips it.
//!
//! # Invariants
//!
//! 1. Each task in the map has one current mark, with the task's number, in the level of the task's priority.
//! 2. After each [`raise`](WorkQueue::raise), the number of outdated marks is at most [`FEW`] above the
//!    number of tasks in the map.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};

use super::queue::{WorkQueue, checked, debug_queue, has_room, remove_from, shrink};
use crate::ids::TaskId;
use crate::panics::{self, contain};
use crate::task::Task;

/// A queue that gives out the most important task first, and equally important tasks in the order of
/// submission.
///
/// By default a task's importance is its [priority](Task::priority). As long as more important tasks arrive,
/// a less important task does not run. Do not combine the queue with [`DiscardOldest`](crate::DiscardOldest),
/// which would drop the *most important* task.
///
/// The tasks of a [`SerialExecutor`](crate::SerialExecutor) or of a stripe wait here as one task, with the
/// priority of the most urgent task among them. When a more urgent task joins the strand, the task that
/// represents the strand is placed behind the other tasks of the new priority.
///
/// ```
/// use executor::{PriorityQueue, Task, WorkQueue};
///
/// let mut queue = PriorityQueue::new();
/// queue.push(Task::new(|| ()).named("report"), 0).unwrap();
/// queue.push(Task::new(|| ()).named("alarm").prioritized(9), 0).unwrap();
/// assert_eq!(queue.pop().unwrap().name(), Some("alarm"));
/// ```
#[doc(alias = "PriorityBlockingQueue")]
pub struct PriorityQueue {
    order: Order,
    length: usize,
    capacity: Option<usize>,
}

type Compare = dyn FnMut(&Task, &Task) -> Ordering + Send;

enum Order {
    Natural(Levels),
    /// The tasks are sorted by the comparator, with the most important task at the front.
    By(VecDeque<Task>, Box<Compare>),
}

#[derive(Default)]
struct Levels {
    /// The highest priority comes last.
    by_priority: BTreeMap<i32, VecDeque<LevelEntry>>,
    /// The tasks whose priority can rise, each with the number of the task's current mark.
    apart: BTreeMap<TaskId, (u64, Task)>,
    /// The number of marks that were made so far.
    marks: u64,
    /// The number of outdated marks in the levels.
    outdated: usize,
}

enum LevelEntry {
    Task(Task),
    Mark(TaskId, u64),
}

/// The number of outdated marks that may stay in the levels, because removing so few marks is not worth the
/// time.
const FEW: usize = 32;

impl Levels {
    fn push(&mut self, task: Task) {
        if task.drains_a_strand() && !self.apart.contains_key(&task.id()) {
            let (id, priority) = (task.id(), task.priority());
            let mark = self.mark(id, priority);
            self.apart.insert(id, (mark, task));
        } else {
            self.by_priority.entry(task.priority()).or_default().push_back(LevelEntry::Task(task));
        }
    }

    fn mark(&mut self, id: TaskId, priority: i32) -> u64 {
        self.marks += 1;
        self.by_priority.entry(priority).or_default().push_back(LevelEntry::Mark(id, self.marks));
        self.marks
    }

    fn raise(&mut self, id: TaskId, priority: i32) {
        let is_new = |(_, task): &(u64, Task)| task.priority() != priority;
        if !self.apart.get(&id).is_some_and(is_new) {
            return;
        }
        let new = self.mark(id, priority);
        if let Some((mark, task)) = self.apart.get_mut(&id) {
            *mark = new;
            task.set_priority(priority);
        }
        self.outdated += 1;
        if self.outdated > self.apart.len() + FEW {
            self.remove_if(&mut |_| false);
        }
    }

    fn pop(&mut self) -> Option<Task> {
        loop {
            let mut level = self.by_priority.last_entry()?;
            let place = level.get_mut().pop_front();
            if level.get().is_empty() {
                level.remove();
            }
            if let Some(task) = self.taken(place?) {
                return Some(task);
            }
        }
    }

    /// Returns the task of an entry that was taken out of its level. Returns `None` for an outdated
    /// mark.
    fn taken(&mut self, place: LevelEntry) -> Option<Task> {
        let (id, number) = match place {
            LevelEntry::Task(task) => return Some(task),
            LevelEntry::Mark(id, number) => (id, number),
        };
        if self.marked(id, number).is_none() {
            self.outdated -= 1;
            return None;
        }
        self.apart.remove(&id).map(|(_, task)| task)
    }

    fn marked(&self, id: TaskId, number: u64) -> Option<&Task> {
        self.apart.get(&id).filter(|(mark, _)| *mark == number).map(|(_, task)| task)
    }

    fn task_at<'a>(&'a self, place: &'a LevelEntry) -> Option<&'a Task> {
        match place {
            LevelEntry::Task(task) => Some(task),
            LevelEntry::Mark(id, number) => self.marked(*id, *number),
        }
    }

    fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.by_priority.values().rev().flatten().filter_map(|place| self.task_at(place))
    }

    /// Takes the unwanted tasks and the outdated marks out of the queue.
    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        let mut removed = Vec::new();
        let mut levels = std::mem::take(&mut self.by_priority);
        for level in levels.values_mut().rev() {
            for _ in 0..level.len() {
                let Some(place) = level.pop_front() else { break };
                if self.task_at(&place).is_some_and(|task| !unwanted(task)) {
                    level.push_back(place);
                } else {
                    removed.extend(self.taken(place));
                }
            }
        }
        levels.retain(|_, level| !level.is_empty());
        self.by_priority = levels;
        removed
    }
}

impl PriorityQueue {
    /// Makes a queue that sorts tasks by [priority](Task::priority), the highest first. The queue never
    /// refuses a task.
    ///
    /// ```
    /// use executor::{PriorityQueue, ThreadPoolExecutor};
    ///
    /// let pool = ThreadPoolExecutor::builder().threads(2).queue(PriorityQueue::new()).build()?;
    /// # let queue: &dyn executor::WorkQueue = &PriorityQueue::new();
    /// assert_eq!(queue.capacity(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new() -> Self {
        Self { order: Order::Natural(Levels::default()), length: 0, capacity: None }
    }

    /// Makes a queue that sorts tasks by a comparator: the *greatest* task runs first. The queue refuses a
    /// task only if the comparator panics.
    ///
    /// Each insertion moves all tasks that come after the new task. So for many thousands of tasks, a queue
    /// without a comparator is faster. The comparator sees the tasks of a
    /// [`SerialExecutor`](crate::SerialExecutor) or of a stripe as one task, with a priority, an id of its
    /// own and no name.
    ///
    /// ```
    /// use executor::{PriorityQueue, Task, WorkQueue};
    ///
    /// let mut by_name = PriorityQueue::by(|a, b| a.name().cmp(&b.name()));
    /// for name in ["a", "c", "b"] {
    ///     by_name.push(Task::new(|| ()).named(name), 0).unwrap();
    /// }
    /// assert_eq!(by_name.pop().unwrap().name(), Some("c"));
    /// ```
    pub fn by(compare: impl FnMut(&Task, &Task) -> Ordering + Send + 'static) -> Self {
        Self { order: Order::By(VecDeque::new(), Box::new(compare)), length: 0, capacity: None }
    }

    /// Limits the queue: it refuses a task while `capacity` tasks are in it.
    ///
    /// ```
    /// use executor::{PriorityQueue, Task, WorkQueue};
    ///
    /// let mut queue = PriorityQueue::new().bounded(1);
    /// assert!(queue.push(Task::new(|| ()), 0).is_ok());
    /// assert!(queue.push(Task::new(|| ()).prioritized(9), 0).is_err()); // full, even for an urgent task
    /// ```
    ///
    /// # Panics
    /// Panics if `capacity` is zero, as [`FifoQueue::bounded`](crate::FifoQueue::bounded) does.
    pub fn bounded(mut self, capacity: usize) -> Self {
        self.capacity = Some(checked(capacity));
        self
    }
}

impl Default for PriorityQueue {
    fn default() -> Self {
        Self::new()
    }
}

/// Changes the priority of a task in a sorted queue, and moves the task if it no longer fits in its place.
fn raise_in(sorted: &mut VecDeque<Task>, compare: &mut Compare, id: TaskId, priority: i32) {
    let Some(place) = sorted.iter().position(|task| task.id() == id) else { return };
    let Some(mut task) = sorted.remove(place) else { return };
    let priority_before = task.priority();
    task.set_priority(priority);
    // All comparisons are made before the change, so a comparator that panics moves no other task.
    let new_place = contain(|| {
        let mut is_in_order = |a: Option<&Task>, b: Option<&Task>| match (a, b) {
            (Some(a), Some(b)) => compare(a, b).is_ge(),
            _ => true,
        };
        let before = place.checked_sub(1).and_then(|before| sorted.get(before));
        let fits = is_in_order(before, Some(&task)) && is_in_order(Some(&task), sorted.get(place));
        if fits { place } else { sorted.partition_point(|other| compare(other, &task).is_ge()) }
    });
    match new_place {
        Ok(new_place) => sorted.insert(new_place, task),
        Err(panic) => {
            panics::keep(panic);
            task.set_priority(priority_before);
            sorted.insert(place, task);
        }
    }
}

impl WorkQueue for PriorityQueue {
    fn push(&mut self, task: Task, _waiting: usize) -> Result<(), Task> {
        if !has_room(self.length, self.capacity) {
            return Err(task);
        }
        match &mut self.order {
            Order::Natural(levels) => levels.push(task),
            Order::By(sorted, compare) => {
                // All comparisons are made before the change, so a comparator that panics changes nothing.
                match contain(|| sorted.partition_point(|other| compare(other, &task).is_ge())) {
                    Ok(place) => sorted.insert(place, task),
                    Err(panic) => {
                        panics::keep(panic);
                        return Err(task);
                    }
                }
            }
        }
        self.length += 1;
        Ok(())
    }

    fn pop(&mut self) -> Option<Task> {
        let task = match &mut self.order {
            Order::Natural(levels) => levels.pop(),
            Order::By(sorted, _) => sorted.pop_front(),
        }?;
        self.length -= 1;
        Some(task)
    }

    fn len(&self) -> usize {
        self.length
    }

    fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        match &self.order {
            Order::Natural(levels) => levels.tasks().for_each(look),
            Order::By(sorted, _) => sorted.iter().for_each(look),
        }
    }

    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        let removed = match &mut self.order {
            Order::Natural(levels) => levels.remove_if(unwanted),
            Order::By(sorted, _) => remove_from(sorted, unwanted),
        };
        self.length -= removed.len();
        removed
    }

    fn raise(&mut self, id: TaskId, priority: i32) {
        match &mut self.order {
            Order::Natural(levels) => levels.raise(id, priority),
            Order::By(sorted, compare) => raise_in(sorted, compare, id, priority),
        }
    }

    fn shrink(&mut self) {
        if let Order::By(sorted, _) = &mut self.order {
            shrink(sorted);
        }
    }
}

debug_queue!(PriorityQueue);

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::super::queue::tests::{names, task};
    use super::*;
    use crate::sync::Arc;
    use crate::{ExecutorExt, ManualExecutor, SerialExecutor};

    #[test]
    fn a_task_that_rises_again_and_again_leaves_few_marks() {
        let manual = Arc::new(ManualExecutor::new());
        SerialExecutor::over(Arc::clone(&manual)).execute(Task::new(|| ())).unwrap();
        let ticket = manual.take_next().unwrap();
        let mut queue = PriorityQueue::new();
        let id = ticket.id();
        queue.push(ticket, 0).unwrap();
        for priority in 1..10_000 {
            queue.raise(id, priority);
            let Order::Natural(levels) = &queue.order else { unreachable!("it is") };
            let marks: usize = levels.by_priority.values().map(VecDeque::len).sum();
            assert!(marks <= FEW + 2, "{marks}");
            assert_eq!(marks - 1, levels.outdated);
        }
        assert_eq!(queue.pop().map(|task| task.priority()), Some(9_999));
        assert!(queue.pop().is_none());
    }

    #[test]
    fn priorities_are_fifo_among_equals() {
        let mut natural = PriorityQueue::new();
        let mut by = PriorityQueue::by(|a, b| a.priority().cmp(&b.priority()));
        for queue in [&mut natural, &mut by] {
            for (name, priority) in [("a", 1), ("b", 5), ("c", 1), ("d", -3), ("e", 5)] {
                queue.push(task(name, priority), 0).unwrap();
            }
        }
        assert_eq!(names(natural), ["b", "e", "a", "c", "d"]);
        assert_eq!(names(by), ["b", "e", "a", "c", "d"]);
    }

    #[test]
    fn a_comparator_that_panics_refuses_the_task_and_loses_nothing() {
        let mut queue = PriorityQueue::by(|a, b| {
            assert_ne!(b.name(), Some("poison"));
            a.name().cmp(&b.name())
        });
        queue.push(task("a", 0), 0).unwrap();
        queue.push(task("b", 0), 0).unwrap();
        assert_eq!(queue.push(task("poison", 0), 0).unwrap_err().name(), Some("poison"));
        assert_eq!(names(queue), ["b", "a"]);
    }
}
