//! Tests of series: their runs, the calls that change a series, and the events that end a series.

use std::panic::resume_unwind;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use executor::panics::PanicReport;
use executor::{
    AfterPanic, CancelToken, CutShort, Hooks, Latch, MissedTicks, ScheduledThreadPoolExecutor, Series,
    SeriesEnd, TaskId, TaskInfo, WaitError, prelude::*,
};

use super::{AN_HOUR, on_one_and_on_several_threads};
use crate::support::{
    LONG, Record, SHORT, Signal, assert_matches, blocked, eventually, occupy, tracked, within_deadline,
};

const MILLISECOND: Duration = Duration::from_millis(1);

/// Records the time at which each run begins; run number `most` ends the series.
fn note_runs(most: usize) -> (Record<Instant>, impl FnMut(&Series) + Send + 'static) {
    let begins = Record::new();
    let notes = begins.clone();
    let body = move |series: &Series| {
        notes.add(Instant::now());
        if notes.len() == most {
            series.cancel();
        }
    };
    (begins, body)
}

/// SCHED-6: no run begins before its tick, so the runs do not become earlier and earlier. The arithmetic of
/// the ticks implies that the series does not become later. (FUT-7)
#[test]
fn at_a_fixed_rate_no_run_is_before_its_tick() {
    within_deadline(|| {
        on_one_and_on_several_threads(|pool| {
            let (begins, body) = note_runs(10);
            let start = Instant::now();
            let series = pool.schedule_at_fixed_rate(SHORT, 2 * MILLISECOND, body).unwrap();
            assert_eq!(series.join().unwrap(), SeriesEnd::Cancelled);
            for (tick, begin) in begins.so_far().into_iter().enumerate() {
                let tick = u32::try_from(tick).unwrap();
                assert!(begin >= start + SHORT + tick * 2 * MILLISECOND);
            }
        });
    });
}

/// SCHED-7
#[test]
fn with_a_fixed_delay_no_run_begins_before_the_delay_after_the_one_before() {
    within_deadline(|| {
        on_one_and_on_several_threads(|pool| {
            let (begins, body) = note_runs(10);
            let start = Instant::now();
            let series = pool.schedule_with_fixed_delay(SHORT, 2 * MILLISECOND, body).unwrap();
            assert_eq!(series.join().unwrap(), SeriesEnd::Cancelled);
            let begins = begins.so_far();
            assert!(begins[0] >= start + SHORT);
            assert!(begins.windows(2).all(|two| two[1] >= two[0] + 2 * MILLISECOND));
        });
    });
}

/// SCHED-22
#[test]
fn a_fixed_delay_with_no_initial_delay_runs_again_and_again() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        for delay in [Duration::ZERO, MILLISECOND] {
            let series = pool.schedule_with_fixed_delay(Duration::ZERO, delay, |_| ()).unwrap();
            eventually("it has run often", || series.runs() > 10);
            assert!(series.cancel() && !series.cancel());
        }
    });
}

#[test]
fn runs_of_one_series_never_overlap_and_each_sees_what_the_one_before_did() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(4);
        let mut sum = 0_u64; // if two runs overlapped, this would be a data race
        let body = move |series: &Series| {
            sum += 1;
            assert_eq!(sum, series.runs() + 1);
            if sum == 1_000 {
                series.cancel();
            }
        };
        let series = pool.series(body).at_fixed_rate(Duration::from_micros(1)).unwrap();
        assert_eq!(series.join().unwrap(), SeriesEnd::Cancelled);
        eventually("the last run has ended", || series.runs() == 1_000);
    });
}

/// Three ticks pass while the first run is delayed.
#[test]
fn missed_ticks_are_caught_up_with_or_left_out() {
    const PERIOD: Duration = Duration::from_millis(20);
    within_deadline(|| {
        for missed in [MissedTicks::CatchUp, MissedTicks::Skip, MissedTicks::Shift] {
            let pool = ScheduledThreadPoolExecutor::new(1);
            let (begins, mut note) = note_runs(4);
            let start = Instant::now();
            let body = move |series: &Series| {
                note(series);
                while series.runs() == 0 && start.elapsed() < 7 * PERIOD / 2 {
                    std::thread::yield_now();
                }
            };
            let series =
                pool.series(body).first_at(start).missed_ticks(missed).at_fixed_rate(PERIOD).unwrap();
            series.join().unwrap();
            let begins = begins.so_far();
            let late = start + 7 * PERIOD / 2;
            assert!(begins[1] >= late, "runs do not overlap");
            match missed {
                MissedTicks::CatchUp => {} // how quickly they follow depends on the machine
                MissedTicks::Skip => {
                    assert!(begins[1] >= start + 4 * PERIOD && begins[3] >= start + 6 * PERIOD);
                }
                _ => assert!(begins[2] >= late + PERIOD && begins[3] >= late + 2 * PERIOD),
            }
        }
    });
}

/// SCHED-12
#[test]
fn a_series_may_change_pause_and_cancel_itself_from_within() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let paused = Signal::new();
        let is_paused = paused.clone();
        let body = move |series: &Series| match series.runs() {
            0 => series.set_period(MILLISECOND), // the period was an hour
            1 => {
                series.pause();
                is_paused.set();
            }
            2 => assert!(series.next_run().is_none() && !series.is_paused()),
            _ => assert!(series.cancel() && !series.cancel()),
        };
        let series = pool.series(body).with_fixed_delay(AN_HOUR).unwrap();
        paused.wait();
        eventually("the run has ended", || series.runs() == 2);
        assert!(series.is_paused() && series.next_run().is_none() && series.ended().is_none());
        series.resume();
        assert_eq!(series.join().unwrap(), SeriesEnd::Cancelled);
        assert_eq!(pool.stats().series, 0);
    });
}

/// A closure schedules itself again; at any time the pool has only one entry for the closure, and a
/// cancellation removes this entry. SCHED-12
#[test]
fn a_task_may_schedule_the_next_one() {
    fn chain(pool: &Arc<ScheduledThreadPoolExecutor>, left: u32, done: Signal) {
        let own = Arc::clone(pool);
        let next = move || if left == 0 { done.set() } else { chain(&own, left - 1, done) };
        drop(pool.schedule(Duration::ZERO, next).unwrap());
    }
    within_deadline(|| {
        let (pool, done) = (Arc::new(ScheduledThreadPoolExecutor::new(1)), Signal::new());
        chain(&pool, 100, done.clone());
        done.wait();
        assert_eq!(pool.stats().delayed, 0);
    });
}

#[test]
fn a_paused_series_does_not_run_until_it_is_resumed() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let series = pool.schedule_at_fixed_rate(Duration::ZERO, MILLISECOND, |_| ()).unwrap();
        eventually("it runs", || series.runs() > 2);
        assert!(series.pause());
        let end_of_run = occupy(&pool); // now a run that had begun has ended, and a waiting run was left out
        drop(end_of_run);
        pool.submit(|| ()).unwrap().join().unwrap();
        let runs = series.runs();
        pool.schedule(4 * SHORT, || ()).unwrap().join().unwrap();
        assert_eq!((series.runs(), series.next_run()), (runs, None));
        series.resume();
        eventually("it goes on", || series.runs() > runs + 2);
        series.cancel();
        assert!(!series.pause());
    });
}

#[test]
fn the_next_run_is_known_while_the_series_waits() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let before = Instant::now();
        let series = pool.schedule_at_fixed_rate(AN_HOUR, AN_HOUR, |_| ()).unwrap();
        let next = series.next_run().unwrap();
        assert!(next >= before + AN_HOUR && next <= Instant::now() + AN_HOUR);
        series.set_period(SHORT); // the first run keeps its time
        assert_eq!(series.next_run(), Some(next));
        series.cancel();
        assert_eq!(series.next_run(), None);
    });
}

#[test]
fn a_shorter_period_takes_effect_at_once() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let series = pool.schedule_at_fixed_rate(Duration::ZERO, AN_HOUR, |_| ()).unwrap();
        eventually("its first run has ended", || series.runs() == 1 && series.next_run().is_some());
        series.set_period(MILLISECOND);
        eventually("it runs", || series.runs() > 3);
    });
}

#[test]
#[should_panic(expected = "a fixed rate needs a period")]
fn a_period_of_zero_is_a_mistake() {
    let pool = ScheduledThreadPoolExecutor::new(1);
    let _ = pool.schedule_at_fixed_rate(SHORT, Duration::ZERO, |_| ());
}

#[test]
fn a_cancelled_series_asks_its_run_to_stop_and_drops_what_it_captured() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (begun, (value, is_alive)) = (Signal::new(), tracked());
        let (tell, told) = mpsc::channel();
        let begins = begun.clone();
        let body = move |_: &Series| {
            assert_eq!(Arc::strong_count(&value), 1);
            begins.set();
            tell.send(Latch::new(1).wait()).unwrap();
        };
        let series = pool.schedule_at_fixed_rate(Duration::ZERO, SHORT, body).unwrap();
        begun.wait();
        assert!(series.cancel());
        assert_eq!(series.ended(), Some(SeriesEnd::Cancelled));
        assert!(told.recv_timeout(LONG).unwrap().is_err());
        eventually("it is dropped", || !is_alive());
        assert_eq!(series.clone().join().unwrap(), SeriesEnd::Cancelled);
    });
}

/// FUT-8
#[test]
fn a_waiting_series_that_is_cancelled_leaves_at_once() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let (value, is_alive) = tracked();
        let series = pool.schedule_at_fixed_rate(AN_HOUR, SHORT, move |_| _ = &value).unwrap();
        assert_eq!(pool.stats().series, 1);
        assert!(series.cancel() && !is_alive());
        assert_eq!(pool.stats().series, 0);
    });
}

/// The run waits for the only thread.
#[test]
fn a_run_that_is_due_and_has_not_begun_is_called_off_with_its_series() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let busy = occupy(&pool);
        let series = pool.schedule_at_fixed_rate(Duration::ZERO, SHORT, |_| ()).unwrap();
        eventually("it is due", || pool.stats().pool.queued == 1);
        assert!(series.cancel());
        assert_eq!(pool.stats().pool.queued, 0);
        drop(busy);
        pool.submit(|| ()).unwrap().join().unwrap();
        assert_eq!(series.runs(), 0);
    });
}

/// A pool of one thread, and the reports that its panic handler receives.
fn with_reports() -> (ScheduledThreadPoolExecutor, Record<String>) {
    let reports = Record::new();
    let told = reports.clone();
    let builder = ScheduledThreadPoolExecutor::builder();
    let pool = builder.panic_handler(move |report: &PanicReport<'_>| told.add(report.to_string())).build();
    (pool.unwrap(), reports)
}

/// SCHED-10: a run that fails ends the series, and its panic is the reason. (HOOK-6)
#[test]
fn a_panic_ends_the_series_which_tells_why() {
    within_deadline(|| {
        let (pool, reports) = with_reports();
        let series =
            pool.series(|_| resume_unwind(Box::new("the disk is full"))).with_fixed_delay(SHORT).unwrap();
        assert_matches!(series.join().unwrap(), SeriesEnd::Panicked(panic) if panic.message() == "the disk is full");
        assert_eq!((series.runs(), pool.stats().series, pool.stats().pool.panicked), (1, 0, 1));
        pool.close();
        drop(series);
        assert_eq!(reports.so_far(), Vec::<String>::new(), "the joiner has read it");
    });
}

#[test]
fn a_panic_that_ends_a_series_goes_to_the_handler_if_nobody_reads_it() {
    within_deadline(|| {
        let (pool, reports) = with_reports();
        let series = pool.series(|_| resume_unwind(Box::new("the disk is full"))).named("save");
        drop(series.with_fixed_delay(SHORT).unwrap());
        eventually("it is reported", || reports.len() == 1);
        assert!(reports.so_far()[0].starts_with("task save panicked"), "{:?}", reports.so_far());
    });
}

#[test]
fn a_series_that_goes_on_after_panics_reports_each_of_them() {
    within_deadline(|| {
        let (pool, reports) = with_reports();
        let mut run = 0;
        let body = move |series: &Series| {
            run += 1;
            match run {
                2 | 3 => resume_unwind(Box::new("now and then")),
                6 => assert!(series.cancel()),
                _ => {}
            }
        };
        let rest = AfterPanic::BackOff { first: MILLISECOND, most: SHORT };
        for what in [AfterPanic::Continue, rest] {
            let series = pool.series(body).after_panic(what).at_fixed_rate(MILLISECOND).unwrap();
            assert_eq!(series.join().unwrap(), SeriesEnd::Cancelled);
        }
        pool.close();
        assert_eq!((reports.len(), pool.stats().pool.panicked), (4, 4));
    });
}

#[test]
fn a_series_rests_after_a_panic() {
    within_deadline(|| {
        let (pool, _reports) = with_reports();
        let (begins, mut note) = note_runs(4);
        let body = move |series: &Series| {
            note(series);
            resume_unwind(Box::new("again"))
        };
        let rest = AfterPanic::BackOff { first: 2 * MILLISECOND, most: 5 * MILLISECOND };
        let series = pool.series(body).after_panic(rest).with_fixed_delay(Duration::ZERO).unwrap();
        series.join().unwrap();
        let begins = begins.so_far();
        for (two, rest) in begins.windows(2).zip([2, 4, 5]) {
            assert!(two[1] >= two[0] + rest * MILLISECOND);
        }
    });
}

#[test]
fn a_wait_for_the_end_can_be_cut_short_and_awaited() {
    within_deadline(|| {
        let pool = ScheduledThreadPoolExecutor::new(1);
        let series = pool.schedule_at_fixed_rate(AN_HOUR, AN_HOUR, |_| ()).unwrap();
        assert_eq!(series.join_timeout(SHORT), Err(WaitError::TimedOut));
        let token = CancelToken::new();
        let (cut_short, joined) = (series.clone(), series.clone());
        let own = token.clone();
        let waiter = blocked(move || own.attach(|| cut_short.join()));
        token.cancel();
        assert_matches!(waiter.result(), Err(CutShort::Interrupted(_)));
        let waiter = blocked(move || joined.join());
        let awaited = series.clone();
        let future = blocked(move || pollster::block_on(awaited));
        series.cancel();
        assert_eq!(waiter.result().unwrap(), SeriesEnd::Cancelled);
        assert_eq!(future.result(), SeriesEnd::Cancelled);
    });
}

/// HOOK-6
#[test]
fn runs_are_tasks_of_the_pool_with_the_id_and_the_name_of_their_series() {
    /// A hook that records the id and the name that it gets before each task.
    struct Names(Record<(TaskId, Option<String>)>);
    impl Hooks for Names {
        fn before_execute(&self, task: &TaskInfo<'_>) {
            self.0.add((task.id, task.name.map(str::to_owned)));
        }
    }
    within_deadline(|| {
        let names = Record::new();
        let pool = ScheduledThreadPoolExecutor::builder().hooks(Names(names.clone())).build().unwrap();
        let (_, body) = note_runs(2);
        let series = pool.series(body).named("poll").at_fixed_rate(MILLISECOND).unwrap();
        series.join().unwrap();
        assert_eq!(names.so_far(), [(); 2].map(|()| (series.id(), Some("poll".to_owned()))));
        assert_eq!(series.name(), Some("poll"));
        let printed = format!("{series:?}");
        assert!(printed.contains("poll") && printed.contains("the series was cancelled"), "{printed}");
    });
}
