//! The properties of the learner's test; each property is a function. `exercise.toml` lists the properties
//! and says what each property promises.

use super::exercise::{Inbox, no_job_lies_beside_a_sleeping_worker as test};
use crate::probe::Judged;
use crate::sync::Arc;

/// The inboxes that the learner's test judges: answers to exercise 10.
mod inboxes {
    use super::{Arc, Inbox, Judged};

    macro_rules! each_answer {
        ($($kind:ident $name:ident $about:literal;)*) => {
            $(impl Inbox for $name::Inbox<u32> {
                fn put(&self, job: u32) {
                    self.put(job);
                }

                fn take(&self) -> u32 {
                    self.take()
                }
            })*

            pub const ALL: &[Judged<dyn Inbox>] = &[$(Judged {
                name: stringify!($name),
                about: $about,
                is_right: matches!(stringify!($kind).as_bytes(), b"right"),
                new: || Arc::new($name::Inbox::new()),
            }),*];
        };
    }

    exercises_macros::answers!(ex10 m01 m03 m06 m17 m19);
}

pub fn right_inboxes_pass() {
    const CAUSE: &str = "So your test asks for something that is not promised, or waits for something that does not come. Which worker \
                         gets which job is left open, and which thread goes on first; and a take() without a job waits for ever";
    Judged::right_ones_pass(inboxes::ALL, CAUSE, test);
}

fn rejected(wrong: &str, cause: &str) {
    Judged::is_rejected(inboxes::ALL, wrong, cause, test);
}

pub fn m01_is_rejected() {
    rejected(
        "m01",
        "this inbox fails only if a put() begins while a worker is about to sleep. So the worker has to run beside the thread that puts \
         the job, and the test has to notice that this worker never returns: join the worker",
    );
}

pub fn m03_is_rejected() {
    rejected(
        "m03",
        "this inbox forgets the second of two sleeping workers, if the second job comes before a worker has taken the first job. With one \
         worker, or with a worker that takes both jobs, nothing is missing",
    );
}

pub fn m06_is_rejected() {
    rejected(
        "m06",
        "a worker is woken, and another thread takes the job: then take() panics, on the thread of that worker. Such a panic ends no \
         test. join() returns it as an Err, and the test has to look at what join() returns",
    );
}

pub fn m17_is_rejected() {
    rejected(
        "m17",
        "a newer job overtakes an older job, which the inbox keeps for a woken worker. This shows only until that worker takes its job: \
         another thread that takes two jobs then gets the newer one first",
    );
}

pub fn m19_is_rejected() {
    rejected(
        "m19",
        "this inbox counts at most two sleeping workers, and forgets the third. Two workers are too few to see that",
    );
}
