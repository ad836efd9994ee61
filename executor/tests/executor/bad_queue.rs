//! A user's own queue or comparator panics or drops tasks: no thread ends, no lock stays locked, and the
//! counts are correct.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use executor::panics::PanicReport;
use executor::{
    ExecutorService, FutureTask, JoinError, PriorityQueue, RejectReason, Task, TaskState, ThreadPoolBuilder,
    ThreadPoolExecutor, WorkQueue, prelude::*,
};

use crate::support::{LONG, Record, assert_matches, eventually, occupy, settle, tracked, within_deadline};

/// The method in which a queue panics, and the moment of the panic in that method. The queue panics only
/// once, so that the test sees whether the pool continues to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    None,
    BeforePush,
    AfterPush,
    BeforePop,
    AfterPop,
    Length,
    Empty,
    Look,
    Remove,
}

/// A first-in, first-out queue that panics when the test tells it to panic.
struct Moody {
    tasks: VecDeque<Task>,
    trouble: Arc<AtomicUsize>,
}

impl Moody {
    fn new() -> (Self, Mood) {
        let trouble = Arc::new(AtomicUsize::new(Trouble::None as usize));
        (Self { tasks: VecDeque::new(), trouble: Arc::clone(&trouble) }, Mood(trouble))
    }

    fn maybe(&self, here: Trouble) {
        let none = Trouble::None as usize;
        let is_here = self.trouble.compare_exchange(here as usize, none, Ordering::SeqCst, Ordering::SeqCst);
        if is_here.is_ok() {
            std::panic::resume_unwind(Box::new("a bad queue"));
        }
    }
}

struct Mood(Arc<AtomicUsize>);

impl Mood {
    fn set(&self, trouble: Trouble) {
        self.0.store(trouble as usize, Ordering::SeqCst);
    }

    fn is_over(&self) -> bool {
        self.0.load(Ordering::SeqCst) == Trouble::None as usize
    }
}

impl WorkQueue for Moody {
    fn push(&mut self, task: Task, _: usize) -> Result<(), Task> {
        self.maybe(Trouble::BeforePush);
        self.tasks.push_back(task);
        self.maybe(Trouble::AfterPush);
        Ok(())
    }
    fn pop(&mut self) -> Option<Task> {
        self.maybe(Trouble::BeforePop);
        let task = self.tasks.pop_front();
        if task.is_some() {
            self.maybe(Trouble::AfterPop);
        }
        task
    }
    fn len(&self) -> usize {
        self.maybe(Trouble::Length);
        self.tasks.len()
    }
    fn is_empty(&self) -> bool {
        self.maybe(Trouble::Empty);
        self.tasks.is_empty()
    }
    fn capacity(&self) -> Option<usize> {
        None
    }
    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.maybe(Trouble::Look);
        self.tasks.iter().for_each(look);
    }
    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        self.maybe(Trouble::Remove);
        let (out, stay) = self.tasks.drain(..).partition(|task| unwanted(task));
        self.tasks = stay;
        VecDeque::into(out)
    }
}

/// Makes a pool that has one thread and a panic handler that uses the pool. The pool must not call the
/// handler while it holds the pool's lock, because the handler would deadlock.
fn watched(builder: ThreadPoolBuilder) -> (Arc<ThreadPoolExecutor>, Record<String>) {
    let (own, heard) = (Arc::new(OnceLock::<Weak<ThreadPoolExecutor>>::new()), Record::new());
    let builder = builder.panic_handler({
        let (own, heard) = (Arc::clone(&own), heard.clone());
        move |report: &PanicReport<'_>| {
            if let Some(pool) = own.get().and_then(Weak::upgrade) {
                let _ = (pool.stats(), pool.queued());
            }
            heard.add(report.message.to_owned());
        }
    });
    let pool = Arc::new(builder.build().unwrap());
    own.set(Arc::downgrade(&pool)).unwrap();
    (pool, heard)
}

/// After the panic, the same thread must run all waiting and new tasks, and the pool must count them.
fn goes_on(pool: &ThreadPoolExecutor, heard: &Record<String>, completed: u64) {
    for n in 0..3 {
        assert_eq!(pool.submit(move || n).unwrap().join_timeout(LONG).unwrap(), n);
    }
    let stats = pool.stats();
    assert_eq!((stats.threads, stats.peak_threads, stats.active), (1, 1, 0), "{stats}");
    assert_eq!((stats.queued, stats.completed), (0, completed + 3), "{stats}");
    eventually("it is reported", || heard.len() == 1);
    assert_eq!(heard.so_far(), ["a bad queue"]);
    pool.shutdown();
    assert!(pool.await_termination(LONG));
}

fn moody() -> (Arc<ThreadPoolExecutor>, Record<String>, Mood) {
    let (queue, mood) = Moody::new();
    let (pool, heard) = watched(ThreadPoolExecutor::builder().queue(queue));
    (pool, heard, mood)
}

#[test]
fn a_task_that_a_panicking_queue_has_dropped_is_cancelled_and_counts_nowhere() {
    within_deadline(|| {
        let (pool, heard, mood) = moody();
        let busy = occupy(&*pool);
        mood.set(Trouble::BeforePush);
        let lost = pool.submit(|| ()).unwrap();
        assert_matches!(lost.join(), Err(JoinError::Cancelled(_)));
        assert_eq!((pool.queued(), pool.stats().task_count()), (0, 1));
        let kept = pool.submit(|| ()).unwrap();
        assert_eq!((pool.queued(), pool.stats().task_count()), (1, 2));
        drop(busy);
        kept.join_timeout(LONG).unwrap();
        goes_on(&pool, &heard, 2);
    });
}

#[test]
fn a_task_that_a_panicking_queue_has_kept_is_run() {
    within_deadline(|| {
        let (pool, heard, mood) = moody();
        let busy = occupy(&*pool);
        mood.set(Trouble::AfterPush);
        let kept = pool.submit(|| 7).unwrap();
        assert_eq!((pool.queued(), kept.state()), (1, TaskState::Pending));
        drop(busy);
        assert_eq!(kept.join_timeout(LONG).unwrap(), 7);
        goes_on(&pool, &heard, 2);
    });
}

#[test]
fn a_thread_is_woken_for_a_task_that_a_panicking_queue_has_kept() {
    within_deadline(|| {
        let (pool, heard, mood) = moody();
        settle(&pool);
        mood.set(Trouble::AfterPush);
        assert_eq!(pool.submit(|| 7).unwrap().join_timeout(LONG).unwrap(), 7);
        goes_on(&pool, &heard, 2);
    });
}

#[test]
fn a_queue_that_panics_when_it_is_asked_whether_it_is_empty_is_reported_by_the_submission() {
    within_deadline(|| {
        let (pool, heard, mood) = moody();
        settle(&pool); // a worker sleeps, so the submitter asks whether to wake one
        mood.set(Trouble::Empty);
        let handle = pool.submit(|| 7).unwrap();
        assert_eq!((mood.is_over(), heard.so_far()), (true, vec!["a bad queue".to_owned()]));
        assert_eq!(handle.join_timeout(LONG).unwrap(), 7);
        goes_on(&pool, &heard, 2);
    });
}

#[test]
fn a_queue_that_panics_when_it_is_to_give_a_task_keeps_it_for_the_next_time() {
    within_deadline(|| {
        let (pool, heard, mood) = moody();
        let busy = occupy(&*pool);
        let kept = pool.submit(|| 7).unwrap();
        mood.set(Trouble::BeforePop);
        drop(busy);
        eventually("it has panicked", || mood.is_over());
        pool.execute(|| ()).unwrap(); // wakes the thread
        assert_eq!(kept.join_timeout(LONG).unwrap(), 7);
        eventually("both are done", || pool.stats().completed == 3);
        goes_on(&pool, &heard, 3);
    });
}

/// The queue's panic drops the task while the pool's state is locked.
#[test]
fn a_task_that_a_queue_drops_when_it_is_to_give_it_is_cancelled() {
    within_deadline(|| {
        let (pool, heard, mood) = moody();
        let busy = occupy(&*pool);
        let lost = pool.submit(|| ()).unwrap();
        mood.set(Trouble::AfterPop);
        drop(busy);
        assert_matches!(lost.join_timeout(LONG), Err(JoinError::Cancelled(_)));
        goes_on(&pool, &heard, 1);
    });
}

#[test]
fn a_queue_that_panics_when_it_is_looked_at_shows_nothing() {
    within_deadline(|| {
        for trouble in [Trouble::Look, Trouble::Length] {
            let (pool, heard, mood) = moody();
            let busy = occupy(&*pool);
            let waiting = pool.submit(|| 7).unwrap();
            mood.set(trouble);
            let _ = (pool.snapshot(), pool.queued());
            eventually("it has panicked", || mood.is_over());
            assert_eq!((pool.snapshot().queued.len(), pool.queued()), (1, 1));
            drop(busy);
            assert_eq!(waiting.join_timeout(LONG).unwrap(), 7);
            goes_on(&pool, &heard, 2);
        }
    });
}

/// The worker also calls the method `len` of the queue.
#[test]
fn a_queue_whose_length_panics_costs_no_thread() {
    within_deadline(|| {
        let (pool, heard, mood) = moody();
        let busy = occupy(&*pool);
        let waiting = [pool.submit(|| 1).unwrap(), pool.submit(|| 2).unwrap()];
        pool.execute(|| ()).unwrap();
        mood.set(Trouble::Length);
        drop(busy);
        assert_eq!(waiting.map(|handle| handle.join_timeout(LONG).unwrap()), [1, 2]);
        eventually("all are done", || pool.stats().completed == 4);
        goes_on(&pool, &heard, 4);
    });
}

#[test]
fn a_queue_that_panics_when_a_task_is_to_be_taken_out_keeps_it() {
    within_deadline(|| {
        for purge in [false, true] {
            let (pool, heard, mood) = moody();
            let busy = occupy(&*pool);
            let [kept, cancelled] = [(); 2].map(|()| pool.submit(|| ()).unwrap());
            assert!(cancelled.cancel());
            mood.set(Trouble::Remove);
            if purge {
                pool.purge();
            } else {
                assert!(pool.remove(kept.id()).is_none());
            }
            assert!(mood.is_over());
            assert_eq!(pool.queued(), 1);
            drop(busy);
            kept.join_timeout(LONG).unwrap();
            goes_on(&pool, &heard, 2);
        }
    });
}

#[test]
fn shutting_down_now_with_a_queue_that_panics_still_ends_the_pool() {
    within_deadline(|| {
        for (trouble, handed_back) in [(Trouble::BeforePop, 1), (Trouble::AfterPop, 0)] {
            let (pool, heard, mood) = moody();
            let busy = occupy(&*pool);
            let waiting = pool.submit(|| ()).unwrap();
            mood.set(trouble);
            assert_eq!(pool.shutdown_now().len(), handed_back, "{trouble:?}");
            drop(busy);
            assert!(pool.await_termination(LONG));
            assert_eq!((heard.len(), pool.stats().completed), (1, 1));
            drop((pool, waiting));
        }
    });
}

/// The ways in which a queue refuses to give out its tasks.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    Panics,
    SaysNone,
}

/// A queue that gives out no task, no matter how often the pool asks.
struct Miser {
    tasks: VecDeque<Task>,
    refusal: Refusal,
}

impl WorkQueue for Miser {
    fn push(&mut self, task: Task, _: usize) -> Result<(), Task> {
        self.tasks.push_back(task);
        Ok(())
    }
    fn pop(&mut self) -> Option<Task> {
        match self.refusal {
            Refusal::Panics => std::panic::resume_unwind(Box::new("a bad queue")),
            Refusal::SaysNone => None,
        }
    }
    fn len(&self) -> usize {
        self.tasks.len()
    }
    fn capacity(&self) -> Option<usize> {
        None
    }
    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.tasks.iter().for_each(look);
    }
    fn remove_if(&mut self, _: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        Vec::new()
    }
}

/// While a task waits in the pool's queue, its handle refers to the pool, so there is a reference cycle.
#[test]
fn tasks_that_a_queue_never_gives_out_end_as_cancelled_with_the_pool_which_leaves_nothing_behind() {
    struct Kept(#[expect(dead_code, reason = "it is there to be dropped")] Arc<()>);
    impl executor::Hooks for Kept {}

    within_deadline(|| {
        for refusal in [Refusal::Panics, Refusal::SaysNone] {
            for now in [false, true] {
                let (kept, is_kept) = tracked();
                let queue = Miser { tasks: VecDeque::new(), refusal };
                let builder = ThreadPoolExecutor::builder().queue(queue).hooks(Kept(kept));
                let pool = builder.panic_handler(|_: &PanicReport<'_>| ()).build().unwrap();
                let busy = occupy(&pool);
                let waiting = [1, 2, 3].map(|n| pool.submit(move || n).unwrap());
                if now {
                    assert_eq!(pool.shutdown_now().len(), 0);
                } else {
                    pool.shutdown();
                }
                drop(busy);
                assert!(pool.await_termination(LONG), "{refusal:?}, {now}");
                assert_eq!((pool.queued(), pool.stats().task_count()), (0, 1));
                let [first, handles @ ..] = waiting;
                assert_matches!(first.join_timeout(LONG), Err(JoinError::Cancelled(_)));
                drop(pool);
                eventually("nothing is left of the pool", || !is_kept());
                drop(handles);
            }
        }
    });
}

/// If the comparator panics, the queue stays unchanged, and the submitter gets its task back.
#[test]
fn a_task_whose_comparison_panics_is_refused() {
    within_deadline(|| {
        let queue = PriorityQueue::by(|a, b| {
            if b.name() == Some("poison") {
                std::panic::resume_unwind(Box::new("a bad queue"));
            }
            a.priority().cmp(&b.priority())
        });
        let (pool, heard) = watched(ThreadPoolExecutor::builder().queue(queue));
        let busy = occupy(&*pool);
        let waiting = [1, 2].map(|n| pool.submit(FutureTask::new(move || n).prioritized(n)).unwrap());
        let refused = pool.submit(FutureTask::new(|| 3).named("poison")).unwrap_err();
        assert_matches!(refused.reason, RejectReason::Saturated);
        assert_eq!((refused.handle.state(), pool.queued()), (TaskState::Pending, 2));
        refused.task.run();
        assert_eq!(refused.handle.join().unwrap(), 3);
        drop(busy);
        assert_eq!(waiting.map(|handle| handle.join_timeout(LONG).unwrap()), [1, 2]);
        goes_on(&pool, &heard, 3);
    });
}

/// A queue that keeps only the newest task. The queue drops the older task under the lock of the pool.
#[derive(Default)]
struct NewestOnly(Option<Task>);

impl WorkQueue for NewestOnly {
    fn push(&mut self, task: Task, _: usize) -> Result<(), Task> {
        self.0 = Some(task);
        Ok(())
    }
    fn pop(&mut self) -> Option<Task> {
        self.0.take()
    }
    fn len(&self) -> usize {
        usize::from(self.0.is_some())
    }
    fn capacity(&self) -> Option<usize> {
        None
    }
    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.0.iter().for_each(look);
    }
    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        self.0.take_if(|task| unwanted(task)).into_iter().collect()
    }
}

#[test]
fn a_queue_may_drop_tasks_and_their_handles_are_cancelled() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(NewestOnly::default()).build().unwrap();
        let busy = occupy(&pool);
        let handles = [1, 2, 3].map(|n| pool.submit(move || n).unwrap());
        assert_eq!((pool.queued(), pool.stats().task_count()), (1, 2));
        let cancelled = pool.submit(|| 4).unwrap();
        assert!(cancelled.cancel());
        assert_eq!(pool.queued(), 0);
        let last = pool.submit(|| 5).unwrap(); // drops what was left of the cancelled task
        assert_eq!(pool.queued(), 1);
        pool.purge();
        assert_eq!(pool.queued(), 1);
        drop(busy);
        assert_eq!(last.join_timeout(LONG).unwrap(), 5);
        for handle in handles {
            assert_matches!(handle.join(), Err(JoinError::Cancelled(_)));
        }
        pool.close();
        assert_eq!((pool.stats().completed, pool.stats().task_count()), (2, 2));
    });
}

/// A queue that reports each task as accepted, but drops the tasks with the name "chaff".
#[derive(Default)]
struct Sieve(VecDeque<Task>);

impl WorkQueue for Sieve {
    fn push(&mut self, task: Task, _: usize) -> Result<(), Task> {
        if task.name() != Some("chaff") {
            self.0.push_back(task);
        }
        Ok(())
    }
    fn pop(&mut self) -> Option<Task> {
        self.0.pop_front()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn capacity(&self) -> Option<usize> {
        None
    }
    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.0.iter().for_each(look);
    }
    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        let (out, stay) = self.0.drain(..).partition(|task| unwanted(task));
        self.0 = stay;
        VecDeque::into(out)
    }
}

#[test]
fn a_queue_may_drop_a_task_when_it_comes_and_it_counts_nowhere_cancelled_or_not() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(Sieve::default()).build().unwrap();
        let busy = occupy(&pool);
        for cancelled in [false, true] {
            let FutureTask { task, handle } = FutureTask::new(|| ()).named("chaff");
            assert!(!cancelled || handle.cancel());
            pool.execute(task).unwrap();
            assert_matches!(handle.join_timeout(LONG), Err(JoinError::Cancelled(_)));
            assert_eq!((pool.queued(), pool.stats().task_count()), (0, 1));
        }
        let kept = pool.submit(|| 7).unwrap();
        assert_eq!((pool.queued(), pool.stats().task_count()), (1, 2));
        drop(busy);
        assert_eq!(kept.join_timeout(LONG).unwrap(), 7);
        pool.close();
    });
}
