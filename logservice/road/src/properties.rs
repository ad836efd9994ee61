//! The promises of a log, each as a function that panics if the promise is broken. In the model, a thread
//! that waits forever also causes a panic; on real threads the caller must set a time limit.
//!
//! Each function checks only its own promise. A check that looks for lost lines uses a queue with room for all
//! lines, so that no client waits. If clients can wait in a check, the check does not examine the written lines.

use std::fmt;

use executor::CancelToken;

use super::{Gaps, Log, Paper, Reason};
use crate::door::sync::Arc;
use crate::door::thread::{self, JoinHandle};

/// One of the five promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property {
    /// See [`accepted_means_written`].
    AcceptedMeansWritten,
    /// See [`stop_ends`].
    StopEnds,
    /// See [`nobody_blocks_for_ever`].
    NobodyBlocksForEver,
    /// See [`order_within_a_thread`].
    OrderWithinAThread,
    /// See [`after_stop_a_clear_refusal`].
    AfterStopAClearRefusal,
}

impl Property {
    /// All five promises.
    pub const ALL: [Self; 5] = [
        Self::AcceptedMeansWritten,
        Self::StopEnds,
        Self::NobodyBlocksForEver,
        Self::OrderWithinAThread,
        Self::AfterStopAClearRefusal,
    ];

    /// Returns the function that checks the promise for logs of the type `L`.
    pub fn check<L: Log>(self) -> fn() {
        match self {
            Self::AcceptedMeansWritten => accepted_means_written::<L>,
            Self::StopEnds => stop_ends::<L>,
            Self::NobodyBlocksForEver => nobody_blocks_for_ever::<L>,
            Self::OrderWithinAThread => order_within_a_thread::<L>,
            Self::AfterStopAClearRefusal => after_stop_a_clear_refusal::<L>,
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::AcceptedMeansWritten => "accepted means written",
            Self::StopEnds => "stop ends",
            Self::NobodyBlocksForEver => "no call blocks for ever",
            Self::OrderWithinAThread => "order within a thread",
            Self::AfterStopAClearRefusal => "after stop a clear refusal",
        })
    }
}

/// Lets a client log three lines while the log is stopped. Checks that exactly the accepted lines are
/// written, each of them once.
pub fn accepted_means_written<L: Log>() {
    let (log, paper) = start::<L>(3);
    let accepted = client(&log, &CancelToken::new(), &["one", "two", "three"]);
    log.stop();
    let (mut accepted, mut written) = (accepted.join().unwrap(), paper.lines());
    accepted.sort_unstable();
    written.sort();
    assert_eq!(written, accepted, "left: written, right: accepted");
}

/// Lets a client log more lines than the queue can hold; the client's task may be cancelled at any moment. `stop`
/// returns.
pub fn stop_ends<L: Log>() {
    let (log, _) = start::<L>(1);
    let token = CancelToken::new();
    let client = client(&log, &token, &["one", "two", "three"]);
    token.cancel();
    log.stop();
    client.join().unwrap(); // its task was cancelled, so all its waits end
}

/// Lets two clients log more lines than the queue can hold, and stops the log. The calls of both clients
/// must return.
pub fn nobody_blocks_for_ever<L: Log>() {
    let (log, _) = start::<L>(1);
    let clients = [&["a1", "a2"], &["b1", "b2"]].map(|lines| client(&log, &CancelToken::new(), lines));
    log.stop();
    for client in clients {
        client.join().unwrap();
    }
}

/// Lets a client log three lines. The three lines must be written in their order.
pub fn order_within_a_thread<L: Log>() {
    let (log, paper) = start::<L>(3);
    client(&log, &CancelToken::new(), &["1", "2", "3"]).join().unwrap();
    log.stop();
    let written = paper.lines();
    assert!(written.is_sorted(), "logged as 1, 2, 3 and written as {written:?}");
}

/// Lets a client log after the log has been stopped. The client must get its line back, with the reason.
pub fn after_stop_a_clear_refusal<L: Log>() {
    let (log, paper) = start::<L>(2);
    client(&log, &CancelToken::new(), &["in time"]).join().unwrap();
    log.stop();
    let refused = log.log("late".to_owned()).expect_err("a log that was stopped accepts a line");
    assert_eq!((refused.line.as_str(), refused.reason), ("late", Reason::Stopped));
    assert!(!paper.lines().contains(&refused.line), "a line that was refused is written");
}

fn start<L: Log>(capacity: usize) -> (Arc<L>, Paper) {
    let paper = Paper::new();
    (Arc::new(L::start(capacity, &paper, &Gaps::none())), paper)
}

/// Logs `lines` on a new thread, as a task with the given token. Returns the lines that were
/// accepted.
fn client<L: Log>(
    log: &Arc<L>,
    token: &CancelToken,
    lines: &'static [&'static str],
) -> JoinHandle<Vec<&'static str>> {
    let (log, token) = (Arc::clone(log), token.clone());
    let log_one = move |line: &&'static str| log.log((*line).to_owned()).is_ok();
    thread::spawn(move || token.attach(|| lines.iter().copied().filter(log_one).collect()))
}
