//! A queue that comes to its end: many producers put items, many consumers take them, and each consumer
//! learns when no item will come any more.
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

/// An entry of the queue.
enum Message<T> {
    Item(T),
    /// Pill: ends the consumer that takes the pill.
    Pill,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    /// Notified when an item or a pill has come.
    came: Condvar,
    /// Notified when there is room, or when no consumer is left.
    room: Condvar,
}

struct State<T> {
    messages: VecDeque<Message<T>>,
    capacity: usize,
    producers: usize,
    consumers: usize,
}

/// Makes a queue with room for `capacity` items (one or more), with one producer, and with `consumers`
/// consumers.
pub fn queue<T>(capacity: usize, consumers: usize) -> (Producer<T>, Vec<Consumer<T>>) {
    let state = State { messages: VecDeque::new(), capacity, producers: 1, consumers };
    let shared = Arc::new(Shared { state: Mutex::new(state), came: Condvar::new(), room: Condvar::new() });
    let all = (0..consumers).map(|_| Consumer { shared: Arc::clone(&shared), has_ended: false }).collect();
    (Producer { shared }, all)
}

impl<T> Producer<T> {
    /// Puts an item, and waits for room if there is none.
    ///
    /// Returns `Err` with the item if no consumer is left to take it.
    pub fn put(&self, item: T) -> Result<(), T> {
        let mut state = self.shared.state.lock().unwrap();
        while state.messages.len() >= state.capacity && state.consumers > 0 {
            state = self.shared.room.wait(state).unwrap();
        }
        if state.consumers == 0 {
            return Err(item);
        }
        state.messages.push_back(Message::Item(item));
        self.shared.came.notify_one();
        Ok(())
    }
}

impl<T> Clone for Producer<T> {
    fn clone(&self) -> Self {
        self.shared.state.lock().unwrap().producers += 1;
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<T> Drop for Producer<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap();
        state.producers -= 1;
        if state.producers == 0 {
            // A pill needs no room, so a producer that ends does not wait for room.
            for _ in 0..state.consumers {
                state.messages.push_back(Message::Pill);
            }
            self.shared.came.notify_all();
        }
    }
}

impl<T> Consumer<T> {
    /// Takes the oldest item, and waits for an item if the queue is empty. Returns `None` if no item will
    /// come any more; then every later call returns `None`, too.
    pub fn take(&mut self) -> Option<T> {
        if self.has_ended {
            return None;
        }
        let mut state = self.shared.state.lock().unwrap();
        loop {
            match state.messages.pop_front() {
                Some(Message::Item(item)) => {
                    self.shared.room.notify_one();
                    return Some(item);
                }
                Some(Message::Pill) => {
                    self.has_ended = true;
                    return None;
                }
                None => state = self.shared.came.wait(state).unwrap(),
            }
        }
    }
}

impl<T> Drop for Consumer<T> {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock().unwrap();
        state.consumers -= 1;
        if state.consumers == 0 {
            self.shared.room.notify_all();
        }
    }
}
