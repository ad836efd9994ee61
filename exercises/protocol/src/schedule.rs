//! A schedule: the steps of all threads, in their order. A schedule is plain data, from which for example a
//! picture can be made after the test.
//!
//! Threads, locks and condition variables are numbered in the order in which they were made. A thread that is
//! not running is either ready to go on or waiting. The last event of a waiting thread says what the thread
//! waits for: [`Action::Want`], [`Action::Wait`], [`Action::Await`] and [`Action::Expect`]. The thread waits
//! until its next event.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The events up to the failure of a property.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// The threads. The first thread is the test itself.
    pub threads: Vec<Thread>,
    /// The events, in the order in which they happened.
    pub events: Vec<Event>,
    /// The event that decided the failure, if a rule of the diagnosis has found this event.
    pub decisive: Option<usize>,
    /// The lines of the learner's file that the events name, ordered by their numbers.
    #[serde(default)]
    pub code: Vec<Line>,
}

/// A thread of a schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    /// The thread's name.
    pub name: String,
    /// The activity of the thread at the end, for a sentence that begins with the thread's name: "waits on a
    /// Condvar at line 41".
    pub end: String,
}

/// A line of the learner's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The number of the line. The number of the first line is 1.
    pub number: u32,
    /// The text of the line, without its indentation.
    pub text: String,
}

/// An event: a step of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Which thread.
    pub thread: usize,
    /// The action of the thread.
    pub action: Action,
    /// The line of the learner's file.
    pub line: Option<u32>,
}

/// An action of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// The thread made a step of the property; the text describes the step.
    Step(String),
    /// The thread found that the property does not hold, or the thread panicked; the text describes the
    /// observation. This event is the last event of the schedule.
    Fail(String),
    /// The thread started this other thread.
    Spawn(usize),
    /// The thread ended.
    End {
        /// True if a panic ended the thread.
        panicked: bool,
    },
    /// The thread began to wait until this other thread ends.
    Await(usize),
    /// The thread has waited until this other thread has ended.
    Join(usize),
    /// The thread began to wait for something that the text describes, such as an object of the property. If
    /// the event has a line of the learner's file, the learner's code waits, for example for a message.
    Expect(String),
    /// The thread tried to take this lock and did not get it at once.
    Want(usize),
    /// The thread took this lock.
    Lock(usize),
    /// The thread released this lock.
    Unlock(usize),
    /// The thread released a lock in order to wait on a condition variable.
    Wait {
        /// The condition variable on which the thread waits.
        condvar: usize,
        /// The lock.
        lock: usize,
    },
    /// The thread returned from the wait on a condition variable, and has the lock again.
    Wake {
        /// The condition variable on which the thread waited.
        condvar: usize,
        /// The lock.
        lock: usize,
        /// True if the thread woke up without a notification.
        spurious: bool,
    },
    /// The thread notified a condition variable.
    Notify {
        /// The condition variable that was notified.
        condvar: usize,
        /// True for `notify_all`, false for `notify_one`.
        all: bool,
        /// The threads that this notification woke. On real threads, the recorder does not know which of
        /// several waiting threads `notify_one` has woken; then the list is empty.
        woken: Vec<usize>,
    },
}

impl Action {
    /// Returns the thread that the action names, but not a thread that the action wakes.
    fn other(&mut self) -> Option<&mut usize> {
        match self {
            Self::Spawn(thread) | Self::Await(thread) | Self::Join(thread) => Some(thread),
            _ => None,
        }
    }
}

impl Schedule {
    /// Returns true if there are no events.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Keeps only the last events, up to the given number, and the threads that these events name. If the
    /// decisive event comes before these events, the events around the decisive event are kept instead.
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

    /// Copies, from the text of the learner's file, the lines that the events name.
    pub fn quote(&mut self, source: &str) {
        let lines: BTreeSet<u32> = self.events.iter().filter_map(|event| event.line).collect();
        let all: Vec<&str> = source.lines().collect();
        let quoted = lines.into_iter().filter_map(|number| {
            let text = all.get((number as usize).checked_sub(1)?)?.trim().to_owned();
            Some(Line { number, text })
        });
        self.code = quoted.collect();
    }

    /// Returns the learner's line with this number.
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
