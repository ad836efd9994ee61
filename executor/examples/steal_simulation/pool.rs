//! A simulated pool: its clock, its sleeping workers, and how it chooses the worker that it wakes.

use super::costs::Costs;
use super::log::{Event, Run, What};
use super::seat::{Frame, Seat};
use super::tree::Tree;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub struct Pool<'a> {
    pub tree: &'a Tree,
    pub costs: Costs,
    pub seats: Vec<Seat>,
    pub now: u64,
    /// The planned steps: for each step, its time, its number and its worker. If two steps have the same
    /// time, the step that was planned first runs first.
    agenda: BinaryHeap<Reverse<(u64, u64, usize)>>,
    turns: u64,
    pub asleep: Vec<usize>,
    pub searching: usize,
    /// For each half: the worker that has put the half into its queue, and the worker that has stolen it.
    pub owner: Vec<usize>,
    pub thief: Vec<usize>,
    pub done: Vec<bool>,
    /// The additional time that the present step takes because its worker wakes other workers.
    pub owed: u64,
    pub run: Run,
    pub keeps_log: bool,
}

/// Runs a tree of joins on `workers` workers. At the beginning, only the first worker is awake.
pub fn simulate(tree: &Tree, workers: usize, costs: Costs, seed: u64, keeps_log: bool) -> Run {
    let mut pool = Pool::new(tree, workers, costs, seed, keeps_log);
    pool.seats[0].frames = vec![Frame::End(0), Frame::Call(0)];
    pool.later(0, 0);
    while let Some(Reverse((now, _, worker))) = pool.agenda.pop() {
        pool.now = now;
        pool.owed = 0;
        if let Some(busy) = pool.step(worker) {
            pool.later(worker, busy + pool.owed);
        }
        if pool.done[0] {
            break;
        }
    }
    Run { time: pool.now, ..pool.run }
}

impl<'a> Pool<'a> {
    fn new(tree: &'a Tree, workers: usize, costs: Costs, seed: u64, keeps_log: bool) -> Self {
        let nodes = tree.0.len();
        let random = |number: usize| (seed << 16) + number as u64 + 1;
        let seats = (0..workers).map(|number| Seat { random: random(number), ..Seat::default() }).collect();
        let (owner, thief, done) = (vec![0; nodes], vec![0; nodes], vec![false; nodes]);
        let (asleep, run) = ((1..workers).rev().collect(), Run::default());
        let (agenda, turns, searching, owed, now) = (BinaryHeap::new(), 0, 0, 0, 0);
        Self {
            tree,
            costs,
            seats,
            now,
            agenda,
            turns,
            asleep,
            searching,
            owner,
            thief,
            done,
            owed,
            run,
            keeps_log,
        }
    }

    fn later(&mut self, worker: usize, busy: u64) {
        self.turns += 1;
        self.agenda.push(Reverse((self.now + busy, self.turns, worker)));
    }

    pub fn note(&mut self, worker: usize, what: What) {
        if self.keeps_log {
            self.run.log.push(Event { at: self.now, worker, what });
        }
    }

    /// Records that a half was offered. If no worker searches, wakes a sleeping worker.
    pub fn announce(&mut self) {
        if self.searching == 0
            && let Some(worker) = self.asleep.pop()
        {
            self.searching = 1;
            self.seats[worker].searches = Some(self.now + self.costs.wake_up);
            self.run.wake_ups += 1;
            self.note(worker, What::IsWoken);
            self.owed += self.costs.wake;
            self.later(worker, self.costs.wake_up);
        }
    }

    /// Makes a waiting worker look again, because the state of its half has changed.
    pub fn look_again(&mut self, worker: usize) {
        if let Some(since) = self.seats[worker].parked.take() {
            let sleeps = self.now - since > self.costs.patience;
            self.owed += if sleeps { self.costs.wake } else { 0 };
            self.later(worker, if sleeps { self.costs.wake_up } else { self.costs.look });
        }
    }
}
