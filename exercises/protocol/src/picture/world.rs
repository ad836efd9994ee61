//! Follows the activity of every thread, from one event of a schedule to the next.

use std::collections::HashMap;

use super::{Bar, Doing};
use crate::schedule::{Action, Schedule};

/// The state of the threads and locks after some events of a schedule.
pub(super) struct World<'a> {
    schedule: &'a Schedule,
    doing: Vec<Doing>,
    /// For each lock, the thread that holds it.
    holders: HashMap<usize, usize>,
}

impl<'a> World<'a> {
    /// Makes the world in the state before the first event. A thread that is started later does not exist in
    /// this world yet.
    pub(super) fn of(schedule: &'a Schedule) -> Self {
        let mut doing = vec![Doing::Runs; schedule.threads.len()];
        for event in &schedule.events {
            if let Action::Spawn(thread) = event.action {
                doing[thread] = Doing::Nothing;
            }
        }
        Self { schedule, doing, holders: HashMap::new() }
    }

    pub(super) fn bars(&self) -> Vec<Bar> {
        let mut bars: Vec<Bar> = self.doing.iter().map(|&doing| Bar { doing, holds: false }).collect();
        for &thread in self.holders.values() {
            bars[thread].holds = self.doing[thread] != Doing::Nothing;
        }
        bars
    }

    /// Applies the next event to the world, and returns the threads that go on because of this event.
    pub(super) fn after(&mut self, n: usize) -> Vec<usize> {
        let event = &self.schedule.events[n];
        let me = event.thread;
        self.doing[me] = Doing::Runs;
        match &event.action {
            Action::Spawn(thread) => {
                if self.doing[*thread] == Doing::Nothing {
                    self.doing[*thread] = Doing::Started; // on real threads it may have begun already
                }
                return vec![*thread];
            }
            Action::End { .. } => {
                self.doing[me] = Doing::Nothing;
                return self.joiner(n).into_iter().collect();
            }
            Action::Await(_) | Action::Expect(_) => self.doing[me] = Doing::Waits,
            Action::Want(_) if self.is_told(n) => self.doing[me] = Doing::WantsLock,
            Action::Lock(lock) | Action::Wake { lock, .. } => {
                self.holders.insert(*lock, me);
            }
            Action::Unlock(lock) => return self.let_go(n, *lock),
            Action::Wait { lock, .. } => {
                self.doing[me] = Doing::Sleeps;
                return self.let_go(n, *lock);
            }
            Action::Notify { woken, .. } => {
                for &thread in woken {
                    self.doing[thread] = Doing::WantsLock;
                }
                return woken.clone();
            }
            Action::Step(_) | Action::Fail(_) | Action::Join(_) | Action::Want(_) => {}
        }
        Vec::new()
    }

    /// Returns true if this event is interesting for a reader. An attempt to lock is interesting only if
    /// another thread held the lock or took it first, or if the thread itself already holds the lock.
    pub(super) fn is_told(&self, n: usize) -> bool {
        let event = &self.schedule.events[n];
        let Action::Want(lock) = event.action else { return true };
        let is_held = self.holders.contains_key(&lock);
        let next = self.next_owner(n, lock);
        is_held || next.is_some_and(|next| next != event.thread)
    }

    /// Frees a lock. If a waiting thread gets the lock next, returns that thread, because it goes on.
    fn let_go(&mut self, n: usize, lock: usize) -> Vec<usize> {
        self.holders.remove(&lock);
        let next = self.next_owner(n, lock).filter(|next| *next != self.schedule.events[n].thread);
        next.into_iter().filter(|&next| self.doing[next] == Doing::WantsLock).collect()
    }

    fn next_owner(&self, n: usize, lock: usize) -> Option<usize> {
        let takes = |action: &Action| match action {
            Action::Lock(taken) | Action::Wake { lock: taken, .. } => *taken == lock,
            _ => false,
        };
        let next = self.schedule.events[n + 1..].iter().find(|event| takes(&event.action))?;
        Some(next.thread)
    }

    /// Returns the thread that waits for the end of this thread.
    fn joiner(&self, n: usize) -> Option<usize> {
        let joins = Action::Join(self.schedule.events[n].thread);
        let next = self.schedule.events[n + 1..].iter().find(|event| event.action == joins)?;
        (self.doing[next.thread] == Doing::Waits).then_some(next.thread)
    }
}
