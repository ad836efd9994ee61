//! The search for something that can go on, from a thread that is about to sleep.

use std::collections::{BTreeSet, VecDeque};

use super::Used;
use super::waiting::WaitingThreads;
use crate::ids::{Location, QueueId, ThreadKey};
use crate::sync::Arc;
use crate::task::{HandleCell, TaskState};
use crate::waiting::awaited::{Awaited, ComesFrom};
use crate::waiting::queue_owner::{PoolOwner, ServedBy};
use crate::waiting::starvation::OnStarvation;

/// Waits that only each other could end, in the order in which the search came to them.
pub(super) struct Closed {
    pub(super) threads: Vec<ThreadKey>,
    pub(super) pools: Vec<(QueueId, Arc<dyn PoolOwner>)>,
}

impl Closed {
    /// Whether a pool could start a thread.
    pub(super) fn may_grow(&self) -> bool {
        self.pools.iter().any(|(_, pool)| pool.may_grow())
    }
}

impl WaitingThreads {
    /// What can be reached from a thread's wait, if nothing of it can go on. Whoever was asked goes to
    /// `used`, to be dropped without the lock.
    pub(super) fn closed_from(&self, key: ThreadKey, used: &mut Used) -> Option<Closed> {
        let mut search = GraphSearch {
            waiting: self,
            to_visit: VecDeque::from([GraphNode::Thread(key)]),
            seen: BTreeSet::new(),
            closed: Closed { threads: Vec::new(), pools: Vec::new() },
            used,
        };
        while let Some(node) = search.to_visit.pop_front() {
            search.visit(node)?;
        }
        Some(search.closed)
    }

    /// Whether the pool of this thread, or one that the search came to, was told to do something about it.
    pub(super) fn may_be_relieved(&self, key: ThreadKey, closed: &Closed) -> bool {
        let own = self.get(key).and_then(|wait| wait.context.pool()).map(|pool| pool.on_starvation());
        let helps = matches!(own, Some(OnStarvation::Help { .. } | OnStarvation::HelpOthers { .. }));
        let spares = |what| matches!(what, OnStarvation::Spare { .. });
        helps || closed.pools.iter().any(|(_, pool)| spares(pool.on_starvation()))
    }

    /// Has those look again that can be told that they starve.
    pub(super) fn wake_those_that_can_give_up(&self, closed: &Closed) {
        closed
            .threads
            .iter()
            .copied()
            .filter(|&key| self.can_be_given_up(key))
            .for_each(|key| self.wake(key));
    }
}

/// Where the search goes. Each is visited once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GraphNode {
    Thread(ThreadKey),
    Queue(QueueId),
}

impl GraphNode {
    /// `None` if something there may go on.
    fn at(place: Location) -> Option<Self> {
        match place {
            Location::Elsewhere => None,
            Location::In(queue) => Some(Self::Queue(queue)),
            Location::On(thread) => Some(Self::Thread(thread)),
        }
    }
}

struct GraphSearch<'a> {
    waiting: &'a WaitingThreads,
    to_visit: VecDeque<GraphNode>,
    seen: BTreeSet<GraphNode>,
    closed: Closed,
    used: &'a mut Used,
}

impl GraphSearch<'_> {
    /// Goes on from a node. `None` if something there can go on.
    fn visit(&mut self, node: GraphNode) -> Option<()> {
        if !self.seen.insert(node) {
            return Some(());
        }
        match node {
            GraphNode::Thread(key) => self.visit_thread(key),
            GraphNode::Queue(id) => self.visit_queue(id),
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
            ServedBy::DrainTask(place) => self.to_visit.push_back(GraphNode::at(place)?),
            ServedBy::Threads(pool) => {
                let id = id.of_all_lanes(); // one that has several is visited once
                if self.closed.pools.iter().any(|(known, _)| *known == id) {
                    return Some(());
                }
                let threads: Vec<_> = self.waiting.working_for(id).collect();
                if !pool.waits_for_threads(threads.len()) {
                    return None;
                }
                self.to_visit.extend(threads.into_iter().map(GraphNode::Thread));
                self.closed.pools.push((id, pool));
            }
        }
        Some(())
    }

    fn visit_task(&mut self, task: &dyn HandleCell) -> Option<()> {
        if task.is_limited() {
            return None; // it ends in time, wherever it is
        }
        self.to_visit.push_back(match task.state() {
            TaskState::Pending => match task.queue() {
                Some(queue) => GraphNode::Queue(queue),
                None => GraphNode::Thread(self.waiting.running(task.id())?), // it is in the hook before it
            },
            TaskState::Running => GraphNode::Thread(self.waiting.running(task.id())?),
            _ => return None,
        });
        Some(())
    }

    fn visit_source(&mut self, from: &ComesFrom) -> Option<()> {
        match from {
            ComesFrom::Elsewhere => None,
            ComesFrom::TasksOf { collector, tasks } => self.visit_tasks_of(*collector, *tasks),
            ComesFrom::Room(queue) => {
                // As soon as there is some, the first that waits for it is woken, and counts as one that can
                // go on.
                self.to_visit.push_back(GraphNode::Queue(*queue));
                Some(())
            }
            ComesFrom::Places(places) => {
                self.to_visit.extend(places.iter().copied().filter_map(GraphNode::at));
                (!places.is_empty() && !places.contains(&Location::Elsewhere)).then_some(())
            }
        }
    }

    /// The tasks are counted where nothing goes on. One that is not among them is somewhere where it may.
    fn visit_tasks_of(&mut self, collector: usize, tasks: usize) -> Option<()> {
        let mut found = 0;
        for (key, running) in self.waiting.running_of(collector) {
            found += running;
            self.to_visit.push_back(GraphNode::Thread(key));
        }
        for id in self.waiting.queues_to_ask(collector) {
            if self.goes_on(id) {
                continue;
            }
            let queued = self.used.owner(id).map_or(0, |owner| owner.queued_of(id, collector));
            if queued > 0 {
                found += queued;
                self.to_visit.push_back(GraphNode::Queue(id));
            }
        }
        (found >= tasks).then_some(())
    }

    /// Whether a task in this queue may begin although the threads wait that are known to.
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
