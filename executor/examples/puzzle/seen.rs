//! The positions that a search has seen, and for each position the way back to the start.

use super::door::sync::Mutex;
use super::entry::Entry;
use super::mix::Mix;
use super::puzzle::{Move, Position, Puzzle};
use super::unfinished::Unfinished;
use std::collections::HashSet;
use std::hash::BuildHasher;

/// The number of shards: with so many shards, two threads rarely need the same lock at the same time.
const SHARDS: usize = 64;

pub struct Seen {
    shards: Vec<Mutex<HashSet<Entry, Mix>>>,
    most_in_each: usize,
}

impl Seen {
    /// Makes a table with room for about `most` positions; one of its shards may become full a little
    /// earlier.
    pub fn with_room_for(most: usize) -> Self {
        Self { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), most_in_each: most.div_ceil(SHARDS) }
    }

    fn shard(&self, entry: Entry) -> &Mutex<HashSet<Entry, Mix>> {
        &self.shards[(Mix::default().hash_one(entry) >> 40) as usize % SHARDS] // the set uses the outer bits
    }

    /// Returns true if the position is new. If several threads ask about the same position, only one thread
    /// gets true.
    pub fn is_new(&self, last: Move, position: Position) -> Result<bool, Unfinished> {
        let entry = Entry::new(last, position);
        let mut shard = self.shard(entry).lock().unwrap();
        if shard.len() == self.most_in_each && !shard.contains(&entry) {
            return Err(Unfinished::NoRoom);
        }
        Ok(shard.insert(entry))
    }

    pub fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap().len()).sum()
    }

    /// Returns the moves from the start to a seen position, and the position after each move.
    pub fn way_to<P: Puzzle>(&self, puzzle: &P, mut position: Position) -> Vec<(Move, Position)> {
        let mut way = Vec::new();
        loop {
            let entry = Entry::new(Move::NONE, position);
            let last = self.shard(entry).lock().unwrap().get(&entry).expect("it was seen").last();
            way.push((last, position));
            if last == Move::NONE {
                way.reverse();
                return way;
            }
            position = puzzle.before(last, position);
        }
    }
}
