//! The search for a thread, pool or task that can go on. A search starts from a thread that is about to
//! sleep.

use std::collections::{BTreeSet, VecDeque};

use super::Used;
use super::waiting::WaitingThreads;
use crate::ids::{Location, QueueId, ThreadKey};
use crate::sync::Arc;
use crate::task::{HandleCell, TaskState};
use crate::waiting::awaited::{Awaited, ComesFrom};
use crate::waiting::queue_owner::{PoolOwner, ServedBy};
use crate::waiting::starvation::OnStarvation;

/// A closed set of waiting threads: only threads of the set could end the waits of the set. The threads
/// are in the order in which the search has found them.
pub(super) struct Closed {
    pub(super) threads: Vec<ThreadKey>,
    pub(super) pools: Vec<(QueueId, Arc<dyn PoolOwner>)>,
}

impl Closed {
    /// Returns whether one of the pools could start a thread.
    pub(super) fn may_grow(&self) -> bool {
        self.pools.iter().any(|(_, pool)| pool.may_grow())
    }
}

impl WaitingThreads {
    /// Returns all threads and pools that the search reaches from a thread's wait, or `None` if the search
    /// reaches something that can go on. Puts into `used` the queue owners that the search has asked, so that
    /// the owners are dropped after the lock has been released.
    pub(super) fn closed_from(&self, key: ThreadKey, used: &mut Used) -> Option<Closed> {
        let mut search = GraphSearch {
            waiting: self,
            to_visit: VecDeque::from([Location::On(key)]),
            seen: BTreeSet::new(),
            closed: Closed { threads: Vec::new(), pools: Vec::new() },
            used,
        };
        while let Some(place) = search.to_visit.pop_front() {
            search.visit(place)?;
        }
        Some(search.closed)
    }

    /// Returns whether the pool of this thread, or a pool in the closed set, is set to help against
    /// starvation.
    pub(super) fn may_be_relieved(&self, key: ThreadKey, closed: &Closed) -> bool {
        let own = self.get(key).and_then(|wait| wait.context.pool()).map(|pool| pool.on_starvation());
        let helps = matches!(own, Some(OnStarvation::Help { .. } | OnStarvation::HelpOthers { .. }));
        let spares = |what| matches!(what, OnStarvation::Spare { .. });
        helps || closed.pools.iter().any(|(_, pool)| spares(pool.on_starvation()))
    }

    /// Wakes the threads whose waits can end with an error, so that they check their waits again.
    pub(super) fn wake_those_that_can_give_up(&self, closed: &Closed) {
        closed
            .threads
            .iter()
            .copied()
            .filter(|&key| self.can_be_given_up(key))
            .for_each(|key| self.wake(key));
    }
}

struct GraphSearch<'a> {
    waiting: &'a WaitingThreads,
    to_visit: VecDeque<Location>,
    /// The search visits each place once.
    seen: BTreeSet<Location>,
    closed: Closed,
    used: &'a mut Used,
}

impl GraphSearch<'_> {
    /// Visits a place, and notes the places to visit next. Returns `None` if something at this place can go
    /// on.
    fn visit(&mut self, place: Location) -> Option<()> {
        if !self.seen.insert(place) {
            return Some(());
        }
        match place {
            Location::Elsewhere => None,
            Location::On(key) => self.visit_thread(key),
            Location::In(id) => self.visit_queue(id),
        }
    }

    fn visit_thread(&mut self, key: ThreadKey) -> Option<()> {
        let wait = self.waiting.get(key).filter(|wait| !wait.parker.is_woken())?;
        self.closed.threads.push(key);
        match &wait.what {
            Awaited::Task(task, _) => self.visit_task(&**task),
            Awaited::Other(source) => self.visit_source(&source.comes_from()),
        }
    }

    fn visit_queue(&mut self, id: QueueId) -> Option<()> {
        match self.used.served_by(id)? {
            ServedBy::DrainTask(place) => self.to_visit.push_back(place),
            ServedBy::Threads(pool) => {
                let id = id.of_all_lanes(); // all lanes of one owner are visited as one place
                if self.closed.pools.iter().any(|(known, _)| *known == id) {
                    return Some(());
                }
                let threads: Vec<_> = self.waiting.working_for(id).collect();
                if !pool.waits_for_threads(threads.len()) {
                    return None;
                }
                self.to_visit.extend(threads.into_iter().map(Location::On));
                self.closed.pools.push((id, pool));
            }
        }
        Some(())
    }

    fn visit_task(&mut self, task: &dyn HandleCell) -> Option<()> {
        if task.is_limited() {
            return None; // the time limit ends the task, wherever the task is
        }
        self.to_visit.push_back(match task.state() {
            TaskState::Pending => match task.queue() {
                Some(queue) => Location::In(queue),
                None => Location::On(self.waiting.running(task.id())?), // its thread is in the hook before its run
            },
            TaskState::Running => Location::On(self.waiting.running(task.id())?),
            _ => return None,
        });
        Some(())
    }

    fn visit_source(&mut self, from: &ComesFrom) -> Option<()> {
        match from {
            ComesFrom::Elsewhere => None,
            ComesFrom::TasksOf { collector, tasks } => self.visit_tasks_of(*collector, *tasks),
            ComesFrom::Room(queue) => {
                // As soon as there is room, the first waiter for room is woken, and counts as a thread that
                // can go on.
                self.to_visit.push_back(Location::In(*queue));
                Some(())
            }
            ComesFrom::Places(places) => {
                self.to_visit.extend(places);
                (!places.is_empty()).then_some(())
            }
        }
    }

    /// Counts the awaited tasks on waiting threads, and in queues where no task can begin. Returns `None` if
    /// a task is missing, because that task is in another place, where it may go on.
    fn visit_tasks_of(&mut self, collector: usize, tasks: usize) -> Option<()> {
        let mut found = 0;
        for (key, running) in self.waiting.running_of(collector) {
            found += running;
            self.to_visit.push_back(Location::On(key));
        }
        for id in self.waiting.queues_to_ask(collector) {
            if self.goes_on(id) {
                continue;
            }
            let queued = self.used.owner(id).map_or(0, |owner| owner.queued_of(id, collector));
            if queued > 0 {
                found += queued;
                self.to_visit.push_back(Location::In(id));
            }
        }
        (found >= tasks).then_some(())
    }

    /// Returns whether a task in this queue can begin while the known threads wait.
    fn goes_on(&mut self, mut id: QueueId) -> bool {
        loop {
            match self.used.served_by(id) {
                None | Some(ServedBy::DrainTask(Location::Elsewhere)) => return true,
                Some(ServedBy::DrainTask(Location::On(thread))) => return self.waiting.get(thread).is_none(),
                Some(ServedBy::DrainTask(Location::In(queue))) => id = queue,
                Some(ServedBy::Threads(pool)) => {
                    return !pool.waits_for_threads(self.waiting.working_for(id).count());
                }
            }
        }
    }
}
