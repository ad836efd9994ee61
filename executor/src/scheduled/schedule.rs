//! The schedule: tasks and series, and the times for which they are planned. The schedule is a state machine
//! without threads and without a clock.
//!
//! The caller passes the current time, and acts on the results: the caller runs the tasks that are due, and
//! drops the tasks that were taken out. So tests can use invented times, and the [code around the
//! schedule](super::shared) only has to take the locks in the right order.
//!
//! Entries that wait for their time are in a [heap](crate::time). A waiting task knows the slot of its entry.
//! The cancellation of a waiting task removes the task from its slot.
//!
//! # The life of a series
//!
//! ```text
//!                     its time comes               the run begins             the run ends
//!   add ──▶ Waits ──────────────────▶ Out ─────────────────────▶ Begun ───────────────────────▶ Waits
//!            │  ▲                      │                           │                              or
//!      pause │  │ resume               │ paused meanwhile           └── it was paused meanwhile ─▶ Idle
//!            ▼  │                      │                                                          or
//!           Idle ◀────────────────────┘                                                       (removed)
//!
//!   remove, shutdown, a panic: from each of these places
//! ```
//!
//! # Invariants
//!
//! 1. Entries leave the heap in the order of their times. Entries with equal times leave the heap in the
//!    order in which they were planned.
//! 2. No entry leaves the heap before its time.
//! 3. A series has at most one entry, and has no entry while one of its runs is under way. So its runs never
//!    overlap.
//! 4. Each run has a number. Only a report about the latest run of a series changes the series.

use std::collections::{BTreeMap, BTreeSet};

use super::rule::Rule;
use crate::ids::TaskId;
use crate::sync::{Duration, Instant};
use crate::time::Heap;

/// Says whether tasks and series go on after a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AfterShutdown {
    pub(super) delayed: bool,
    pub(super) periodic: bool,
}

/// A schedule of tasks and series. `T` is the type of a task, and `S` is the caller's reference to a series.
pub(super) struct Schedule<T, S> {
    entries: Heap<Scheduled<T>>,
    series: BTreeMap<TaskId, Course<S>>,
    /// Runs that were handed out and have not ended, including runs of removed series.
    out: BTreeSet<(TaskId, u64)>,
    shutdown: Option<AfterShutdown>,
}

enum Scheduled<T> {
    Task(T),
    Series(TaskId),
}

/// A series and its state.
struct Course<S> {
    of: S,
    rule: Rule,
    place: SeriesPhase,
    /// The planned time of the next run, or of the run that is under way.
    tick: Instant,
    /// The time at which the current period began: the tick, or the end of the last run. The value is `None`
    /// before the first run.
    since: Option<Instant>,
    paused: bool,
    runs: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeriesPhase {
    /// The slot in which the next run waits.
    Waits(usize),
    /// A run was handed out and has not begun.
    Out,
    Begun,
    /// The series is paused.
    Idle,
}

/// A task or a run that is due.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due<T, S> {
    Task(T),
    /// A run of a series, and the number of the run.
    Run(S, u64),
}

/// The step that the caller must take after a run of a series.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AfterRun<S> {
    /// The series runs again, at the given time.
    At(Instant),
    /// Nothing needs to be done now: the series is paused, or its next run was planned already.
    Nothing,
    /// The series has ended because a run has panicked.
    Stopped(S),
    /// The series has ended because of the shutdown.
    Over(S),
    /// The series was removed before the run ended.
    Gone,
}

impl<T, S> Schedule<T, S> {
    pub(super) fn new() -> Self {
        Self { entries: Heap::new(), series: BTreeMap::new(), out: BTreeSet::new(), shutdown: None }
    }

    pub(super) fn first(&self) -> Option<Instant> {
        self.entries.first().map(|(at, _)| at)
    }

    /// Returns the number of waiting tasks, and the number of series.
    pub(super) fn counts(&self) -> (usize, usize) {
        let waits = |course: &&Course<S>| matches!(course.place, SeriesPhase::Waits(_));
        (self.entries.len() - self.series.values().filter(waits).count(), self.series.len())
    }

    /// Returns true if the schedule was shut down, and has no entry and no series any more.
    pub(super) fn is_over(&self) -> bool {
        self.shutdown.is_some() && self.entries.is_empty() && self.series.is_empty()
    }

    pub(super) fn is_shutdown(&self) -> bool {
        self.shutdown.is_some()
    }

    // ----- entries -----

    /// Returns the waiting tasks, in no particular order.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &T> {
        (0..self.entries.slots()).filter_map(|slot| self.task(slot))
    }

    /// Takes all tasks for which `wanted` is true, in the order of their times.
    pub(super) fn take_tasks(&mut self, wanted: impl Fn(&T) -> bool) -> Vec<T> {
        let is_wanted = |slot: &usize| matches!(self.task(*slot), Some(task) if wanted(task));
        let mut slots = self.entries.in_order();
        slots.retain(is_wanted);
        slots.into_iter().filter_map(|slot| self.take_task(slot, |_| true)).collect()
    }

    // ----- tasks -----

    /// Plans a task, and returns the slot in which it waits.
    pub(super) fn plan_task(&mut self, at: Instant, task: T) -> usize {
        self.entries.insert(at, Scheduled::Task(task))
    }

    pub(super) fn task(&self, slot: usize) -> Option<&T> {
        match self.entries.get(slot)? {
            Scheduled::Task(task) => Some(task),
            Scheduled::Series(_) => None,
        }
    }

    /// Takes the task out of a slot if `wanted` is true for that task.
    pub(super) fn take_task(&mut self, slot: usize, wanted: impl FnOnce(&T) -> bool) -> Option<T> {
        let is_wanted = |what: &Scheduled<T>| matches!(what, Scheduled::Task(task) if wanted(task));
        match self.entries.remove_if(slot, is_wanted)? {
            Scheduled::Task(task) => Some(task),
            Scheduled::Series(_) => unreachable!("it is a task"),
        }
    }

    /// Returns all slots whose number is `low` plus a multiple of `modulus`.
    pub(super) fn slots_like(&self, low: usize, modulus: usize) -> impl Iterator<Item = usize> + use<T, S> {
        (low..self.entries.slots()).step_by(modulus)
    }

    // ----- the end -----

    /// Shuts the schedule down, and takes the tasks and the series that do not go on. If a run of a series is
    /// handed out and has not ended, the series ends after that run.
    pub(super) fn shutdown(&mut self, after: AfterShutdown) -> (Vec<T>, Vec<S>) {
        self.shutdown = Some(after);
        let tasks = if after.delayed { Vec::new() } else { self.take_tasks(|_| true) };
        let rests = |(&id, course): (&TaskId, &Course<S>)| {
            (!after.periodic && matches!(course.place, SeriesPhase::Waits(_) | SeriesPhase::Idle))
                .then_some(id)
        };
        let ended: Vec<TaskId> = self.series.iter().filter_map(rests).collect();
        (tasks, ended.into_iter().filter_map(|id| self.remove(id)).collect())
    }

    /// Shuts the schedule down. Takes all series, and all tasks in the order of their times. Also returns the
    /// series with a run that was handed out and has not ended.
    pub(super) fn stop(&mut self) -> (Vec<T>, Vec<S>, BTreeSet<TaskId>) {
        self.shutdown = Some(AfterShutdown { delayed: false, periodic: false });
        let tasks = self.take_tasks(|_| true);
        let ids: Vec<TaskId> = self.series.keys().copied().collect();
        let series = ids.into_iter().filter_map(|id| self.remove(id)).collect();
        (tasks, series, self.out.iter().map(|(series, _)| *series).collect())
    }
}

// ----- series -----

impl<T, S: Clone> Schedule<T, S> {
    /// Takes the entries that are due, up to `most` entries.
    pub(super) fn take_due(&mut self, now: Instant, most: usize) -> Vec<Due<T, S>> {
        let mut due = Vec::new();
        while due.len() < most
            && let Some((at, slot)) = self.entries.first()
            && at <= now
        {
            match self.entries.remove(slot).expect("it is the first") {
                Scheduled::Task(task) => due.push(Due::Task(task)),
                Scheduled::Series(id) => {
                    let course = self.series.get_mut(&id).expect("an entry goes with its series");
                    course.place = SeriesPhase::Out;
                    course.runs += 1;
                    self.out.insert((id, course.runs));
                    due.push(Due::Run(course.of.clone(), course.runs));
                }
            }
        }
        due
    }
}

impl<T, S> Schedule<T, S> {
    pub(super) fn add(&mut self, id: TaskId, first: Instant, rule: Rule, of: S) {
        let place = SeriesPhase::Waits(self.entries.insert(first, Scheduled::Series(id)));
        self.series.insert(id, Course { of, rule, place, tick: first, since: None, paused: false, runs: 0 });
    }

    /// Removes a series, which then has no more runs.
    pub(super) fn remove(&mut self, id: TaskId) -> Option<S> {
        let course = self.series.remove(&id)?;
        if let SeriesPhase::Waits(slot) = course.place {
            self.entries.remove(slot);
        }
        Some(course.of)
    }

    fn latest(&mut self, id: TaskId, run: u64) -> Option<&mut Course<S>> {
        self.series.get_mut(&id).filter(|course| course.runs == run)
    }

    /// Notes that a run is about to begin. Returns false if the run must not begin, because the series is
    /// paused or has ended.
    pub(super) fn begin(&mut self, id: TaskId, run: u64) -> bool {
        let ends = self.series_end();
        let Some(course) = self.latest(id, run) else { return false };
        if course.paused {
            course.place = SeriesPhase::Idle;
        } else if !ends {
            course.place = SeriesPhase::Begun;
        }
        course.place == SeriesPhase::Begun
    }

    fn series_end(&self) -> bool {
        self.shutdown.is_some_and(|after| !after.periodic)
    }

    /// Notes that a run has ended, or will not begin.
    pub(super) fn ended(&mut self, id: TaskId, run: u64, now: Instant, panicked: bool) -> AfterRun<S> {
        let ends = self.series_end();
        self.out.remove(&(id, run));
        if !self.series.contains_key(&id) {
            return AfterRun::Gone;
        }
        let Some(course) = self.latest(id, run) else { return AfterRun::Nothing };
        match course.place {
            SeriesPhase::Begun => {}
            // The run was dropped while it waited for a thread. A pool drops waiting tasks only at its end.
            SeriesPhase::Out => return self.remove(id).map_or(AfterRun::Gone, AfterRun::Over),
            SeriesPhase::Idle if ends => return self.remove(id).map_or(AfterRun::Gone, AfterRun::Over),
            SeriesPhase::Idle | SeriesPhase::Waits(_) => return AfterRun::Nothing,
        }
        let (tick, rule) = (course.tick, &mut course.rule);
        let next = if panicked { rule.next_after_panic(tick, now) } else { Some(rule.next(tick, now)) };
        let Some(next) = next else { return self.remove(id).map_or(AfterRun::Gone, AfterRun::Stopped) };
        if ends {
            return self.remove(id).map_or(AfterRun::Gone, AfterRun::Over);
        }
        course.since = Some(course.rule.counts_from(tick, now));
        course.tick = next;
        if course.paused {
            course.place = SeriesPhase::Idle;
            return AfterRun::Nothing;
        }
        self.wait_for_tick(id);
        AfterRun::At(next)
    }

    /// Makes an entry for a series that has no entry.
    fn wait_for_tick(&mut self, id: TaskId) {
        let tick = self.series[&id].tick;
        let slot = self.entries.insert(tick, Scheduled::Series(id));
        self.series.get_mut(&id).expect("it was there just now").place = SeriesPhase::Waits(slot);
    }

    /// Pauses a series. Returns false if the series does not exist any more.
    pub(super) fn pause(&mut self, id: TaskId) -> bool {
        let Some(course) = self.series.get_mut(&id) else { return false };
        course.paused = true;
        if let SeriesPhase::Waits(slot) = course.place {
            course.place = SeriesPhase::Idle;
            self.entries.remove(slot);
        }
        true
    }

    /// Resumes a series. If this call plans the next run, it returns the time of that run.
    pub(super) fn resume(&mut self, id: TaskId, now: Instant) -> Option<Instant> {
        let course = self.series.get_mut(&id)?;
        course.paused = false;
        if course.place != SeriesPhase::Idle {
            return None; // the series was not paused, or its run has not ended
        }
        course.tick = course.rule.resumed(course.tick, now);
        let tick = course.tick;
        self.wait_for_tick(id);
        Some(tick)
    }

    /// Changes the period of a series. If the series waits for its next run, returns the time of that run.
    pub(super) fn set_period(&mut self, id: TaskId, period: Duration, now: Instant) -> Option<Instant> {
        let course = self.series.get_mut(&id)?;
        course.rule.period = period;
        let since = course.since?; // the time of the first run never changes
        let (SeriesPhase::Waits(_) | SeriesPhase::Idle) = course.place else { return None };
        course.tick = super::rule::later(since, period).max(now);
        let SeriesPhase::Waits(slot) = course.place else { return None };
        let tick = course.tick;
        self.entries.remove(slot);
        self.wait_for_tick(id);
        Some(tick)
    }

    /// Returns the time of the next run. Returns `None` if the series is paused or has ended, or if a run is
    /// under way.
    pub(super) fn next_run(&self, id: TaskId) -> Option<Instant> {
        let course = self.series.get(&id)?;
        matches!(course.place, SeriesPhase::Waits(_)).then_some(course.tick)
    }

    pub(super) fn is_paused(&self, id: TaskId) -> bool {
        self.series.get(&id).is_some_and(|course| course.paused)
    }
}

#[cfg(all(test, not(any(feature = "loom", feature = "shuttle"))))]
mod tests {
    use super::super::rule::{AfterPanic, MissedTicks, Pace};
    use super::*;

    const ALL: usize = usize::MAX;
    const RUNS_ON: AfterShutdown = AfterShutdown { delayed: true, periodic: true };
    const DEFAULT: AfterShutdown = AfterShutdown { delayed: true, periodic: false };
    const NOTHING: AfterShutdown = AfterShutdown { delayed: false, periodic: false };

    /// A schedule, a clock that the test moves, and a series with a period of four seconds.
    struct World {
        plan: Schedule<&'static str, &'static str>,
        start: Instant,
        id: TaskId,
    }

    impl World {
        fn new() -> Self {
            Self { plan: Schedule::new(), start: Instant::now(), id: TaskId::next() }
        }

        fn with_series(pace: Pace) -> Self {
            let mut world = Self::new();
            let (missed, after_panic) = (MissedTicks::CatchUp, AfterPanic::Stop);
            let rule = Rule { pace, period: Duration::from_secs(4), missed, after_panic, panics: 0 };
            world.plan.add(world.id, world.at(0), rule, "series");
            world
        }

        fn at(&self, seconds: u64) -> Instant {
            self.start + Duration::from_secs(seconds)
        }

        fn task(&mut self, at: u64, name: &'static str) -> usize {
            self.plan.plan_task(self.at(at), name)
        }

        fn due(&mut self, now: u64) -> Vec<Due<&'static str, &'static str>> {
            self.plan.take_due(self.at(now), ALL)
        }

        fn next(&self) -> Option<u64> {
            self.plan.next_run(self.id).map(|at| (at - self.start).as_secs())
        }

        fn begin(&mut self, run: u64) -> bool {
            self.plan.begin(self.id, run)
        }

        fn ended(&mut self, run: u64, now: u64) -> AfterRun<&'static str> {
            self.plan.ended(self.id, run, self.at(now), false)
        }

        /// Takes a run out of the schedule, and begins it.
        fn run(&mut self, run: u64, now: u64) {
            assert_eq!(self.due(now), [Due::Run("series", run)]);
            assert!(self.begin(run));
        }
    }

    #[test]
    fn what_is_due_comes_by_time_and_at_equal_times_in_the_order_in_which_it_was_planned() {
        let mut world = World::new();
        for (at, name) in [(3, "c"), (1, "a"), (3, "d"), (2, "b"), (9, "late")] {
            world.task(at, name);
        }
        assert_eq!(world.plan.first(), Some(world.at(1)));
        assert_eq!(world.due(0), []);
        assert_eq!(world.plan.take_due(world.at(3), 3), ["a", "b", "c"].map(Due::Task));
        assert_eq!(world.due(8), [Due::Task("d")]);
        assert_eq!((world.due(8), world.plan.counts()), (vec![], (1, 0)));
        assert_eq!(world.due(9), [Due::Task("late")]);
    }

    #[test]
    fn a_task_that_is_taken_out_is_gone_and_its_slot_is_used_again() {
        let mut world = World::new();
        let slots = [(1, "a"), (2, "b")].map(|(at, name)| world.task(at, name));
        assert_eq!(world.plan.take_task(slots[0], |_| false), None);
        assert_eq!(world.plan.take_task(slots[0], |task| *task == "a"), Some("a"));
        assert_eq!(world.plan.take_task(slots[0], |_| true), None);
        assert_eq!(world.task(3, "c"), slots[0]);
        assert_eq!(world.due(9), ["b", "c"].map(Due::Task));
        assert_eq!(world.plan.first(), None);
    }

    #[test]
    fn runs_of_a_series_never_overlap() {
        let mut world = World::with_series(Pace::FixedRate);
        assert_eq!(world.next(), Some(0));
        world.run(1, 0);
        assert_eq!((world.next(), world.due(100)), (None, vec![]));
        assert_eq!(world.ended(1, 9), AfterRun::At(world.at(4)));
        assert_eq!(world.next(), Some(4));
        world.run(2, 9);
        assert_eq!(world.ended(2, 9), AfterRun::At(world.at(8)));
    }

    #[test]
    fn a_paused_series_has_no_runs_and_resumes_at_a_tick() {
        let mut world = World::with_series(Pace::FixedRate);
        world.run(1, 0);
        world.ended(1, 1);
        assert!(world.plan.pause(world.id) && world.plan.pause(world.id) && world.plan.is_paused(world.id));
        assert_eq!((world.due(100), world.next(), world.plan.first()), (vec![], None, None));
        assert_eq!(world.plan.resume(world.id, world.at(101)), Some(world.at(104)));
        assert_eq!(world.plan.resume(world.id, world.at(102)), None);
        world.run(2, 104);
        assert_eq!(world.ended(2, 104), AfterRun::At(world.at(108)));
    }

    #[test]
    fn a_series_with_a_fixed_delay_resumes_at_once_if_it_is_late() {
        let mut world = World::with_series(Pace::FixedDelay);
        world.plan.pause(world.id);
        assert_eq!(world.plan.resume(world.id, world.at(3)), Some(world.at(3)));
        world.run(1, 3);
        world.ended(1, 5);
        world.plan.pause(world.id);
        assert_eq!(world.plan.resume(world.id, world.at(6)), Some(world.at(9)));
    }

    /// One run has begun, and another run waits for a thread.
    #[test]
    fn a_pause_lets_a_run_end_that_has_begun_and_keeps_others_from_beginning() {
        let mut world = World::with_series(Pace::FixedRate);
        world.run(1, 0);
        world.plan.pause(world.id);
        assert_eq!(world.ended(1, 1), AfterRun::Nothing);
        assert_eq!(world.plan.resume(world.id, world.at(2)), Some(world.at(4)));
        assert_eq!(world.due(4), [Due::Run("series", 2)]);
        world.plan.pause(world.id);
        assert!(!world.begin(2));
        assert_eq!(world.plan.resume(world.id, world.at(5)), Some(world.at(8)));
        assert_eq!(world.due(8), [Due::Run("series", 3)]);
        assert!(world.begin(3));
        assert_eq!(world.ended(2, 8), AfterRun::Nothing, "an old run has no say");
        assert_eq!(world.ended(3, 8), AfterRun::At(world.at(12)));
    }

    #[test]
    fn a_new_period_counts_from_the_last_run_and_never_leads_into_the_past() {
        let mut world = World::with_series(Pace::FixedRate);
        let change = |world: &mut World, period, now| {
            let (period, now) = (Duration::from_secs(period), world.at(now));
            world.plan.set_period(world.id, period, now).map(|at| (at - world.start).as_secs())
        };
        assert_eq!((change(&mut world, 6, 0), world.next()), (None, Some(0)), "the first run stays");
        world.run(1, 0);
        assert_eq!(change(&mut world, 7, 1), None);
        assert_eq!(world.ended(1, 1), AfterRun::At(world.at(7)));
        assert_eq!(change(&mut world, 9, 2), Some(9));
        assert_eq!(change(&mut world, 3, 5), Some(5));
        assert_eq!(world.due(4), []);
        world.run(2, 5);
        assert_eq!(world.ended(2, 5), AfterRun::At(world.at(8)));
    }

    #[test]
    fn a_removed_series_is_gone_whatever_it_was_doing() {
        for (begins, expected) in [(false, (0, 0)), (true, (0, 0))] {
            let mut world = World::with_series(Pace::FixedRate);
            if begins {
                world.run(1, 0);
            }
            assert_eq!(world.plan.remove(world.id), Some("series"));
            assert_eq!((world.plan.remove(world.id), world.plan.counts()), (None, expected));
            assert_eq!((world.due(9), world.ended(1, 9)), (vec![], AfterRun::Gone));
        }
    }

    #[test]
    fn a_panic_ends_a_series_that_is_to_stop() {
        let mut world = World::with_series(Pace::FixedRate);
        world.run(1, 0);
        assert_eq!(world.plan.ended(world.id, 1, world.at(1), true), AfterRun::Stopped("series"));
        assert_eq!(world.plan.counts(), (0, 0));
    }

    #[test]
    fn a_shutdown_ends_what_is_not_to_go_on() {
        for (after, tasks, series) in [
            (RUNS_ON, vec![], vec![]),
            (DEFAULT, vec![], vec!["series"]),
            (NOTHING, vec!["a", "b"], vec!["series"]),
            (AfterShutdown { delayed: false, periodic: true }, vec!["a", "b"], vec![]),
        ] {
            let mut world = World::with_series(Pace::FixedRate);
            world.task(2, "b");
            world.task(1, "a");
            assert_eq!(world.plan.shutdown(after), (tasks, series), "{after:?}");
            let over = after == NOTHING;
            assert_eq!((world.plan.is_shutdown(), world.plan.is_over()), (true, over), "{after:?}");
        }
    }

    /// Checks three cases: the run has begun, the run waits for a thread, or the run waits and its series is
    /// paused.
    #[test]
    fn a_run_that_is_under_way_ends_its_series_when_it_was_shut_down() {
        let mut world = World::with_series(Pace::FixedRate);
        world.run(1, 0);
        assert_eq!(world.plan.shutdown(DEFAULT), (vec![], vec![]));
        assert!(!world.plan.is_over());
        assert_eq!(world.ended(1, 1), AfterRun::Over("series"));
        assert!(world.plan.is_over());
        for paused in [false, true] {
            let mut world = World::with_series(Pace::FixedRate);
            world.due(0);
            world.plan.shutdown(DEFAULT);
            if paused {
                world.plan.pause(world.id);
            }
            assert!(!world.begin(1));
            assert_eq!(world.ended(1, 0), AfterRun::Over("series"));
            assert!(world.plan.is_over());
        }
        let mut world = World::with_series(Pace::FixedRate);
        world.run(1, 0);
        world.plan.shutdown(RUNS_ON);
        assert_eq!(world.ended(1, 1), AfterRun::At(world.at(4)));
    }

    #[test]
    fn a_run_that_is_dropped_ends_its_series() {
        let mut world = World::with_series(Pace::FixedRate);
        world.due(0);
        assert_eq!(world.ended(1, 0), AfterRun::Over("series"));
    }

    #[test]
    fn a_stop_takes_everything_and_tells_whose_runs_are_out() {
        let mut world = World::with_series(Pace::FixedRate);
        world.run(1, 0);
        world.plan.remove(world.id);
        world.task(2, "b");
        world.task(1, "a");
        let (tasks, series, runs) = world.plan.stop();
        assert_eq!((tasks, series, runs.contains(&world.id)), (vec!["a", "b"], vec![], true));
        assert!(world.plan.is_over());
        world.ended(1, 1);
        assert!(world.plan.stop().2.is_empty());
    }
}
