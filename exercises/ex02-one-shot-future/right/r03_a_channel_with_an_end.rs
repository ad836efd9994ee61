//! Right: a channel of messages. complete() first sends the value. When the promise is dropped, it always
//! sends an end message. join() reads only the first message.
#![allow(unused)]

use std::collections::VecDeque;

use crate::sync::{Arc, Condvar, Mutex};

enum Message<T> {
    Value(T),
    End,
}

struct Channel<T> {
    messages: Mutex<VecDeque<Message<T>>>,
    arrived: Condvar,
}

impl<T> Channel<T> {
    fn send(&self, message: Message<T>) {
        self.messages.lock().unwrap().push_back(message);
        self.arrived.notify_one(); // at most one thread receives
    }

    fn receive(&self) -> Message<T> {
        let mut messages = self.messages.lock().unwrap();
        loop {
            match messages.pop_front() {
                Some(message) => return message,
                None => messages = self.arrived.wait(messages).unwrap(),
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.messages.lock().unwrap().is_empty()
    }
}

pub fn promise<T>() -> (Promise<T>, Future<T>) {
    let channel =
        Arc::new(Channel { messages: Mutex::new(VecDeque::with_capacity(2)), arrived: Condvar::new() });
    (Promise { sender: Arc::clone(&channel) }, Future { receiver: channel })
}

pub struct Promise<T> {
    sender: Arc<Channel<T>>,
}

pub struct Future<T> {
    receiver: Arc<Channel<T>>,
}

/// The error of a future whose promise was dropped: no value will ever come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abandoned;

impl<T> Promise<T> {
    pub fn complete(self, value: T) {
        self.sender.send(Message::Value(value));
    }
}

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.sender.send(Message::End);
    }
}

impl<T> Future<T> {
    pub fn join(self) -> Result<T, Abandoned> {
        match self.receiver.receive() {
            Message::Value(value) => Ok(value),
            Message::End => Err(Abandoned),
        }
    }

    pub fn is_done(&self) -> bool {
        !self.receiver.is_empty()
    }
}
