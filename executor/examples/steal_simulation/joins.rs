//! The steps of a worker through the frames of its stack, as in `executor/src/fork_join/join.rs`.

use super::log::What;
use super::pool::Pool;
use super::seat::Frame;

/// The maximum number of stolen halves that a waiting worker runs inside each other.
const DEPTH: usize = 32;

impl Pool<'_> {
    /// Makes the next step of a worker, and returns how long the step takes. The result `None` means that the
    /// worker sleeps, or waits until another worker wakes it.
    pub fn step(&mut self, worker: usize) -> Option<u64> {
        let Some(frame) = self.seats[worker].frames.pop() else { return self.search(worker) };
        match frame {
            Frame::Call(node) => {
                self.seats[worker].frames.extend(self.tree.0[node].second.map(|_| Frame::Join(node)));
                Some(self.works(worker, node, self.tree.0[node].before))
            }
            Frame::Join(node) => Some(self.join(worker, node, self.tree.0[node].second?)),
            Frame::Settle(half) => self.settle(worker, half),
            Frame::After(node) => Some(self.works(worker, node, self.tree.0[node].after)),
            Frame::End(half) => Some(self.end(worker, half)),
        }
    }

    fn join(&mut self, worker: usize, node: usize, second: usize) -> u64 {
        let seat = &mut self.seats[worker];
        seat.frames.push(Frame::After(node));
        if seat.offers_enough() {
            seat.frames.extend([Frame::Call(second), Frame::Call(node + 1)]);
            return self.costs.call;
        }
        seat.frames.extend([Frame::Settle(second), Frame::Call(node + 1)]);
        self.offer(worker, second);
        self.costs.offer
    }

    /// The first half is done. The worker takes the second half back from its queue, or waits until the thief
    /// has ended the second half.
    fn settle(&mut self, worker: usize, half: usize) -> Option<u64> {
        if self.seats[worker].queue.back() == Some(&half) {
            self.seats[worker].queue.pop_back();
            self.seats[worker].frames.push(Frame::Call(half));
            self.note(worker, What::TakesBack(half));
            return Some(0);
        }
        self.wait(worker, half);
        if self.done[half] {
            self.seats[worker].waits.pop();
            self.note(worker, What::GoesOn(half));
            return Some(0);
        }
        self.seats[worker].frames.push(Frame::Settle(half));
        let may_help = self.seats[worker].running.len() <= DEPTH;
        if let Some(piece) = if may_help { self.follow(worker, half) } else { None } {
            return Some(self.begin(worker, piece));
        }
        self.seats[worker].parked = Some(self.now);
        None
    }

    fn works(&mut self, worker: usize, node: usize, time: u64) -> u64 {
        self.run.worked += time;
        self.note(worker, What::Works(node, time));
        time
    }
}
