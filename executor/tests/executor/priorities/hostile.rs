//! Tests drain tasks that rise in the queue, in three situations: users' queues raise the drain task
//! correctly or wrongly, tasks are refused or cancelled, or the pool is stopped.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread;

use executor::panics::PanicReport;
use executor::{
    CallerRuns, Discard, DiscardOldest, FutureTask, JoinError, PriorityQueue, RejectionHandler,
    StripedExecutor, Task, TaskHandle, TaskId, ThreadPoolExecutor, WorkQueue, prelude::*,
};

use crate::support::{LONG, assert_matches, occupy, rounds, within_deadline};

/// The ways in which a user's queue can raise a task.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Raises {
    Never,
    /// Takes the task out and puts it into the queue again.
    Anew,
    Panics,
    /// Panics after it has taken the task out.
    PanicsHalfWay,
    Drops,
    /// Raises the priority of a task of another user.
    Another,
}

/// A queue that orders its tasks by priority.
struct Own {
    inner: PriorityQueue,
    raises: Raises,
}

impl WorkQueue for Own {
    fn push(&mut self, task: Task, waiting: usize) -> Result<(), Task> {
        self.inner.push(task, waiting)
    }

    fn pop(&mut self) -> Option<Task> {
        self.inner.pop()
    }

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn capacity(&self) -> Option<usize> {
        None
    }

    fn for_each(&self, look: &mut dyn FnMut(&Task)) {
        self.inner.for_each(look);
    }

    fn remove_if(&mut self, unwanted: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        self.inner.remove_if(unwanted)
    }

    fn raise(&mut self, id: TaskId, priority: i32) {
        assert_ne!(self.raises, Raises::Panics, "in the queue");
        let mut take = || self.inner.remove_if(&mut |task| task.id() == id).pop();
        match self.raises {
            Raises::Never | Raises::Panics => {}
            Raises::Anew => {
                let task = take().unwrap();
                assert!(task.priority() < priority);
                self.inner.push(task.prioritized(priority), 0).unwrap();
            }
            Raises::PanicsHalfWay => {
                let _task = take();
                panic!("in the queue");
            }
            Raises::Drops => drop(take()),
            Raises::Another => {
                let mut other = None;
                self.inner
                    .for_each(&mut |task| other = other.or(Some(task.id()).filter(|other| *other != id)));
                if let Some(other) = other {
                    self.inner.raise(other, priority);
                }
            }
        }
    }
}

#[test]
fn a_queue_of_a_users_own_raises_as_it_likes_and_strands_nobody() {
    within_deadline(|| {
        for (raises, expected, panics) in [
            (Raises::Never, &["plain", "a", "b"][..], 0),
            (Raises::Anew, &["a", "b", "plain"], 0),
            (Raises::Panics, &["plain", "a", "b"], 1),
            (Raises::PanicsHalfWay, &["plain"], 1),
            (Raises::Drops, &["plain"], 0),
            (Raises::Another, &["plain", "a", "b"], 0),
        ] {
            let reports = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&reports);
            let on_panic = move |_: &PanicReport<'_>| _ = count.fetch_add(1, SeqCst);
            let queue = Own { inner: PriorityQueue::new(), raises };
            let builder = ThreadPoolExecutor::builder().threads(1).queue(queue).panic_handler(on_panic);
            let pool = Arc::new(builder.build().unwrap());
            let busy = occupy(&pool);
            let striped = StripedExecutor::over(Arc::clone(&pool));
            let log = Arc::new(Mutex::new(Vec::new()));
            let submit = |name: &'static str, priority| {
                let log = Arc::clone(&log);
                let task = FutureTask::new(move || log.lock().unwrap().push(name)).prioritized(priority);
                if name == "plain" { pool.submit(task) } else { striped.submit_in(0, task) }.unwrap()
            };
            let handles = [submit("a", 1), submit("plain", 5), submit("b", 9)];
            assert_eq!(pool.queued(), if expected.len() == 1 { 1 } else { 2 }, "{raises:?}");
            drop(busy);
            for handle in handles {
                assert_matches!(handle.join_timeout(LONG), Ok(()) | Err(JoinError::Cancelled(_)));
            }
            assert_eq!((&log.lock().unwrap()[..], reports.load(SeqCst)), (expected, panics), "{raises:?}");
            submit("again", 0).join_timeout(LONG).unwrap();
            striped.close();
            pool.close();
        }
    });
}

/// The numbers of the tasks that have run, and the handles of all accepted tasks.
struct Books {
    ran: Arc<Mutex<Vec<(usize, usize)>>>,
    handles: Vec<(usize, TaskHandle<usize>)>,
}

const KEYS: usize = 3;

impl Books {
    fn new() -> Self {
        Self { ran: Arc::default(), handles: Vec::new() }
    }

    /// Submits one task for each key. Each task is more urgent than all earlier tasks.
    fn submit(&mut self, striped: &StripedExecutor<usize, Arc<ThreadPoolExecutor>>, number: usize) {
        let (ran, key) = (Arc::clone(&self.ran), number % KEYS);
        let task = FutureTask::new(move || {
            ran.lock().unwrap().push((key, number));
            number
        });
        let task = task.prioritized(i32::try_from(number % 7).unwrap());
        if let Ok(handle) = striped.submit_in(key, task) {
            self.handles.push((number, handle));
        }
    }

    /// Asserts that each accepted task has run once and in order, or was cancelled; returns the number of
    /// tasks that have run.
    fn close(self) -> usize {
        let mut completed = 0;
        for (number, handle) in self.handles {
            match handle.join() {
                Ok(own) => completed += usize::from(own == number),
                Err(error) => assert_matches!(error, JoinError::Cancelled(_)),
            }
        }
        let ran = self.ran.lock().unwrap();
        for key in 0..KEYS {
            assert!(ran.iter().filter(|(at, _)| *at == key).is_sorted(), "{ran:?}");
        }
        assert_eq!(ran.len(), completed);
        completed
    }
}

fn pool(handler: impl RejectionHandler + 'static, capacity: usize) -> Arc<ThreadPoolExecutor> {
    let builder = ThreadPoolExecutor::builder().threads(1).queue(PriorityQueue::new().bounded(capacity));
    Arc::new(builder.rejection_handler(handler).build().unwrap())
}

/// A submitter raises the priorities of strands while another thread stops the pool or the striped executor.
#[test]
fn a_line_that_rises_while_all_is_stopped_is_handed_out_or_run() {
    within_deadline(|| {
        for round in rounds(300) {
            let pool = pool(executor::Abort, 100);
            let busy = occupy(&pool);
            let striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)));
            let own = Arc::clone(&striped);
            let submitter = thread::spawn(move || {
                let mut books = Books::new();
                (0..20).for_each(|number| books.submit(&own, number));
                books
            });
            while round % 3 > 0 && striped.stats().queued < round % 20 {
                thread::yield_now();
            }
            let stops_pool = round % 2 == 0;
            let back = if stops_pool { pool.shutdown_now() } else { striped.shutdown_now() };
            let books = submitter.join().unwrap();
            // When a striped executor is stopped, the drain task that the submitter was about to submit may
            // remain in the pool. This drain task has no task to run.
            assert!(!stops_pool || pool.queued() == 0, "a ticket stays in a pool that was stopped");
            let accepted = books.handles.len();
            for task in back {
                task.run();
            }
            drop(busy);
            assert_eq!(books.close(), accepted, "the accepted tasks were handed out and run here");
            striped.close();
            pool.close();
        }
    });
}

/// Two submitters raise the priorities of strands in a queue that is nearly always full. At the same time
/// tasks are refused in each possible way, cancelled and removed.
#[test]
fn lines_rise_beside_refusals_and_cancellations() {
    within_deadline(|| {
        let handlers: [fn() -> Box<dyn RejectionHandler>; 4] = [
            || Box::new(executor::Abort),
            || Box::new(Discard),
            || Box::new(DiscardOldest),
            || Box::new(CallerRuns),
        ];
        for round in rounds(200) {
            let handler = Arc::<dyn RejectionHandler>::from(handlers[round % 4]());
            let pool = pool(handler, 1 + round % 3);
            let striped = Arc::new(StripedExecutor::over(Arc::clone(&pool)).turns_of(1 + round % 2));
            let submitters = [0, 1].map(|submitter| {
                let striped = Arc::clone(&striped);
                thread::spawn(move || {
                    let mut books = Books::new();
                    for number in 0..30 {
                        books.submit(&striped, number);
                        let last = books.handles.last();
                        match (number + submitter) % 5 {
                            0 => _ = last.map(|(_, handle)| handle.cancel_keep_running()),
                            1 => drop(last.and_then(|(_, handle)| handle.remove())),
                            _ => {}
                        }
                    }
                    books
                })
            });
            for submitter in submitters {
                // The test has separate records for each submitter, because only the tasks of the same
                // submitter have an order.
                check_cancelled(submitter.join().unwrap());
            }
            striped.close();
            pool.close();
            assert_eq!((striped.stats().stripes, pool.queued()), (0, 0));
        }
    });
}

/// Asserts that the tasks of each key ran in order, and that each task that has a result ran once. If a task
/// was cancelled while it ran, the task has no result, although it has run.
fn check_cancelled(books: Books) {
    let mut completed = Vec::new();
    for (_, handle) in books.handles {
        match handle.join() {
            Ok(own) => completed.push(own),
            Err(error) => assert_matches!(error, JoinError::Cancelled(_)),
        }
    }
    let ran = books.ran.lock().unwrap();
    assert!(completed.iter().all(|number| ran.iter().filter(|(_, own)| own == number).count() == 1));
    for key in 0..KEYS {
        assert!(ran.iter().filter(|(at, _)| *at == key).is_sorted(), "{ran:?}");
    }
}
