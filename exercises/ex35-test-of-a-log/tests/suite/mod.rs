//! The properties of the learner's test; each property is a function. `exercise.toml` lists the properties
//! and says what each property promises.

mod queue;

use super::exercise::{Log, accepted_means_written as test};
use crate::probe::Judged;
use crate::sync::Arc;
use queue::Queue;

/// The logs that the learner's test judges: answers to exercise 24.
mod logs {
    use super::{Arc, Judged, Log, Queue};

    macro_rules! each_answer {
        ($($kind:ident $name:ident $about:literal;)*) => {
            $(
                impl Log for $name::Log {
                    fn log(&self, line: &str) -> bool {
                        self.log(line.to_owned()).is_ok()
                    }

                    fn run(&self, write: &mut dyn FnMut(String)) {
                        self.run(write);
                    }

                    fn stop(&self) {
                        self.stop();
                    }
                }

                impl $name::Lines for Queue {
                    fn put(&self, line: String) -> Result<(), String> {
                        self.put(line);
                        Ok(())
                    }

                    fn take(&self) -> Option<String> {
                        self.take()
                    }

                    fn wake(&self) {
                        self.wake();
                    }
                }
            )*

            pub const ALL: &[Judged<dyn Log>] = &[$(Judged {
                name: stringify!($name),
                about: $about,
                is_right: matches!(stringify!($kind).as_bytes(), b"right"),
                new: || Arc::new($name::Log::new(Arc::new(Queue::new(usize::MAX)))),
            }),*];
        };
    }

    exercises_macros::answers!(ex24 m05 m06 m15 m25 m40 m42);

    pub const WITH_A_SMALL_QUEUE: Judged<dyn Log> = Judged {
        name: "solution",
        about: "its queue has room for one line, so log() waits until the writer has taken the line before",
        is_right: true,
        new: || Arc::new(solution::Log::new(Arc::new(Queue::new(1)))),
    };
}

pub fn right_logs_pass() {
    const CAUSE: &str = "So your test asks for something that is not promised, or waits for something that does not come. While the log is \
                         stopped, a line may still be accepted or not; and which client's line is written first is left open";
    Judged::right_ones_pass(logs::ALL, CAUSE, test);
}

pub fn a_small_queue_passes() {
    const CAUSE: &str =
        "log() may wait for the writer. So no thread hands in more than one line before it lets a writer run";
    Judged::right_ones_pass(&[logs::WITH_A_SMALL_QUEUE], CAUSE, test);
}

fn rejected(wrong: &str, cause: &str) {
    Judged::is_rejected(logs::ALL, wrong, cause, test);
}

pub fn m06_is_rejected() {
    rejected(
        "m06",
        "lines lie in the queue when the log is stopped, and are never written. So the test has to know which lines were accepted, and to \
         look for each of them among the written lines. Another promise says that every written line was accepted",
    );
}

pub fn m25_is_rejected() {
    rejected(
        "m25",
        "run() returns while the log is open, if no line is owed at that moment. So the writer has to run before the log is stopped, and \
         a client has to hand in a line after the writer has started",
    );
}

pub fn m40_is_rejected() {
    rejected("m40", "which line could a program take for no line at all?");
}

pub fn m05_is_rejected() {
    rejected(
        "m05",
        "a client sees that the log is open, then the log is stopped, the writer ends, and only then the client counts its line. So the \
         client, the writer and the thread that stops the log have to run at the same time",
    );
}

pub fn m15_is_rejected() {
    rejected(
        "m15",
        "a line is owed while another one is refused. A test in which no line is refused does not see this mistake, and neither does a \
         test that has only one line",
    );
}

pub fn m42_is_rejected() {
    rejected(
        "m42",
        "it needs two logs, one of which is stopped, and one thread that hands in a line to both: with a single log everything is right",
    );
}
