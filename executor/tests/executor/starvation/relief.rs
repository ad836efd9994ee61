//! The steps that a pool takes before it reports a wait as starving: it uses another thread, it helps, or it
//! starts a spare thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use executor::{
    Block, CutShort, ExecutorCompletionService, FifoQueue, JoinError, OnStarvation, RejectReason,
    ThreadFactory, ThreadPoolExecutor, Worker, prelude::*,
};

use super::{one_thread, outside, shared};
use crate::support::{Signal, Spot, eventually, within_deadline};

/// Runs `length` tasks, each of which waits for the next task.
fn chain(pool: &Arc<ThreadPoolExecutor>, length: usize) -> Result<usize, String> {
    if length == 0 {
        return Ok(0);
    }
    let own = Arc::clone(pool);
    match pool.submit(move || chain(&own, length - 1)).map_err(|error| error.to_string())?.join() {
        Ok(below) => below.map(|below| below + 1),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_pool_that_may_have_more_threads_starts_one_instead_of_waiting_for_a_full_queue() {
    within_deadline(|| {
        let builder = ThreadPoolExecutor::builder().core_threads(1).maximum_threads(3);
        let pool = shared(builder.queue(FifoQueue::bounded(10)));
        let own = Arc::clone(&pool);
        assert_eq!(outside(pool.submit(move || chain(&own, 2)).unwrap()), Ok(2));
        let own = Arc::clone(&pool);
        let too_long = outside(pool.submit(move || chain(&own, 3)).unwrap());
        assert!(too_long.unwrap_err().contains("starvation deadlock"));
        let stats = pool.stats();
        assert_eq!((stats.peak_threads, stats.starved), (3, 1), "{stats}");
    });
}

#[test]
fn help_runs_the_task_that_is_waited_for_and_counts_it() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::Help { depth: 5 });
        let own = Arc::clone(&pool);
        let same_thread = pool.submit(move || {
            let here = std::thread::current().id();
            own.submit(move || std::thread::current().id() == here).unwrap().join().unwrap()
        });
        assert!(outside(same_thread.unwrap()));
        let own = Arc::clone(&pool);
        assert_eq!(outside(pool.submit(move || chain(&own, 5)).unwrap()), Ok(5));
        let own = Arc::clone(&pool);
        assert!(outside(pool.submit(move || chain(&own, 6)).unwrap()).is_err(), "deeper than allowed");
        eventually("all are counted", || pool.stats().active == 0);
        let stats = pool.stats();
        // The chains have 2, 6 and 7 tasks. In the last chain, the drop of a handle cancelled one task while
        // it was in the queue, or this task ran before the drop.
        assert_eq!((stats.peak_threads, stats.helped, stats.starved), (1, 1 + 5 + 5, 1), "{stats}");
    });
}

#[test]
fn a_helped_task_belongs_to_its_pool_and_not_to_the_one_that_waits() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::Help { depth: 1 });
        let own = Arc::clone(&pool);
        let page = pool.submit_cancellable(move |page| {
            let sees = page.clone();
            let header = own.submit(move || {
                sees.cancel();
                executor::CancelToken::current().is_cancelled()
            });
            let header = executor::masked(|| header.unwrap().join().unwrap());
            Ok((header, page.is_cancelled()))
        });
        assert_eq!(outside(page.unwrap()), (false, true));
    });
}

#[test]
fn a_panic_in_a_helped_task_reaches_the_one_that_waits() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::Help { depth: 1 });
        let own = Arc::clone(&pool);
        let page = pool
            .submit(move || own.submit(|| panic!("no header")).unwrap().join().map_err(|e| e.to_string()));
        assert_eq!(outside(page.unwrap()), Err("the task panicked: no header".to_owned()));
        assert_eq!(pool.stats().panicked, 1);
    });
}

#[test]
fn help_with_others_makes_room_and_ends_tasks_of_a_service() {
    within_deadline(|| {
        for (what, ends) in
            [(OnStarvation::Help { depth: 1 }, false), (OnStarvation::HelpOthers { depth: 1 }, true)]
        {
            let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(2)).on_starvation(what);
            let pool = shared(builder.rejection_handler(Block::new()));
            let own = Arc::clone(&pool);
            let task = pool.submit(move || {
                let service = ExecutorCompletionService::new(&own);
                for n in 0..5 {
                    match service.submit(move || n) {
                        Ok(_) => {}
                        Err(error) if matches!(error.reason, RejectReason::Starved(_)) => return None,
                        Err(error) => panic!("{error}"),
                    }
                }
                let mut sum = 0;
                loop {
                    match service.take() {
                        Ok(Some(handle)) => sum += handle.join().unwrap(),
                        Ok(None) => return Some(sum),
                        Err(CutShort::Starved(_)) => return None,
                        Err(error) => panic!("{error}"),
                    }
                }
            });
            assert_eq!(outside(task.unwrap()), ends.then_some(10), "{what:?}");
        }
    });
}

#[test]
fn a_spare_thread_comes_for_the_wait_and_leaves_with_it() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::Spare { at_most: 2 });
        let own = Arc::clone(&pool);
        let task = pool.submit(move || {
            let below = Arc::clone(&own);
            let ends = own.submit(move || (chain(&below, 1), below.stats().spare_threads)).unwrap().join();
            (ends.unwrap(), own.stats().spare_threads)
        });
        let ((chained, while_it_lasts), afterwards) = outside(task.unwrap());
        assert_eq!((chained, afterwards), (Ok(1), 0));
        assert!((1..=2).contains(&while_it_lasts), "one or both belong to the outer wait: {while_it_lasts}");
        eventually("the spare threads are gone", || pool.stats().threads == 1);
        assert_eq!(pool.stats().peak_threads, 3);
        let own = Arc::clone(&pool);
        assert!(outside(pool.submit(move || chain(&own, 3)).unwrap()).is_err(), "more than allowed");
        eventually("the spare threads are gone", || pool.stats().threads == 1);
    });
}

/// A task of the outer pool waits for a task of the inner pool, and this inner task waits for another task of
/// the outer pool. Returns true if all tasks have run.
fn there_and_back(outer: &Arc<ThreadPoolExecutor>, inner: &Arc<ThreadPoolExecutor>) -> bool {
    let (there, back) = (Arc::clone(inner), Arc::clone(outer));
    let task = outer.submit(move || {
        let middle = there.submit(move || back.submit(|| ()).unwrap().join().is_ok());
        middle.unwrap().join().is_ok_and(|ends| ends)
    });
    outside(task.unwrap())
}

#[test]
fn the_pool_in_whose_queue_the_task_is_gives_the_spare_thread() {
    within_deadline(|| {
        let plain = super::named("plain", 1);
        let spares = shared(ThreadPoolExecutor::builder().on_starvation(OnStarvation::Spare { at_most: 1 }));
        assert!(there_and_back(&spares, &plain), "whichever of the two tasks is the last to wait");
        assert!(!there_and_back(&plain, &spares), "a spare thread there has nothing to run");
        assert_eq!((plain.stats().peak_threads, spares.stats().peak_threads), (1, 2));
    });
}

/// A factory that reports each thread as started, but starts only the first thread.
struct One(AtomicBool);

impl ThreadFactory for One {
    fn start(&self, worker: Worker) -> io::Result<()> {
        if !self.0.swap(true, Relaxed) {
            std::thread::spawn(|| worker.run());
        }
        Ok(())
    }
}

#[test]
fn a_wait_is_reported_if_the_pool_may_have_another_thread_and_none_comes() {
    within_deadline(|| {
        let builder = ThreadPoolExecutor::builder().core_threads(1).maximum_threads(2);
        let builder = builder.queue(FifoQueue::bounded(10)).thread_factory(One(AtomicBool::new(false)));
        let pool = shared(builder);
        let own = Arc::clone(&pool);
        let task =
            pool.submit(move || matches!(own.submit(|| ()).unwrap().join(), Err(JoinError::Starved(..))));
        assert!(outside(task.unwrap()));
    });
}

/// Before the thread helps a second time, it searches again, because the pool now has another thread.
#[test]
fn a_thread_that_has_helped_does_so_no_more_when_another_one_can() {
    within_deadline(|| {
        let pool = one_thread(OnStarvation::HelpOthers { depth: 8 });
        let (own, end, spot) = (Arc::clone(&pool), Signal::new(), Spot::default());
        let (until, at) = (end.clone(), spot.clone());
        let task = pool.submit(move || {
            let here = std::thread::current().id();
            let service = ExecutorCompletionService::new(&own);
            let submit = || drop(service.submit(|| std::thread::current().id()).unwrap());
            let has_helped = || service.take().unwrap().unwrap().join().unwrap() == here;
            submit();
            submit();
            let alone = has_helped() && has_helped();
            own.set_threads(2).unwrap();
            let begun = Signal::new();
            let says = begun.clone();
            let busy = own.submit(move || {
                says.set();
                until.wait();
            });
            begun.wait();
            submit();
            at.arrive();
            let beside_another = has_helped();
            busy.unwrap().join().unwrap();
            (alone, beside_another)
        });
        spot.wait_until_blocked();
        end.set();
        assert_eq!(outside(task.unwrap()), (true, false));
    });
}
