//! A dump shows the work of all pools, and the events that the pools' threads wait for.
//!
//! The other tests of this process have their own pools, and a dump shows these pools, too. So each test
//! looks only at the parts of a dump that show the pools of this test.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use executor::fork_join::{ForkJoinPool, fork};
use executor::panics::PanicReport;
use executor::{
    CancelToken, Executor, FifoQueue, FutureTask, LongTask, Semaphore, SerialExecutor, Task, TaskId,
    ThreadPerTaskExecutor, ThreadPoolExecutor, WorkQueue, dump, prelude::*,
};

use crate::support::{LONG, SHORT, Signal, eventually, within_deadline};

/// Finds the part of a dump with this title; returns the line number of the title, and the lines after the
/// title.
fn part(text: &str, title: &str) -> Option<(String, Vec<String>)> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("{title}: ")));
    let numbers = lines.next()?.split_once(": ").unwrap().1.to_owned();
    Some((numbers, lines.take_while(|line| line.starts_with("  ")).map(str::to_owned).collect()))
}

/// Makes dumps until the part with this title has lines that contain the given texts, in this order.
fn until(title: &str, texts: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let deadline = Instant::now() + LONG;
    while !contains_in_order(&found, texts) {
        let text = dump().to_string();
        assert!(Instant::now() < deadline, "no {texts:?} under {title} in\n{text}");
        found = part(&text, title).map(|(_, lines)| lines).unwrap_or_default();
    }
    found
}

fn contains_in_order(lines: &[String], texts: &[&str]) -> bool {
    let mut lines = lines.iter();
    texts.iter().all(|text| lines.any(|line| line.contains(text)))
}

fn pool(name: &str, threads: usize) -> Arc<ThreadPoolExecutor> {
    Arc::new(ThreadPoolExecutor::builder().threads(threads).name(name).build().unwrap())
}

/// Submits a task that waits for the signal; the function returns when the task runs.
fn occupy(executor: &impl Executor, name: &'static str, until: &Signal) {
    let (began, until) = (Signal::new(), until.clone());
    let here = began.clone();
    let task = Task::new(move || {
        here.set();
        until.wait();
    });
    executor.execute(task.named(name)).unwrap();
    began.wait();
}

#[test]
fn a_pool_shows_what_runs_where_and_what_waits_in_which_order() {
    within_deadline(|| {
        let (pool, end) = (pool("dump-shop", 2), Signal::new());
        occupy(&*pool, "sale", &end);
        occupy(&*pool, "repair", &end);
        let cancelled = pool.submit(FutureTask::new(|| ()).named("cancelled")).unwrap();
        let unnamed = pool.submit(|| ()).unwrap();
        (0..25).for_each(|_| pool.execute(Task::new(|| ()).named("invoice")).unwrap());
        cancelled.cancel();
        let (numbers, lines) = part(&dump().to_string(), "pool dump-shop").unwrap();
        assert_eq!(numbers, "running, 2 of 2 threads, 2 active, 26 queued, 0 completed (0 panicked)");
        assert!(lines[0].starts_with("  runs    sale (#"), "{lines:#?}");
        assert!(lines[0].ends_with(") on dump-shop-thread-1"), "{lines:#?}");
        assert!(lines[1].starts_with("  runs    repair (#"), "{lines:#?}");
        assert!(lines[1].ends_with(") on dump-shop-thread-2"), "{lines:#?}");
        assert_eq!(lines[2], format!("  queued  {}", unnamed.id()));
        assert!(lines[3..22].iter().all(|line| line.starts_with("  queued  invoice (#")), "{lines:#?}");
        assert_eq!(lines[22..], ["  queued  6 more tasks"]);
        end.set();
        pool.close();
        let (numbers, lines) = part(&dump().to_string(), "pool dump-shop").unwrap();
        assert_eq!(numbers, "terminated, 0 of 2 threads, 0 active, 0 queued, 28 completed (0 panicked)");
        assert!(lines.is_empty(), "{lines:#?}");
        drop(pool);
        // A dump that another test makes may still refer to the pool.
        eventually("the pool is gone", || part(&dump().to_string(), "pool dump-shop").is_none());
    });
}

/// Returns the shortest possible running time that a line gives for a task, or zero if the line gives no
/// time.
fn age(line: &str) -> Duration {
    let Some((_, age)) = line.split_once(", for at least ") else { return Duration::ZERO };
    let (number, unit) = age.split_at(age.find(|c: char| c.is_alphabetic() || c == 'µ').unwrap());
    let unit = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        _ => 1e-6,
    };
    Duration::from_secs_f64(number.parse::<f64>().unwrap() * unit)
}

/// A serial executor submits several drain tasks to its pool, and all of them have the same id.
#[test]
fn a_second_dump_says_for_how_long_a_task_has_run_at_least() {
    within_deadline(|| {
        let pool = pool("dump-age", 1);
        let line = SerialExecutor::over(Arc::clone(&pool));
        let oldest = || until("pool dump-age", &["runs "]).swap_remove(0);
        let end = Signal::new();
        occupy(&line, "old", &end);
        let began = Instant::now();
        oldest(); // unless another test has made a dump meanwhile, this dump is the first
        let nap = Duration::from_millis(20);
        thread::sleep(nap);
        assert!(age(&oldest()) >= nap && age(&oldest()) <= began.elapsed() + nap, "{}", oldest());
        end.set();
        eventually("the first task has ended", || pool.stats().completed == 1);
        let (young, end) = (Instant::now(), Signal::new());
        occupy(&line, "new", &end);
        let line = oldest();
        assert!(line.contains("new (#") && age(&line) <= young.elapsed(), "{line}");
        end.set();
    });
}

/// The task in the first pool holds a lock and waits for the task in the second pool, which wants the lock.
/// The library cannot know of the lock, so it lets the tasks wait.
#[test]
fn a_deadlock_of_two_pools_can_be_read_from_the_dump() {
    within_deadline(|| {
        let (orders, bills) = (pool("dump-orders", 1), pool("dump-bills", 1));
        let (lock, other) = (Arc::new(Mutex::new(())), Arc::clone(&bills));
        let order = FutureTask::new(move || {
            let (_held, wanted) = (lock.lock().unwrap(), Arc::clone(&lock));
            let bill = other.submit(FutureTask::new(move || drop(wanted.lock().unwrap())).named("bill"));
            let _ = bill.unwrap().join(); // until the test cancels this task
        });
        let order = orders.submit(order.named("order")).unwrap();
        let waits_on = "), on dump-bills-thread-1";
        let lines = until("pool dump-orders", &["runs    order (#", waits_on]);
        assert!(lines[1].starts_with("            waits for task bill (#") && lines.len() == 2, "{lines:#?}");
        let (_, lines) = part(&dump().to_string(), "pool dump-bills").unwrap();
        assert!(
            lines[0].starts_with("  runs    bill (#") && lines.len() == 1,
            "no wait is known: {lines:#?}"
        );
        order.cancel();
        bills.close();
    });
}

#[test]
fn a_task_that_is_awaited_in_a_queue_is_told_with_its_pool() {
    within_deadline(|| {
        let (pages, images) = (pool("dump-pages", 1), pool("dump-images", 1));
        let (end, other) = (Signal::new(), Arc::clone(&images));
        occupy(&*images, "photo", &end);
        let page = FutureTask::new(move || {
            other.submit(FutureTask::new(|| ()).named("icon")).unwrap().join().unwrap();
        });
        let page = pages.submit(page.named("page")).unwrap();
        let lines = until("pool dump-pages", &["runs    page (#", "), in the queue of pool dump-images"]);
        assert!(lines[1].starts_with("            waits for task icon (#"), "{lines:#?}");
        until("pool dump-images", &["runs    photo (#", "queued  icon (#"]);
        end.set();
        page.join().unwrap();
    });
}

#[test]
fn permits_are_told_with_the_threads_that_hold_them() {
    within_deadline(|| {
        let (pool, seats, end) = (pool("dump-seats", 1), Arc::new(Semaphore::new(1)), Signal::new());
        let (taken, until_end, began) = (Arc::clone(&seats), end.clone(), Signal::new());
        let here = began.clone();
        let guest = Task::new(move || {
            let _seat = taken.acquire().unwrap();
            here.set();
            until_end.wait();
        });
        pool.execute(guest.named("guest")).unwrap();
        began.wait();
        let per_task = ThreadPerTaskExecutor::new();
        let waiter = FutureTask::new(move || drop(seats.acquire().unwrap()));
        let waiter = per_task.submit(waiter.named("newcomer")).unwrap();
        let permits = "waits for permits, which are held on dump-seats-thread-1";
        let waits = || {
            dump()
                .to_string()
                .lines()
                .skip_while(|line| *line != "other threads:")
                .any(|line| line.trim() == permits)
        };
        eventually("the thread of no pool waits for the permit", waits);
        end.set();
        waiter.join().unwrap();
    });
}

#[test]
fn a_submitter_that_waits_for_room_is_told_with_the_pool() {
    within_deadline(|| {
        let small = ThreadPoolExecutor::builder().threads(1).name("dump-small").queue(FifoQueue::bounded(1));
        let small = Arc::new(small.rejection_handler(executor::Block::new()).build().unwrap());
        let (end, feeder) = (Signal::new(), pool("dump-feeder", 1));
        occupy(&*small, "eats", &end);
        let full = Arc::clone(&small);
        let feeds = feeder.submit(move || (0..2).for_each(|_| full.execute(|| ()).unwrap())).unwrap();
        until("pool dump-feeder", &["waits for room in the queue of pool dump-small"]);
        end.set();
        feeds.join().unwrap();
    });
}

#[test]
fn a_fork_join_pool_shows_its_tasks_and_what_they_wait_for() {
    within_deadline(|| {
        let pool = Arc::new(ForkJoinPool::builder().threads(2).name("dump-sort").build().unwrap());
        let end = Signal::new();
        let (child_end, forks) = (end.clone(), Signal::new());
        let stolen = forks.clone();
        let parent = FutureTask::new(move || {
            let child = fork(move || {
                stolen.set();
                child_end.wait();
            });
            forks.wait(); // until the other worker has stolen it
            child.join().unwrap();
        });
        let parent = pool.submit(parent.named("parent")).unwrap();
        let lines = until("fork/join pool dump-sort", &["runs    parent (#", ", on dump-sort-worker-"]);
        let waits = lines.iter().position(|line| line.contains(", on dump-sort-worker-")).unwrap();
        assert!(lines[waits].starts_with("            waits for task #"), "{lines:#?}");
        assert!(lines[waits - 1].starts_with("  runs    parent (#"), "{lines:#?}");
        let later = pool.submit(FutureTask::new(|| ()).named("later")).unwrap();
        let (numbers, lines) = part(&dump().to_string(), "fork/join pool dump-sort").unwrap();
        assert_eq!(numbers, "running, 2 of 2 threads, 2 awake, 1 tasks queued, 0 completed (0 panicked)");
        assert!(lines.last().unwrap().starts_with("  queued  later (#"), "{lines:#?}");
        thread::sleep(Duration::from_millis(5));
        until("fork/join pool dump-sort", &[", for at least "]);
        end.set();
        parent.join().unwrap();
        later.join().unwrap();
    });
}

/// While a pool has no worker, the thread that calls `invoke` acts as a worker, but this thread runs no task.
#[test]
fn a_computation_of_a_guest_is_shown_without_a_task() {
    within_deadline(|| {
        let pool = ForkJoinPool::builder().threads(1).name("dump-guest").build().unwrap();
        let (_, lines) =
            pool.invoke(|| part(&dump().to_string(), "fork/join pool dump-guest").unwrap()).unwrap();
        assert!(lines.len() == 1 && lines[0].starts_with("  runs    a computation on "), "{lines:#?}");
    });
}

#[test]
fn a_drain_task_has_the_name_of_the_task_that_it_runs() {
    within_deadline(|| {
        let (pool, end) = (pool("dump-line", 1), Signal::new());
        let line = SerialExecutor::over(Arc::clone(&pool));
        occupy(&line, "first in line", &end);
        until("pool dump-line", &["runs    first in line (#"]);
        end.set();
    });
}

/// A user's queue that calls a given function while the pool has locked the pool's state.
struct Hostile<F>(VecDeque<Task>, F);

impl<F: FnMut() + Send> WorkQueue for Hostile<F> {
    fn push(&mut self, task: Task, _: usize) -> Result<(), Task> {
        (self.1)();
        self.0.push_back(task);
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

    fn remove_if(&mut self, _: &mut dyn FnMut(&Task) -> bool) -> Vec<Task> {
        Vec::new()
    }
}

fn with_hostile_queue(name: &str, call: impl FnMut() + Send + 'static) -> Arc<ThreadPoolExecutor> {
    let queue = Hostile(VecDeque::new(), call);
    Arc::new(ThreadPoolExecutor::builder().threads(1).name(name).queue(queue).build().unwrap())
}

const BUSY: &str = "busy, its lock is held by another thread";

#[test]
fn a_queue_that_hangs_under_the_lock_of_its_pool_does_not_hold_up_the_dump() {
    within_deadline(|| {
        let (in_queue, end) = (Signal::new(), Signal::new());
        let (here, until_end) = (in_queue.clone(), end.clone());
        let stuck = with_hostile_queue("dump-stuck", move || {
            here.set();
            until_end.wait();
        });
        let (other, busy) = (pool("dump-other", 1), Signal::new());
        occupy(&*other, "goes on", &busy);
        occupy(&*stuck, "first", &busy); // gets a thread, and does not pass the queue
        let submitter = thread::spawn({
            let stuck = Arc::clone(&stuck);
            move || stuck.execute(|| ()).unwrap()
        });
        in_queue.wait();
        let text = dump().to_string();
        assert_eq!(part(&text, "pool dump-stuck"), Some((BUSY.to_owned(), Vec::new())), "{text}");
        assert!(part(&text, "pool dump-other").unwrap().1[0].contains("goes on (#"), "{text}");
        end.set();
        busy.set();
        submitter.join().unwrap();
        let (numbers, _) = part(&dump().to_string(), "pool dump-stuck").unwrap();
        assert!(numbers.starts_with("running, 1 of 1 threads"), "{numbers}");
    });
}

#[test]
fn a_dump_can_be_made_under_the_lock_of_a_pool_and_in_a_task() {
    within_deadline(|| {
        let (tell, told) = mpsc::channel();
        let busy = Signal::new();
        let pool = with_hostile_queue("dump-inside", move || tell.send(dump().to_string()).unwrap());
        occupy(&*pool, "first", &busy);
        pool.execute(|| ()).unwrap();
        let text = told.recv_timeout(LONG).unwrap();
        assert_eq!(part(&text, "pool dump-inside").unwrap().0, BUSY, "{text}");
        let in_task = pool.submit(FutureTask::new(|| dump().to_string()).named("asks")).unwrap();
        busy.set();
        let (_, lines) = part(&in_task.join().unwrap(), "pool dump-inside").unwrap();
        assert!(lines[0].starts_with("  runs    asks (#"), "{lines:#?}");
    });
}

// ----- the watchdog -----

/// A report of a watchdog: the task, its name, its thread, and its running time.
type Told = (TaskId, Option<String>, Option<String>, Duration);

/// Returns a pool that has a watchdog, and the channel from which the test receives the watchdog's reports.
fn watched(name: &str, threads: usize, limit: Duration) -> (Arc<ThreadPoolExecutor>, mpsc::Receiver<Told>) {
    let (tell, told) = mpsc::channel();
    let handler = move |task: &LongTask<'_>| {
        let [name, thread] = [task.name, task.thread].map(|name| name.map(str::to_owned));
        tell.send((task.id, name, thread, task.ran)).unwrap();
    };
    let builder = ThreadPoolExecutor::builder().threads(threads).name(name);
    (Arc::new(builder.watchdog(limit, handler).build().unwrap()), told)
}

/// The report about the second task comes after the report about the first task; the time between them is at
/// least the limit.
#[test]
fn a_watchdog_tells_once_of_each_task_that_runs_for_longer_than_its_limit() {
    within_deadline(|| {
        let limit = Duration::from_millis(20);
        let (pool, told) = watched("watch-once", 2, limit);
        let (end, began) = (Signal::new(), Instant::now());
        occupy(&*pool, "first", &end);
        let (_, name, thread, ran) = told.recv_timeout(LONG).unwrap();
        assert_eq!((name.as_deref(), thread.as_deref()), (Some("first"), Some("watch-once-thread-1")));
        assert!(ran >= limit && ran <= began.elapsed(), "{ran:?}");
        let until_end = end.clone();
        let second = pool.submit(move || until_end.wait()).unwrap();
        let (id, name, thread, ran) = told.recv_timeout(LONG).unwrap();
        assert_eq!((id, name, thread.as_deref()), (second.id(), None, Some("watch-once-thread-2")));
        assert!(ran >= limit, "{ran:?}");
        end.set();
        pool.close();
        drop(pool);
        assert_eq!(told.recv_timeout(LONG), Err(mpsc::RecvTimeoutError::Disconnected), "no further report");
    });
}

/// All these runs have the same id, because all of them are runs of the drain task of one strand. If the
/// machine stalls, a run takes longer, so the test measures each run.
#[test]
fn a_watchdog_is_not_misled_by_short_runs_that_follow_each_other() {
    within_deadline(|| {
        let limit = Duration::from_millis(40);
        let (pool, told) = watched("watch-short", 1, limit);
        let line = SerialExecutor::over(Arc::clone(&pool));
        let (began, mut longest) = (Instant::now(), Duration::ZERO);
        while began.elapsed() < 4 * limit {
            let before = Instant::now();
            line.submit(|| thread::sleep(Duration::from_millis(1))).unwrap().join().unwrap();
            eventually("the drain task has ended", || pool.stats().active == 0);
            longest = longest.max(before.elapsed());
        }
        let told: Vec<_> = told.try_iter().map(|(.., ran)| ran).collect();
        assert!(told.iter().all(|ran| *ran <= longest), "{told:?}, but no run took more than {longest:?}");
    });
}

#[test]
fn a_handler_of_a_watchdog_may_look_into_the_pool_and_panic() {
    within_deadline(|| {
        let (report, reported) = mpsc::channel();
        let handler = move |task: &LongTask<'_>| {
            let lines = part(&dump().to_string(), "pool watch-panic").unwrap().1;
            panic!("{} of {lines:?}", task.name.unwrap());
        };
        let builder = ThreadPoolExecutor::builder().threads(2).name("watch-panic");
        let builder = builder.watchdog(SHORT, handler);
        let pool = builder
            .panic_handler(move |panic: &PanicReport<'_>| report.send(panic.message.to_owned()).unwrap());
        let (pool, end) = (pool.build().unwrap(), Signal::new());
        for name in ["first", "second"] {
            occupy(&pool, name, &end);
            let message = reported.recv_timeout(LONG).unwrap();
            assert!(message.starts_with(name) && message.contains("runs    first (#"), "{message}");
        }
        end.set();
        pool.close();
        assert_eq!(pool.stats().panicked, 0);
    });
}

#[test]
fn a_queue_that_hangs_under_the_lock_of_a_watched_pool_holds_up_no_deadline() {
    within_deadline(|| {
        let (in_queue, end) = (Signal::new(), Signal::new());
        let (here, until_end) = (in_queue.clone(), end.clone());
        let queue = Hostile(VecDeque::new(), move || {
            here.set();
            until_end.wait();
        });
        let builder = ThreadPoolExecutor::builder().threads(1).queue(queue);
        let stuck = builder.watchdog(Duration::from_millis(4), |_| ()).build().unwrap();
        occupy(&stuck, "first", &end);
        thread::scope(|scope| {
            scope.spawn(|| stuck.execute(|| ()).unwrap());
            in_queue.wait();
            for _ in 0..10 {
                let token = CancelToken::new().with_timeout(SHORT); // the timer cancels it
                eventually("the time is up", || token.is_cancelled());
            }
            end.set();
        });
    });
}

#[test]
fn a_watchdog_does_not_keep_its_pool() {
    within_deadline(|| {
        let value = Arc::new(());
        let (limit, in_handler) = (Duration::from_millis(1), Arc::clone(&value));
        let builder = ThreadPoolExecutor::builder().watchdog(limit, move |_| _ = &in_handler);
        let pool = builder.build().unwrap();
        pool.submit(|| thread::sleep(SHORT)).unwrap().join().unwrap();
        drop(pool);
        eventually("the pool and its handler are dropped", || Arc::strong_count(&value) == 1);
    });
}
