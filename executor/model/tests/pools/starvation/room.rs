//! A submission waits for room in its own pool's queue. At the same time another thread makes room, or takes
//! the room that became free.

use std::sync::Arc;

use executor_model::{Block, FifoQueue, Latch, RejectReason, ThreadPoolExecutor, prelude::*};
use shuttle::thread;

use super::shared;
use crate::check;

/// A pool of one thread, with room for one more task.
fn room_for_one() -> Arc<ThreadPoolExecutor> {
    shared(ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Block::new()))
}

/// Submits a task from inside the pool. Returns true if the task was accepted, and false if the thread
/// starved.
fn is_accepted(pool: &ThreadPoolExecutor) -> bool {
    match pool.execute(|| ()).map_err(|refused| refused.reason) {
        Ok(()) => true,
        Err(RejectReason::Starved(_)) => false,
        Err(other) => panic!("{other}"),
    }
}

/// The task in the queue is cancelled before the submission, while the submitter waits, or after the
/// submitter got the report.
#[test]
fn a_cancel_makes_room_or_comes_too_late() {
    check(|| {
        let pool = room_for_one();
        let own = Arc::clone(&pool);
        let (filled, queued) = (Arc::new(Latch::new(1)), Arc::new(shuttle::sync::Mutex::new(None)));
        let (says, shows) = (Arc::clone(&filled), Arc::clone(&queued));
        let submits = pool.submit(move || {
            let fills = own.submit(|| ()).unwrap();
            *shows.lock().unwrap() = Some(fills.canceller());
            says.count_down();
            is_accepted(&own)
        });
        filled.wait().unwrap();
        let canceller = queued.lock().unwrap().take().unwrap();
        let in_time = canceller.cancel();
        let accepted = submits.unwrap().join().unwrap();
        assert!(in_time || !accepted, "accepted without room");
        pool.close();
    });
}

/// Two threads wait for room, and each of them can get room only from the other thread. One thread gets the
/// report and ends its task; the end of this task makes room for the other thread.
#[test]
fn of_two_submissions_one_is_told_and_the_other_goes_on() {
    check(|| {
        let builder = ThreadPoolExecutor::builder().threads(2).queue(FifoQueue::bounded(1));
        let pool = shared(builder.rejection_handler(Block::new()));
        let both = Arc::new(Latch::new(2));
        let tasks = [(); 2].map(|()| {
            let (own, both) = (Arc::clone(&pool), Arc::clone(&both));
            pool.submit(move || {
                both.count_down();
                both.wait().unwrap();
                [is_accepted(&own), is_accepted(&own)]
            })
        });
        let told = tasks.map(|task| task.unwrap().join().unwrap()).concat();
        assert!(told.iter().filter(|accepted| !**accepted).count() <= 2, "{told:?}");
        assert!(told.contains(&true));
        pool.close();
    });
}

/// The first thread waits for room. A second thread is started, and takes the task out of the queue.
#[test]
fn another_thread_makes_room_or_comes_too_late() {
    check(|| {
        let pool = room_for_one();
        let own = Arc::clone(&pool);
        let submits = pool.submit(move || {
            own.execute(|| ()).unwrap(); // fills the queue
            is_accepted(&own)
        });
        let more = Arc::clone(&pool);
        let grows = thread::spawn(move || more.set_threads(2).unwrap());
        let accepted = submits.unwrap().join().unwrap();
        grows.join().unwrap();
        pool.close();
        assert_eq!(pool.stats().completed, 2 + u64::from(accepted));
    });
}

/// The other thread ends its task, and then takes the task out of the queue.
#[test]
fn a_thread_that_does_not_wait_makes_room() {
    check(|| {
        let builder = ThreadPoolExecutor::builder().threads(2).queue(FifoQueue::bounded(1));
        let pool = shared(builder.rejection_handler(Block::new()));
        let (own, full) = (Arc::clone(&pool), Arc::new(Latch::new(1)));
        let until = Arc::clone(&full);
        pool.execute(move || until.wait().unwrap()).unwrap();
        let submits = pool.submit(move || {
            own.execute(|| ()).unwrap(); // fills the queue
            full.count_down();
            is_accepted(&own)
        });
        assert!(submits.unwrap().join().unwrap());
        pool.close();
    });
}
