//! One task at a time: the order of the tasks, and what happens to the strand if the lower executor refuses,
//! drops or hands out tasks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use executor::{
    CallerRuns, DirectExecutor, Discard, Executor, FifoQueue, JoinError, OnStarvation, RejectReason,
    RejectedExecution, SerialExecutor, Task, TaskState, ThreadPerTaskExecutor, ThreadPoolExecutor, WaitsFor,
    prelude::*,
};

use crate::support::{LONG, Signal, Spot, assert_matches, eventually, within_deadline};

#[test]
fn tasks_run_one_at_a_time_and_in_the_order_of_each_submitter() {
    within_deadline(|| {
        let line = SerialExecutor::over(ThreadPoolExecutor::fixed(4));
        let (busy, log) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        std::thread::scope(|scope| {
            for submitter in 0..4 {
                let (line, busy, log) = (&line, &busy, &log);
                scope.spawn(move || {
                    for n in 0..100 {
                        let (busy, log) = (Arc::clone(busy), Arc::clone(log));
                        let task = move || {
                            // The strand keeps the accesses to this value in order.
                            assert!(!busy.swap(true, Ordering::Relaxed), "another one runs");
                            log.lock().unwrap().push((submitter, n));
                            busy.store(false, Ordering::Relaxed);
                        };
                        line.execute(task).unwrap();
                    }
                });
            }
        });
        line.submit(|| ()).unwrap().join().unwrap();
        let log = log.lock().unwrap();
        assert_eq!(log.len(), 400);
        for submitter in 0..4 {
            let own: Vec<_> = log.iter().filter(|(who, _)| *who == submitter).map(|(_, n)| *n).collect();
            assert!(own.is_sorted(), "{own:?}");
        }
        line.executor().close();
    });
}

#[test]
fn a_panic_does_not_stop_the_line() {
    within_deadline(|| {
        let line = SerialExecutor::over(ThreadPoolExecutor::fixed(2));
        let bad = line.submit(|| panic!("in the line")).unwrap();
        line.execute(|| panic!("unheard")).unwrap();
        let good = line.submit(|| 3).unwrap();
        assert_matches!(bad.join(), Err(JoinError::Panicked(_)));
        assert_eq!(good.join().unwrap(), 3);
    });
}

#[test]
fn a_refusal_comes_back_whole_and_strands_nobody() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).build().unwrap();
        let (end, begun) = (Signal::new(), Signal::new());
        let (until, is_begun) = (end.clone(), begun.clone());
        pool.execute(move || {
            is_begun.set();
            until.wait();
        })
        .unwrap();
        begun.wait();
        let filler = pool.submit(|| ()).unwrap();
        let line = SerialExecutor::over(&pool);
        for _ in 0..3 {
            let task = Task::new(|| ()).named("late");
            let id = task.id();
            let refused = line.execute_task(task).unwrap_err();
            assert_matches!(refused.reason, RejectReason::Saturated);
            assert_eq!((refused.task.id(), refused.task.name(), line.waiting()), (id, Some("late"), 0));
        }
        end.set();
        filler.join().unwrap();
        assert_eq!(line.submit(|| 4).unwrap().join().unwrap(), 4);
    });
}

/// An executor that refuses the first few tasks; the test decides when each call returns.
struct Doubtful {
    asked: Spot,
    answer: Signal,
    refusals: AtomicUsize,
}

impl Executor for Doubtful {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        self.asked.arrive();
        self.answer.wait();
        match self.refusals.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)) {
            Ok(_) => Err(RejectedExecution { reason: RejectReason::Saturated, task }),
            Err(_) => ThreadPerTaskExecutor.execute_task(task),
        }
    }
}

#[test]
fn nobody_counts_on_a_head_that_is_refused() {
    within_deadline(|| {
        let (asked, answer) = (Spot::default(), Signal::new());
        let below = Doubtful { asked: asked.clone(), answer: answer.clone(), refusals: AtomicUsize::new(1) };
        let line = Arc::new(SerialExecutor::over(below));
        let submit = |n: i32| {
            let (line, spot) = (Arc::clone(&line), Spot::default());
            let at = spot.clone();
            let thread = std::thread::spawn(move || {
                at.arrive();
                line.submit(move || n)
                    .map(|handle| handle.join_timeout(LONG).unwrap())
                    .map_err(|error| error.reason)
            });
            (thread, spot)
        };
        let (first, _) = submit(1);
        asked.wait_until_blocked();
        let (second, spot) = submit(2);
        spot.wait_until_blocked();
        answer.set();
        assert_matches!(first.join().unwrap(), Err(RejectReason::Saturated));
        assert_matches!(second.join().unwrap(), Ok(2));
    });
}

#[test]
fn a_head_that_is_dropped_takes_its_line_along_and_the_next_one_begins_anew() {
    within_deadline(|| {
        let builder = ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(Discard);
        let pool = builder.build().unwrap();
        let (end, begun) = (Signal::new(), Signal::new());
        let (until, is_begun) = (end.clone(), begun.clone());
        pool.execute(move || {
            is_begun.set();
            until.wait();
        })
        .unwrap();
        begun.wait();
        let filler = pool.submit(|| ()).unwrap();
        let line = SerialExecutor::over(&pool);
        assert_matches!(line.submit(|| ()).unwrap().join(), Err(JoinError::Cancelled(_)));
        end.set();
        filler.join().unwrap();
        assert_eq!(line.submit(|| 5).unwrap().join().unwrap(), 5);
    });
}

#[test]
fn a_head_that_is_handed_back_runs_the_line_where_it_is_run() {
    within_deadline(|| {
        let pool = ThreadPoolExecutor::fixed(1);
        let (end, begun) = (Signal::new(), Signal::new());
        let (until, is_begun) = (end.clone(), begun.clone());
        pool.execute(move || {
            is_begun.set();
            until.wait();
        })
        .unwrap();
        begun.wait();
        let line = SerialExecutor::over(&pool);
        let handles: Vec<_> = (0..3).map(|n| line.submit(move || n).unwrap()).collect();
        let mut back = pool.shutdown_now();
        assert_eq!((back.len(), line.waiting()), (1, 3));
        back.pop().unwrap().run();
        assert_eq!(handles.into_iter().map(|handle| handle.join().unwrap()).sum::<i32>(), 3);
        end.set();
    });
}

#[test]
fn cancelled_tasks_do_not_count_and_are_cleared_out() {
    within_deadline(|| {
        let line = SerialExecutor::over(ThreadPoolExecutor::fixed(1));
        let end = Signal::new();
        let until = end.clone();
        line.execute(move || until.wait()).unwrap();
        eventually("it runs", || line.waiting() == 0);
        let handles: Vec<_> = (0..100).map(|n| line.submit(move || n).unwrap()).collect();
        assert_eq!(line.waiting(), 100);
        for handle in &handles[..80] {
            handle.cancel();
        }
        assert_eq!(line.waiting(), 20);
        let taken_out = handles[90].remove().expect("it waits in the line");
        assert_eq!(line.waiting(), 19);
        end.set();
        line.submit(|| ()).unwrap().join().unwrap();
        assert_eq!(handles.iter().filter(|handle| handle.state() == TaskState::Completed).count(), 19);
        drop(taken_out);
        assert_eq!(handles[90].state(), TaskState::Cancelled);
    });
}

#[test]
fn over_executors_that_run_tasks_at_once() {
    within_deadline(|| {
        let line = Arc::new(SerialExecutor::over(DirectExecutor));
        let (own, log) = (Arc::clone(&line), Arc::new(Mutex::new(Vec::new())));
        let inner_log = Arc::clone(&log);
        line.execute(move || {
            let log = Arc::clone(&inner_log);
            // The new task runs after the current task has ended, not inside the current task.
            own.execute(move || log.lock().unwrap().push("inner")).unwrap();
            inner_log.lock().unwrap().push("outer");
        })
        .unwrap();
        assert_eq!(*log.lock().unwrap(), ["outer", "inner"]);
        let builder =
            ThreadPoolExecutor::builder().queue(FifoQueue::bounded(1)).rejection_handler(CallerRuns);
        let line = SerialExecutor::over(builder.build().unwrap());
        let sum: i32 =
            (0..50).map(|n| line.submit(move || n).unwrap()).map(|handle| handle.join().unwrap()).sum();
        assert_eq!(sum, 1225);
    });
}

#[test]
fn a_line_that_waits_for_itself_is_found_and_never_helped() {
    within_deadline(|| {
        for what in
            [OnStarvation::Report, OnStarvation::Help { depth: 9 }, OnStarvation::Spare { at_most: 2 }]
        {
            let pool =
                ThreadPoolExecutor::builder().name("below").threads(4).on_starvation(what).build().unwrap();
            let line = Arc::new(SerialExecutor::over(pool));
            let own = Arc::clone(&line);
            let waits = line.submit(move || match own.submit(|| ()).unwrap().join() {
                Err(JoinError::Starved(_, report)) => report,
                other => panic!("it overtakes the task that waits for it: {other:?}"),
            });
            let report = waits.unwrap().join_timeout(LONG).unwrap();
            let [wait] = report.chain() else { panic!("{report}") };
            assert_eq!(wait.pool.as_deref(), Some("below"));
            assert_matches!(&wait.waits_for, WaitsFor::Queued { pool, .. } if pool == "a serial executor");
        }
    });
}

/// The drain task of the strand is in the queue of a pool whose only thread waits for a task of the strand.
#[test]
fn a_line_behind_a_task_that_waits_for_it_is_found() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::fixed(1));
        let line = Arc::new(SerialExecutor::over(Arc::clone(&pool)));
        let own = Arc::clone(&line);
        let waits = pool.submit(move || {
            own.execute(|| ()).unwrap();
            matches!(own.submit(|| ()).unwrap().join(), Err(JoinError::Starved(..)))
        });
        assert!(waits.unwrap().join_timeout(LONG).unwrap());
        // The library also finds the wait if the task is submitted while the thread already waits for this
        // task.
        let spot = Spot::default();
        let executor::FutureTask { task, handle } = executor::FutureTask::new(|| ());
        let at = spot.clone();
        let (own, first) = (Arc::clone(&line), Signal::new());
        let is_first = first.clone();
        let waits = pool.submit(move || {
            own.execute(|| ()).unwrap();
            is_first.set();
            at.arrive();
            matches!(handle.join(), Err(JoinError::Starved(..)))
        });
        first.wait();
        spot.wait_until_blocked();
        line.execute(task).unwrap();
        assert!(waits.unwrap().join_timeout(LONG).unwrap());
    });
}

#[test]
fn a_line_behind_a_task_that_can_go_on_is_waited_for() {
    within_deadline(|| {
        let below = ThreadPoolExecutor::fixed(1);
        let (end, begun) = (Signal::new(), Signal::new());
        let (until, is_begun) = (end.clone(), begun.clone());
        below
            .execute(move || {
                is_begun.set();
                until.wait();
            })
            .unwrap();
        begun.wait();
        let line = SerialExecutor::over(below);
        let awaited = line.submit(|| 6).unwrap();
        let (pool, spot) = (ThreadPoolExecutor::fixed(1), Spot::default());
        let at = spot.clone();
        let waits = pool.submit(move || {
            at.arrive();
            awaited.join().unwrap()
        });
        spot.wait_until_blocked();
        end.set();
        assert_eq!(waits.unwrap().join_timeout(LONG).unwrap(), 6);
    });
}

/// An executor whose function `answer` decides what happens to each task. Each task that the executor accepts
/// runs on a new thread. The executor counts the calls that are made while another of its calls is running.
struct Told<F> {
    answer: F,
    calls: AtomicUsize,
    deepest: Arc<AtomicUsize>,
}

#[derive(Clone, Copy)]
enum Answer {
    Accept,
    Refuse,
    Drop,
    RunHere,
    Panic,
}

thread_local! {
    static DEPTH: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl<F: Fn(usize) -> Answer + Send + Sync> Executor for Told<F> {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        match (self.answer)(self.calls.fetch_add(1, Ordering::SeqCst)) {
            Answer::Accept => ThreadPerTaskExecutor.execute_task(task),
            Answer::Refuse => Err(RejectedExecution { reason: RejectReason::Saturated, task }),
            Answer::Drop => {
                drop(task);
                Ok(())
            }
            Answer::RunHere => {
                DEPTH.set(DEPTH.get() + 1);
                self.deepest.fetch_max(DEPTH.get(), Ordering::SeqCst);
                task.run();
                DEPTH.set(DEPTH.get() - 1);
                Ok(())
            }
            Answer::Panic => panic!("the executor below"),
        }
    }
}

fn told<F: Fn(usize) -> Answer + Send + Sync>(answer: F) -> Told<F> {
    Told { answer, calls: AtomicUsize::new(0), deepest: Arc::default() }
}

#[test]
fn a_line_goes_on_wherever_its_successor_goes() {
    within_deadline(|| {
        let answers = [Answer::Accept, Answer::Refuse, Answer::Drop, Answer::RunHere, Answer::Panic];
        for answer in answers {
            let below = told(move |call| if call == 0 { Answer::Accept } else { answer });
            let deepest = Arc::clone(&below.deepest);
            let line = SerialExecutor::over(below).turns_of(1);
            let gate = Signal::new();
            let until = gate.clone();
            line.execute(move || until.wait()).unwrap();
            let log = Arc::new(Mutex::new(Vec::new()));
            let note = |n| {
                let log = Arc::clone(&log);
                line.submit(move || log.lock().unwrap().push(n)).unwrap()
            };
            let handles: Vec<_> = (0..20).map(note).collect();
            gate.set();
            for handle in handles {
                handle.join_timeout(LONG).unwrap();
            }
            assert!(log.lock().unwrap().iter().copied().eq(0..20));
            assert!(deepest.load(Ordering::SeqCst) <= 1, "the stack grows with the line");
            assert!(line.executor().calls.load(Ordering::SeqCst) > 1, "it took its turn");
        }
    });
}

#[test]
fn a_line_over_an_executor_that_runs_tasks_at_once_takes_turns_without_recursion() {
    within_deadline(|| {
        let below = told(|_| Answer::RunHere);
        let deepest = Arc::clone(&below.deepest);
        let line = Arc::new(SerialExecutor::over(below).turns_of(2));
        let (own, ran) = (Arc::clone(&line), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&ran);
        line.execute(move || {
            for _ in 0..1_000 {
                let count = Arc::clone(&count);
                own.execute(move || {
                    count.fetch_add(1, Ordering::SeqCst);
                })
                .unwrap();
            }
        })
        .unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), 1_000);
        assert_eq!(deepest.load(Ordering::SeqCst), 2, "the first head, and in it a successor that returns");
    });
}

#[test]
fn lines_of_one_thread_take_turns() {
    within_deadline(|| {
        let pool = Arc::new(ThreadPoolExecutor::single());
        let gate = Signal::new();
        let until = gate.clone();
        pool.execute(move || until.wait()).unwrap();
        let lines = ["a", "b"].map(|name| (name, SerialExecutor::over(Arc::clone(&pool)).turns_of(3)));
        let log = Arc::new(Mutex::new(Vec::new()));
        for (name, line) in &lines {
            let name = *name;
            for _ in 0..6 {
                let log = Arc::clone(&log);
                line.execute(move || log.lock().unwrap().push(name)).unwrap();
            }
        }
        gate.set();
        eventually("all have run", || log.lock().unwrap().len() == 12);
        let log = log.lock().unwrap().concat();
        assert_eq!(log, "aaabbbaaabbb");
    });
}

/// The serial executor owns its pool, so the drop of the serial executor drops the pool. The drop waits until
/// the drain task has given the pool back. So the drain task does not drop the pool.
#[test]
fn a_line_that_is_dropped_waits_for_its_pool_also_while_it_takes_turns() {
    within_deadline(|| {
        for _ in crate::support::rounds(300) {
            let line = SerialExecutor::over(ThreadPoolExecutor::fixed(2)).turns_of(1);
            let ran = Arc::new(AtomicUsize::new(0));
            for _ in 0..10 {
                let ran = Arc::clone(&ran);
                line.execute(move || {
                    ran.fetch_add(1, Ordering::SeqCst);
                })
                .unwrap();
            }
            drop(line);
            assert_eq!(ran.load(Ordering::SeqCst), 10);
        }
    });
}

/// An executor that panics after it has stored the first task.
#[derive(Default)]
struct TooLate(Mutex<Vec<Task>>);

impl Executor for TooLate {
    fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
        let mut aside = self.0.lock().unwrap();
        aside.push(task);
        let is_first = aside.len() == 1;
        drop(aside);
        assert!(!is_first, "the executor below");
        Ok(())
    }
}

#[test]
fn an_executor_that_panics_strands_nobody() {
    within_deadline(|| {
        fn panics(line: &impl Executor, task: Task) {
            let submit = std::panic::AssertUnwindSafe(|| drop(line.execute_task(task)));
            assert!(std::panic::catch_unwind(submit).is_err());
        }
        let line = SerialExecutor::over(told(|call| if call == 0 { Answer::Panic } else { Answer::Accept }));
        let first = executor::FutureTask::new(|| 1);
        panics(&line, first.task);
        assert_matches!(first.handle.join(), Err(JoinError::Cancelled(_)));
        assert_eq!(line.submit(|| 2).unwrap().join_timeout(LONG).unwrap(), 2);

        // The executor panics, but it has already stored the drain task. So the next submitter, on another
        // thread, may rely on the stored drain task.
        let line = Arc::new(SerialExecutor::over(TooLate::default()));
        let first = executor::FutureTask::new(|| 1);
        panics(&*line, first.task);
        let own = Arc::clone(&line);
        let second = crate::support::on_thread(move || own.submit(|| 2).unwrap()).result();
        let head = line.executor().0.lock().unwrap().pop().unwrap();
        head.run();
        assert_eq!((first.handle.join().unwrap(), second.join().unwrap()), (1, 2));
    });
}

/// The executor returns late from the call of one submitter. The late answer does not concern the drain task
/// that another submitter submits meanwhile.
#[test]
fn a_late_yes_is_no_yes_to_another() {
    /// An executor that runs the first task at once and returns late. The executor refuses the second task
    /// late, and runs all later tasks.
    #[derive(Default)]
    struct Late {
        calls: AtomicUsize,
        first_has_run: Signal,
        may_accept: Signal,
        second_came: Signal,
        may_refuse: Signal,
    }
    impl Executor for Late {
        fn execute_task(&self, task: Task) -> Result<(), RejectedExecution> {
            match self.calls.fetch_add(1, Ordering::Relaxed) {
                0 => {
                    std::thread::scope(|scope| drop(scope.spawn(|| task.run())));
                    self.first_has_run.set();
                    self.may_accept.wait();
                }
                1 => {
                    self.second_came.set();
                    self.may_refuse.wait();
                    return Err(RejectedExecution { reason: RejectReason::Saturated, task });
                }
                _ => drop(task.run()),
            }
            Ok(())
        }
    }
    within_deadline(|| {
        let late = Late::default();
        let line = SerialExecutor::over(&late);
        let third_ran = Arc::new(AtomicBool::new(false));
        std::thread::scope(|scope| {
            let first = scope.spawn(|| line.execute(|| ()).unwrap());
            late.first_has_run.wait();
            let second = scope.spawn(|| line.execute(|| ()).unwrap_err());
            late.second_came.wait();
            late.may_accept.set();
            first.join().unwrap();
            let (spot, ran) = (Spot::default(), Arc::clone(&third_ran));
            let (line, there) = (&line, spot.clone());
            let third = scope.spawn(move || {
                there.arrive();
                line.execute(move || ran.store(true, Ordering::Relaxed)).unwrap();
            });
            spot.wait_until_blocked();
            late.may_refuse.set();
            drop(second.join().unwrap()); // the second submitter gets its own task back
            third.join().unwrap();
        });
        assert!(third_ran.load(Ordering::Relaxed), "it was accepted");
    });
}
