//! What handles, cancellers and tasks print.

use executor::FutureTask;

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
