//! Tests a strand over an executor that makes other calls during a submission; checks what happens to the
//! submitters and waiters that rely on the strand.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak, mpsc};

use executor::{
    Executor, FutureTask, RejectReason, RejectedExecution, SerialExecutor, Task, ThreadPoolExecutor, masked,
    prelude::*,
};

use crate::support::{LONG, Record, Signal, Spot, Waiter, blocked, occupy, within_deadline};

fn refused(task: Task) -> Result<(), RejectedExecution> {
    Err(RejectedExecution { reason: RejectReason::Saturated, task })
}

/// After every second task the strand submits its drain task again, but only if tasks are left in the strand.
#[test]
fn a_line_whose_successor_is_refused_asks_again_after_its_next_turn() {
    /// An executor that keeps the first drain task and refuses all later drain tasks.
    #[derive(Default)]
    struct TakesOne {
        head: Mutex<Option<Task>>,
        asked: AtomicUsize,
    }
    impl Executor for TakesOne {
        fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
            if self.asked.fetch_add(1, Ordering::Relaxed) > 0 {
                return refused(task);
            }
            *self.head.lock().unwrap() = Some(task);
            Ok(())
        }
    }

    let below = Arc::new(TakesOne::default());
    let line = SerialExecutor::over(Arc::clone(&below)).turns_of(2);
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..6 {
        let ran = Arc::clone(&ran);
        line.execute(move || _ = ran.fetch_add(1, Ordering::Relaxed)).unwrap();
    }
    let head = below.head.lock().unwrap().take().unwrap();
    head.run();
    assert_eq!((ran.load(Ordering::Relaxed), below.asked.load(Ordering::Relaxed)), (6, 3));
}

/// The drop waits for all threads that have borrowed the executor, except the thread that performs the drop.
#[test]
fn a_line_may_be_dropped_by_the_executor_that_it_asks() {
    /// An executor that keeps the first drain task and does not run it. At the second call the executor drops
    /// the serial executor.
    #[derive(Default)]
    struct Drops {
        head: Mutex<Option<Task>>,
        line: Mutex<Option<SerialExecutor<Arc<Drops>>>>,
    }
    impl Executor for Drops {
        fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
            let line = self.line.lock().unwrap().take();
            if line.is_some() {
                drop(line);
                return refused(task);
            }
            *self.head.lock().unwrap() = Some(task);
            Ok(())
        }
    }

    within_deadline(|| {
        let below = Arc::new(Drops::default());
        let line = SerialExecutor::over(Arc::clone(&below)).turns_of(1);
        let handles = [1, 2, 3].map(|n| line.submit(move || n).unwrap());
        *below.line.lock().unwrap() = Some(line);
        let head = below.head.lock().unwrap().take().unwrap();
        head.run();
        assert_eq!(handles.map(|handle| handle.join_timeout(LONG).unwrap()), [1, 2, 3]);
    });
}

/// Submitters must not rely on a drain task while the executor can still refuse the drain task. But the
/// submitter that submits the drain task must not wait for the answer, because this submitter would wait for
/// itself.
#[test]
fn an_executor_may_submit_to_the_line_that_asks_it() {
    /// An executor that submits another task before it keeps the first drain task.
    #[derive(Default)]
    struct Submits {
        head: Mutex<Option<Task>>,
        line: OnceLock<Weak<SerialExecutor<Arc<Submits>>>>,
        record: OnceLock<Record<u32>>,
    }
    impl Executor for Submits {
        fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
            let (line, record) = (self.line.get().unwrap(), self.record.get().unwrap().clone());
            line.upgrade().unwrap().execute(move || record.add(2))?;
            *self.head.lock().unwrap() = Some(task);
            Ok(())
        }
    }

    within_deadline(|| {
        let (below, record) = (Arc::new(Submits::default()), Record::new());
        let line = Arc::new(SerialExecutor::over(Arc::clone(&below)));
        assert!(below.line.set(Arc::downgrade(&line)).is_ok() && below.record.set(record.clone()).is_ok());
        let first = record.clone();
        line.execute(move || first.add(1)).unwrap();
        let head = below.head.lock().unwrap().take().unwrap();
        head.run();
        assert_eq!(record.so_far(), [1, 2]);
    });
}

#[test]
fn all_submitters_that_wait_for_the_answer_are_let_in() {
    /// An executor that keeps the drain task; the test decides when the call returns.
    #[derive(Default)]
    struct Hesitates {
        is_asked: Signal,
        may_answer: Signal,
        head: Mutex<Option<Task>>,
    }
    impl Executor for Hesitates {
        fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
            self.is_asked.set();
            self.may_answer.wait();
            *self.head.lock().unwrap() = Some(task);
            Ok(())
        }
    }

    within_deadline(|| {
        let below = Arc::new(Hesitates::default());
        let line = Arc::new(SerialExecutor::over(Arc::clone(&below)));
        let submit = || {
            let line = Arc::clone(&line);
            blocked(move || line.execute(|| ()).is_ok())
        };
        let first = submit();
        below.is_asked.wait();
        let others = [(); 3].map(|()| submit());
        assert!(others.iter().all(Waiter::still_waits));
        below.may_answer.set();
        assert!(first.result() && others.into_iter().all(Waiter::result));
        assert_eq!(line.waiting(), 4);
    });
}

/// The executor first runs the drain task, and after that it returns from the call.
#[test]
fn a_head_that_begins_lets_those_in_who_wait_for_the_answer() {
    #[derive(Default)]
    struct RunsFirst {
        is_asked: Signal,
        may_run: Signal,
        may_answer: Signal,
    }
    impl Executor for RunsFirst {
        fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
            self.is_asked.set();
            self.may_run.wait();
            std::thread::spawn(move || drop(task.run()));
            self.may_answer.wait();
            Ok(())
        }
    }

    within_deadline(|| {
        let below = Arc::new(RunsFirst::default());
        let line = Arc::new(SerialExecutor::over(Arc::clone(&below)));
        let submit = |task: Box<dyn FnOnce() + Send>| {
            let line = Arc::clone(&line);
            blocked(move || line.submit(task).unwrap())
        };
        let end = Signal::new();
        let until = end.clone();
        let first = submit(Box::new(move || until.wait()));
        below.is_asked.wait();
        let second = submit(Box::new(|| ()));
        below.may_run.set();
        let second = second.result();
        end.set();
        second.join_timeout(LONG).unwrap();
        below.may_answer.set();
        first.result().join_timeout(LONG).unwrap();
    });
}

#[test]
fn a_task_that_was_cancelled_before_it_came_does_not_count_as_waiting() {
    within_deadline(|| {
        let line = SerialExecutor::over(ThreadPoolExecutor::fixed(1));
        let busy = occupy(&line);
        let FutureTask { task, handle } = FutureTask::new(|| ());
        assert!(handle.cancel());
        line.execute(task).unwrap();
        assert_eq!(line.waiting(), 0);
        drop(busy);
    });
}

/// The pool has handed the drain task out, so the drain task is in no queue. The caller that got the drain
/// task may run it at any time.
#[test]
fn a_line_whose_head_was_handed_out_is_waited_for() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let (own, spot, (tell, told)) = (Arc::clone(&pool), Spot::default(), mpsc::channel());
        let at = spot.clone();
        let waits = pool.submit(move || {
            let line = SerialExecutor::over(Arc::clone(&own));
            let in_line = line.submit(|| 7).unwrap();
            tell.send(own.shutdown_now()).unwrap();
            at.arrive();
            masked(|| in_line.join()).ok()
        });
        let heads: Vec<Task> = told.recv_timeout(LONG).unwrap();
        spot.wait_until_blocked();
        for head in heads {
            head.run();
        }
        assert_eq!(waits.unwrap().join_timeout(LONG).unwrap(), Some(7));
    });
}

/// The drain tasks of both strands wait in the queue of the same pool.
#[test]
fn a_line_that_is_stopped_takes_no_head_but_its_own() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let [one, other] = [(); 2].map(|()| SerialExecutor::over(Arc::clone(&pool)));
        let busy = occupy(&pool);
        let [_handed_out, runs] = [&one, &other].map(|line| line.submit(|| 1).unwrap());
        assert_eq!(one.shutdown_now().len(), 1);
        drop(busy);
        assert_eq!(runs.join_timeout(LONG).unwrap(), 1);
    });
}
