//! A letter box, and three ways to wait for a letter. One of the three ways is right.
//!
//! The trials pass a closure as the argument `between`. The reader calls this closure after it has looked and
//! before it sleeps: if a letter comes at that moment, the trial shows whether the way to wait is right.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex};

pub type Letter = &'static str;

// ANCHOR: put
#[derive(Default)]
pub struct Post {
    letters: Mutex<VecDeque<Letter>>,
    changed: Condvar,
}

impl Post {
    pub fn put(&self, letter: Letter) {
        self.letters.lock().unwrap().push_back(letter);
        self.changed.notify_one();
    }
    // ANCHOR_END: put

    // ANCHOR: take
    pub fn take(&self, between: impl Fn()) -> Letter {
        let mut letters = self.letters.lock().unwrap();
        loop {
            if let Some(letter) = letters.pop_front() {
                return letter;
            }
            between();
            letters = self.changed.wait(letters).unwrap();
        }
    }
    // ANCHOR_END: take

    // ANCHOR: gap
    pub fn take_with_a_gap(&self, between: impl Fn()) -> Option<Letter> {
        let is_empty = self.letters.lock().unwrap().is_empty(); // locks, looks, and unlocks
        if is_empty {
            between();
            let letters = self.letters.lock().unwrap();
            drop(self.changed.wait(letters).unwrap());
        }
        self.letters.lock().unwrap().pop_front()
    }
    // ANCHOR_END: gap

    // ANCHOR: if
    pub fn take_with_if(&self, between: impl Fn()) -> Option<Letter> {
        let mut letters = self.letters.lock().unwrap();
        if letters.is_empty() {
            between();
            letters = self.changed.wait(letters).unwrap();
        }
        letters.pop_front()
    }
    // ANCHOR_END: if

    /// Puts a letter into the box if the lock is free now, and does not wait for the lock.
    pub fn try_put(&self, letter: Letter) -> bool {
        let Ok(mut letters) = self.letters.try_lock() else { return false };
        letters.push_back(letter);
        self.changed.notify_one();
        true
    }

    // ANCHOR: thief
    /// Puts a letter into the box, notifies, and takes the letter out before it releases the lock. So the
    /// function behaves like a second reader that is quicker than the first.
    pub fn put_for_a_thief(&self, letter: Letter) {
        let mut letters = self.letters.lock().unwrap();
        letters.push_back(letter);
        self.changed.notify_one();
        letters.pop_front();
    }
    // ANCHOR_END: thief

    pub fn len(&self) -> usize {
        self.letters.lock().unwrap().len()
    }
}
