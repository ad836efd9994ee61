//! Jobs that run at a certain time, and the thread that runs them.
//!
//! A deadline uses an entry in a [heap](super::Heap), but has no thread of its own. One thread of the
//! process, the *watcher*, sleeps until the first deadline and then runs the jobs that are due.
//!
//! # The watcher
//!
//! ```text
//!              at()                    takes it               nothing is due
//!   Nobody ───────────▶ Wanted ────────────────────▶ Awake ────────────────────▶ Asleep(until)
//!     ▲                   ▲                          │ │ ▲                          │
//!     │                   └── a job has user code ─┘ │ └── the time has come, or ─┘
//!     └─────────── nothing to watch for a while ───────┘     at() with an earlier one
//! ```
//!
//! The watcher starts with the first deadline, and ends when there has been no deadline for [`LINGER`]. The
//! watcher sleeps until the deadline that was the first when the watcher fell asleep, even if this deadline
//! is removed meanwhile. So a removal makes no system call. Most deadlines are removed before their time, so
//! this saves many system calls. There is one exception: a caller that removes the last deadline wakes the
//! watcher if the watcher would sleep for longer than [`LINGER`]. Without this wake-up, a removed deadline in
//! the far future would keep the watcher asleep.
//!
//! # Jobs and user code
//!
//! A job is a short piece of the library's own code. For instance, a job marks a token. A job does not call
//! user code, because user code can take long or block: the job returns user code as a callback. Before the
//! watcher runs a callback, the watcher gives up the watch, so that no other job runs late. If there are
//! other deadlines, a *spare* thread or a new thread takes the watch. After the callback, the thread takes
//! the watch again if the watch needs a thread; if not, the thread waits as a spare for a while. No thread is
//! started while another thread is starting or coming back from user code. So the number of threads is at
//! most one above the largest number of callbacks that ran at the same time.
//!
//! # Invariants
//!
//! 1. Jobs begin in the order of their deadlines; jobs with equal deadlines begin in the order of
//!    registration.
//! 2. If there is a deadline, the watch is in one of three states: `Awake`; `Asleep`, until that deadline or
//!    an earlier time; or `Wanted`, while a thread is about to take the watch. There is one exception: if the
//!    system cannot start a thread, the next call of `at` tries again.
//! 3. No job is run or dropped under the lock, and no thread is started under the lock.
//! 4. When the drop of a [`TimerEntry`] has returned, the entry's job has begun or will never begin.

use super::Heap;
use crate::panics::{UserCode, contain, discard};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Duration, Instant, Mutex, MutexGuard, lazy_static, thread};

/// A thread without work ends after this time.
const LINGER: Duration = Duration::from_secs(2);

/// A job of the timer. If the job returns user code, a thread runs that code without the watch, because the
/// code may block.
type TimerJob = Box<dyn FnOnce() -> Option<UserCode> + Send>;

lazy_static! {
    static ref OF_THE_PROCESS: Arc<Timer> = Timer::new();
}

/// Registers a job that runs at `deadline`, or at once if the deadline has passed. The job runs on a thread
/// of the timer. If the entry is dropped before the job has begun, the job never runs.
pub(crate) fn at(deadline: Instant, job: impl FnOnce() -> Option<UserCode> + Send + 'static) -> TimerEntry {
    OF_THE_PROCESS.at(deadline, Box::new(job))
}

struct Timer {
    state: Mutex<TimerData>,
    /// Notified to wake the watcher: there is an earlier deadline, or no deadline is left.
    changed: Condvar,
    /// Notified to wake a spare: a thread must take the watch.
    wanted: Condvar,
    /// The number of threads that run user code. A thread adds itself under the lock, and subtracts itself
    /// before it takes the lock again. So every thread that is not counted here checks whether the watch
    /// needs a thread before the thread ends.
    in_user_code: AtomicUsize,
}

struct TimerData {
    /// Each job with its number.
    jobs: Heap<(u64, TimerJob)>,
    registered: u64,
    watch: TimerWatch,
    /// The number of threads that wait to take the watch.
    spares: usize,
    /// The number of all threads, including threads that are starting.
    threads: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TimerWatch {
    /// There is no deadline, or the system could not start a thread.
    Nobody,
    /// A spare was notified, or a thread is starting.
    Wanted,
    /// A thread looks at the deadlines before it sleeps.
    Awake,
    /// A thread sleeps until this time, or until it is notified.
    Asleep(Instant),
}

impl TimerWatch {
    fn is_free(self) -> bool {
        matches!(self, Self::Nobody | Self::Wanted)
    }
}

impl Timer {
    fn new() -> Arc<Self> {
        let state =
            TimerData { jobs: Heap::new(), registered: 0, watch: TimerWatch::Nobody, spares: 0, threads: 0 };
        Arc::new(Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            wanted: Condvar::new(),
            in_user_code: AtomicUsize::new(0),
        })
    }

    fn at(self: &Arc<Self>, deadline: Instant, job: TimerJob) -> TimerEntry {
        let mut state = self.state.lock();
        state.registered += 1;
        let number = state.registered;
        let slot = state.jobs.insert(deadline, (number, job));
        match state.watch {
            TimerWatch::Nobody => self.summon(state),
            TimerWatch::Asleep(until) if deadline < until => {
                state.watch = TimerWatch::Awake;
                self.changed.notify_one();
            }
            TimerWatch::Asleep(_) | TimerWatch::Wanted | TimerWatch::Awake => {}
        }
        TimerEntry { timer: Arc::clone(self), slot, number }
    }
}

/// The registration of a job. Dropping the registration removes the job. The drop does not wait for a job
/// that runs.
#[must_use = "dropping it takes the job back at once"]
pub(crate) struct TimerEntry {
    timer: Arc<Timer>,
    slot: usize,
    /// The number of the job: when this job has begun, the slot may already have another job.
    number: u64,
}

impl Drop for TimerEntry {
    fn drop(&mut self) {
        let mut state = self.timer.state.lock();
        let job = state.jobs.remove_if(self.slot, |&(number, _)| number == self.number);
        if let TimerWatch::Asleep(until) = state.watch
            && state.jobs.is_empty()
            && until > Instant::now() + LINGER
        {
            state.watch = TimerWatch::Awake;
            self.timer.changed.notify_one();
        }
        drop(state);
        discard(job);
    }
}

impl Timer {
    /// Makes a thread take the watch.
    fn summon(self: &Arc<Self>, mut state: MutexGuard<'_, TimerData>) {
        state.watch = TimerWatch::Wanted;
        if state.spares > 0 {
            self.wanted.notify_one();
            return;
        }
        // If a thread is starting or coming back from user code, that thread takes the watch. Thus a series
        // of short callbacks does not start a new thread for each callback. Relaxed is enough: at worst the
        // counter still includes a thread that has left user code, and then one thread too many is started.
        if state.threads > self.in_user_code.load(Ordering::Relaxed) {
            return;
        }
        state.threads += 1;
        drop(state);
        let timer = Arc::clone(self);
        let started = thread::Builder::new().name("executor-timer".to_owned()).spawn(move || timer.serve());
        if started.is_err() {
            let mut state = self.state.lock();
            state.threads -= 1;
            if state.watch == TimerWatch::Wanted {
                state.watch = TimerWatch::Nobody;
            }
        }
    }

    /// The body of each thread of the timer.
    fn serve(self: &Arc<Self>) {
        let mut state = self.state.lock();
        while let Some(watching) = self.take_the_watch(state) {
            let Some(user_code) = self.watch(watching) else { return };
            discard(contain(user_code));
            self.in_user_code.fetch_sub(1, Ordering::Relaxed);
            state = self.state.lock();
        }
    }

    /// Takes the watch, or waits as a spare until the watch is wanted. Returns `None` if the wait takes
    /// longer than [`LINGER`].
    fn take_the_watch<'a>(
        &'a self,
        mut state: MutexGuard<'a, TimerData>,
    ) -> Option<MutexGuard<'a, TimerData>> {
        if !state.watch.is_free() {
            let end = Instant::now() + LINGER;
            let mut timed_out = false;
            state.spares += 1;
            while !state.watch.is_free() && !timed_out {
                (state, timed_out) = self.wanted.wait_until(state, &self.state, end);
            }
            state.spares -= 1;
        }
        if !state.watch.is_free() {
            state.threads -= 1;
            return None;
        }
        state.watch = TimerWatch::Awake;
        Some(state)
    }

    /// Runs the jobs that are due, until a job returns user code. Then gives up the watch, and returns the
    /// user code, which the caller must run. Returns `None` if there has been no deadline for [`LINGER`].
    fn watch<'a>(self: &'a Arc<Self>, mut state: MutexGuard<'a, TimerData>) -> Option<UserCode> {
        loop {
            let now = Instant::now();
            let first = state.jobs.first();
            if let Some((deadline, slot)) = first
                && deadline <= now
            {
                let job = state.jobs.remove(slot);
                drop(state);
                let user_code = job.and_then(|(_, job)| contain(job).ok().flatten());
                state = self.state.lock();
                if user_code.is_some() {
                    self.give_up_the_watch(state);
                    return user_code;
                }
                continue;
            }
            let until = first.map_or(now + LINGER, |(deadline, _)| deadline);
            let timed_out;
            state.watch = TimerWatch::Asleep(until);
            (state, timed_out) = self.changed.wait_until(state, &self.state, until);
            state.watch = TimerWatch::Awake;
            if timed_out && first.is_none() && state.jobs.is_empty() {
                state.watch = TimerWatch::Nobody;
                state.threads -= 1;
                return None;
            }
        }
    }

    fn give_up_the_watch(self: &Arc<Self>, mut state: MutexGuard<'_, TimerData>) {
        self.in_user_code.fetch_add(1, Ordering::Relaxed);
        if state.jobs.is_empty() {
            state.watch = TimerWatch::Nobody;
        } else {
            self.summon(state);
        }
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::*;
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(30);

    fn tell<T: Send + 'static>(to: &mpsc::Sender<T>, what: T) -> TimerJob {
        let to = to.clone();
        Box::new(move || {
            to.send(what).unwrap();
            None
        })
    }

    #[test]
    fn jobs_run_by_deadline_and_equal_ones_in_the_order_of_registration() {
        let (timer, (to, told)) = (Timer::new(), mpsc::channel());
        let now = Instant::now();
        let ahead = |milliseconds| now + Duration::from_millis(milliseconds);
        // The first job keeps the thread busy until all jobs are registered. So this test checks only the
        // order, not the speed.
        let (go, gone) = mpsc::channel::<()>();
        let hold = timer.at(
            now,
            Box::new(move || {
                gone.recv_timeout(LONG).unwrap();
                None
            }),
        );
        let when = [30, 10, 20, 10, 0, 20, 10];
        let entries: Vec<_> =
            (0..).zip(when).map(|(n, milliseconds)| timer.at(ahead(milliseconds), tell(&to, n))).collect();
        go.send(()).unwrap();
        let order: Vec<_> = when.iter().map(|_| told.recv_timeout(LONG).unwrap()).collect();
        assert_eq!(order, [4, 1, 3, 6, 2, 5, 0]);
        drop((hold, entries));
    }

    #[test]
    fn no_job_runs_before_its_deadline_and_one_whose_deadline_has_passed_runs_at_once() {
        let (timer, (to, told)) = (Timer::new(), mpsc::channel());
        let far = timer.at(Instant::now() + Duration::from_hours(1), tell(&to, "far"));
        let passed = timer.at(Instant::now(), tell(&to, "at once"));
        assert_eq!(told.recv_timeout(LONG), Ok("at once"));
        let deadline = Instant::now() + Duration::from_millis(20);
        let soon = timer.at(deadline, tell(&to, "in time"));
        assert_eq!(told.recv_timeout(LONG), Ok("in time"));
        assert!(Instant::now() >= deadline);
        drop((far, passed, soon));
    }

    #[test]
    fn user_code_that_blocks_keeps_no_other_job_waiting() {
        let (timer, (to, told)) = (Timer::new(), mpsc::channel());
        let (release, released) = mpsc::channel::<()>();
        let blocks: TimerJob = Box::new(move || {
            Some(Box::new(move || {
                let _ = released.recv_timeout(LONG);
            }))
        });
        let now = Instant::now();
        let first = [timer.at(now, blocks), timer.at(now, tell(&to, 1))];
        assert_eq!(told.recv_timeout(LONG), Ok(1));
        let second = timer.at(Instant::now() + Duration::from_millis(5), tell(&to, 2));
        assert_eq!(told.recv_timeout(LONG), Ok(2));
        drop(release);
        drop((first, second));
    }

    #[test]
    fn a_thread_that_is_back_from_user_code_is_used_again() {
        let (timer, (to, told)) = (Timer::new(), mpsc::channel());
        let far = Instant::now().checked_add(Duration::from_hours(1)).unwrap();
        let far = timer.at(far, Box::new(|| None)); // a deadline for which a thread must watch meanwhile
        let threads: std::collections::HashSet<_> = (0..20)
            .map(|_| {
                let to = to.clone();
                let says: TimerJob =
                    Box::new(|| Some(Box::new(move || to.send(thread::current().id()).unwrap())));
                let entry = timer.at(Instant::now(), says);
                let by = told.recv_timeout(LONG).unwrap();
                // One of the two threads watches again, and the other is a spare.
                let settled =
                    |state: &TimerData| state.spares == 1 && matches!(state.watch, TimerWatch::Asleep(_));
                while !settled(&timer.state.lock()) {
                    thread::yield_now();
                }
                drop(entry);
                by
            })
            .collect();
        assert!(threads.len() <= 2, "{threads:?}");
        assert_eq!(timer.in_user_code.load(Ordering::Relaxed), 0);
        drop(far);
    }

    /// Without a wake-up, a spare would take the watch only at the end of [`LINGER`].
    #[test]
    fn a_spare_takes_the_watch_when_it_is_wanted_and_not_when_its_time_is_up() {
        let is_soon = |_| {
            let (timer, (to, told)) = (Timer::new(), mpsc::channel());
            let far = timer.at(Instant::now() + Duration::from_hours(1), Box::new(|| None));
            let first = timer.at(Instant::now(), Box::new(|| Some(Box::new(|| ()))));
            while timer.state.lock().spares == 0 {
                thread::yield_now();
            }
            let (release, released) = mpsc::channel::<()>();
            let blocks: TimerJob = Box::new(move || {
                Some(Box::new(move || {
                    let _ = released.recv_timeout(LONG);
                }))
            });
            let now = Instant::now();
            let entries = [timer.at(now, blocks), timer.at(now, tell(&to, ()))];
            assert_eq!(told.recv_timeout(LONG), Ok(()));
            drop((release, far, first, entries));
            now.elapsed() < LINGER / 2
        };
        assert!((0..5).any(is_soon)); // one quick run of five is enough, even on a busy machine
    }

    /// Checks that one thread that is starting or coming back is enough: thousands of deadlines at one time
    /// must not start hundreds of threads for callbacks that take almost no time.
    #[test]
    fn no_thread_is_started_while_another_one_is_on_its_way() {
        let timer = Timer::new();
        timer.state.lock().threads = 1; // this thread is starting, or coming back from user code
        timer.summon(timer.state.lock());
        assert!(timer.state.lock().watch == TimerWatch::Wanted);
        assert_eq!(timer.state.lock().threads, 1);
        timer.in_user_code.store(1, Ordering::Relaxed);
        timer.summon(timer.state.lock());
        assert_eq!(timer.state.lock().threads, 2);
    }

    #[test]
    fn what_is_taken_back_is_gone() {
        let (timer, (to, told)) = (Timer::new(), mpsc::channel());
        let soon = Instant::now() + Duration::from_hours(1);
        let entries: Vec<_> = (0..1_000).map(|n| timer.at(soon, tell(&to, n))).collect();
        drop(entries);
        assert_eq!(timer.state.lock().jobs.len(), 0);
        drop(to);
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Disconnected), "the jobs were dropped");
    }

    #[test]
    fn an_entry_that_is_dropped_after_its_job_has_begun_leaves_the_next_one_in_the_slot_alone() {
        let (timer, (to, told)) = (Timer::new(), mpsc::channel());
        let first = timer.at(Instant::now(), tell(&to, ()));
        assert_eq!(told.recv_timeout(LONG), Ok(()));
        let second = timer.at(Instant::now() + Duration::from_hours(1), tell(&to, ()));
        assert_eq!(first.slot, second.slot);
        drop(first);
        assert_eq!(timer.state.lock().jobs.len(), 1);
        drop(second);
        assert_eq!(timer.state.lock().jobs.len(), 0);
    }

    /// Without the wake-up, the watcher would sleep for a hundred years, although the heap is empty.
    #[test]
    fn who_takes_the_last_one_back_wakes_a_watcher_that_would_sleep_for_long() {
        let timer = Timer::new();
        let sleeps_for_long =
            || matches!(timer.state.lock().watch, TimerWatch::Asleep(until) if until > Instant::now() + LONG);
        let far = timer.at(Instant::now() + Duration::from_hours(1_000_000), Box::new(|| None));
        while !sleeps_for_long() {
            thread::yield_now();
        }
        drop(far);
        while sleeps_for_long() {
            thread::yield_now();
        }
    }

    #[test]
    fn a_job_that_panics_takes_nobody_with_it() {
        let (timer, (to, told)) = (Timer::new(), mpsc::channel());
        let now = Instant::now();
        let entries = [
            timer.at(now, Box::new(|| std::panic::resume_unwind(Box::new("a bug")))),
            timer.at(now, Box::new(|| Some(Box::new(|| std::panic::resume_unwind(Box::new("a user's")))))),
            timer.at(now, tell(&to, ())),
        ];
        assert_eq!(told.recv_timeout(LONG), Ok(()));
        drop(entries);
    }
}
