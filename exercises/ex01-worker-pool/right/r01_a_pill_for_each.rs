//! Right: a channel of messages. shutdown() sends one "go home" for each worker behind the last job, and a worker
//! that has taken one takes nothing more.
#![allow(unused)]

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::sync::{Arc, Condvar, Mutex, thread};

type Job = Box<dyn FnOnce() + Send>;

enum Message {
    Run(Job),
    GoHome,
}

struct Channel {
    messages: Mutex<VecDeque<Message>>,
    arrived: Condvar,
}

impl Channel {
    fn send(&self, message: Message) {
        self.messages.lock().unwrap().push_back(message);
        self.arrived.notify_one();
    }

    fn receive(&self) -> Message {
        let mut messages = self.messages.lock().unwrap();
        loop {
            match messages.pop_front() {
                Some(message) => return message,
                None => messages = self.arrived.wait(messages).unwrap(),
            }
        }
    }
}

pub struct WorkerPool {
    channel: Arc<Channel>,
    handles: Vec<thread::JoinHandle<()>>,
}

impl WorkerPool {
    pub fn new(threads: usize) -> Self {
        let channel = Arc::new(Channel { messages: Mutex::new(VecDeque::new()), arrived: Condvar::new() });
        let handles = (0..threads)
            .map(|_| {
                let channel = Arc::clone(&channel);
                thread::spawn(move || {
                    while let Message::Run(job) = channel.receive() {
                        let _ = catch_unwind(AssertUnwindSafe(job));
                    }
                })
            })
            .collect();
        WorkerPool { channel, handles }
    }

    pub fn execute(&self, job: impl FnOnce() + Send + 'static) {
        self.channel.send(Message::Run(Box::new(job)));
    }

    pub fn shutdown(self) {
        for _ in &self.handles {
            self.channel.send(Message::GoHome);
        }
        for handle in self.handles {
            let _ = handle.join();
        }
    }
}
