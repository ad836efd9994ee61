//! Tests a [`PriorityQueue`] of plain tasks and of drain tasks whose priorities rise. The test compares the
//! queue's answers with the answers of a list that the test searches each time.

use std::sync::Arc;

use executor::{ManualExecutor, PriorityQueue, SerialExecutor, Task, TaskId, WorkQueue, prelude::*};

use super::by_priority;

/// Returns the next number of a random sequence.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Returns the drain task of a strand.
fn ticket(priority: i32) -> Task {
    let manual = Arc::new(ManualExecutor::new());
    let line = SerialExecutor::over(Arc::clone(&manual));
    line.execute(Task::new(|| ()).prioritized(priority)).unwrap();
    manual.take_next().expect("it is the ticket")
}

/// The tasks with their priorities, in the order in which the tasks got these priorities.
#[derive(Default)]
struct List(Vec<(TaskId, i32)>);

impl List {
    fn sorted(&self) -> Vec<TaskId> {
        let mut sorted = self.0.clone();
        sorted.sort_by_key(|(_, priority)| -priority); // a stable sort
        sorted.into_iter().map(|(id, _)| id).collect()
    }

    fn remove(&mut self, id: TaskId) -> bool {
        let place = self.0.iter().position(|(known, _)| *known == id);
        place.map(|place| self.0.remove(place)).is_some()
    }
}

fn shown(queue: &PriorityQueue) -> Vec<TaskId> {
    let mut shown = Vec::new();
    queue.for_each(&mut |task| shown.push(task.id()));
    shown
}

#[test]
fn it_does_what_a_list_does() {
    let mut state = 26;
    for is_by in [false, true] {
        for most in [3, 30, 300] {
            let mut queue = if is_by { PriorityQueue::by(by_priority) } else { PriorityQueue::new() };
            let (mut list, mut tickets) = (List::default(), Vec::new());
            for round in 0..3_000 {
                let chosen = usize::try_from(random(&mut state)).unwrap();
                match random(&mut state) % 8 {
                    0..3 if list.0.len() < most => {
                        let priority = i32::try_from(random(&mut state) % 7).unwrap() - 3;
                        let is_ticket = random(&mut state).is_multiple_of(2);
                        let new = Task::new(|| ()).prioritized(priority);
                        let task = if is_ticket { ticket(priority) } else { new };
                        if is_ticket {
                            tickets.push(task.id());
                        }
                        list.0.push((task.id(), priority));
                        queue.push(task, 0).unwrap();
                    }
                    0..5 if !tickets.is_empty() => {
                        // The drain task may have left the queue, or the new priority of the drain task may
                        // not be higher than the old priority.
                        let id = tickets[chosen % tickets.len()];
                        let known = list.0.iter().find(|(known, _)| *known == id).copied();
                        let by = i32::try_from(random(&mut state) % 4).unwrap();
                        let priority = known.map_or(9, |(_, priority)| priority) + by;
                        queue.raise(id, priority);
                        if known.is_some() && by > 0 {
                            list.remove(id);
                            list.0.push((id, priority));
                        }
                    }
                    5 => {
                        let unwanted = list.sorted().into_iter().nth(chosen % most);
                        let removed = queue.remove_if(&mut |task| Some(task.id()) == unwanted);
                        assert_eq!(removed.first().map(Task::id), unwanted);
                        unwanted.map(|id| list.remove(id));
                    }
                    6 => assert!(queue.remove_if(&mut |_| false).is_empty()),
                    _ => {
                        let first = list.sorted().first().copied();
                        let popped = queue.pop();
                        assert_eq!(popped.as_ref().map(Task::id), first);
                        if let Some(task) = popped {
                            let now = list.0.iter().find(|(id, _)| *id == task.id()).unwrap().1;
                            assert_eq!(task.priority(), now);
                            list.remove(task.id());
                        }
                    }
                }
                assert_eq!(queue.len(), list.0.len());
                if round % 8 == 0 {
                    assert_eq!(shown(&queue), list.sorted());
                }
            }
        }
    }
}

/// The queue gives the drain task out, and the user of the drain task submits it again.
#[test]
fn a_ticket_that_comes_back_comes_last_among_its_equals() {
    let mut queue = PriorityQueue::new();
    let first = ticket(1);
    let id = first.id();
    queue.push(first, 0).unwrap();
    queue.raise(id, 5);
    let back = queue.remove_if(&mut |task| task.id() == id).pop().unwrap();
    let plain = Task::new(|| ()).prioritized(5);
    let expected = [plain.id(), id];
    queue.push(plain, 0).unwrap();
    queue.push(back, 0).unwrap();
    assert_eq!((shown(&queue).as_slice(), queue.len()), (&expected[..], 2));
}

/// If the comparator panics, the queue stays unchanged.
#[test]
fn a_comparator_that_panics_leaves_a_ticket_where_it_is() {
    let mut queue = PriorityQueue::by(|a, b| {
        assert!(a.priority() < 9 && b.priority() < 9, "too much");
        by_priority(a, b)
    });
    let tickets = [5, 3, 1].map(ticket);
    let ids = tickets.each_ref().map(Task::id);
    for ticket in tickets {
        queue.push(ticket, 0).unwrap();
    }
    queue.raise(ids[2], 9);
    assert_eq!(shown(&queue), ids);
    queue.raise(ids[2], 4);
    assert_eq!(shown(&queue), [ids[0], ids[2], ids[1]]);
    assert_eq!(std::iter::from_fn(|| queue.pop()).map(|task| task.priority()).collect::<Vec<_>>(), [5, 4, 3]);
}
