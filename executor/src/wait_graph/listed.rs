//! The list of the waits in the graph, for a dump.

use super::{WAITING, waiting::SleepingThread};
use crate::ids::{TaskId, ThreadKey};
use crate::sync::Duration;
use crate::waiting::awaited::Awaited;
use crate::waiting::starvation::TaskRef;

/// A thread that sleeps or is about to sleep.
pub(crate) struct ListedWait {
    pub(crate) key: ThreadKey,
    pub(crate) thread: Option<String>,
    pub(crate) task: Option<TaskRef>,
    /// The tasks that cannot end before this thread goes on.
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) what: Awaited,
}

/// Returns the waits in the graph: in each of these waits, a thread of an executor waits without a deadline.
/// Returns `None` if a search holds the lock for longer than `patience`. The caller must hold no lock when it
/// drops the result, because this drop may destroy an awaited thing.
pub(crate) fn listed(patience: Duration) -> Option<Vec<ListedWait>> {
    let waiting = WAITING.lock_within(patience)?;
    Some(waiting.all().map(|(key, wait)| list(key, wait)).collect())
}

fn list(key: ThreadKey, wait: &SleepingThread) -> ListedWait {
    let runs = wait.context.runs().map(|label| TaskRef::of(&label));
    ListedWait {
        key,
        thread: wait.thread.name().map(str::to_owned),
        task: runs.or_else(|| wait.context.innermost().map(|id| TaskRef::new(id, None))),
        tasks: wait.context.tasks().collect(),
        what: wait.what.clone(),
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;

    #[test]
    fn the_list_does_not_wait_for_a_search_that_hangs() {
        let search = WAITING.lock();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || tell.send(listed(Duration::from_millis(5)).is_none()));
        let gave_up = told.recv_timeout(Duration::from_secs(10));
        drop(search);
        assert_eq!(gave_up, Ok(true), "the list waits for the lock, or was made without it");
        let is_listed = (0..1_000).any(|_| listed(Duration::from_millis(5)).is_some());
        assert!(is_listed, "the lock is free now, but for other tests");
    }
}
