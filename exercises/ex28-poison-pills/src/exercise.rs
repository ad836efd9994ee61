//! A queue that comes to its end: many producers put items, many consumers take them, and each consumer
//! learns when no item will come any more.
//!
//! This is the only file to edit. `cargo test -p ex28-poison-pills` checks the answer.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::{Arc, Condvar, Mutex};

/// Puts items into a queue. A producer can be cloned, and each clone is a producer, too. When the last
/// producer is dropped, no item will come any more.
pub struct Producer<T> {
    shared: Arc<Shared<T>>,
}

/// Takes items out of a queue. Other threads must not wait for a consumer that was dropped.
pub struct Consumer<T> {
    shared: Arc<Shared<T>>,
    has_ended: bool,
}

/// The state that all producers and consumers share. You write the fields of this struct.
struct Shared<T> {
    items: Mutex<VecDeque<T>>,
}

/// Makes a queue with room for `capacity` items (one or more), with one producer, and with `consumers`
/// consumers.
pub fn queue<T>(capacity: usize, consumers: usize) -> (Producer<T>, Vec<Consumer<T>>) {
    todo!("a producer and the consumers, with what they share")
}

impl<T> Producer<T> {
    /// Puts an item, and waits for room if there is none.
    ///
    /// Returns `Err` with the item if no consumer is left to take it.
    pub fn put(&self, item: T) -> Result<(), T> {
        todo!("wait for room, as long as a consumer is there to make it")
    }
}

impl<T> Clone for Producer<T> {
    fn clone(&self) -> Self {
        todo!("one producer more")
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        todo!("one producer less, and if it was the last one: tell the consumers")
    }
}

impl<T> Consumer<T> {
    /// Takes the oldest item, and waits for an item if the queue is empty. Returns `None` if no item will
    /// come any more; then every later call returns `None`, too.
    pub fn take(&mut self) -> Option<T> {
        todo!("wait for an item, as long as one can come")
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        todo!("one consumer less, and if it was the last one: tell the producers")
    }
}
