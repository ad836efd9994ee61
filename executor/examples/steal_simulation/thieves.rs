//! How workers offer pieces and take pieces from each other, as in `executor/src/fork_join/{seat,worker}.rs`.

use super::log::What;
use super::pool::Pool;
use super::seat::Frame;

impl Pool<'_> {
    /// Puts a second half into the worker's own queue.
    pub fn offer(&mut self, worker: usize, half: usize) {
        let (now, offers) = (self.now, self.costs.offers);
        self.owner[half] = worker;
        self.seats[worker].granularity.count(now, offers);
        self.seats[worker].queue.push_back(half);
        self.run.offered += 1;
        self.note(worker, What::Offers(half));
        self.tell_followers(worker);
        self.announce();
    }

    /// A worker with an empty stack takes the oldest half of another worker. The worker asks the other
    /// workers one after the other, beginning with a random worker.
    pub fn search(&mut self, worker: usize) -> Option<u64> {
        let workers = self.seats.len();
        let first = self.seats[worker].next_random() % workers;
        let mut others = (first..workers).chain(0..first).filter(|&other| other != worker);
        if let Some(victim) = others.find(|&other| !self.seats[other].queue.is_empty()) {
            let half = self.seats[victim].queue.pop_front()?;
            self.note(worker, What::Steals(half, victim));
            if self.seats[worker].searches.take().is_some() {
                self.searching -= 1;
                if self.searching == 0 && self.seats.iter().any(|seat| !seat.queue.is_empty()) {
                    self.announce();
                }
            }
            return Some(self.begin(worker, half));
        }
        match self.seats[worker].searches {
            None => {
                self.searching += 1;
                self.seats[worker].searches = Some(self.now);
            }
            Some(since) if self.now - since >= self.costs.patience => {
                self.searching -= 1;
                self.seats[worker].searches = None;
                self.asleep.push(worker);
                self.note(worker, What::Sleeps);
                return None;
            }
            Some(_) => {}
        }
        Some(self.costs.look)
    }

    // ANCHOR: follow
    /// The worker waits for a half, and takes a piece of that half. The piece is in the queue of the worker
    /// that has stolen the half. If this thief also waits for a stolen half, the piece can be in the queue of
    /// the thief of that half.
    pub fn follow(&mut self, worker: usize, awaited: usize) -> Option<usize> {
        let mut half = awaited;
        for _ in 0..self.seats.len() {
            let (thief, pieces) = (self.thief[half], half..self.tree.0[half].end);
            let place = self.seats[thief].queue.iter().position(|piece| pieces.contains(piece));
            if let Some(piece) = place.and_then(|place| self.seats[thief].queue.remove(place)) {
                self.note(worker, What::Helps(piece, thief, awaited));
                return Some(piece);
            }
            if !self.seats[thief].followers.contains(&worker) {
                self.seats[thief].followers.push(worker);
            }
            half = self.seats[thief].waits.last().copied().filter(|next| pieces.contains(next))?;
        }
        None
    }
    // ANCHOR_END: follow

    pub fn begin(&mut self, worker: usize, half: usize) -> u64 {
        self.run.stolen += 1;
        self.thief[half] = worker;
        let pieces = half..self.tree.0[half].end;
        let granularity = std::mem::take(&mut self.seats[worker].granularity);
        self.seats[worker].running.push((pieces, granularity));
        self.seats[worker].frames.extend([Frame::End(half), Frame::Call(half)]);
        self.tell_followers(worker);
        self.costs.steal
    }

    pub fn end(&mut self, worker: usize, half: usize) -> u64 {
        self.done[half] = true;
        if let Some((_, granularity)) = self.seats[worker].running.pop() {
            self.seats[worker].granularity = granularity;
        }
        self.note(worker, What::Ends(half));
        self.tell_followers(worker);
        if self.seats[self.owner[half]].waits.last() == Some(&half) {
            self.look_again(self.owner[half]);
        }
        0
    }

    /// Makes the worker wait for a half, unless it already waits for that half.
    pub fn wait(&mut self, worker: usize, half: usize) {
        if self.seats[worker].waits.last() != Some(&half) {
            self.seats[worker].waits.push(half);
            self.note(worker, What::Waits(half));
            self.tell_followers(worker);
        }
    }

    fn tell_followers(&mut self, worker: usize) {
        for follower in std::mem::take(&mut self.seats[worker].followers) {
            self.look_again(follower);
        }
    }
}
