//! A schedule: which thread did what, in which order. It is plain data, for a picture or any other use after
//! a run.
//!
//! Threads, locks and condition variables are numbers, in the order in which they were made. A thread that
//! does nothing is either ready to go on, or its last event says what it waits for: [`Action::Want`],
//! [`Action::Wait`], [`Action::Await`] and [`Action::Expect`]. Its next event ends the wait.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What happened until a property failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The threads. The first is the test itself.
    pub threads: Vec<Thread>,
    /// The events, in the order in which they happened.
    pub events: Vec<Event>,
    /// The event that decided the failure, if a rule of the diagnosis knows it.
    pub decisive: Option<usize>,
    /// The lines of the learner's file that the events name, in their order.
    #[serde(default)]
    pub code: Vec<Line>,
}

/// A thread of a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// The thread's name.
    pub name: String,
    /// What the thread was doing in the end, for a sentence that begins with its name: "waits on a Condvar at
    /// line 41".
    pub end: String,
}

/// A line of the learner's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The line's number. The first is 1.
    pub number: u32,
    /// The text without its indentation.
    pub text: String,
}

/// An event: one thread did one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Which thread.
    pub thread: usize,
    /// What the thread did.
    pub action: Action,
    /// The line of the learner's file.
    pub line: Option<u32>,
}

/// What a thread can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// A step of the property, in words.
    Step(String),
    /// Saw that the property does not hold, or panicked: what was seen, in words. It is the last event.
    Fail(String),
    /// Started this thread.
    Spawn(usize),
    /// Ended.
    End {
        /// Whether a panic ended it.
        panicked: bool,
    },
    /// Began to wait for this thread to end.
    Await(usize),
    /// Has waited for this thread to end.
    Join(usize),
    /// Began to wait for something else, in words: for what the property provides or, at a line of the
    /// learner's file, for a message, say.
    Expect(String),
    /// Reached for this lock and did not get it at once.
    Want(usize),
    /// Took this lock.
    Lock(usize),
    /// Let go of this lock.
    Unlock(usize),
    /// Let go of a lock to wait on a condition variable.
    Wait {
        /// What it waits on.
        condvar: usize,
        /// The lock.
        lock: usize,
    },
    /// Came back from there, with the lock.
    Wake {
        /// What it waited on.
        condvar: usize,
        /// The lock.
        lock: usize,
        /// Whether it woke up without a notification.
        spurious: bool,
    },
    /// Notified a condition variable.
    Notify {
        /// Which one.
        condvar: usize,
        /// Whether all waiting threads were meant, and not one.
        all: bool,
        /// The threads whose wait it ended. On real threads it is not known which of several `notify_one`
        /// woke; then the list is empty.
        woken: Vec<usize>,
    },
}

impl Action {
    /// The thread that the action names, other than by waking it.
    fn other(&mut self) -> Option<&mut usize> {
        match self {
            Self::Spawn(thread) | Self::Await(thread) | Self::Join(thread) => Some(thread),
            _ => None,
        }
    }
}

impl Schedule {
    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Forgets all but so many last events, and the threads that these do not name. If the decisive event is
    /// earlier, the events around it are kept.
    pub fn shorten(&mut self, most: usize) {
        let from = self.events.len().saturating_sub(most);
        let from = self.decisive.map_or(from, |decisive| from.min(decisive.saturating_sub(most / 2)));
        self.events.drain(..from);
        self.events.truncate(most);
        self.decisive = self.decisive.map(|decisive| decisive - from);

        let mut kept = BTreeSet::from([0]);
        for event in &mut self.events {
            kept.insert(event.thread);
            kept.extend(event.action.other().copied());
        }
        let kept: Vec<usize> = kept.into_iter().filter(|&thread| thread < self.threads.len()).collect();
        let now = |before: usize| kept.binary_search(&before).ok();
        for event in &mut self.events {
            event.thread = now(event.thread).unwrap_or(0);
            if let Some(thread) = event.action.other() {
                *thread = now(*thread).unwrap_or(0);
            }
            if let Action::Notify { woken, .. } = &mut event.action {
                *woken = woken.iter().filter_map(|&thread| now(thread)).collect();
            }
        }
        self.threads = kept.iter().map(|&thread| std::mem::take(&mut self.threads[thread])).collect();
    }

    /// Takes the lines that the events name from the text of the learner's file.
    pub fn quote(&mut self, source: &str) {
        let lines: BTreeSet<u32> = self.events.iter().filter_map(|event| event.line).collect();
        let all: Vec<&str> = source.lines().collect();
        let quoted = lines.into_iter().filter_map(|number| {
            let text = all.get((number as usize).checked_sub(1)?)?.trim().to_owned();
            Some(Line { number, text })
        });
        self.code = quoted.collect();
    }

    /// The learner's line of that number.
    pub fn line(&self, number: u32) -> Option<&str> {
        let at = self.code.binary_search_by_key(&number, |line| line.number).ok()?;
        Some(&self.code[at].text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: usize, action: Action) -> Event {
        Event { thread, action, line: None }
    }

    #[test]
    fn what_is_too_long_keeps_its_end_and_the_threads_that_it_speaks_of() {
        let threads = (0..1000).map(|n| Thread { name: format!("thread {n}"), end: String::new() }).collect();
        let mut events: Vec<Event> = (1..1000).map(|n| event(0, Action::Spawn(n))).collect();
        events.push(event(700, Action::Notify { condvar: 0, all: true, woken: vec![3, 998] }));
        let mut schedule = Schedule { threads, events, ..Schedule::default() };
        schedule.shorten(3);
        let names: Vec<&str> = schedule.threads.iter().map(|thread| thread.name.as_str()).collect();
        assert_eq!(names, ["thread 0", "thread 700", "thread 998", "thread 999"]);
        assert_eq!(schedule.events[..2], [event(0, Action::Spawn(2)), event(0, Action::Spawn(3))]);
        assert_eq!(schedule.events[2], event(1, Action::Notify { condvar: 0, all: true, woken: vec![2] }));
    }

    #[test]
    fn what_is_too_long_keeps_its_decisive_event() {
        let events = (0..1000).map(|n| event(0, Action::Lock(n))).collect();
        let mut schedule =
            Schedule { threads: vec![Thread::default()], events, decisive: Some(400), ..Schedule::default() };
        schedule.shorten(100);
        assert_eq!(schedule.events.len(), 100);
        assert_eq!(schedule.events[schedule.decisive.unwrap()].action, Action::Lock(400));
    }

    #[test]
    fn the_lines_that_are_named_are_quoted() {
        let events = vec![Event { thread: 0, action: Action::Lock(0), line: Some(2) }];
        let mut schedule = Schedule { events, ..Schedule::default() };
        schedule.quote("fn f() {\n    lock();\n}\n");
        assert_eq!((schedule.line(2), schedule.line(1)), (Some("lock();"), None));
    }
}
