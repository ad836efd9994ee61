//! The printed forms of handles, cancellers, tasks and executors.

use std::sync::Arc;
use std::time::Duration;

use executor::fork_join::{ForkJoinConfigError, ForkJoinPool, InvokeError};
use executor::{
    AfterPanic, BoundedExecutor, CancelToken, DirectExecutor, FutureTask, Identity, MissedTicks,
    NotTerminated, ScheduledThreadPoolExecutor, Semaphore, SeriesEnd, StripedExecutor, ThreadPoolExecutor,
    TrackingExecutor, prelude::*,
};

use crate::support::within_deadline;

/// FUT-29, FUT-30, FUT-31
#[test]
fn the_printed_form_says_how_it_ended_and_of_a_failure_why() {
    within_deadline(|| {
        let FutureTask { task, handle } = FutureTask::new(|| ());
        let id = handle.id();
        assert_eq!(format!("{handle:?}"), format!("TaskHandle {{ id: {id}, state: Pending }}"));
        task.run();
        assert_eq!(format!("{handle:?}"), format!("TaskHandle {{ id: {id}, state: Completed }}"));

        let FutureTask { task, handle } =
            FutureTask::<()>::new(|| std::panic::resume_unwind(Box::new("why")));
        task.run();
        let (id, canceller) = (handle.id(), handle.canceller());
        let text = format!("{{ id: {id}, state: Panicked, panic: \"why\" }}");
        assert_eq!(format!("{handle:?} {canceller:?}"), format!("TaskHandle {text} Canceller {text}"));
        let handle = handle.shared();
        assert_eq!(format!("{handle:?}"), format!("SharedHandle {text}"));
        let error = handle.join().unwrap_err();
        assert_eq!(error.to_string(), "the task panicked: why");
        assert_eq!(format!("{handle:?}"), format!("SharedHandle {text}"), "however often it is read");

        let FutureTask { task, handle } = FutureTask::new(|| ());
        drop(task);
        assert!(format!("{:?}", handle.canceller()).contains("state: Cancelled"));
        let error = handle.join().unwrap_err();
        assert_eq!(
            (error.to_string(), format!("{error:?}")),
            ("the task was cancelled".into(), "Cancelled".into())
        );
    });
}

/// STAT-5, STAT-6
#[test]
fn the_printed_form_of_either_end_names_the_task() {
    let FutureTask { task, handle } = FutureTask::new(|| ()).named("draft").named(String::from("index"));
    let canceller = handle.canceller();
    assert_eq!([task.name(), handle.name(), canceller.name()], [Some("index"); 3]);
    for text in [format!("{task:?}"), format!("{handle:?}"), format!("{canceller:?}")] {
        assert!(text.contains("name: \"index\""), "{text}");
    }
    let handle = handle.shared();
    assert!(handle.name() == Some("index") && format!("{handle:?}").contains("name: \"index\""));
    assert_eq!(FutureTask::new(|| ()).handle.name(), None);
}

#[test]
fn a_state_prints_as_a_word_of_a_sentence() {
    let FutureTask { task, handle } = FutureTask::new(|| ());
    let before = handle.state();
    task.run();
    assert_eq!(format!("{before}, then {:>11}", handle.state()), "pending, then   completed");
}

#[test]
fn a_task_prints_with_its_handle_whatever_its_result_is() {
    struct NotDebug;
    let task = FutureTask::new(|| NotDebug);
    let (task_printed, handle_printed) = (format!("{:?}", task.task), format!("{:?}", task.handle));
    assert_eq!(
        format!("{task:?}"),
        format!("FutureTask {{ task: {task_printed}, handle: {handle_printed} }}")
    );
}

#[test]
fn what_is_given_out_for_a_while_prints_what_it_stands_for() {
    let permits = Semaphore::new(3);
    let two = permits.acquire_many(2).unwrap();
    assert_eq!(
        format!("{two:?} {permits:?}"),
        "Permit { permits: 2, .. } Semaphore { permits: 1, waiting: 0 }"
    );
    assert_eq!(format!("{:?}", two.into_owned()), "OwnedPermit { permits: 2, .. }");
    let token = CancelToken::new();
    assert_eq!(
        format!("{:?} {:?}", token.on_cancel(|| ()), token.attached()),
        "Registration { .. } Attached { .. }"
    );
    let value = Arc::new(1);
    assert_eq!(format!("{:?}", Identity::of(&value)), format!("Identity({:?})", Arc::as_ptr(&value)));
}

#[test]
fn fork_join_pools_print_their_name_and_numbers_and_their_errors_a_sentence() {
    let builder = ForkJoinPool::builder().threads(3).name("sort");
    assert_eq!(format!("{builder:?}"), "ForkJoinBuilder { threads: 3, .. }");
    let pool = builder.build().unwrap();
    let stats = pool.stats();
    assert_eq!(format!("{pool:?}"), format!("ForkJoinPool {{ name: \"sort\", stats: {stats:?}, .. }}"));
    pool.shutdown();
    let refused = pool.invoke(|| ()).unwrap_err();
    assert_eq!(refused.to_string(), "the computation was refused: the executor is shut down");
    assert_eq!(InvokeError::Cancelled.to_string(), "the computation was called off before it had begun");
    assert_eq!(ForkJoinConfigError::NoThreads.to_string(), "a fork/join pool needs a thread");
}

#[test]
fn scheduled_pools_and_series_print_what_was_agreed() {
    within_deadline(|| {
        let builder = ScheduledThreadPoolExecutor::builder();
        let builder = builder.delayed_after_shutdown(false).periodic_after_shutdown(true);
        let printed = format!("{builder:?}");
        assert!(
            printed.ends_with(", delayed_after_shutdown: false, periodic_after_shutdown: true, .. }"),
            "{printed}"
        );
        let pool = builder.build().unwrap();
        let series = pool.series(|_| ()).named("poll").missed_ticks(MissedTicks::Skip);
        let series = series.after_panic(AfterPanic::Continue);
        let printed = format!("{series:?}");
        assert!(printed.starts_with("SeriesBuilder { name: Some(\"poll\"), first: "), "{printed}");
        assert!(printed.ends_with(", missed_ticks: Skip, after_panic: Continue, .. }"), "{printed}");
        let series =
            series.first_after(Duration::from_hours(1)).at_fixed_rate(Duration::from_hours(1)).unwrap();
        let _far = pool.schedule(Duration::from_hours(1), || ()).unwrap();
        assert_eq!(format!("{pool:?}"), format!("{:?}", pool.stats()));
        let stats = pool.stats();
        assert_eq!(stats.to_string(), format!("{}; 1 delayed, 1 series", stats.pool));
        series.cancel();
        pool.shutdown();
        let refused = pool.schedule_with_fixed_delay(Duration::ZERO, Duration::ZERO, |_| ()).unwrap_err();
        assert_eq!(
            format!("{refused}, {refused:?}"),
            "the series was rejected: the executor is shut down, RejectedSeries { reason: Shutdown, .. }"
        );
        assert_eq!(
            [SeriesEnd::Cancelled, SeriesEnd::Shutdown].map(|end| end.to_string()),
            ["the series was cancelled", "the executor of the series was shut down"]
        );
    });
}

#[test]
fn executors_over_others_print_them_too() {
    let bounded = BoundedExecutor::over(DirectExecutor, 5);
    let impatient = bounded.waiting_at_most(Duration::from_secs(1));
    assert_eq!(format!("{impatient:?}"), format!("Impatient {{ timeout: Some(1s), bounded: {bounded:?} }}"));
    let tracking = TrackingExecutor::over(DirectExecutor).with_tags();
    let below = format!("{DirectExecutor:?}");
    let printed = format!("TrackingExecutor {{ under_way: 0, running: 0, cut_off: 0, executor: {below} }}");
    assert_eq!(format!("{tracking:?}"), printed);
    assert_eq!(
        format!("{:?}", tracking.tagged("page")),
        format!("Tagged {{ tag: \"page\", tracking: {printed} }}")
    );
    assert_eq!(NotTerminated.to_string(), "the executor is not terminated yet");
    let striped = StripedExecutor::over(ThreadPoolExecutor::fixed(1));
    assert_eq!(format!("{:?}", striped.stripe("Ada")), "Stripe { key: \"Ada\", queued: 0, running: 0, .. }");
}
